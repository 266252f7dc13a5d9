# The table of the classifier as one streaming jq program, the usual way to tag ndjson without code of one's own.
# It holds only the words that occur in the generated events; triage runs the packs of eight languages.
def own_words:
  gsub("```[^`]*(```|$)|`[^`\n]+`|<[^<>\n]*>|https?://[^ \n]+"; " ") | gsub("^(>|&gt;)[^\n]*"; " ");
def is_question:
  test("[?？](\\s|:[a-z0-9_+'-]+:|[\"'*_~)!.🙏😅👀])*$")
  or test("\\b(how (do|can) i|does anyone|anyone know|any idea|is there a way|why (does|is))\\b|教えてください|alguien sabe"; "i");
def is_ack:
  test("^(\\s|:[a-z0-9_+'-]+:|[👍🎉🙏])+$")
  or (length < 30 and test("^(thanks?|thank you|thx|ok|got it|lgtm|nice|sounds good|will do|danke|gracias|了解です)( a lot|,? thanks)?[ !.]*(:[a-z0-9_+'-]+:)?$"; "i"));
def is_alarm:
  test("\\b(prod|production|api|staging|checkout) is down\\b|\\b(getting|seeing) (500s|502s|503s)\\b"; "i");

foreach inputs as $e ({seen: {}};
    (($e.team_id + "." + $e.chat_id + "." + ($e.thread_id // $e.message_id))) as $key
    | ($e.content | own_words) as $text
    | (($e.mentions | index($bot)) != null or ($e.content | contains("<@" + $bot + ">"))) as $mention
    | ($text | is_question) as $question
    | ($e.content | gsub("<@[^<>]*>"; "") | is_ack) as $ack
    | ($text | is_alarm) as $alarm
    | (.seen[$key] // false) as $inflight
    | (if $e.msg_type == "edit" or $e.msg_type == "delete" then "ambient"
       elif $mention or ($question and ($ack | not)) then "actionable"
       elif $inflight and ($ack | not) then "actionable"
       elif $alarm and ($ack | not) then "actionable"
       elif $ack then "ack"
       else "ambient" end) as $class
    | (if $class == "actionable" then .seen[$key] = true else . end)
    | .out = $e + {is_bot_mention: $mention, is_question: $question, is_ack_or_emoji: $ack,
        mentions_thread_with_inflight: $inflight, is_alarm: $alarm, classification: $class,
        classifier_version: "jq", classified_at: (now | todate)};
  .out)
