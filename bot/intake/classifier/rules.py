"""`Rules`: a team's settings of the classifier, with their compiled patterns and the version that names them.

Reads the shipped word lists. Equal word lists give equal versions, different ones do not.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from bot.domain.text.linear_patterns import LinearPattern
from bot.domain.text.outages import Outages
from bot.errors import ConfigError
from bot.intake.classifier import message_text
from bot.intake.classifier.keywords import LANGUAGES, Keywords, shipped, words
from bot.intake.classifier.scorer import Weights, shipped_weights

RULES_VERSION: Final = 7  # raised by hand whenever classifier, prose or lexicon decide otherwise than before

_GAP: Final = rf"(?>(?:[\s,.!~…、。！，;:&()/-]|{message_text.PICTURE})+)"
_ELSEWHERE: Final = r"(?:<@\w+(?:\|[^<>]*)?>|@(?!(?:here|channel|everyone)\b)[\w-]+(?=[\s,:]|$))"


@dataclass(frozen=True, kw_only=True, eq=False)
class Matchers:
    """The compiled patterns; `ack`, `thanks` and `smalltalk` are matched against a whole text."""

    kinds_in: Callable[[str], frozenset[str]]
    """Returns the lists of keywords that have one in a text, see `Keywords.kinds_in`."""
    alarms: Outages
    ack: re.Pattern[str]
    anchored_ack: re.Pattern[str]
    thanks: str
    """A pattern that few streams need, so it is compiled when it is used."""
    smalltalk: LinearPattern
    addressed: re.Pattern[str]


@dataclass(frozen=True, kw_only=True)
class Scorer:
    """The learned part: its weights, and the probability from which on a message counts as a question."""

    weights: Weights
    threshold: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Rules:
    """What a team may set about the classifier; `Rules()` is every shipped language and no bot.

    Attributes:
        bot_id: Slack's user id of the bot, None when unknown (then nothing counts as a mention of it).
        ack_patterns: regular expressions added to the shipped ones, lower case; one must cover the whole message,
            politeness and emoji aside, unless it carries `^` or `$` itself.
        question_keywords: literal phrases added to the shipped ones, see `bot.intake.lexicon`.
        alarm_keywords: the same, for alarms.
        languages: whose shipped lists are used; an empty one leaves only the team's own words.
        skip_chatter: whether a message addressed to somebody else turns ambient.
        threshold: the probability, between 0 and 1, from which on a message that no rule decides is a question; None
            takes that of the weights. Lower hears more and wakes for more noise.
        scorer: the learned part; None where there are no languages, then the rules alone decide.

    Raises:
        ConfigError: a value is no list of texts, a language is not shipped, a pattern does not compile, or the
            threshold is not between 0 and 1.
    """

    bot_id: str | None = None
    ack_patterns: Sequence[str] = ()
    question_keywords: Sequence[str] = ()
    alarm_keywords: Sequence[str] = ()
    languages: Sequence[str] = LANGUAGES
    skip_chatter: bool = False
    threshold: float | None = None
    matchers: Matchers = field(init=False, repr=False)
    scorer: Scorer | None = field(init=False, repr=False)
    version: str = field(init=False)

    def __post_init__(self) -> None:
        for name in ("ack_patterns", "question_keywords", "alarm_keywords", "languages"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        languages, acks = tuple(self.languages), tuple(self.ack_patterns)
        lists = languages, acks, tuple(self.question_keywords), tuple(self.alarm_keywords)
        object.__setattr__(self, "matchers", _compile_matchers(*lists))
        scorer = _scorer(self.languages, self.threshold)
        object.__setattr__(self, "scorer", scorer)
        object.__setattr__(self, "version", _version(*lists, self.skip_chatter, scorer=scorer))


def _scorer(languages: Sequence[str], threshold: float | None) -> Scorer | None:
    """Return the learned part."""
    if threshold is not None and not 0 < threshold < 1:
        raise ConfigError(f"classifier.threshold: expected a number between 0 and 1, got {threshold!r}")
    if not languages:
        return None
    weights = shipped_weights()
    return Scorer(weights=weights, threshold=threshold or weights.threshold)


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ConfigError(f"classifier.{name}: expected a list of texts, got {value!r}")
    texts = tuple(value)
    if not all(isinstance(text, str) and text.strip(" ^") for text in texts):
        raise ConfigError(f"classifier.{name}: every entry must be a text that is not empty")
    return texts


@lru_cache(maxsize=16)
def _compile_matchers(
    languages: tuple[str, ...], acks: tuple[str, ...], questions: tuple[str, ...], alarms: tuple[str, ...]
) -> Matchers:
    """Return the patterns of the shipped lists of some languages plus a team's own words."""
    for pattern in acks:
        _check(pattern)
    anchored = [pattern for pattern in acks if "^" in pattern or "$" in pattern]
    thanks = shipped(languages, "thanks")
    lists = {
        "question": shipped(languages, "question"),
        "own question": questions,
        "alarm": (*shipped(languages, "alarm"), *alarms),
        "alert": shipped(languages, "alert"),
        "recovered": shipped(languages, "recovered"),
        "except": shipped(languages, "except"),
    }
    kinds_in = lru_cache(maxsize=1)(Keywords(lists).kinds_in)  # a message is asked about twice in a row
    return Matchers(
        kinds_in=kinds_in,
        alarms=Outages(languages, kinds_in),
        ack=re.compile(_chain([*(set(acks) - set(anchored)), *thanks, *shipped(languages, "ack")])),
        anchored_ack=re.compile(_either(anchored)),
        thanks=_chain(thanks),
        smalltalk=_smalltalk(shipped(languages, "smalltalk")),
        addressed=_addressed(shipped(languages, "greeting")),
    )


def _check(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"classifier.ack_patterns: {pattern!r} is not a regular expression: {error}") from error


def _chain(patterns: Iterable[str]) -> str:
    """Return a pattern for one or more of the patterns with spaces, punctuation or emoji between them."""
    one = _either(patterns)
    return rf"(?:{_GAP})?(?:(?:{one})(?:{_GAP}|\Z))+"


def _smalltalk(patterns: Iterable[str]) -> LinearPattern:
    """Return a pattern for nothing but some of the patterns; RE2, for they leave it many ways to fail."""
    either = "|".join(f"(?:{pattern})" for pattern in patterns) or r"\b\B"
    return LinearPattern(rf"^[\s,.!]*(?:(?:{either})(?:[\s,.!]+|$))+$")


def _either(patterns: Iterable[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns) or r"(?!)"


def _addressed(greetings: Sequence[str]) -> re.Pattern[str]:
    greeting = "|".join(map(re.escape, greetings)) or "(?!)"
    return re.compile(rf"\s*+(?:(?:{greeting})[\s,、]{{0,3}}+)?{_ELSEWHERE}", re.IGNORECASE)


def _version(*parts: object, scorer: Scorer | None) -> str:
    """Return what names the rules and the weights: `4-<rules>-<weights>`, without the last where there is no score."""
    languages = parts[0]
    assert isinstance(languages, tuple)
    lists = [sorted(words(language).items()) for language in sorted(languages)]
    digest = hashlib.sha256(json.dumps([parts[1:], lists], ensure_ascii=False).encode())
    rules = f"{RULES_VERSION}-{digest.hexdigest()[:8]}"
    if scorer is None:
        return rules
    changed = "" if scorer.threshold == scorer.weights.threshold else f"@{scorer.threshold:g}"
    return f"{rules}-{scorer.weights.version}{changed}"
