"""`Rules`: a team's settings of the classifier, with their compiled patterns and the version that names them.

Reads the language packs. Every pattern is RE2's. Equal settings, packs and weights give equal versions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from bot.domain.languages.packs import LANGUAGES, alarm_pattern, at_clause_start, either, entries, pack, whole_words
from bot.domain.text.linear_patterns import LinearPattern
from bot.intake.classifier.own_words import GAP, MARKS
from bot.intake.classifier.scorer import Weights, shipped_weights

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
