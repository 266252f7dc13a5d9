"""`Rules`: a team's settings of the classifier, with their compiled patterns and the version that names them.

Reads the language packs. Every pattern is RE2's. Equal settings, packs and weights give equal versions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import re2

from bot.domain.languages.packs import LANGUAGES, alarm_pattern, at_clause_start, either, entries, pack, whole_words
from bot.domain.text.linear_patterns import LinearPattern
from bot.errors import ConfigError
from bot.intake.classifier.own_words import GAP
from bot.intake.classifier.scorer import Weights, shipped_weights

RULES_VERSION: Final = 8  # raised by hand whenever the classifier decides otherwise than before

_ELSEWHERE: Final = r"(?:<@\w+(?:\|[^<>]*)?>|@(?!(?:here|channel|everyone)\b)[\w-]+(?=[\s,:]|$))"
_BRACES: Final = re.compile(r"\\\{([^{}]*)\\\}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Matchers:
    """The compiled patterns, for lower-case text; `ack`, `closing` and `smalltalk` match only a whole one."""

    question: LinearPattern
    alarm: LinearPattern
    ack: LinearPattern
    closing: LinearPattern
    """What may stand behind a question mark."""
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
        weights: the learned part; None where there are no languages.

    Raises:
        ConfigError: a value is no list of texts, a language has no pack, a pattern is not RE2's, or the threshold is
            not between 0 and 1.
    """

    bot_id: str | None = None
    ack_patterns: Sequence[str] = ()
    question_keywords: Sequence[str] = ()
    alarm_keywords: Sequence[str] = ()
    languages: Sequence[str] = LANGUAGES
    skip_chatter: bool = False
    threshold: float | None = None
    matchers: Matchers = field(init=False, repr=False)
    weights: Weights | None = field(init=False, repr=False)
    version: str = field(init=False)

    def __post_init__(self) -> None:
        for name in ("ack_patterns", "question_keywords", "alarm_keywords", "languages"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        if unknown := [each for each in self.languages if each not in LANGUAGES]:
            raise ConfigError(f"classifier.languages: no pack for {unknown[0]!r}; choose from {', '.join(LANGUAGES)}")
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise ConfigError(f"classifier.threshold: expected a number between 0 and 1, got {self.threshold!r}")
        own = tuple(self.ack_patterns), tuple(self.question_keywords), tuple(self.alarm_keywords)
        object.__setattr__(self, "matchers", _compile_matchers(tuple(self.languages), *own))
        object.__setattr__(self, "weights", shipped_weights() if self.languages else None)
        if self.weights and self.threshold is None:
            object.__setattr__(self, "threshold", self.weights.threshold)
        object.__setattr__(self, "version", self._version())

    def _version(self) -> str:
        """Return what names the rules and the weights: `8-<rules>-<weights>`, without the last where none are used."""
        packs = [pack(language) for language in sorted(self.languages)]
        own = [self.ack_patterns, self.question_keywords, self.alarm_keywords, self.skip_chatter]
        digest = hashlib.sha256(json.dumps([own, packs], ensure_ascii=False).encode())
        version = f"{RULES_VERSION}-{digest.hexdigest()[:8]}"
        if self.weights is None:
            return version
        changed = "" if self.threshold == self.weights.threshold else f"@{self.threshold:g}"
        return f"{version}-{self.weights.version}{changed}"


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
    """Return the patterns of the packs of some languages plus a team's own words."""
    for pattern in acks:
        _check(pattern)
    anchored = [pattern for pattern in acks if "^" in pattern or "$" in pattern]
    thanks = entries("thanks", languages)
    said = [*(pattern for pattern in acks if pattern not in anchored), *thanks, *entries("acks", languages)]
    asked = at_clause_start(entries("questions", languages), languages)
    greeting = "|".join(["(?!)", *entries("greetings", languages)])
    return Matchers(
        question=LinearPattern("|".join([asked, *_keywords(questions, languages)])),
        alarm=LinearPattern("|".join([alarm_pattern(languages), *_keywords(alarms, languages)])),
        ack=LinearPattern("|".join([_whole(said), *anchored])),
        closing=LinearPattern(f"^{GAP}*$|{_whole(thanks)}"),
        smalltalk=LinearPattern(_whole([*said, *entries("smalltalk", languages)]) if languages else either([])),
        addressed=re.compile(rf"\s*+(?:(?:{greeting})[\s,、]{{0,3}}+)?{_ELSEWHERE}", re.IGNORECASE),
    )


def _check(pattern: str) -> None:
    try:
        LinearPattern(pattern).is_in("")
    except re2.error as error:
        raise ConfigError(f"classifier.ack_patterns: {pattern!r} is not a pattern of RE2: {error}") from error


def _whole(patterns: Iterable[str]) -> str:
    """Return a pattern for a text of nothing but some patterns, with blanks, punctuation or emoji between them."""
    return rf"^{GAP}*(?:{either(patterns)}(?:{GAP}+|$))+$"


def _keywords(phrases: Iterable[str], languages: Sequence[str]) -> Iterator[str]:
    """Yield a pattern for each phrase of a team, found as whole words."""
    for phrase in phrases:
        escaped = re.escape(" ".join(phrase.removeprefix("^").lower().split())).replace(r"\ ", " ")
        pattern = _BRACES.sub(lambda found: either(found[1].split(",")), escaped)
        yield at_clause_start([pattern], languages) if phrase.startswith("^") else whole_words(pattern)
