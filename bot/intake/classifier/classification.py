"""Tier 0: what a message is, by a few rules, and by the score of scorer.py where they find no question.

The score only adds: a message that ends in a question mark is a question whatever it scores. Pure: no I/O, no large
model, no clock (the caller stamps `classified_at`). `evaluate_rules` returns a plain tuple, which `triage classify` and
the running bot share; `classify` returns a Classification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from bot.domain.messages import Message, MessageType
from bot.intake.classifier import own_words
from bot.intake.classifier.rules import Matchers, Rules
from bot.intake.classifier.scorer import Contribution, Weights, features, words_of

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
    "is_alarm",
    "ngrams_of",
]

ACK_MAX_CHARS: Final = 30  # exclusive, mentions not counted
SMALLTALK_MAX_CHARS: Final = 60

# Of what a rule decides; the score decides its own. A message addressed to somebody else is below 0.5 in any class.
CONFIDENCE: Final[Mapping[str, float]] = MappingProxyType(
    {
        "mention": 0.99,
        "question": 0.8,
        "inflight": 0.7,
        "alarm": 0.75,
        "alert": 0.9,
        "ack": 0.95,
        "ambient": 0.9,
        "chatter": 0.3,
    }
)

_NEVER_WORK: Final = frozenset({MessageType.EDIT, MessageType.DELETE})
_FIRING: Final = "firing"
_MEMO_CHARS: Final = 200  # so that remembering costs a few megabytes at most
_MEMO_WORDS: Final = 40
_WITHOUT_MARKS: Final = str.maketrans(dict.fromkeys(own_words.MARKS + "¿", " "))


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

    is_question: bool = False
    is_smalltalk: bool = False
    is_ack: bool = False
    is_alarm: bool = False
    is_addressed: bool = False
    probability: float | None = None


_UNREAD: Final = _Reading()
"""Of an alert no words are read: its state decides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Why a message got its class.

    Attributes:
        rule: the row that named the class: mention, question, inflight, alarm, alert, ack, ambient, or `edit`.
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
    if rule not in ("question", "ambient") or found.probability is None or rules.weights is None:
        return Reason(rule=rule)
    ngrams = tuple(rules.weights.why(ngrams_of(event.content)))
    return Reason(rule=rule, probability=found.probability, threshold=rules.threshold, ngrams=ngrams)


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
    found = _read(content, rules)
    return found.is_alarm and not found.is_ack


def ngrams_of(content: str) -> frozenset[str]:
    """Return what the scorer sees of a message."""
    return frozenset(features(words_of(own_words.visible_text(content))))


def _evaluate(event: Event | Message, rules: Rules, inflight: bool) -> tuple[str, RuleResult, _Reading]:
    content, state = event.content, event.alert_state
    found = _UNREAD if state else (_remember if len(content) <= _MEMO_CHARS else _read)(content, rules)
    mention = _is_mention(content, event.mentions, rules.bot_id)
    chatter = found.is_addressed and not mention
    muted = event.msg_type in _NEVER_WORK or (chatter and rules.skip_chatter)
    firing, quiet = state == _FIRING, state not in (None, _FIRING)
    question = found.is_question or (found.is_smalltalk and (mention or inflight))
    flags = mention, question, found.is_ack, chatter, inflight, found.is_alarm
    return *_table(*flags, firing, muted or (quiet and not mention), found.probability), found


def _read(content: str, rules: Rules) -> _Reading:
    """Return what the words alone say."""
    matchers, weights = rules.matchers, rules.weights
    content = own_words.visible_text(content)
    text = own_words.own_words(content)
    ack, alarm = _is_ack(content, matchers), matchers.alarm.is_in(text)
    asks, probability = _asks(text, content, matchers), None
    smalltalk = asks and _is_smalltalk(content, matchers)
    if not (asks or ack or alarm) and weights is not None and any(map(str.isalnum, text)):
        words = tuple(words_of(content))
        probability = (_remember_score if len(words) <= _MEMO_WORDS else _score)(words, weights)
        asks = probability >= (rules.threshold or weights.threshold)
    addressed = "@" in content and matchers.addressed.match(content) is not None
    return _Reading(asks and not smalltalk, smalltalk, ack, alarm, addressed, probability)


_remember = lru_cache(maxsize=4096)(_read)  # acks, emoji and the notices of bots are said again and again


def _score(words: tuple[str, ...], weights: Weights) -> float:
    """Return how likely a message of these words wants an answer."""
    return round(weights.probability(features(words)), 2)


_remember_score = lru_cache(maxsize=2048)(_score)  # notices of bots differ in numbers, and any number is one word


def _asks(text: str, content: str, matchers: Matchers) -> bool:
    """Tell whether own words end in a question mark or hold a question phrase, or a bare stack trace was posted."""
    if _ends_asking(text, matchers) or own_words.opens_a_question(text) or matchers.question.is_in(text):
        return True
    return "`" in content and not any(map(str.isalnum, text)) and _holds_trace(content)


def _holds_trace(content: str) -> bool:
    from bot.domain.search.stack_frames import frames_in  # here: few messages are nothing but code

    return bool(frames_in(content))


@cache
def _table(
    mention: bool,
    question: bool,
    ack: bool,
    chatter: bool,
    inflight: bool,
    alarm: bool,
    firing: bool,
    muted: bool,
    probability: float | None,
) -> tuple[str, RuleResult]:
    """Return the first row that holds: it names the class."""
    rows: tuple[tuple[bool, str, Literal["actionable", "ack", "ambient"]], ...] = (
        (muted, "ambient", "ambient"),
        (mention, "mention", "actionable"),
        (question and not ack, "question", "actionable"),
        (inflight and not ack, "inflight", "actionable"),
        (alarm and not ack, "alarm", "actionable"),
        (firing, "alert", "actionable"),
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
    spoken = own_words.without_code(content)
    return f"{token}>" in spoken or f"{token}|" in spoken


def _is_ack(content: str, matchers: Matchers) -> bool:
    if len(content) >= ACK_MAX_CHARS and content[0].isalpha() and "<" not in content:
        return False
    bare = own_words.without_names(content)
    return (len(bare) < ACK_MAX_CHARS and matchers.ack.is_in(bare.lower())) or own_words.is_only_emoji(bare)


def _is_smalltalk(content: str, matchers: Matchers) -> bool:
    """Tell whether a question is small talk as a whole; what holds code, a path, an identifier or a name is not."""
    if len(content) >= SMALLTALK_MAX_CHARS or own_words.is_technical(content):
        return False
    said = own_words.channels_named(content).lower().translate(_WITHOUT_MARKS)
    return matchers.smalltalk.is_in(said)


def _ends_asking(text: str, matchers: Matchers) -> bool:
    """Tell whether the text ends with a question mark, once closings such as emoji and "Thanks!" are set aside."""
    last = text.rfind("?") if text.isascii() else max(map(text.rfind, own_words.MARKS))
    return last >= 0 and matchers.closing.is_in(text[last + 1 :])
