"""Tier 0: what a message is, by a few rules, and by the score of scorer.py where they find no question.

The score only adds: a message that ends in a question mark is a question whatever it scores. Pure: no I/O, no large
model, no clock (the caller stamps `classified_at`).

`Rules`: a team's settings of the classifier, with their compiled patterns and the version that names them.

Reads the language packs. Every pattern is RE2's. Equal settings, packs and weights give equal versions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from bot.domain.events import Classification, Event, MessageType
from bot.domain.languages.packs import LANGUAGES, alarm_pattern, at_clause_start, either, entries, pack, whole_words
from bot.domain.search.stack_frames import frames_in
from bot.domain.text.linear_patterns import LinearPattern
from bot.intake.classifier import scorer
from bot.intake.classifier.scorer import GAP, MARKS, Contribution, Weights, features, shipped_weights, words_of

RULES_VERSION: Final = 8  # raised by hand whenever the classifier decides otherwise than before

_ELSEWHERE: Final = r"(?:<@\w+(?:\|[^<>]*)?>|@(?!(?:here|channel|everyone)\b)[\w-]+(?=[\s,:]|$))"
_OPENED: Final = r"(?:^|[^\pL\pN_])¿ ?[\pL\pN_]"
"""A `¿` that begins a sentence, closed or not; inside a word it is a broken apostrophe."""

_BRACES: Final = re.compile(r"\\\{([^{}]*)\\\}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Matchers:
    """The compiled patterns, for lower-case text; `ack` and `smalltalk` match only a whole one."""

    question: LinearPattern
    alarm: LinearPattern
    ack: LinearPattern
    smalltalk: LinearPattern
    addressed: re.Pattern[str]


@dataclass(frozen=True, kw_only=True, eq=False)
class Rules:
    """What a team may set about the classifier; `Rules()` is every language pack and no bot.

    Attributes:
        bot_id: Slack's user id of the bot, None when unknown (then nothing counts as a mention of it).
        ack_patterns: RE2 patterns added to those of the packs, lower case; one must cover the whole message, politeness
            and emoji aside, unless it carries `^` or `$` itself.
        question_keywords: phrases added to those of the packs; `{a,b}` stands for either, a leading `^` for "only where
            a clause starts".
        alarm_keywords: the same, for alarms.
        languages: whose packs are used; an empty one leaves only question marks and the team's own words.
        skip_chatter: whether a message addressed to somebody else turns ambient.
        threshold: the probability, between 0 and 1, from which on a message that no rule decides is a question; None
            takes that of the weights. Lower hears more and wakes for more noise.
    """

    bot_id: str | None = None
    ack_patterns: Sequence[str] = ()
    question_keywords: Sequence[str] = ()
    alarm_keywords: Sequence[str] = ()
    languages: Sequence[str] = LANGUAGES
    skip_chatter: bool = False
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.weights and self.threshold is None:
            object.__setattr__(self, "threshold", self.weights.threshold)

    @cached_property
    def weights(self) -> Weights | None:
        """The learned part; None where there are no languages."""
        return shipped_weights() if self.languages else None

    @cached_property
    def matchers(self) -> Matchers:
        """The patterns of the packs and of the team."""
        own = tuple(self.ack_patterns), tuple(self.question_keywords), tuple(self.alarm_keywords)
        return _compile_matchers(tuple(self.languages), *own)

    @cached_property
    def version(self) -> str:
        """What names the rules and the weights: `8-<rules>-<weights>`, without the last where none are used."""
        packs = [pack(language) for language in sorted(self.languages)]
        own = [self.ack_patterns, self.question_keywords, self.alarm_keywords, self.skip_chatter]
        digest = hashlib.sha256(json.dumps([own, packs], ensure_ascii=False).encode())
        version = f"{RULES_VERSION}-{digest.hexdigest()[:8]}"
        if self.weights is None:
            return version
        changed = "" if self.threshold == self.weights.threshold else f"@{self.threshold:g}"
        return f"{version}-{self.weights.version}{changed}"


@lru_cache(maxsize=16)
def _compile_matchers(
    languages: tuple[str, ...], acks: tuple[str, ...], questions: tuple[str, ...], alarms: tuple[str, ...]
) -> Matchers:
    """Return the patterns of the packs of some languages plus a team's own words."""
    anchored = [pattern for pattern in acks if "^" in pattern or "$" in pattern]
    thanks = entries("thanks", languages)
    said = [*(pattern for pattern in acks if pattern not in anchored), *thanks, *entries("acks", languages)]
    marked = rf"[{MARKS}](?:{GAP}*|{_said(thanks)})$"
    asked = at_clause_start(entries("questions", languages), languages)
    greeting = "|".join(["(?!)", *entries("greetings", languages)])
    return Matchers(
        question=LinearPattern("|".join([marked, _OPENED, asked, *_keywords(questions, languages)])),
        alarm=LinearPattern("|".join([alarm_pattern(languages), *_keywords(alarms, languages)])),
        ack=LinearPattern("|".join([_whole(said), *anchored])),
        smalltalk=LinearPattern(_whole([*said, *entries("smalltalk", languages)]) if languages else either([])),
        addressed=re.compile(rf"\s*+(?:(?:{greeting})[\s,、]{{0,3}}+)?{_ELSEWHERE}", re.IGNORECASE),
    )


def _whole(patterns: Iterable[str]) -> str:
    """Return a pattern for a text of nothing but some patterns, with blanks, punctuation or emoji between them."""
    return f"^{_said(patterns)}$"


def _said(patterns: Iterable[str]) -> str:
    return f"{GAP}*(?:{either(patterns)}(?:{GAP}+|$))+"


def _keywords(phrases: Iterable[str], languages: Sequence[str]) -> Iterator[str]:
    """Yield a pattern for each phrase of a team, found as whole words."""
    for phrase in phrases:
        escaped = re.escape(" ".join(phrase.removeprefix("^").lower().split())).replace(r"\ ", " ")
        pattern = _BRACES.sub(lambda found: either(found[1].split(",")), escaped)
        yield at_clause_start([pattern], languages) if phrase.startswith("^") else whole_words(pattern)


ACK_MAX_CHARS: Final = 30  # exclusive, mentions not counted
SMALLTALK_MAX_CHARS: Final = 60
_MEMO_CHARS: Final = 200  # so that remembering costs a few megabytes at most

_NEVER_WORK: Final = frozenset({MessageType.EDIT, MessageType.DELETE})
_FIRING: Final = "firing"
_CHATTER_CONFIDENCE: Final = 0.3  # below 0.5 in any class
_WITHOUT_MARKS: Final = str.maketrans(dict.fromkeys(scorer.MARKS + "¿", " "))

Outcome = Literal["actionable", "ack", "ambient"]


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


class Reason(BaseModel):
    """Why a message got its class; what was set of it is `why` of a record.

    Attributes:
        rule: the row that named the class: mention, question, inflight, alarm, alert, ack, ambient, or `edit`.
        probability: how likely the message wants an answer, None where a rule alone decided.
        threshold: the probability from which on this message counts as a question.
        ngrams: what moved the score most, the weightiest first; empty where a rule alone decided.
    """

    model_config = ConfigDict(frozen=True)

    rule: str
    probability: float | None = None
    threshold: float | None = None
    ngrams: tuple[Contribution, ...] = ()


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
    return _judge(event, rules, inflight)[1]


def explain(event: Event, rules: Rules, *, inflight: bool) -> Reason:
    """Return why `classify` says what it says of the same event.

    >>> at = "2025-01-01T00:00:00Z"
    >>> event = Event(team_id="T1", chat_id="C1", message_id="1.2", create_time=at, sender={"id": "U1"}, content="ok")
    >>> explain(event, Rules(), inflight=False).model_dump(exclude_unset=True)
    {'rule': 'ack'}
    """
    rule, _, found = _judge(event, rules, inflight)
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
    return frozenset(features(words_of(scorer.visible_text(content))))


def _judge(event: Event, rules: Rules, inflight: bool) -> tuple[str, Classification, _Reading]:
    """Return the first row of the table that holds, the verdict, and what the words alone say."""
    content, state = event.content, event.alert_state
    found = _UNREAD if state else (_remember if len(content) <= _MEMO_CHARS else _read)(content, rules)
    mention = _is_mention(event, rules.bot_id)
    chatter = found.is_addressed and not mention
    question = found.is_question or (found.is_smalltalk and (mention or inflight))
    silent = (chatter and rules.skip_chatter) or (state not in (None, _FIRING) and not mention)
    rows: tuple[tuple[bool, str, Outcome, float], ...] = (
        (event.msg_type in _NEVER_WORK, "edit", "ambient", 0.9),
        (silent, "ambient", "ambient", 0.9),
        (mention, "mention", "actionable", 0.99),
        (question and not found.is_ack, "question", "actionable", found.probability or 0.8),
        (inflight and not found.is_ack, "inflight", "actionable", 0.7),
        (found.is_alarm and not found.is_ack, "alarm", "actionable", 0.75),
        (state == _FIRING, "alert", "actionable", 0.9),
        (found.is_ack, "ack", "ack", 0.95),
        (True, "ambient", "ambient", 0.9 if found.probability is None else round(1 - found.probability, 2)),
    )
    rule, outcome, confidence = next((rule, outcome, confidence) for holds, rule, outcome, confidence in rows if holds)
    verdict = Classification(
        is_bot_mention=mention,
        is_question=question,
        is_ack_or_emoji=found.is_ack,
        is_internal_chatter=chatter,
        mentions_thread_with_inflight=inflight,
        is_alarm=found.is_alarm,
        classification=outcome,
        classifier_confidence=_CHATTER_CONFIDENCE if chatter else confidence,
        classifier_version=rules.version,
    )
    return rule, verdict, found


def _read(content: str, rules: Rules) -> _Reading:
    """Return what the words alone say."""
    matchers, weights = rules.matchers, rules.weights
    content = scorer.visible_text(content)
    said = scorer.own_words(content)
    has_words = any(map(str.isalnum, said))
    ack, alarm, probability = _is_ack(content, matchers), matchers.alarm.is_in(said), None
    # who posts nothing but a stack trace wants to know what went wrong
    asks = matchers.question.is_in(said) or ("`" in content and not has_words and bool(frames_in(content)))
    smalltalk = asks and _is_smalltalk(content, matchers)
    if not (asks or ack or alarm) and weights is not None and has_words:
        probability = _score(tuple(words_of(content)), weights)
        asks = probability >= (rules.threshold or weights.threshold)
    addressed = matchers.addressed.match(content) is not None
    return _Reading(asks and not smalltalk, smalltalk, ack, alarm, addressed, probability)


_remember = lru_cache(maxsize=4096)(_read)  # acks, emoji and notices are said again and again


@lru_cache(maxsize=512)  # notices of bots differ in numbers, and any number is one word
def _score(words: tuple[str, ...], weights: Weights) -> float:
    """Return how likely a message of these words wants an answer."""
    return round(weights.probability(features(words)), 2)


def _is_mention(event: Event, bot_id: str | None) -> bool:
    """Tell whether the sender calls the bot, in a list of mentions or in words of his own; of others' words none do."""
    if bot_id is None:
        return False
    return bot_id in event.mentions or (bot_id in event.content and bot_id in scorer.mentioned_ids(event.content))


def _is_ack(content: str, matchers: Matchers) -> bool:
    bare = scorer.without_names(content)
    return (len(bare) < ACK_MAX_CHARS and matchers.ack.is_in(bare.lower())) or scorer.is_only_emoji(bare)


def _is_smalltalk(content: str, matchers: Matchers) -> bool:
    """Tell whether a question is small talk as a whole; what holds code, a path, an identifier or a name is not."""
    said = scorer.chatted(content) if len(content) < SMALLTALK_MAX_CHARS else None
    return said is not None and matchers.smalltalk.is_in(said.translate(_WITHOUT_MARKS))
