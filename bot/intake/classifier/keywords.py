"""Finds thousands of literal phrases in a text in one pass.

A keyword is a phrase, never a regular expression, so no list can make the classifier slow: `{a,b}` stands for either, a
leading `^` for "only where a clause begins". A small pattern finds how phrases begin, a table what they are in full.

The word lists that ship with the classifier.

Reads words/<language>.yml beside this file, once each. `greeting`, `question`, `alarm`, `except`, `settled` and
`unsettled` hold keywords (see `Keywords`), `ack` and `thanks` regular expressions for a whole message of under 30
characters, `smalltalk` for one of under 60 that ends in a question mark and asks nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from bot.domain.tables import read_table
from bot.errors import ConfigError

_HINT_CHARS: Final = 12  # longer selects better and compiles slower
_CLAUSE_MARKS: Final = ".!?¡¿:;,()\n-–—"
_NONE: Final[frozenset[str]] = frozenset()
_BRACES = re.compile(r"\{([^{}]*)\}")
_UNSPACED = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


class Phrase(NamedTuple):
    """One phrase in lower case, the list it stands in, and whether it counts only where a clause begins."""

    text: str
    kind: str
    opening: bool


class KeywordMatch(NamedTuple):
    """A phrase found, and where."""

    kind: str
    start: int
    end: int


def expand(keyword: str) -> Iterator[str]:
    """Spell out the braces of a keyword, in lower case.

    >>> list(expand("{can,may} I {go,stay}"))
    ['can i go', 'can i stay', 'may i go', 'may i stay']
    """
    choices = [part.split(",") for part in _BRACES.split(keyword.lower())]
    return (" ".join("".join(choice).split()) for choice in itertools.product(*choices))


class Keywords:
    """Lists of keywords by kind, found as whole words; anywhere in scripts that are written without spaces.

    A hit that overlaps one of the kind `except` does not count.

    >>> keywords = Keywords({"alarm": ["{prod,api} is down"], "except": ["if prod is down"]})
    >>> keywords.kinds_in("our api is down!"), keywords.kinds_in("run this if prod is down")
    (frozenset({'alarm'}), frozenset())
    """

    def __init__(self, lists: Mapping[str, Iterable[str]]) -> None:
        phrases = [
            Phrase(text.removeprefix("^"), kind, text.startswith("^"))
            for kind, keywords in lists.items()
            for text in itertools.chain.from_iterable(map(expand, keywords))
        ]
        spaced = [phrase for phrase in phrases if not _UNSPACED.search(phrase.text)]
        unspaced = [phrase for phrase in phrases if _UNSPACED.search(phrase.text)]
        self._spaced = _Index(spaced, r"(?<!\w)", r"(?!\w)")
        self._unspaced = _Index(unspaced, "", "")

    def kinds_in(self, text: str) -> frozenset[str]:
        """Return the kinds found in lower-case text, in which runs of blanks are one blank."""
        hits = self._spaced.hits(text) if text.isascii() else self._spaced.hits(text) + self._unspaced.hits(text)
        if not hits:
            return _NONE
        excepted = {place for hit in hits if hit.kind == "except" for place in range(hit.start, hit.end)}
        return frozenset(hit.kind for hit in hits if excepted.isdisjoint(range(hit.start, hit.end)))


class _Index:
    """Phrases by how they begin."""

    def __init__(self, phrases: list[Phrase], before: str, after: str) -> None:
        trie: dict[str, Any] = {}
        for phrase in phrases:
            _insert(trie, phrase.text[:_HINT_CHARS])
        self._hint = re.compile(before + (_alternatives(trie) if trie else "(?!)"))
        self._after = re.compile(after)
        self._table: dict[str, list[Phrase]] = {}
        for phrase in phrases:
            if beginning := self._hint.match(phrase.text):
                self._table.setdefault(beginning[0], []).append(phrase)

    def hits(self, text: str) -> list[KeywordMatch]:
        hits: list[KeywordMatch] = []
        found = self._hint.search(text)
        while found:
            start = found.start()
            here = (phrase for phrase in self._table[found[0]] if self._stands(phrase, text, start))
            hits.extend(KeywordMatch(phrase.kind, start, start + len(phrase.text)) for phrase in here)
            found = self._hint.search(text, start + 1)  # phrases may overlap
        return hits

    def _stands(self, phrase: Phrase, text: str, start: int) -> bool:
        if not text.startswith(phrase.text, start):
            return False
        whole = self._after.match(text, start + len(phrase.text)) is not None
        return whole and (not phrase.opening or _begins_clause(text, start))


def _begins_clause(text: str, start: int) -> bool:
    before = text[max(0, start - 4) : start].rstrip(" ")
    return not before or before[-1] in _CLAUSE_MARKS


def _insert(trie: dict[str, Any], beginning: str) -> None:
    for char in beginning:
        trie = trie.setdefault(char, {})
    trie[""] = {}


def _alternatives(trie: dict[str, Any]) -> str:
    """Return a trie as a pattern; no two branches begin alike, and a beginning hides the longer ones behind it."""
    if "" in trie:
        return ""
    branches = [re.escape(char) + _alternatives(child) for char, child in trie.items()]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


LANGUAGES: Final = ("en", "es", "pt", "de", "fr", "id", "ja", "zh")
SECTIONS: Final = ("greeting", "ack", "thanks", "smalltalk", "question", "alarm", "except", "settled", "unsettled")


@cache
def words(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return one language's lists by section.

    Raises:
        ConfigError: no list ships for the language.
    """
    if language not in LANGUAGES:
        raise ConfigError(f"classifier.languages: {language!r} is not shipped; choose from {', '.join(LANGUAGES)}")
    lists = read_table(__file__, f"words/{language}.yml", dict[str, tuple[str, ...]])
    return {section: lists.get(section, ()) for section in SECTIONS}


def shipped(languages: Iterable[str], section: str) -> tuple[str, ...]:
    """Return one section of several languages in one list; raises ConfigError as `words` does."""
    return tuple(entry for language in languages for entry in words(language)[section])
