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
from bot.errors import ConfigError
from bot.intake.classifier import own_words
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
    "the show does anyones heart good",
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
    "content",
    [
        "not sure which env var controls the retry limit",
        "need to know how the cache is invalidated",
        "have to know when the token expires",
        "no idea what flag turns this on",
        "trying to find out how refunds are booked",
        "looking for the setting that disables caching",
        "ich muss wissen, wie der Cache geleert wird",
        "necesito saber cómo se vacía la caché",
        "j'ai besoin de savoir comment le cache est vidé",
        "preciso saber como o cache é limpo",
        "saya perlu tahu bagaimana cache dikosongkan",
    ],
)
def test_who_asks_without_a_question_is_heard(content: str) -> None:
    """Somebody says what they do not know."""
    assert read(content).is_question


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


def test_a_mention_of_the_bot_counts_outside_code() -> None:
    """The list of mentions and the text both count; a mention inside code does not."""
    assert read("look", mentions=(BOT,)).is_bot_mention
    assert read(f"look <@{BOT}>").is_bot_mention
    assert read(f"look <@{BOT}|triage>").is_bot_mention
    assert not read(f"look `<@{BOT}>` <@{BOT}X> &lt;@{BOT}&gt;").is_bot_mention
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


@each_row(
    "wrong",
    [{"languages": ["tlh"]}, {"ack_patterns": ["(ok"]}, {"ack_patterns": "ok"}, {"question_keywords": [""]}],
)
def test_wrong_rules_are_refused_by_name(wrong: dict[str, Any]) -> None:
    """A language that does not ship, a broken pattern, a bare text and an empty keyword name their key."""
    with pytest.raises(ConfigError, match=f"classifier.{next(iter(wrong))}"):
        Rules(**wrong)


def test_the_corpus_is_classified_as_people_would() -> None:
    """At most one in a hundred ambient or ack messages is taken for something else, and few questions are missed."""
    wrong = {name: [text for text in texts if read(text).classification != name] for name, texts in CORPUS.items()}
    quiet = len(CORPUS["ambient"]) + len(CORPUS["ack"])
    assert sum(map(len, CORPUS.values())) >= 150
    assert len(wrong["ambient"]) + len(wrong["ack"]) <= quiet // 100, wrong
    assert len(wrong["actionable"]) <= len(CORPUS["actionable"]) // 20, wrong


@each_row(
    "content",
    [
        "is production broken right now?",
        "when did prod go down? it is still down",
        "prod is still down!!",
        "the site has been down since 9",
        "the payments API returns 500 for all users",
        "we're down!",
        "nobody can log in",
        "prod is not working",
        "once the db went down, prod is down too",
    ],
)
def test_what_says_that_something_is_down_now_raises_the_alarm(content: str) -> None:
    """However it is put: still, since when, for whom."""
    assert read(content).is_alarm


@each_row(
    "content",
    [
        "when prod is down, who do we call?",
        "do we handle it if redis is down in production?",
        "what happens when the database is down?",
        "what if everything is broken after the migration?",
        "is there a runbook for a prod outage?",
        "is prod down for maintenance on Sunday?",
        "did we ever have data loss?",
        "how do we prevent data loss when the broker crashes?",
        "how do we handle an outage of redis?",
        "the page is down the hall",
        "the p99 of the site is down to 200ms",
        "we're down to two engineers",
        "the test fails for everyone on arm",
    ],
)
def test_what_speaks_of_a_case_raises_no_alarm(content: str) -> None:
    """A question about what would be wakes nobody."""
    assert not read(content).is_alarm


def test_a_realistic_mix_stays_under_the_health_target() -> None:
    """Of the corpus, mixed as a busy channel is, under 30% is actionable."""
    found = [read(text).classification for texts in CORPUS.values() for text in texts]
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
            assert own_words.is_only_emoji(own_words.visible_text(char)), hex(ord(char))
        elif char.isalnum() or char in own_words.MARKS:
            assert not own_words.is_only_emoji(char) or regex.match(r"[\p{So}\p{No}]", char), hex(ord(char))


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


@each_row(
    "firing, over",
    [
        (
            'ALARM: "prod-alb-5xx" in EU (Ireland)\nYour alarm has entered the ALARM state',
            'OK: "prod-alb-5xx" in EU (Ireland)\nYour alarm has entered the OK state',
        ),
        (
            "Triggered: [P2] p95 latency is high on service:ledger,env:prod",
            "Recovered: [P2] p95 latency is high on service:ledger,env:prod\nThe monitor was triggered by host:i-1",
        ),
        ("[Triggered on {host:w-1}] Job failures above normal", "[Recovered on {host:w-1}] Job failures above normal"),
        (
            ":red_circle: *Triggered* <https://a.pagerduty.com/1|#4821>: Login fails\n*Urgency:* high",
            ":large_green_circle: *Resolved* <https://a.pagerduty.com/1|#4821>: Login fails",
        ),
        ("Problem: Disk is full\nProblem started at 10:00:00 on 2026.11.03", "Resolved in 5m: Disk is full"),
        ("Down alert: https://shop.acme.com is DOWN.", "Up alert: https://shop.acme.com is back to normal."),
    ],
)
def test_the_notices_of_alerting_tools_are_heard_and_their_ends_are_not(firing: str, over: str) -> None:
    """They page only where the words of an alarm say so."""
    heard = read(firing)
    assert (heard.classification, heard.is_alarm) == ("actionable", False)
    assert read(over).classification == "ambient"


@each_row("text", ["OK: how do we rotate keys?", "resolved: it was dns, but why?"])
def test_a_question_behind_ok_is_one(text: str) -> None:
    """Only what asks nothing tells of the end of an alert."""
    assert read(text).classification == "actionable"
