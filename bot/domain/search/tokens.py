"""Words and identifiers: what a question asks for, what a text answers to, and how far apart two names are. Pure.

Which passages, and which of several codebases, answer a question best. Pure.

SQLite's BM25 says how well a passage holds the words; here counts the kind of its file, and where words are rare.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from bot.domain.search.files import path_weight
from bot.domain.tables import Words, WordSet, read_table

MAX_QUESTION_CHARS = 40_000
MAX_WORDS = 40

_MARKUP = re.compile(r"\[redacted[^\]\n]{0,80}\]|<[@!#][^>]*>|https?://[^\s|>]+|:[a-z0-9_+-]+:(?!:)", re.I)
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


def question_words(question: str) -> list[str]:
    """Return the words to search for, each once, at most MAX_WORDS; names are split into theirs.

    >>> question_words("Where is the requestTimeout set?")
    ['request', 'timeout', 'set']
    """
    tokens, code = _tokens(question)
    words = Counter(word for token in tokens for word in _parts(token, code))
    return [word for word, _ in words.most_common(MAX_WORDS)]


def question_phrases(question: str) -> list[str]:
    """Return words that count more in sequence: names, and neighbours, as `user agent` is written `user_agent`.

    >>> question_phrases("Does should_retry read the user agent?")
    ['should retry', 'user agent']
    """
    tokens, code = _tokens(question)
    named = [" ".join(re.split(r"[._]+", token.strip("._").lower())) for token in tokens if is_identifier(token)]
    wanted = frozenset(word for token in tokens for word in _parts(token, code))
    pairs_seen = [
        f"{one} {other}" for one, other in pairwise(word.lower() for word in tokens) if {one, other} <= wanted
    ]
    return list(dict.fromkeys([*named, *pairs_seen]))[:MAX_WORDS]


def _tokens(question: str) -> tuple[list[str], frozenset[str]]:
    """Return the words of a question as they are written, and those in backticks in small letters."""
    text = without_markup(question)
    code = frozenset(word.lower() for span in _CODE_SPAN.findall(text) for word in _WORD.findall(span))
    return [_COUNTED.sub("", token) for token in _WORD.findall(UNSPACED.sub(r" \g<0> ", text))], code


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


def shared_stems(stems: frozenset[str], text: str) -> frozenset[str]:
    """Return the stems of a question that a text has.

    >>> sorted(shared_stems(question_stems("Where is the retry limit set?"), "RETRY_LIMIT = 5"))
    ['limit', 'retr']
    """
    return stems & text_stems(text)


def question_stems(question: str) -> frozenset[str]:
    """Return the stems a passage is compared with, without stop words.

    >>> sorted(question_stems("Where are the retries configured?"))
    ['configur', 'retr']
    """
    return frozenset(map(stem, question_words(question)))


ONE_SLIP_CHARS: Final = 5
TWO_SLIPS_CHARS: Final = 8
MAX_CHARS: Final = 80


def slips_allowed(word: str) -> int:
    """Return how many slips a word may hold: none if it is short, for then it may be any other word.

    >>> slips_allowed("form"), slips_allowed("lsiten"), slips_allowed("sesion_interface")
    (0, 1, 2)
    """
    if len(word) > MAX_CHARS:
        return 0
    return (len(word) >= ONE_SLIP_CHARS) + (len(word) >= TWO_SLIPS_CHARS)


def slips(one: str, other: str, at_most: int) -> int:
    """Return the number of slips between two words; some number above `at_most` where there are more.

    >>> slips("lsiten", "listen", 2), slips("retry", "retries", 2), slips("abc", "xyz", 2) > 2
    (1, 3, True)
    """
    if one == other:
        return 0
    if one[:1] == other[:1]:
        return slips(one[1:], other[1:], at_most)
    if at_most <= 0 or abs(len(one) - len(other)) > at_most:
        return at_most + 1
    ways = [(one[1:], other), (one, other[1:]), (one[1:], other[1:])]
    if one[:2] == other[1::-1]:
        ways.append((one[2:], other[2:]))
    return 1 + min(slips(*way, at_most - 1) for way in ways)


def trigrams(word: str) -> list[str]:
    """Return every three neighbouring letters of a word with a blank before and behind it, each once.

    >>> trigrams("port")
    [' po', 'por', 'ort', 'rt ']
    """
    padded = f" {word.lower()} "
    return list(dict.fromkeys(padded[at : at + 3] for at in range(len(padded) - 2)))


COVERAGE_SHARE = 0.8
COVERAGE_WORTH = 2.0
"""What a passage that holds all words scores for that alone; SQLite gives nothing for words that most passages hold."""

ENOUGH_COVERED = 0.5
ENOUGH_WORDS = 5
ENOUGH_SCORE = 0.45
"""Times the logarithm of the number of passages, which the rarity of a word grows with; any of the three will do."""

WORD_WORTH = 2.0
"""What any word of a question tells, beside how rare it is."""

BELIEF_FOUND = 5.0
BELIEF_SIZE = 15.0


class Ranked(NamedTuple):
    """A passage by its id, and its score."""

    passage: int
    score: float


class WordCounts(NamedTuple):
    """How many passages there are, and how many of them hold each word of a question, in one index or in several."""

    total: int
    found: Mapping[str, int]


def rank(
    scores: Mapping[int, float],
    held: Mapping[str, Collection[int]],
    counts: WordCounts,
    paths: Mapping[int, str],
    *,
    question: str,
    limit: int,
) -> list[Ranked]:
    """Return the best passages, best first; none that holds too little of the question.

    The more of the words it holds the better, rare words telling more; then the kind of its file counts.

    Args:
        scores: How well each passage holds the words.
        held: The passages that hold each word.
        counts: How many passages hold each word of the question, none for some.
        paths: The file of each passage that is looked at.
    """
    worth = {word: WORD_WORTH + rarity(found, counts.total) for word, found in counts.found.items()}
    whole = sum(worth.values()) or 1.0
    weighed = []
    for one, path in paths.items():
        words = [word for word, passages in held.items() if one in passages]
        share = sum(map(worth.__getitem__, words)) / whole
        covering = 1 - COVERAGE_SHARE + COVERAGE_SHARE * share
        score = (scores[one] + COVERAGE_WORTH * share) * covering * path_weight(path, question)
        is_enough = score >= ENOUGH_SCORE * math.log(counts.total + 1)
        if share >= ENOUGH_COVERED or len(words) >= ENOUGH_WORDS or is_enough:
            weighed.append(Ranked(one, score))
    return sorted(weighed, key=lambda one: -one.score)[:limit]


def joined(counts: Iterable[WordCounts]) -> WordCounts:
    """Return several counts as one.

    >>> joined([WordCounts(10, {"cart": 4}), WordCounts(90, {"cart": 1})])
    WordCounts(total=100, found=Counter({'cart': 5}))
    """
    total, found = 0, Counter[str]()
    for one in counts:
        total += one.total
        found.update(one.found)
    return WordCounts(total, found)


def likelihood(own: WordCounts, every: WordCounts, indexes: int) -> float:
    """Return how likely an index, one of several, holds what is asked, told by its words alone.

    Rare words tell more, and a word tells more where many passages of a small index hold it. Source: Callan, Lu and
    Croft, "Searching distributed collections with inference networks", 1995; its constants were for larger collections.
    """
    size = BELIEF_FOUND + BELIEF_SIZE * own.total * indexes / max(every.total, 1)
    return sum(rarity(every.found[word], every.total) * found / (found + size) for word, found in own.found.items())


def rescaling(own: WordCounts, every: WordCounts) -> float:
    """Return by what to multiply the scores of an index to compare them with those of others.

    A word that one repository hardly knows counts most just there; so it is taken to be as rare as it is in all.
    """
    held = [word for word, found in own.found.items() if found]
    here = sum(rarity(own.found[word], own.total) for word in held)
    return sum(rarity(every.found[word], every.total) for word in held) / here if here else 0.0


def rarity(found: int, total: int) -> float:
    """Return how much a word tells: about 0 where every passage holds it, most where none does."""
    return math.log(1 + (total - found + 0.5) / (found + 0.5))
