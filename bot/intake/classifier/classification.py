"""Tier 0 (SPEC 3.2): classifies a message by rules, and by the score of scorer.py where the rules leave it open.

Pure: no I/O, no large model, no clock (the caller stamps `classified_at`). `evaluate_rules` returns a plain tuple,
which `triage classify` and the running bot share; `classify` returns a Classification.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from bot.domain.messages import Message, MessageType
from bot.intake.classifier import message_text
from bot.intake.classifier.rules import Matchers, Rules
from bot.intake.classifier.scorer import Contribution, Weights, features, is_short, words_of

if TYPE_CHECKING:
    from bot.domain.events import Classification, Event

__all__ = [
    "ACK_MAX_CHARS",
    "CONFIDENCE",
    "Reason",
    "RuleResult",
    "Rules",
    "asks_question",
    "classify",
    "evaluate_rules",
    "explain",
    "ngrams_of",
]

ACK_MAX_CHARS: Final = 30  # exclusive, mentions not counted
SMALLTALK_MAX_CHARS: Final = 60

# Of what a rule decides; the score decides its own. A message addressed to somebody else is below 0.5 in any class.
CONFIDENCE: Final[Mapping[str, float]] = MappingProxyType(
    {"mention": 0.99, "question": 0.8, "inflight": 0.7, "alarm": 0.75, "ack": 0.95, "ambient": 0.9, "chatter": 0.3}
)

_NEVER_WORK: Final = frozenset({MessageType.EDIT, MessageType.DELETE})
_MEMO_CHARS: Final = 200  # so that remembering costs a few megabytes at most
_MEMO_WORDS: Final = 40
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


class _Reading(NamedTuple):
    """What the words alone say; `probability` is None where the score had no say."""

    is_question: bool
    is_ack: bool
    is_alarm: bool
    is_addressed: bool
    probability: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Why a message got its class.

    Attributes:
        rule: the row of the table that named the class: mention, question, inflight, alarm, ack, ambient, or `edit`.
        probability: how likely the message wants an answer, None where a rule alone decided.
        threshold: the probability from which on this message counts as a question.
        ngrams: what moved the score most, the weightiest first; empty where a rule alone decided.
    """

    rule: str
    probability: float | None = None
    threshold: float | None = None
    ngrams: tuple[Contribution, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """Return the reason as the value of `why` in a record."""
        if self.probability is None:
            return {"rule": self.rule}
        ngrams = [each._asdict() for each in self.ngrams]
        return {"rule": self.rule, "probability": self.probability, "threshold": self.threshold, "ngrams": ngrams}


def classify(event: Event, rules: Rules, *, inflight: bool) -> Classification:
    """Return what the rules say of one event.

    Args:
        event: the message; an `edit` or `delete` is never actionable by itself and always ambient.
        rules: the team's settings.
        inflight: whether the event's thread has work under way.

    >>> from bot.domain.events import Event
    >>> at = "2025-01-01T00:00:00Z"
    >>> event = Event(team_id="T1", chat_id="C1", message_id="1.2", create_time=at, sender={"id": "U1"}, content="Why?")
    >>> classify(event, Rules(), inflight=False).classification
    'actionable'
    """
    from bot.domain.events import Classification  # here: `triage classify` starts without pydantic

    return Classification(**evaluate_rules(event, rules, inflight)._asdict(), classifier_version=rules.version)


def evaluate_rules(event: Event | Message, rules: Rules, inflight: bool) -> RuleResult:
    """Return the verdict on one event as a plain tuple; `classify` without the model."""
    return _evaluate(event, rules, inflight)[1]


def explain(event: Event | Message, rules: Rules, *, inflight: bool) -> Reason:
    """Return why `classify` says what it says of the same event.

    >>> from bot.domain.events import Event
    >>> at = "2025-01-01T00:00:00Z"
    >>> event = Event(team_id="T1", chat_id="C1", message_id="1.2", create_time=at, sender={"id": "U1"}, content="ok")
    >>> explain(event, Rules(), inflight=False).to_record()
    {'rule': 'ack'}
    """
    rule, _, found = _evaluate(event, rules, inflight)
    if event.msg_type in _NEVER_WORK:
        return Reason(rule="edit")
    if rule not in ("question", "ambient") or found.probability is None or rules.scorer is None:
        return Reason(rule=rule)
    ngrams = ngrams_of(event.content, rules)
    return Reason(
        rule=rule,
        probability=found.probability,
        threshold=rules.scorer.threshold,
        ngrams=tuple(rules.scorer.weights.why(ngrams)),
    )


def asks_question(content: str, rules: Rules) -> bool:
    """Whether the words alone ask or raise an alarm, whoever wrote them.

    >>> asks_question("Why?", Rules()), asks_question("deployed", Rules())
    (True, False)
    """
    found = _read(content, rules)
    return (found.is_question or found.is_alarm) and not found.is_ack


def is_alarm(content: str, rules: Rules) -> bool:
    """Whether the words alone raise an alarm, whoever wrote them.

    >>> is_alarm("prod is down!!", Rules()), is_alarm("deployed", Rules())
    (True, False)
    """
    seen = message_text.visible_text(content)
    return rules.matchers.alarms.are_in(message_text.own_words(seen)) and not _is_ack(seen, rules.matchers)


def ngrams_of(content: str, rules: Rules) -> frozenset[str]:
    """Return what the scorer sees of a message."""
    content = message_text.visible_text(content)
    text = message_text.own_words(content)
    return frozenset(features(words_of(content), asks=_asks(rules.matchers.kinds_in(text), text, rules.matchers)))


def _evaluate(event: Event | Message, rules: Rules, inflight: bool) -> tuple[str, RuleResult, _Reading]:
    content = event.content
    found = (_remember if len(content) <= _MEMO_CHARS else _read)(content, rules)
    mention = _is_mention(content, event.mentions, rules.bot_id)
    chatter = found.is_addressed and not mention
    muted = event.msg_type in _NEVER_WORK or (chatter and rules.skip_chatter)
    question, ack, alarm, _, probability = found
    if event.alert_state is not None:
        question, ack, alarm, muted = (
            event.alert_state == "firing",
            False,
            False,
            muted or event.alert_state != "firing",
        )
    return *_table(mention, question, ack, chatter, inflight, alarm, muted, probability), found


def _read(content: str, rules: Rules) -> _Reading:
    """Return what the words alone say."""
    matchers = rules.matchers
    content = message_text.visible_text(content)
    text = message_text.own_words(content)
    kinds = matchers.kinds_in(text)
    asks = _asks(kinds, text, matchers)
    ack = _is_ack(content, matchers)
    addressed = "@" in content and matchers.addressed.match(content) is not None
    alarm = matchers.alarms.are_in(text)
    probability = None
    if "own question" in kinds or ("alert" in kinds and "recovered" not in kinds):
        asks = True
    elif asks and _is_smalltalk(text, content, matchers):
        asks = False
    elif rules.scorer is not None and not ack and not alarm and _is_open(kinds, asks, text):
        words = words_of(content)
        if not (asks and is_short(words)):
            score = _remember_score if len(words) <= _MEMO_WORDS else _score
            probability = score(tuple(words), asks, rules.scorer.weights)
            asks = probability >= rules.scorer.threshold
    return _Reading(asks, ack, alarm, addressed, probability)


def _is_open(kinds: frozenset[str], asks: bool, text: str) -> bool:
    """Whether the score decides: there are words, and they do not tell of the end of an alert."""
    return (asks or "recovered" not in kinds) and any(map(str.isalnum, text))


_remember = lru_cache(maxsize=4096)(_read)  # acks, emoji and the notices of bots are said again and again


def _score(words: tuple[str, ...], asks: bool, weights: Weights) -> float:
    """Return how likely a message of these words wants an answer."""
    return round(weights.probability(features(words, asks=asks)), 2)


_remember_score = lru_cache(maxsize=2048)(_score)  # notices of bots differ in numbers, and any number is one word


def _asks(kinds: frozenset[str], text: str, matchers: Matchers) -> bool:
    """Tell whether the word lists or the marks call a text a question."""
    return "question" in kinds or _ends_asking(text, matchers) or message_text.opens_a_question(text)


@cache
def _table(
    mention: bool,
    question: bool,
    ack: bool,
    chatter: bool,
    inflight: bool,
    alarm: bool,
    muted: bool,
    probability: float | None,
) -> tuple[str, RuleResult]:
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
    if probability is not None and not chatter and not muted and rule in ("question", "ambient"):
        confidence = probability if rule == "question" else round(1 - probability, 2)
    return rule, RuleResult(mention, question, ack, chatter, inflight, alarm, outcome, confidence)


def _is_mention(content: str, mentions: Sequence[str], bot_id: str | None) -> bool:
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
    return closed or (len(tail) <= ACK_MAX_CHARS and re.fullmatch(matchers.thanks, tail) is not None)
