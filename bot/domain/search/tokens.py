"""Words and identifiers: what a question asks for, and what a text answers to.

Pure. Code and notes are searched with the same terms, so both indexes take them from here. A word belongs in `stop` of
tokens.yml if it is as common in questions about any codebase as in those about ours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from bot.domain.tables import Words, WordSet, read_table

MAX_QUESTION_CHARS = 40_000
MAX_CANDIDATES = 64
MAX_WORDS = 40
HELP = 0.5

MIN_AKIN = 4
"""Letters that two words of one family share at least."""

_MARKUP = re.compile(r"<[@!#][^>]*>|https?://[^\s|>]+|:[a-z0-9_+-]+:(?!:)", re.I)
_WORD = re.compile(r"\w+(?:\.\w+)*")
_CODE_SPAN = re.compile(r"`([^`\n]{1,200})`")

_COUNTED = re.compile(r"(?<=^\d\d\d)s$")
"""The plural of a status: 404s."""

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_SIMPLE_WORD = re.compile(r"\w+")
_CAPITALISED = re.compile(r"\b[a-z0-9_]*+[A-Z]\w*")
_CAMEL = re.compile(r"[a-z][A-Z]|^[A-Z]{2,}[a-z]")
_IDEOGRAPHS = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff\uac00-\ud7af]+")  # not hiragana: mostly grammar


UNSPACED = re.compile(r"[\u3005\u3040-\u30ff\u3400-\u9fff]+")
"""Japanese or Chinese: no blanks between words, nor beside a name of code."""


class _TokensTable(NamedTuple):
    stop: WordSet
    endings: Words
    near: tuple[Words, ...]
    names: tuple[Words, ...]


_LISTS = read_table(__file__, "tokens.yml", _TokensTable)
STOP_WORDS = _LISTS.stop


def stem(word: str) -> str:
    """Return a word without its commonest English endings; rough, but the same for both sides of a comparison.

    >>> stem("retries") == stem("retry"), stem("cached") == stem("caching"), stem("atomically"), stem("bus")
    (True, True, 'atomic', 'bus')
    """
    if word.endswith("ically"):
        return word[:-4]
    for suffix in _LISTS.endings:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


def _near_words() -> dict[str, tuple[str, ...]]:
    """Return, for the stem of each word, the other words of its groups."""
    near: dict[str, dict[str, None]] = {}
    for words in _LISTS.near:
        for word in words:
            near.setdefault(stem(word), {}).update(dict.fromkeys(other for other in words if other != word))
    return {word: tuple(others) for word, others in near.items()}


NEAR_WORDS = _near_words()
_NAMED = {stem(word): frozenset(map(stem, words)) for words in _LISTS.names for word in words}


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for: its words in sequence, its weight, and which word of the question it stands for.

    `about` is None for a sequence (an identifier, two neighbouring words): its words are counted by themselves.
    """

    words: tuple[str, ...]
    weight: float
    about: str | None


def question_terms(question: str) -> tuple[Term, ...]:
    """Return what to search for: words, whole identifiers, neighbouring words, then words of near meaning.

    >>> [" ".join(term.words) for term in question_terms("Where is should_retry called?")]
    ['should', 'retry', 'called', 'should retry', 'attempt']
    """
    text = without_markup(question)
    tokens = [_COUNTED.sub("", token) for token in _WORD.findall(UNSPACED.sub(r" \g<0> ", text))]
    code = frozenset(word.lower() for span in _CODE_SPAN.findall(text) for word in _WORD.findall(span))
    words = _most_telling(word for token in tokens for word in _parts(token, code))
    return (
        *(Term((word,), 1.0, word) for word in words),
        *_identifiers(tokens),
        *_neighbours(tokens, frozenset(words)),
        *_near(words),
    )


def question_words(question: str) -> list[str]:
    """Return the words to search for, each once, at most MAX_WORDS; names are split into theirs.

    >>> question_words("Where is the requestTimeout set?")
    ['request', 'timeout', 'set']
    """
    return [term.about for term in question_terms(question) if term.about and term.weight == 1][:MAX_WORDS]


def helping_terms(subject: str) -> tuple[Term, ...]:
    """Return what was asked before as terms that raise a passage and need not be covered."""
    own = (term for term in question_terms(subject) if term.weight >= 1)
    return tuple(replace(term, weight=term.weight * HELP, about=None) for term in own)


def without_markup(question: str) -> str:
    """Return the first MAX_QUESTION_CHARS of a question without mentions, addresses and emoji names."""
    return _MARKUP.sub(" ", question[:MAX_QUESTION_CHARS])


def _parts(token: str, code: frozenset[str]) -> list[str]:
    """Return the words of one token that are worth looking for; every word of `code` is, however common."""
    if _IDEOGRAPHS.search(token):
        return pairs(token)
    parts = split_identifier(token) if is_identifier(token) else [token.lower()]
    kept = [part for part in parts if len(part) > 1 and not part.isdigit()] or [p for p in parts if len(p) > 2]
    return kept if is_identifier(token) else [part for part in kept if part not in STOP_WORDS or part in code]


def _most_telling(words: Iterable[str]) -> list[str]:
    """Return the distinct words, at most MAX_CANDIDATES, the most repeated ones of a long text first."""
    return [word for word, _ in Counter(words).most_common(MAX_CANDIDATES)]


def _identifiers(tokens: list[str]) -> Iterable[Term]:
    named = list(dict.fromkeys(token for token in tokens if is_identifier(token)))[:MAX_CANDIDATES]
    for token in named:
        yield Term(tuple(re.split(r"[._]+", token.strip("._").lower())), 1.5, None)


def _neighbours(tokens: list[str], wanted: frozenset[str]) -> Iterable[Term]:
    """Yield pairs of neighbouring words, as `user agent` is written in `user_agent` and `user-agent`."""
    lowered = [token.lower() for token in tokens]
    pairs_seen = dict.fromkeys(pair for pair in pairwise(lowered) if wanted.issuperset(pair))
    for pair in list(pairs_seen)[:MAX_CANDIDATES]:
        yield Term(pair, 0.5, None)
        yield Term(("".join(pair),), 0.5, None)


def _near(words: list[str]) -> Iterable[Term]:
    asked = frozenset(words)
    for word in words:
        for near in NEAR_WORDS.get(stem(word), ()):
            if near not in asked:
                yield Term((near,), 0.35, word)


def is_identifier(token: str) -> bool:
    """Whether a token is written as code: joined by `_` or `.`, or with a capital inside."""
    return bool(re.search(r"\w[._]\w|[a-z][A-Z]", token)) and len(token) > 3


def split_identifier(token: str) -> list[str]:
    """Return the lower-case words of an identifier.

    >>> split_identifier("HTTPServer.max_retries2")
    ['http', 'server', 'max', 'retries', '2']
    """
    return [part.lower() for part in _PART.findall(token)]


def extra_words(text: str) -> str:
    """Return what a text holds besides its plain words: the parts of camel-case names, pairs of ideographs."""
    found = _CAPITALISED if text.isascii() else _SIMPLE_WORD
    words = sorted(word for word in set(found.findall(text)) if not word.islower())
    parts = [part for word in words for part in _camel_parts(word)]
    return " ".join(parts if text.isascii() else [*parts, *pairs(text)])


@lru_cache(maxsize=20_000)
def _camel_parts(word: str) -> tuple[str, ...]:
    return tuple(split_identifier(word)) if _CAMEL.search(word) else ()


def pairs(text: str) -> list[str]:
    """Return every two neighbouring characters of scripts that put no space between words.

    >>> pairs("接続エラー")
    ['接続', '続エ', 'エラ', 'ラー']
    """
    runs = _IDEOGRAPHS.findall(text)
    return [run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))]


def text_stems(text: str) -> frozenset[str]:
    """Return the stems of every word and part of an identifier in a text."""
    words = (part for token in _WORD.findall(text) for part in (split_identifier(token) or [token.lower()]))
    return frozenset(stem(word) for word in words) | frozenset(pairs(text))


def akin_stems(stems: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """Return the stems that are among others, or begin as one of them does.

    >>> sorted(akin_stems(frozenset({"validator", "api"}), frozenset({"validat", "apis"})))
    ['validator']
    """
    return frozenset(
        one
        for one in stems
        if one in others
        or any(min(len(one), len(other)) >= MIN_AKIN and one.startswith(other[: len(one)]) for other in others)
    )


def shared_stems(stems: frozenset[str], text: str) -> frozenset[str]:
    """Return the stems of a question that a text has, as words or as what names in code are called for them.

    >>> sorted(shared_stems(question_stems("Where is the retry limit set?"), "MAX_ATTEMPTS = 5"))
    ['limit', 'retr']
    """
    names = frozenset(stem(part) for name in _WORD.findall(text) for part in _name_parts(name))
    said = text_stems(text)
    return frozenset(one for one in stems if one in said or not names.isdisjoint(_NAMED.get(one, ())))


def _name_parts(token: str) -> list[str]:
    parts = split_identifier(token)
    return parts if len(parts) > 1 else []


def question_stems(question: str) -> frozenset[str]:
    """Return the stems a passage is compared with, without stop words.

    >>> sorted(question_stems("Where are the retries configured?"))
    ['configur', 'retr']
    """
    return frozenset(stem(term.about) for term in question_terms(question) if term.about and term.weight == 1)
