"""German questions in the words that code has for what they ask: code is written in English, whoever asks.

Pure; the words stand in foreign_words.yml. A word that is no entry stays as it is: most technical words are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from bot.domain.tables import Words, WordSet, read_table
from bot.domain.text.linear_patterns import folded


class _German(NamedTuple):
    stop: WordSet
    shared: WordSet
    words: tuple[Words, ...]


class _Tables(NamedTuple):
    german: _German


_GERMAN: Final = read_table(__file__, "foreign_words.yml", _Tables).german
_ENGLISH_FOR: Final = {word: line[0] for line in _GERMAN.words for word in line[1:]}
_ONLY_GERMAN: Final = _GERMAN.stop - _GERMAN.shared
LEAST_WORDS: Final = 2
"""So many of them make a question German."""
MAX_WORD_CHARS: Final = 60
_LEAST_PART: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]+(?:[._][\w.]+|\d\w*)?")
_ENDINGS: Final = ("", "e", "n", "en", "s", "es", "er", "ern", "em", "t", "te", "ten")
_JOINTS: Final = ("", "s", "n", "en", "es", "e")


def in_english(question: str) -> str:
    """Return a German question as the English words for it, in their order; any other question as it is.

    >>> in_english("Wo wird die Datenbankverbindung geöffnet?")
    'database connection open?'
    >>> in_english("Where is the connection opened?")
    'Where is the connection opened?'
    """
    words = {folded(word) for word in _WORD.findall(question)}
    if len(words & _ONLY_GERMAN) < LEAST_WORDS:
        return question
    return " ".join(_WORD.sub(lambda found: _english(found[0]), question).split())


def _english(word: str) -> str:
    plain = folded(word)
    if plain in _GERMAN.stop:
        return ""
    if len(plain) > MAX_WORD_CHARS or not plain.isalpha():
        return word
    return " ".join(_parts(plain)) or word


@lru_cache(maxsize=2_000)
def _parts(word: str) -> tuple[str, ...]:
    """Return the English words of a German one, of a compound one for each part; none where a part is unknown."""
    for known in _stems(word):
        return (_ENGLISH_FOR[known],)
    for at in range(len(word) - _LEAST_PART, _LEAST_PART - 1, -1):
        for joint in _JOINTS:
            head = word[: at - len(joint)] if word[:at].endswith(joint) else ""
            if head in _ENGLISH_FOR and (rest := _parts(word[at:])):
                return (_ENGLISH_FOR[head], *rest)
    return ()


def _stems(word: str) -> Iterator[str]:
    """Yield the entries that a word is a form of."""
    for ending in _ENDINGS:
        if word.endswith(ending) and (stem := word.removesuffix(ending)) in _ENGLISH_FOR:
            yield stem
