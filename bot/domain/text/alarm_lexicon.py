"""The words by which a remark is read, and the patterns made of them; they stand in alarm_lexicon.yml.

English, German, Spanish, Portuguese, French and Indonesian; Chinese and Japanese are in alarm_words_cjk.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator

from bot.domain.tables import Alternatives, Parts, Words, WordSet, fill, read_table


@dataclass(frozen=True)
class WordForms:
    """The words of a list; one that ends in `*` stands for all that begin so, `forms` are patterns of more."""

    words: WordSet = frozenset()
    forms: tuple[str, ...] = ()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        stems = [re.escape(word[:-1]) + r"\w*" for word in self.words if word.endswith("*")]
        return re.compile("|".join([*sorted(stems), *self.forms]) or "(?!)")

    def __contains__(self, word: str) -> bool:
        return word in self.words or self._pattern.fullmatch(word) is not None


_Listed = Annotated[WordForms, BeforeValidator(lambda listed: {"words": listed} if isinstance(listed, str) else listed)]


class _Phrase(NamedTuple):
    means: str
    said: Alternatives


class _AlarmLexiconTable(NamedTuple):
    trouble: _Listed
    demand: _Listed
    able: _Listed
    supply: _Listed
    silencing: WordSet
    denying: WordSet
    neutral: _Listed
    found: _Listed
    moot: _Listed
    auxiliary: WordSet
    unsettled: WordSet
    calm: WordSet
    measure: WordSet
    not_all: WordSet
    handles: _Listed
    handled: WordSet
    alerts: WordSet
    persons: WordSet
    flow: WordSet
    breaks: WordSet
    links: WordSet
    open_links: WordSet
    resources: Words
    pruned: WordSet
    deleted: WordSet
    since: WordSet
    better_low: WordSet
    moves: WordSet
    zeros: WordSet
    spanish: WordSet
    portuguese: WordSet
    english: WordSet
    to: WordSet
    relative: WordSet
    may_stop: _Listed
    credential: Alternatives
    is_shown: Alternatives
    left: _Listed
    parts: Parts
    phrases: tuple[_Phrase, ...]


class Lexicon(_AlarmLexiconTable):
    """The lists of alarm_lexicon.yml, and the patterns made of them."""

    @cached_property
    def full(self) -> re.Pattern[str]:
        """A resource that is nearly used up."""
        return re.compile(
            rf"\b(?:{'|'.join(self.resources)})\b[^.;!?\n%]{{0,60}}?\b(?:9[0-9]|100)(?:[.,][0-9]{{1,3}})? ?%"
            r"(?! (?:free|frei|libre|libres|livre|livres|disponible|disponibles|kosong|available))"
        )

    @cached_property
    def resource(self) -> re.Pattern[str]:
        """The name of something that fills up, and how a host with one is called."""
        return re.compile(rf"\b(?:{'|'.join(self.resources)})\b")

    @cached_property
    def secret(self) -> re.Pattern[str]:
        """A word for a credential."""
        return re.compile(rf"\b(?:{self.credential})\b")

    @cached_property
    def shown(self) -> re.Pattern[str]:
        """What is done to something that everybody can see now."""
        return re.compile(rf"\b(?:{self.is_shown})\b")

    @cached_property
    def replaced(self) -> tuple[tuple[re.Pattern[str], str], ...]:
        """Phrases that count as one word, and that word, in the order in which they are replaced."""
        said = ((fill(phrase.said, self.parts), phrase.means) for phrase in self.phrases)
        return tuple((re.compile(rf"(?<!\w)(?:{words})(?!\w)"), means) for words, means in said)

    @cached_property
    def any_phrase(self) -> re.Pattern[str]:
        """Any of those phrases."""
        return re.compile(rf"(?<!\w)(?:{'|'.join(fill(phrase.said, self.parts) for phrase in self.phrases)})(?!\w)")


@cache
def lexicon() -> Lexicon:
    """Return the lexicon; it is read once."""
    return read_table(__file__, "alarm_lexicon.yml", Lexicon)
