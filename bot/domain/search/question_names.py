"""What a question asks for: the names of code it holds, what one of them is, or the history of the code.

Pure. A name is a code span, or a word written as code (`snake_case`, `CamelCase`, `dotted.name`, `ALL_CAPS`, `call()`);
any other word is only taken for one where the form of the question says so ("where is retry defined?").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from bot.domain.search.tokens import STOP_WORDS, UNSPACED, is_identifier, without_markup
from bot.domain.tables import Alternatives, Parts, Phrases, WordSet, fill, read_table

MAX_NAMES: Final = 8
MAX_TOKENS: Final = 64
MAX_TOKEN_CHARS: Final = 200
MAX_USE_CHARS: Final = 1_000
MAX_BARE_WORDS: Final = 4
MIN_SHARE: Final = 0.6
MAX_WORDS_OF_REFERENCE: Final = 2
_ENGLISH: Final = re.compile(
    r"\b(?:the|how|what|whats|which|where|why|when|who|does|is|are|our|my|your|with|can|there)\b", re.I
)
_REFERS_BACK: Final = re.compile(r"\b(?:it|its|this|that|they|them|these|those|there)\b", re.I)

_SPAN: Final = re.compile(r"(?<!`)`{1,3}([^`\n]{1,200})`{1,3}")
_TOKEN: Final = re.compile(r"(?<![\w$#@./-])[\w$#@./-]*[\w$](?:::[\w$]+)*(?:\(\))?")
_PARTS: Final = re.compile(r"::|->|[.#]")
_BEHIND_NAME: Final = re.compile(r"[\s(\[<=,;]|(?<!:):(?!:)")
_NAME: Final = re.compile(r"[^\W\d][\w$]*[?!]?|\$\w+")
_FILE: Final = re.compile(r"[\w@.-]+(?:/[\w@.-]+)*\.[A-Za-z]\w{0,9}|[\w@.-]+(?:/[\w@.-]+)+/?")
_WORD: Final = re.compile(r"[^\W_][\w'’]*")

_WHY: Final = re.compile(r"\bwhy\b", re.I)


class _QuestionNamesTable(NamedTuple):
    explicit: Phrases
    about_use: Alternatives
    uses: Alternatives
    use_words: WordSet
    definition_words: WordSet
    value_words: WordSet
    first: Alternatives
    asks_what: Alternatives
    parts: Parts
    history: tuple[str, ...]
    origin: Alternatives
    latest: Alternatives
    history_words: WordSet


_TABLE: Final = read_table(__file__, "question_names.yml", _QuestionNamesTable)
_EXPLICIT: Final = _TABLE.explicit.compiled()
_ABOUT_USE: Final = re.compile(_TABLE.about_use, re.I)
_USES: Final = re.compile(_TABLE.uses, re.I)
_FIRST: Final = re.compile(rf"(?:{_TABLE.first})\b")
_ASKS_WHAT: Final = re.compile(rf"\b(?:{_TABLE.asks_what})\b", re.I)
_HISTORY: Final = re.compile("|".join(fill(form, _TABLE.parts) for form in _TABLE.history), re.I)
_ORIGIN: Final = re.compile(rf"\b(?:{_TABLE.origin})\b", re.I)
_LATEST: Final = re.compile(rf"\b(?:{_TABLE.latest})\b", re.I)
USE_WORDS: Final = _TABLE.use_words
HISTORY_WORDS: Final = _TABLE.history_words


class Named(NamedTuple):
    """A name in a question, what stands before it in a dotted name, and whether it is surely code."""

    name: str
    qualifiers: tuple[str, ...] = ()
    is_code: bool = True


class QuestionNames(NamedTuple):
    """The names a question holds, the files it may name, and its other telling words in order."""

    names: tuple[Named, ...]
    files: tuple[str, ...]
    words: tuple[str, ...]
    capitalised: tuple[str, ...]
    """Those words that stand capitalised within a sentence, as written: a type may be called so."""
    is_explicit: bool
    """It says that it asks for a definition."""
    is_about_use: bool
    """It asks who calls or changes something, when or why."""
    asks_what: bool

    def wants_definition(self, *, of_value: bool, consumed: Iterable[str] = ()) -> bool:
        """Whether what a name defines is the answer; `consumed` are words that say which definition is meant."""
        if self.is_explicit:
            return True
        fine = _TABLE.value_words if of_value else frozenset[str]()
        return not self.is_about_use and all(word in fine or word in consumed for word in self.words)

    def bare(self) -> Iterator[tuple[Named, ...]]:
        """Yield what neighbouring plain words may be called in the code, in each way to write them, the most first."""
        most = MAX_BARE_WORDS if self.is_explicit else MAX_BARE_WORDS - 1 if self.asks_what else 0
        if self.is_about_use or len(self.words) > most:
            return
        for length in range(len(self.words), 0, -1):
            if length < MIN_SHARE * len(self.words):
                return
            for start in range(len(self.words) - length + 1):
                run = self.words[start : start + length]
                if self.names and _TABLE.value_words.issuperset(run):
                    continue  # "the default `keepAlive`" is no question about what is called `default`
                yield tuple(Named(name, is_code=False) for name in dict.fromkeys(("_".join(run), "".join(run))))


def names_in(question: str) -> QuestionNames:
    """Return what a question names.

    >>> found = names_in("where is `httpx.AsyncClient` defined?")
    >>> found.names, found.words, found.is_explicit
    ((Named(name='AsyncClient', qualifiers=('httpx',), is_code=True),), (), True)
    """
    text = without_markup(question)
    spans = _SPAN.findall(text)
    plain = UNSPACED.sub(r" \g<0> ", _SPAN.sub(" ", text))
    tokens = [token.strip("./-@") for token in _TOKEN.findall(plain) if len(token) <= MAX_TOKEN_CHARS]
    coded = list(dict.fromkeys(token for token in tokens if _is_code(token)))[:MAX_TOKENS]
    rest = _without(plain, coded)
    written = [*spans, *coded]
    names = tuple(dict.fromkeys(name for one in written if (name := _named(one))))[:MAX_NAMES]
    telling = [word for word in _words(rest) if _tells(word, is_only_name=not names)]
    words = dict.fromkeys(word.lower() for word in telling)
    pathlike = [token for token in tokens if "/" in token and token not in coded]
    return QuestionNames(
        names=names,
        files=tuple(dict.fromkeys(found[0] for one in (*written, *pathlike) if (found := _FILE.match(one.strip()))))[
            :MAX_NAMES
        ],
        words=tuple(words),
        capitalised=tuple(dict.fromkeys(one for one in telling if one[0].isupper() and not one.isupper()))[:MAX_NAMES],
        is_explicit=_EXPLICIT.search(rest) is not None,
        is_about_use=_ABOUT_USE.search(rest) is not None,
        asks_what=_ASKS_WHAT.search(rest) is not None,
    )


def in_context(question: str, subject: str) -> tuple[str, str]:
    """Return what to search for, and what was asked before that helps: a follow-up's words mean little alone.

    >>> in_context("and where is it checked?", "what is the default body limit?")
    ('and where is it checked?\\nwhat is the default body limit?', '')
    >>> in_context("and connectionTimeout?", "what is the default keepAliveTimeout?")
    ('and connectionTimeout?', 'what is the default  ?')
    """
    names = names_in(question)
    if names.names:
        text = without_markup(subject)
        return question, _without(_SPAN.sub(" ", text), [token for token in _TOKEN.findall(text) if _is_code(token)])
    if subject and len(names.words) <= MAX_WORDS_OF_REFERENCE and _REFERS_BACK.search(question):
        return f"{question}\n{subject}", ""
    return question, subject


def _is_code(token: str) -> bool:
    """Whether a word outside of code spans is written as code."""
    is_constant = token.isupper() and len(token) > 2 and token.replace("_", "").isalnum() and not token.isdigit()
    return is_identifier(token) or is_constant or token.endswith("()") or token.startswith(("_", "$")) or "::" in token


def _named(written: str) -> Named | None:
    """Return the name in a piece of code; what follows it is a call or a remark."""
    head = _BEHIND_NAME.split(written.strip().lstrip("@#.*&"), maxsplit=1)[0]
    parts = [part for part in _PARTS.split(head) if part]
    if not parts or "/" in head or any(_NAME.fullmatch(part) is None for part in parts):
        return None
    return Named(parts[-1], tuple(parts[:-1]))


def _without(text: str, coded: Sequence[str]) -> str:
    for one in sorted(coded, key=len, reverse=True):
        text = text.replace(one, " ")
    return text


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text as they are written, those that say nothing about code left out."""
    for token in _WORD.findall(text):
        word = token.replace("’", "'").partition("'")[0]
        if len(word) > 1 and word.lower() not in STOP_WORDS and not word.isdigit():
            yield word


def _tells(word: str, *, is_only_name: bool) -> bool:
    """Whether a word may tell what is meant: `argument` does not, the class `Argument` does."""
    return word.lower() not in _TABLE.definition_words or (
        is_only_name and word[0].isupper() and not _FIRST.match(word)
    )


def has_english_words(question: str) -> bool:
    """Whether a question has a word that English questions mostly have.

    >>> has_english_words("Where is it checked?"), has_english_words("Wo wird es geprüft?")
    (True, False)
    """
    return _ENGLISH.search(question) is not None


def asks_for_uses(question: str) -> bool:
    """Whether a question wants to know what calls or uses something.

    >>> [asks_for_uses(one) for one in ("who calls `send`?", "Wo wird `send` aufgerufen?", "what calls does it make?")]
    [True, True, False]
    """
    return _USES.search(question[:MAX_USE_CHARS]) is not None


def asks_for_history(question: str) -> bool:
    """Whether a question wants to know who changed something, when, what or why.

    >>> asks_for_history("who last changed `send`?"), asks_for_history("what changes the log level?")
    (True, False)
    """
    return _HISTORY.search(question) is not None


def asks_for_origin(question: str) -> bool:
    """Whether the first commit is asked for rather than the last ones.

    >>> asks_for_origin("who wrote `send`?"), asks_for_origin("who last added a test to `send`?")
    (True, False)
    """
    return _ORIGIN.search(question) is not None and _LATEST.search(question) is None


def asks_why(question: str) -> bool:
    """Whether the reasons are asked for, which only a whole message may tell."""
    return _WHY.search(question) is not None
