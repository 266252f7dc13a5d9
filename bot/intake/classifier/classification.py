"""Tier 0: what plain rules say of a message, before any model is asked.

Pure: no model, no I/O, no clock (the caller stamps `classified_at`). `evaluate_rules` returns a plain tuple, so that
a pipe over a hundred thousand lines and the running bot share one set of rules; `classify` is the same for the
journals. Confidence is a property of the rule that fired, see CONFIDENCE. Source: SPEC 3.2, the table in order.

Tells a message after which nobody needs an answer any more: "never mind", "found it", "that worked, thanks".

Pure rules over the word lists, beside the classifier and without a say in its table. A question is never one, nor is
thanks in advance. What is missed costs nothing: the message is shown on the card all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from bot.domain.events import Classification, Event, MessageType
from bot.intake.classifier import message_text
from bot.intake.classifier.keywords import Keywords, shipped
from bot.intake.classifier.rules import Matchers, Rules

__all__ = ["ACK_MAX_CHARS", "CONFIDENCE", "RuleResult", "Rules", "asks_question", "classify", "evaluate_rules"]

ACK_MAX_CHARS: Final = 30  # exclusive, mentions not counted
SMALLTALK_MAX_CHARS: Final = 60

# A mention is unmistakable, a phrase only a hint; a message addressed to somebody else is below 0.5 whatever its class.
CONFIDENCE: Final[Mapping[str, float]] = MappingProxyType(
    {"mention": 0.99, "question": 0.8, "inflight": 0.7, "alarm": 0.75, "ack": 0.95, "ambient": 0.9, "chatter": 0.3}
)

_NEVER_WORK: Final = frozenset({MessageType.EDIT, MessageType.DELETE})
_MEMO_CHARS: Final = 200  # so that remembering costs a few megabytes at most
_MARKS: Final = tuple(message_text.MARKS)
_WITHOUT_MARKS: Final = str.maketrans(dict.fromkeys(message_text.MARKS, " "))


class RuleResult(NamedTuple):
    """The fields of a Classification that the rules decide, in its order."""

    is_bot_mention: bool
    is_question: bool
    is_ack_or_emoji: bool
    is_internal_chatter: bool
    mentions_thread_with_inflight: bool
    is_alarm: bool
    classification: Literal["actionable", "ack", "ambient"]
    classifier_confidence: float


def classify(event: Event, rules: Rules, *, inflight: bool) -> Classification:
    """Return what the rules say of one event.

    Args:
        event: the message; an `edit` or `delete` is never actionable by itself and always ambient.
        rules: the team's settings.
        inflight: whether the event's thread has work under way.

    >>> at = "2025-01-01T00:00:00Z"
    >>> event = Event(team_id="T1", chat_id="C1", message_id="1.2", create_time=at, sender={"id": "U1"}, content="Why?")
    >>> classify(event, Rules(), inflight=False).classification
    'actionable'
    """
    return Classification(**evaluate_rules(event, rules, inflight)._asdict(), classifier_version=rules.version)


def asks_question(content: str, rules: Rules) -> bool:
    """Whether the words alone ask or raise an alarm, whoever wrote them.

    >>> asks_question("Why?", Rules()), asks_question("deployed", Rules())
    (True, False)
    """
    question, ack, alarm, _ = _read(content, rules.matchers)
    return (question or alarm) and not ack


def is_alarm(content: str, rules: Rules) -> bool:
    """Whether the words alone raise an alarm, whoever wrote them.

    >>> is_alarm("prod is down!!", Rules()), is_alarm("deployed", Rules())
    (True, False)
    """
    _, ack, alarm, _ = _read(content, rules.matchers)
    return alarm and not ack


def evaluate_rules(event: Event, rules: Rules, inflight: bool) -> RuleResult:
    """Return the verdict on one event as a plain tuple; `classify` without the model."""
    content = event.content
    read = _remember if len(content) <= _MEMO_CHARS else _read
    question, ack, alarm, addressed = read(content, rules.matchers)
    mention = _is_mention(content, event.mentions, rules.bot_id)
    chatter = addressed and not mention
    muted = event.msg_type in _NEVER_WORK or (chatter and rules.skip_chatter)
    return _table(mention, question, ack, chatter, inflight, alarm, muted)


def _read(content: str, matchers: Matchers) -> tuple[bool, bool, bool, bool]:
    """Return what the words alone say: question, ack, alarm, addressed to somebody."""
    content = message_text.visible_text(content)
    text = message_text.own_words(content)
    kinds = matchers.keywords.kinds_in(text)
    question = "question" in kinds or _ends_asking(text, matchers) or message_text.opens_a_question(text)
    question = question and not _is_smalltalk(text, content, matchers)
    addressed = "@" in content and matchers.addressed.match(content) is not None
    alarm = matchers.alarms.are_in(text, has_phrase="alarm" in kinds)
    return question, _is_ack(content, matchers), alarm, addressed


_remember = lru_cache(maxsize=4096)(_read)  # acks, emoji and the notices of bots are said again and again


@cache
def _table(
    mention: bool, question: bool, ack: bool, chatter: bool, inflight: bool, alarm: bool, muted: bool
) -> RuleResult:
    """Apply the table of SPEC 3.2: the first row that holds names the class."""
    rows: tuple[tuple[bool, str, Literal["actionable", "ack", "ambient"]], ...] = (
        (muted, "ambient", "ambient"),
        (mention, "mention", "actionable"),
        (question and not ack, "question", "actionable"),
        (inflight and not ack, "inflight", "actionable"),
        (alarm and not ack, "alarm", "actionable"),
        (ack, "ack", "ack"),
        (True, "ambient", "ambient"),
    )
    rule, outcome = next((rule, outcome) for holds, rule, outcome in rows if holds)
    confidence = CONFIDENCE["chatter" if chatter else rule]
    return RuleResult(mention, question, ack, chatter, inflight, alarm, outcome, confidence)


def _is_mention(content: str, mentions: tuple[str, ...], bot_id: str | None) -> bool:
    if not bot_id:
        return False
    if bot_id in mentions:
        return True
    token = f"<@{bot_id}"
    if token not in content:
        return False
    spoken = message_text.without_code(content)
    return f"{token}>" in spoken or f"{token}|" in spoken


def _is_ack(content: str, matchers: Matchers) -> bool:
    if len(content) >= ACK_MAX_CHARS and content[0].isalpha() and "<" not in content:
        return False
    bare = message_text.without_names(content)
    if len(bare) < ACK_MAX_CHARS:
        core = message_text.without_trailer(bare.lower())
        if matchers.ack.fullmatch(core) or matchers.anchored_ack.search(core):
            return True
    return message_text.is_only_emoji(bare)


def _is_smalltalk(text: str, content: str, matchers: Matchers) -> bool:
    """Tell whether a question is a word of surprise or about lunch; what holds code, a link or a name is not."""
    if len(content) >= SMALLTALK_MAX_CHARS or "`" in content or "<" in content:
        return False
    words = message_text.without_trailer(text.translate(_WITHOUT_MARKS))
    return matchers.smalltalk.is_in(words.lstrip(message_text.CLOSERS))


def _ends_asking(text: str, matchers: Matchers) -> bool:
    """Tell whether the text ends with a question mark, once closings such as emoji and "Thanks!" are set aside."""
    last = text.rfind("?") if text.isascii() else max(map(text.rfind, _MARKS))
    if last < 0:
        return False
    tail = text[last + 1 :]
    closed = message_text.without_trailer(tail) == "" or 0 <= text.find("¿") < last
    return closed or (len(tail) <= ACK_MAX_CHARS and matchers.thanks.fullmatch(tail) is not None)


MAX_CHARS: Final = 300
MAX_THANKS_CHARS: Final = 60


def says_settled(content: str, rules: Rules) -> bool:
    """Return whether a message that is no question says that its writer has what they need.

    >>> says_settled("never mind, found it", Rules()), says_settled("thanks, but it still fails", Rules())
    (True, False)
    """
    seen = message_text.visible_text(content)
    words = message_text.own_words(seen)
    if len(seen) > MAX_CHARS:
        return False
    kinds = _keywords(tuple(rules.languages)).kinds_in(words)
    return "unsettled" not in kinds and ("settled" in kinds or _is_thanks(seen, rules.matchers))


def _is_thanks(seen: str, matchers: Matchers) -> bool:
    """Whether a short message is nothing but thanks, politeness aside."""
    core = message_text.without_trailer(message_text.without_names(seen).lower())
    if len(core) > MAX_THANKS_CHARS or not matchers.ack.fullmatch(core):
        return False
    return _inside(matchers.thanks.pattern).search(core) is not None


@lru_cache(maxsize=16)
def _keywords(languages: tuple[str, ...]) -> Keywords:
    return Keywords({kind: shipped(languages, kind) for kind in ("settled", "unsettled")})


@lru_cache(maxsize=16)
def _inside(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})")
