"""A question in one of seven languages as the English words for it, since code is written in English. Pure.

The words stand in foreign_words/, a file a language; any other word stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple

from bot.domain.tables import Words, WordSet, read_table
from bot.domain.text.linear_patterns import folded

LEAST_WORDS: Final = 2
"""So many words of grammar of one language make a question one of it; one does beside as many other words of it."""

MAX_WORD_CHARS: Final = 60
MAX_PHRASE_WORDS: Final = 4
MAX_UNSPACED_CHARS: Final = 12
_LEAST_PART: Final = 4
_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+(?:[._][\w.]+|\d\w*)?")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")
UNSPACED: Final = re.compile(r"[\u3005\u3040-\u30ff\u3400-\u9fff]+")
"""Japanese or Chinese: no blanks between words, nor beside a name of code."""

_SIGN: Final = r"[\u30a0-\u30ff\u3400-\u9fff]"
_GRAMMAR: Final = re.compile(rf"[\u3040-\u309f]+|(?<!{_SIGN})[\u3400-\u9fff](?!{_SIGN})")
"""Hiragana is mostly grammar, and of a word that is not known one sign alone tells nothing."""


class _Table(NamedTuple):
    stop: WordSet
    words: tuple[Words, ...]
    shared: WordSet = frozenset()
    endings: Words = ()
    joints: Words = ()
    prefixes: Words = ()


class _Dictionary:
    def __init__(self, code: str) -> None:
        table = read_table(__file__, f"foreign_words/{code}.yml", _Table)
        self.telling = table.stop - table.shared
        self._shared = table.shared
        self.english = {word: line[0].replace("_", " ") for line in table.words for word in line[1:]}
        self._stop = table.stop
        self._endings = ("", *table.endings)
        self._joints = ("", *table.joints) if table.joints else ()
        self._prefixes = ("", *table.prefixes)
        self._of_word = lru_cache(maxsize=2_000)(self._parts)

    def has(self, word: str) -> bool:
        """Whether a word is an entry that English does not have as well."""
        return word not in self._shared and self.english.get(word, word) != word

    def translated(self, question: str) -> str:
        """Return a question of words with blanks between."""
        words = list(_PLAIN_WORD.finditer(question))
        plain = [folded(word[0]) for word in words]
        said, end, at = [], 0, 0
        while at < len(words):
            sizes = range(MAX_PHRASE_WORDS, 1, -1)
            size = next((size for size in sizes if "_".join(plain[at : at + size]) in self.english), 1)
            put = self.english["_".join(plain[at : at + size])] if size > 1 else self._put(words[at][0], plain[at])
            last = min(at + size, len(words)) - 1
            said += [question[end : words[at].start()], put]
            end, at = words[last].end(), last + 1
        return "".join([*said, question[end:]])

    def translated_unspaced(self, text: str) -> str:
        """Return text without blanks between its words: the longest known word at each place, then what is left."""
        said, at = [], 0
        while at < len(text):
            longest = range(min(MAX_UNSPACED_CHARS, len(text) - at), 0, -1)
            size = next((size for size in longest if self._knows(text[at : at + size])), 0)
            said.append(f" {self.english.get(text[at : at + size], '')} " if size else text[at])
            at += size or 1
        return f" {_GRAMMAR.sub(' ', ''.join(said))} "

    def _knows(self, word: str) -> bool:
        return word in self.english or word in self._stop

    def _put(self, word: str, plain: str) -> str:
        if plain in self._stop:
            return ""
        if len(plain) > MAX_WORD_CHARS or not plain.isalpha():
            return word
        return " ".join(self._of_word(plain)) or word

    def _parts(self, word: str) -> tuple[str, ...]:
        """Return the English words of a word, of a compound one for each part; none where a part is unknown."""
        for known in self._stems(word):
            return (self.english[known],)
        for at in range(len(word) - _LEAST_PART, _LEAST_PART - 1, -1) if self._joints else ():
            for joint in self._joints:
                head = word[: at - len(joint)] if word[:at].endswith(joint) else ""
                if head in self.english and (rest := self._of_word(word[at:])):
                    return (self.english[head], *rest)
        return ()

    def _stems(self, word: str) -> Iterator[str]:
        """Yield the entries that a word is a form of."""
        for prefix in self._prefixes:
            rest = word.removeprefix(prefix) if word.startswith(prefix) else ""
            for ending in self._endings if rest else ():
                if rest.endswith(ending) and (stem := rest.removesuffix(ending)) in self.english:
                    yield stem


@cache
def _spaced() -> tuple[_Dictionary, ...]:
    return tuple(map(_Dictionary, ("de", "es", "fr", "pt", "id")))


@cache
def _unspaced() -> Mapping[bool, _Dictionary]:
    """Return Japanese under True, Chinese under False."""
    return {True: _Dictionary("ja"), False: _Dictionary("zh")}


@cache
def _unspaced_words() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for word, english in chain.from_iterable(one.english.items() for one in _unspaced().values()):
        for part in english.split():
            found.setdefault(part, set()).add(word)
    return {english: frozenset(words) for english, words in found.items()}


def unspaced_words(english: str) -> frozenset[str]:
    """Return the Japanese and Chinese words that an English one stands for."""
    return _unspaced_words().get(english, frozenset())


def in_english(question: str) -> str:
    """Return a question as the English words for it, in their order; an English one as it is.

    >>> in_english("Wo wird die Datenbankverbindung geöffnet?")
    'database connection open?'
    >>> in_english("¿Dónde se guarda la contraseña del usuario?")
    '¿ keep password user?'
    >>> in_english("タイムアウトはどこで設定されていますか")
    'timeout configuration'
    >>> in_english("Where is the connection opened?")
    'Where is the connection opened?'
    """
    if UNSPACED.search(question):
        language = _unspaced()[_KANA.search(question) is not None]
        return " ".join(UNSPACED.sub(lambda found: language.translated_unspaced(found[0]), question).split())
    words = {folded(word) for word in _PLAIN_WORD.findall(question)}
    best = max(_spaced(), key=lambda one: len(words & one.telling))
    telling = len(words & best.telling)
    if telling >= LEAST_WORDS or (telling and sum(map(best.has, words)) >= LEAST_WORDS):
        return " ".join(best.translated(question).split())
    return question
