"""Words and identifiers: what a question asks for, and what a text answers to.

Reads and writes nothing. Code and notes are searched with the same terms, so both indexes take them from here. A word
belongs in STOP_WORDS if it is as common in questions about any codebase as in those about ours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

STOP_WORDS = frozenset(
    """
    a about above actually after again all already also always am an and another any anybody anyone anything are
    around as ask at away back be because been before being below between both but by came can cannot come comes could
    couldn did didn do does doesn doing don done down during each either else end ends ever every everyone exactly
    far few first for from further gave get gets getting give gives go goes going gone gonna good got had has have
    haven having he hello help her here hers hey hi him his how however i if in instead into is isn it its itself just
    keep keeps kind know last let lets like likely ll look looking looks lot made make makes many may maybe me mean
    means might more most much must my need needs never no nor not now of off often ok okay on once one ones only or
    other others our ours out over own people please possible probably put quite re really right said same say says see
    seem seems she should shouldn since so some somebody somehow someone something sometimes somewhere still stuff such
    sure take taken takes tell than thank thanks that the their them then there these they thing things think this
    those though through thx to today together told too tried try trying two under until up upon us use used uses using
    usually ve very via want wants was wasn way we well went were weren what whats when where wheres whether which
    while who whole why will wish with within without won wondering would wouldn yes yet you your yours
    codebase decide decided decides happen happened happening happens repo repository work
    working works currently eg ie etc weird anyhow way basically correct correctly
    """.split()  # noqa: SIM905 - a word list is read as words
)

_SUFFIXES = (
    "ations",
    "ation",
    "ings",
    "ing",
    "ions",
    "ion",
    "ies",
    "ers",
    "ied",
    "ed",
    "er",
    "es",
    "ly",
    "y",
    "e",
    "s",
)

_GROUPS = """
    argument parameter param option
    auth authentication authorization login credentials
    async asynchronous await coroutine
    begin start startup
    build construct create make
    bytes binary
    cert certificate ssl tls
    choose chosen select pick
    config configuration settings options
    concurrent parallel thread
    copy clone duplicate
    crash failure exception error
    database db sql
    default fallback
    delete remove purge
    dependency requirement version
    deploy deployment release
    dir directory folder
    env environment environ
    error exception raise
    expire expiry ttl lifetime
    find locate search lookup
    format serialize encode
    give abort stop
    guess detect infer
    ignore skip bypass
    job task worker
    limit max maximum
    load read
    log logging logger
    merge combine
    modify change update
    order sequence sort
    permission access role
    print show display
    queue spool backlog
    rate throttle limit
    save persist store write
    send post deliver
    shutdown exit stop terminate
    string text str
    test testing
    turn convert
    upload file multipart
    url uri link
    validate verify check
    variable var
    wait sleep delay timeout
"""


def stem(word: str) -> str:
    """Return a word without its commonest English endings; rough, but the same for both sides of a comparison.

    >>> stem("retries") == stem("retry"), stem("cached") == stem("caching"), stem("bus")
    (True, True, 'bus')
    """
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


def _near_words() -> dict[str, tuple[str, ...]]:
    """Return, for the stem of each word, the other words of its groups."""
    near: dict[str, dict[str, None]] = {}
    for group in _GROUPS.strip().splitlines():
        words = group.split()
        for word in words:
            near.setdefault(stem(word), {}).update(dict.fromkeys(other for other in words if other != word))
    return {word: tuple(others) for word, others in near.items()}


NEAR_WORDS = _near_words()


MAX_QUESTION_CHARS = 40_000
MAX_CANDIDATES = 64
HELP = 0.5

_MARKUP = re.compile(r"<[@!#][^>]*>|https?://[^\s|>]+|:[a-z0-9_+-]+:(?!:)", re.I)
_WORD = re.compile(r"\w+(?:\.\w+)*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_SIMPLE_WORD = re.compile(r"\w+")
_CAMEL = re.compile(r"[a-z][A-Z]|^[A-Z]{2,}[a-z]")
_IDEOGRAPHS = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff\uac00-\ud7af]+")  # not hiragana: mostly grammar


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
    ['should', 'retry', 'called', 'should retry']
    """
    tokens = _WORD.findall(without_markup(question))
    words = _most_telling(word for token in tokens for word in _parts(token))
    return (
        *(Term((word,), 1.0, word) for word in words),
        *_identifiers(tokens),
        *_neighbours(tokens, frozenset(words)),
        *_near(words),
    )


def helping_terms(subject: str) -> tuple[Term, ...]:
    """Return what was asked before as terms that raise a passage and need not be covered."""
    own = (term for term in question_terms(subject) if term.weight >= 1)
    return tuple(replace(term, weight=term.weight * HELP, about=None) for term in own)


def without_markup(question: str) -> str:
    """Return the first MAX_QUESTION_CHARS of a question without mentions, addresses and emoji names."""
    return _MARKUP.sub(" ", question[:MAX_QUESTION_CHARS])


def _parts(token: str) -> list[str]:
    """Return the words of one token that are worth looking for."""
    if _IDEOGRAPHS.search(token):
        return pairs(token)
    parts = split_identifier(token) if is_identifier(token) else [token.lower()]
    kept = [part for part in parts if len(part) > 1 and not part.isdigit()] or [p for p in parts if len(p) > 2]
    return kept if is_identifier(token) else [part for part in kept if part not in STOP_WORDS]


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
    names = sorted(word for word in set(_SIMPLE_WORD.findall(text)) if not word.islower() and _CAMEL.search(word))
    parts = [part for name in names for part in split_identifier(name)]
    return " ".join([*parts, *pairs(text)])


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


def question_stems(question: str) -> frozenset[str]:
    """Return the stems a passage is compared with, without stop words.

    >>> sorted(question_stems("Where are the retries configured?"))
    ['configur', 'retr']
    """
    return frozenset(stem(term.about) for term in question_terms(question) if term.about and term.weight == 1)
