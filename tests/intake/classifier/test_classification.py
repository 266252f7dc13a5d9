"""What the rules say of messages: examples by language, the table, and what must hold for any text at all."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.events import Classification, Event, MessageType
from bot.intake.classifier import scorer
from bot.intake.classifier.classification import Rules, asks_question, classify
from tests.tables import each_row, read_cases

BOT = "U0TRIAGE"
RULES = Rules(bot_id=BOT)
CORPUS: dict[str, list[str]] = read_cases(Path(__file__).with_name("corpus.yml"))


def read(content: str, rules: Rules = RULES, *, inflight: bool = False, **fields: Any) -> Classification:
    values = {"team_id": "T1", "chat_id": "C1", "message_id": "1700000000.000100", "sender": {"id": "U9"}}
    event = Event(**values, create_time="2025-01-01T00:00:00Z", content=content, **fields)
    return classify(event, rules, inflight=inflight)


QUESTIONS = (
    "Is it up?",
    "Is it up ？",
    'he said "is it up?"',
    "*is it up?*",
    "_really up?_ ~no?~",
    "is it up? :eyes: 👀",
    "is it up? 👍🏽",
    "is it up? 👩‍💻",
    "is it up? :thinking_face::skin-tone-2:",
    "is it up? <@U01ALICE>",
    "is it up? <@U01ALICE|alice> :)",
    "(is it up?)",
    "is it up?!",
    "is it up???",
    "is it up?\u200b\u200f",
    "is it up? Thanks in advance!",
    "what is this? ```panic: nil```",
    "what is this?\n```panic: nil",
    "هل الخدمة تعمل؟",
    "λειτουργεί\u037e",
    "¿alguien lo ha visto? gracias",
    "¿Funciona? Lo pregunto por el cliente",
    "¿cómo despliego",
    "hola equipo, ¿cómo despliego la api\ngracias",
    "*¿quién tiene acceso*",
    "how do\u00a0I restart it",
    "HOW  DO I restart it",
    "what’s the plan for sharding",
    "does <https://x.example/a?b=1> work?",
    "does <https://x.example/a?b=1|this> work?",
)

NO_QUESTIONS = (
    "",
    "   ",
    "it is up.",
    "`is it up?`",
    "```is it up?```",
    "```is it up?",
    "&gt; is it up?",
    "> is it up?",
    ">>> is it up?\nreally?",
    "see <https://x.example/search?|search>",
    "see https://x.example/search?",
    "see https://x.example/how-do-i?q=why-is",
    "showdown in the how-to section",
    "somehow do it all in one go",
    "`how do i`",
    "what? no, I take that back",
    "I don¿t know",
    "¿",
    "`¿cómo`",
)


@each_row("content", QUESTIONS)
def test_a_question_is_seen_through_whatever_follows_it(content: str) -> None:
    """A question mark counts once emoji, quotes, mentions, formatting and thanks after it are set aside."""
    assert read(content).is_question
    assert read(content).classification == "actionable"


@each_row("content", NO_QUESTIONS)
def test_what_others_wrote_makes_no_question(content: str) -> None:
    """Code, quoted lines and links do not count, nor do words that merely contain a keyword."""
    assert not read(content).is_question


@each_row(
    "language, question, ack, alarm",
    [
        ("en", "does anyone know the port", "sounds good!", "prod is down since 9"),
        ("es", "alguien sabe cómo se configura", "muchas gracias!", "la api no responde"),
        ("pt", "alguém sabe o motivo", "valeu!", "o site caiu"),
        ("de", "weiß jemand den Grund", "vielen Dank!", "die Seite ist nicht erreichbar"),
        ("fr", "est-ce que la migration est finie", "merci beaucoup!", "le site est tombé"),
        ("id", "ada yang tahu penyebabnya", "siap, makasih", "server mati dari tadi"),
        ("ja", "設定方法を教えてください", "了解しました。", "本番環境が落ちています"),
        ("zh", "请问怎么回滚", "好的，谢谢", "线上服务挂了"),
    ],
)
def test_each_language_has_its_words(language: str, question: str, ack: str, alarm: str) -> None:
    """One language's list alone knows its questions, acknowledgements and alarms; without it they are ambient."""
    alone, none = Rules(languages=[language]), Rules(languages=[])
    assert read(question, alone).is_question
    assert read(ack, alone).classification == "ack"
    assert read(alarm, alone).is_alarm
    assert {read(text, none).classification for text in (question, ack, alarm)} == {"ambient"}


@each_row(
    "content", ["not sure I can make it to lunch", "need to leave early", "wondering who brings cake", "I know how"]
)
def test_who_only_talks_of_knowing_asks_nothing(content: str) -> None:
    """Plans and small talk."""
    assert read(content).classification != "actionable"


@each_row("content", ["thanks! how do I undo it", "ok but prod is down", "ok?", "thanks `x`", "tokens"])
def test_an_ack_covers_the_whole_message(content: str) -> None:
    """A short message that merely begins with thanks is no acknowledgement."""
    assert not read(content).is_ack_or_emoji


def test_an_ack_is_under_thirty_characters() -> None:
    """At thirty characters a message has something to say; mentions are not counted."""
    assert read("thanks for " + "x" * 18 + " <@U0123456789>").is_ack_or_emoji
    assert not read("thanks for " + "x" * 19).is_ack_or_emoji


def test_a_mention_of_the_bot_counts_in_the_senders_own_words() -> None:
    """The list of mentions and the text both count; a mention inside code or in a quoted message does not."""
    assert read("look", mentions=(BOT,)).is_bot_mention
    assert read(f"look <@{BOT}>").is_bot_mention
    assert read(f"look <@{BOT}|triage>").is_bot_mention
    assert not read(f"look `<@{BOT}>` <@{BOT}X> &lt;@{BOT}&gt;").is_bot_mention
    assert not read(f"fyi\n> Ann: <@{BOT}> is it up?").is_bot_mention
    assert read(f"&gt; <@{BOT}> is it up?\n<@{BOT}> what about this?").is_bot_mention
    assert not read(f"look <@{BOT}>", Rules()).is_bot_mention


@each_row("content", ["<@U01ALICE> can you look?", "hey <@U01ALICE>, why is it red", "@alice can you…?"])
def test_chatter_keeps_its_class_with_low_confidence_or_is_skipped(content: str) -> None:
    """A message addressed to somebody else is doubted, and ambient where the team says so, unless the bot is asked."""
    found = read(content)
    assert found.is_internal_chatter
    assert (found.classification, found.classifier_confidence < 0.5) == ("actionable", True)
    skipping = Rules(bot_id=BOT, skip_chatter=True)
    assert read(content, skipping).classification == "ambient"
    assert read(f"{content} <@{BOT}>", skipping).classification == "actionable"
    assert not read(f"{content} <@{BOT}>", skipping).is_internal_chatter


@each_row("content", ["@here is it up?", "<!here> is it up?", "is it up <@U01ALICE>?", "<!subteam^S1> up?"])
def test_an_open_call_is_no_chatter(content: str) -> None:
    """Everybody, a group, or somebody named at the end is no particular addressee."""
    assert not read(content).is_internal_chatter


@each_row("kind", [MessageType.EDIT, MessageType.DELETE])
def test_edits_and_deletions_never_start_work(kind: MessageType) -> None:
    """Whatever an edited or deleted message says, it is ambient by itself."""
    assert read(f"<@{BOT}> prod is down, why?", msg_type=kind, inflight=True).classification == "ambient"


def test_the_table_holds_for_every_combination() -> None:
    """The first row of the table that holds names the class, for each flag that text, mentions and thread can raise."""
    parts = {"question": "is it so?", "alarm": "prod is down.", "mention": f"<@{BOT}>", "ack": "thanks"}
    for chosen in itertools.product((False, True), repeat=5):
        *words, inflight = chosen
        text = " ".join(part for part, used in zip(sorted(parts.values()), words, strict=True) if used)
        found = read(text, inflight=inflight)
        assert found.classification == by_the_table(found), text
        assert found.mentions_thread_with_inflight is inflight


def by_the_table(found: Classification) -> str:
    if found.is_bot_mention or (found.is_question and not found.is_ack_or_emoji):
        return "actionable"
    if (found.mentions_thread_with_inflight or found.is_alarm) and not found.is_ack_or_emoji:
        return "actionable"
    return "ack" if found.is_ack_or_emoji else "ambient"


def test_a_team_adds_its_own_words() -> None:
    """Own words count beside the shipped ones, and every change of words or rules shows in the version."""
    own = Rules(ack_patterns=["^roger"], question_keywords=["{eta,date} for"], alarm_keywords=["mars is red"])
    assert read("roger that one", own).is_ack_or_emoji
    assert read("ETA for the fix", own).is_question
    assert read("Mars is red again", own).is_alarm
    assert read("thanks", own).is_ack_or_emoji
    rules = [own, Rules(), Rules(languages=["en"]), Rules(skip_chatter=True), Rules(alarm_keywords=["mars is red"])]
    assert len({each.version for each in rules}) == len(rules)
    assert Rules().version == Rules(bot_id=BOT).version


def test_the_corpus_is_classified_as_people_would() -> None:
    """At most one in a hundred ambient or ack messages is taken for something else, and few questions are missed."""
    wrong = {name: [text for text in texts if read(text).classification != name] for name, texts in CORPUS.items()}
    quiet = len(CORPUS["ambient"]) + len(CORPUS["ack"])
    assert len(wrong["ambient"]) + len(wrong["ack"]) <= quiet // 100, wrong
    assert len(wrong["actionable"]) <= len(CORPUS["actionable"]) // 20, wrong


def test_lines_written_before_the_rules_are_sorted_as_people_would() -> None:
    """In eight languages, at most one of sixty-two is not."""
    said = read_cases(Path(__file__).with_name("written_before.yml"))
    wrong = [text for text in said["wakes"] if read(text).classification != "actionable"]
    wrong += [text for text in said["quiet"] if read(text).classification == "actionable"]
    assert len(wrong) <= 1, wrong


def test_a_realistic_mix_stays_under_the_health_target() -> None:
    """Of the corpus, mixed as a busy channel is, under 30% is actionable."""
    mixed = (*CORPUS["actionable"], *CORPUS["ack"], *CORPUS["ambient"], *CORPUS["smalltalk"])
    found = [read(text).classification for text in mixed]
    assert found.count("actionable") < 0.3 * len(found)


@given(st.text(max_size=300) | st.text("`?<>@:*_ \n&lt;gt。？👍\u200d🏽U0", max_size=300), st.booleans(), st.booleans())
def test_any_text_has_one_verdict_and_the_table_holds(content: str, inflight: bool, skip: bool) -> None:
    """No text raises; the same text has the same verdict; the table holds."""
    rules = Rules(bot_id=BOT, skip_chatter=skip)
    found = read(content, rules, inflight=inflight)
    assert found == read(content, rules, inflight=inflight)
    skipped = skip and found.is_internal_chatter
    assert found.classification == ("ambient" if skipped else by_the_table(found))
    assert not found.is_internal_chatter or found.classifier_confidence < 0.5


@given(st.text(st.characters(exclude_characters="`", exclude_categories=["Cs"])))
def test_nothing_inside_code_makes_a_question(code: str) -> None:
    """A fenced block, also an unterminated one, never asks, whatever it holds."""
    assert not read(f"for the record:\n```{code}```").is_question
    assert not read(f"for the record:\n```{code}").is_question


@given(st.text("abc?=&/.-_~%#how", max_size=60))
def test_nothing_inside_a_link_makes_a_question(path: str) -> None:
    """A link never asks, as Slack writes it or bare."""
    assert not read(f"see <https://x.example/{path}>").is_question
    assert not read(f"see <https://x.example/{path}|{path}>").is_question
    assert not read(f"see https://x.example/{path}").is_question


def test_every_pictograph_of_unicode_is_an_emoji_and_no_letter_is() -> None:
    """The hand-written ranges hold all of Extended_Pictographic but what is invisible, and no letter, digit or mark."""
    pictographs = regex.compile(r"\p{Extended_Pictographic}")
    for char in map(chr, itertools.chain(range(0xA0, 0xD800), range(0xE000, 0x20000))):
        if pictographs.match(char):
            assert scorer.is_only_emoji(scorer.visible_text(char)), hex(ord(char))
        elif char.isalnum() or char in scorer.MARKS:
            assert not scorer.is_only_emoji(char) or regex.match(r"[\p{So}\p{No}]", char), hex(ord(char))


@each_row("said", CORPUS["smalltalk"])
def test_small_talk_wakes_nobody(said: str) -> None:
    """Surprise, lunch and the game end in a question mark and ask nothing; a mention of the bot always does."""
    assert not asks_question(said, Rules())
    assert read(f"<@{BOT}> {said}").classification == "actionable"


@each_row("said", CORPUS["near-smalltalk"])
def test_what_only_looks_like_small_talk_is_a_question(said: str) -> None:
    """A name, code or one word more makes it work again."""
    assert asks_question(said, Rules())


def test_a_team_without_languages_has_no_small_talk() -> None:
    """Only its own words count then."""
    assert asks_question("coffee anyone?", Rules(languages=()))


@each_row("text", ["OK: how do we rotate keys?", "resolved: it was dns, but why?"])
def test_a_question_behind_ok_is_one(text: str) -> None:
    """Only what asks nothing tells of the end of an alert."""
    assert read(text).classification == "actionable"


@each_row("said", ["prod is down, why?", "thanks!", "is it up?", f"hey <@U01ALICE>, {CORPUS['actionable'][0]}"])
@pytest.mark.parametrize("state", ["firing", "resolved", "acknowledged", "info"])
def test_of_an_alert_the_state_decides_and_no_word_is_read(said: str, state: str) -> None:
    """It is actionable while it fires and ambient otherwise, also in a thread in flight; a mention always wakes."""
    alert = {"tool": "grafana", "state": state, "name": "High load", "fingerprint": "f1", "severity": "page"}
    expected = "actionable" if state == "firing" else "ambient"
    for inflight in (False, True):
        found = read(said, inflight=inflight, alert=alert)
        assert found.classification == expected
        assert (found.is_question, found.is_alarm, found.is_ack_or_emoji, found.is_internal_chatter) == (False,) * 4
    assert read(said, alert=alert, mentions=(BOT,)).classification == "actionable"
    assert read(said, alert=alert, msg_type="edit").classification == "ambient"


@each_row("said", CORPUS["smalltalk"])
def test_small_talk_in_a_thread_in_flight_is_heard(said: str) -> None:
    """Whatever stands in such a thread may belong to the work; so does what mentions the bot."""
    assert read(said, inflight=True).is_question
    assert read(f"{said} <@{BOT}>").classification == "actionable"


@given(st.sampled_from([*CORPUS["smalltalk"], "nice", "ok"]), st.sampled_from(["`x`", "app/main.py", "getUser", "a_b"]))
def test_small_talk_never_takes_what_holds_code(said: str, code: str) -> None:
    """Code, a path or an identifier makes a question of it again."""
    assert read(f"{code} {said.rstrip('?')}?").is_question


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_a_question_mark_only_adds(text: str) -> None:
    """Whoever is heard without a mark is heard with one, small talk aside; a mention is never ambient."""
    if read(text).is_question and len(text) >= 60:
        assert read(f"{text} ?").is_question
    assert read(f"<@{BOT}> {text}").classification == "actionable"


@each_row(
    "said, asks",
    [
        ('```Traceback (most recent call last):\n  File "a.py", line 3, in run\nKeyError: 1```', True),
        ("```select * from t where a = 1```", False),
    ],
)
def test_a_bare_stack_trace_asks_and_other_bare_code_does_not(said: str, asks: bool) -> None:
    """Who posts nothing but a trace wants to know what went wrong."""
    assert read(said).is_question is asks
