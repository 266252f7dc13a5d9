"""Keyword lists of the classifier: finds thousands of literal phrases in one pass, and reads the shipped lists.

A keyword is a phrase, never a regular expression, so no list can make the classifier slow: `{a,b}` stands for either,
a leading `^` for "only where a clause begins". words/<language>.yml is read once each: `greeting`, `question`,
`alarm`, `alert` (the notices of alerting tools), `recovered` (that an alert is over) and `except` hold keywords; `ack`
and `thanks` hold regular expressions for a whole message of under 30 characters, `smalltalk` for one of under 60 that
ends in a question mark.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from bot.domain.table_files import load_table
from bot.domain.text.linear_patterns import LinearSet
from bot.errors import ConfigError

_CLAUSE_MARKS: Final = ".!?¡¿:;,()\n-–—"
_NONE: Final[frozenset[str]] = frozenset()
_BRACES = re.compile(r"\{([^{}]*)\}")
_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
_BEGIN = re.compile(r"(?<!\w)")
_END = re.compile(r"(?!\w)")
_NOT_OF_WORDS: Final = bytes(set(range(128)) - {byte for byte in range(128) if chr(byte) == "_" or chr(byte).isalnum()})
_BLANKED: Final = bytes.maketrans(_NOT_OF_WORDS, b" " * len(_NOT_OF_WORDS))
_KEY_WORDS: Final = 3
_NO_WORD: Final = ("",)
_UNSPACED: Final = (
    ("\u3000", "\u30ff"),
    ("\u3400", "\u9fff"),
    ("\uff00", "\uffef"),
)  # a set of them is slow to compile

LANGUAGES: Final = ("en", "es", "pt", "de", "fr", "id", "ja", "zh")
SECTIONS: Final = (
    "greeting",
    "ack",
    "thanks",
    "smalltalk",
    "question",
    "alarm",
    "alert",
    "recovered",
    "except",
)


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
        self._spaced = _Index(_words, whole=True)
        self._unspaced = _Index(list, whole=False)
        keywords = [(kind, keyword) for kind, listed in lists.items() for keyword in listed]
        self._candidates = LinearSet([_pattern(keyword) for _, keyword in keywords])
        self._unread = dict(enumerate(keywords))

    def kinds_in(self, text: str) -> frozenset[str]:
        """Return the kinds found in lower-case text, in which runs of blanks are one blank."""
        candidates = self._candidates.found_in(text)
        if not candidates:
            return _NONE
        for number in candidates:
            if number in self._unread:
                self._read(*self._unread[number])
                self._unread.pop(number, None)  # afterwards, and perhaps twice: threads share it
        hits = self._spaced.hits(text)
        if not text.isascii() and max(text) >= _UNSPACED[0][0]:
            hits += self._unspaced.hits(text)
        if not hits:
            return _NONE
        excepted = {place for hit in hits if hit.kind == "except" for place in range(hit.start, hit.end)}
        return frozenset(hit.kind for hit in hits if excepted.isdisjoint(range(hit.start, hit.end)))

    def _read(self, kind: str, keyword: str) -> None:
        """Spell out the phrases of a keyword."""
        for text in expand(keyword):
            phrase = Phrase(text.removeprefix("^"), kind, text.startswith("^"))
            (self._unspaced if _is_unspaced(text) else self._spaced).add(phrase)


def _pattern(keyword: str) -> str:
    r"""Return a pattern of RE2 that finds every phrase of a keyword, and perhaps more: any blank or `^` may be absent.

    >>> _pattern("^Is {it,the api} down")
    '(?:\\^?is ?)(?:it|the ?api)(?: ?down)'
    """
    parts = (part.split(",") for part in _BRACES.split(keyword.lower()))
    return "".join(f"(?:{'|'.join(map(_loose, choices))})" for choices in parts)


def _loose(text: str) -> str:
    return " ?".join(map(re.escape, _BLANKS.split(text))).replace(r"\^", r"\^?")


class _Index:
    """Phrases by their first words, as many as there are up to _KEY_WORDS.

    Args:
        words: returns the words of a text or of a phrase; in scripts that are written without spaces its characters.
        whole: whether a phrase counts only where no word goes on before or after it.
    """

    def __init__(self, words: Callable[[str], list[str]], *, whole: bool) -> None:
        self._words = words
        self._whole = whole
        self._table: dict[str | tuple[str, ...], list[Phrase]] = {}

    def add(self, phrase: Phrase) -> None:
        words = self._words(phrase.text)[:_KEY_WORDS] or [""]
        self._table.setdefault(tuple(words) if len(words) > 1 else words[0], []).append(phrase)

    def hits(self, text: str) -> list[KeywordMatch]:
        words = self._words(text)
        seconds = words[1:]
        openings = zip(words, seconds, strict=False), zip(words, seconds, seconds[1:], strict=False)
        keys = self._table.keys() & itertools.chain(_NO_WORD, words, *openings)
        if not keys:
            return []
        phrases = [phrase for key in keys for phrase in self._table[key] if phrase.text in text]
        return [hit for phrase in phrases for hit in self._places(phrase, text)]

    def _places(self, phrase: Phrase, text: str) -> Iterator[KeywordMatch]:
        start = text.find(phrase.text)
        while start >= 0:
            end = start + len(phrase.text)
            if self._stands(phrase, text, start, end):
                yield KeywordMatch(phrase.kind, start, end)
            start = text.find(phrase.text, start + 1)  # a phrase may overlap itself

    def _stands(self, phrase: Phrase, text: str, start: int, end: int) -> bool:
        if self._whole and not (_BEGIN.match(text, start) and _END.match(text, end)):
            return False
        return not phrase.opening or _begins_clause(text, start)


def _words(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores."""
    return text.encode().translate(_BLANKED).decode().split() if text.isascii() else _WORD.findall(text)


def _is_unspaced(text: str) -> bool:
    """Tell whether a phrase holds a character of a script that is written without spaces."""
    return not text.isascii() and any(first <= letter <= last for letter in text for first, last in _UNSPACED)


def _begins_clause(text: str, start: int) -> bool:
    before = text[max(0, start - 4) : start].rstrip(" ")
    return not before or before[-1] in _CLAUSE_MARKS


@cache
def words(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return one language's lists by section.

    Raises:
        ConfigError: no list ships for the language.
    """
    if language not in LANGUAGES:
        raise ConfigError(f"classifier.languages: {language!r} is not shipped; choose from {', '.join(LANGUAGES)}")
    lists = load_table(__file__, f"words/{language}.yml")
    return {section: tuple(lists.get(section, ())) for section in SECTIONS}


def shipped(languages: Iterable[str], section: str) -> tuple[str, ...]:
    """Return one section of several languages in one list; raises ConfigError as `words` does."""
    return tuple(entry for language in languages for entry in words(language)[section])
