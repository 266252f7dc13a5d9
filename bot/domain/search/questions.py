"""What a message asks: what it names, and what it asks for by its form. Pure.

Of a message that says more than twice as much as its sentences that ask, these alone count, but names wherever they
stand: a pasted command says nothing of what is asked. A name is a code span, or a word written as code (`snake_case`,
`CamelCase`, `dotted.name`, `ALL_CAPS`, `call()`). Forms are those of English; a question in another language is
answered by the names in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from bot.domain.search.tokens import STOP_WORDS, UNSPACED, is_identifier, stem, without_markup
from bot.domain.tables import WordSet, read_table

MAX_NAMES: Final = 8
MAX_WORDS: Final = 40
MAX_TOKEN_CHARS: Final = 200
MAX_CHARS: Final = 2_000
"""Of a text, in which the form of a question is looked for."""

MIN_ASKED: Final = 2
"""Fewer telling words, and what is asked about stands in the sentences around the question."""

MAX_RUN: Final = 4
"""So many plain words may be one name of code."""

_SPAN: Final = re.compile(r"(?<!`)`{1,3}([^`\n]{1,200})`{1,3}")
_TOKEN: Final = re.compile(r"(?<![\w$#@./-])[\w$#@./-]*[\w$](?:::[\w$]+)*(?:\(\))?")
_PARTS: Final = re.compile(r"::|->|[.#]")
_BEHIND_NAME: Final = re.compile(r"[\s(\[<=,;]|(?<!:):(?!:)")
_NAME: Final = re.compile(r"[^\W\d][\w$]*[?!]?|\$\w+")
_FILE: Final = re.compile(r"[\w@.-]+(?:/[\w@.-]+)*\.[A-Za-z]\w{0,9}(?!\w)|[\w@.-]+(?:/[\w@.-]+)+/?")
_WORD: Final = re.compile(r"[^\W_][\w'’]*")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。？])\s|\n")
ENGLISH: Final = re.compile(
    r"\b(?:the|how|what|whats|which|where|why|when|who|does|is|are|our|my|your|with|can|there|do|did|any|should|would"
    r"|we|this|that|from|for|of|it|if|i)\b",
    re.I,
)

_DEED: Final = (
    r"(?:made|chang|touch|edit|modif|wr[io]t|add|introduc|author|commit|creat|remov|delet|renam|mov|updat|upgrad|bump"
    r"|refactor|rewr[io]t|revert|replac|fix|broke|break|drop|deprecat|merg|land|start|stop|switch|migrat|disabl|enabl"
    r"|get rid|got rid|implement)[a-z]*(?!\w)"
)
_DEEDS: Final = re.compile(
    r"\b(?:(?P<end>remov|delet|drop|get rid|got rid|kick|thr[eo]w|gone|going away|deprecat|farewell)"
    r"|(?P<begin>add|introduc|creat|implement|come in|came in|feat)"
    r"|(?P<move>renam|mov|extract|split|replac|switch|migrat)|(?P<back>revert|undo|undid)"
    rf"|(?P<other>{_DEED}))[a-z]*",
    re.I,
)
HISTORY: Final = re.compile(
    rf"\bwho\b(?:\W+\w+){{0,5}}?\W+(?:{_DEED}|(?:rais|lower|increas|reduc)ed\b)"
    r"|\bwhen\b\W+(?:was|were|did|has|have)\b"
    rf"|\bwhy\b\W+(?:was|were|did|has|have)\b[^?\n]{{1,80}}?\b{_DEED}"
    rf"|\bwhy\b\W+{_DEED}|\b(?:which|what)\s+(?:commit|pr|pull request|version|release)\b"
    r"|\bsince\s+(?:when|wh\w+ version)\b|\bgit\s+(?:history|log|blame)\b|\b(?:history|author)\s+of\b"
    r"|\blast\s+(?:commit|touched|edited|modified)\b"
    rf"|\bhow\s+long\s+ago\b|\bsomeone\W+{_DEED}",
    re.I,
)
CHANGES: Final = re.compile(
    r"\bwhat(?:['’]?s|\s+(?:has|have|was|were|got))?(?:\s+\w+){0,3}?\s+(?:changed|new|merged|shipped|landed|released)\b"
    r"|\bwhat\s+changes\s+(?:were|was|have|has|did|are there|landed)\b|\banything\s+(?:new|changed|merged)\b"
    r"|\b(?:recent|latest|last|newest)\s+(?:\w+\s+)?(?:changes?|commits?|edits?)\b",
    re.I,
)
VALUE: Final = re.compile(
    r"\b(?:defaults?|limits?|timeouts?|ttl|ports?|max(?:imum)?|min(?:imum)?|values?|thresholds?|intervals?|retries|sizes?"
    r"|how\s+(?:many|long|often|big|large|much)|biggest|longest|tolerance|number\s+of|setting|configured|set\s+to)\b",
    re.I,
)
NUMBER: Final = re.compile(
    r"\b(?:limits?|timeouts?|ttl|ports?|max(?:imum)?|min(?:imum)?|thresholds?|intervals?|retries|sizes?|lengths?|biggest"
    r"|longest|tolerance|how\s+(?:many|long|often|big|large|much)|number\s+of)\b",
    re.I,
)
USES: Final = re.compile(
    r"\b(?:who|what|which(?:\s+\w+){1,3})\s+(?:calls?|uses?|invokes?|references?|imports?)\b(?!\s+(?:do|does|did|is|are)\b)"
    r"|\bwhere\b[^?\n]{1,100}\b(?:calls?|called|uses?|used|invoked|referenced|imported)\b"
    r"|\b(?:callers?|usages?|call\s+sites?|references|uses)\s+(?:of|to|for)\b|\bplaces\s+(?:that\s+)?(?:calls?|uses?)\b",
    re.I,
)
DEFINITION: Final = re.compile(
    r"\bwhere(?:['’]?s|\s+(?:is|are|do(?:es)?\s+we|can\s+i\s+find))\b|\bwhere\s+do(?:es)?\b[^?\n]{1,60}\blives?\b"
    r"|\bwhat(?:['’]?s|\s+(?:is|are|do|does))\b"
    r"|\b(?:defined|declared|implemented|definition|implementation|explain|describe|show\s+me)\b",
    re.I,
)
MEANING: Final = re.compile(r"\A(?![^?]{0,400}\bwhere\b)[^?]{0,400}\b(?:what|how|explain|describe|mean)", re.I)
OF_PEOPLE: Final = re.compile(
    r"\b(?:on[- ]call|tomorrow|tonight|weekend|opinions?|(?:this|next)\s+(?:week|month|quarter|year|sprint)"
    r"|(?:should|shall)\s+we|give\s+me\s+access)\b",
    re.I,
)
LATEST: Final = re.compile(r"\b(?:last|lately|latest|recent(?:ly)?|newest)\b", re.I)
ORIGIN: Final = re.compile(r"\b(?:introduc\w*|creat\w*|add(?:ed)?|wrote|written|originally|first|author\w*)\b", re.I)


def deeds_in(text: str) -> frozenset[str]:
    """Return which kinds of change a text tells of: the end of something, its beginning, a move, a step back, other."""
    return frozenset(str(found.lastgroup) for found in _DEEDS.finditer(text))


class _QuestionsTable(NamedTuple):
    history_words: WordSet
    definition_words: WordSet
    value_words: WordSet
    use_words: WordSet


HISTORY_WORDS, DEFINITION_WORDS, VALUE_WORDS, USE_WORDS = read_table(__file__, "questions.yml", _QuestionsTable)
"""Words that say no more than that history, a definition, a value or uses are wanted."""


class Named(NamedTuple):
    """A name in a question and what stands before it in a dotted name."""

    name: str
    qualifiers: tuple[str, ...] = ()


class Question(NamedTuple):
    """What is asked.

    `text` is the message without mentions and addresses, `asked` the sentences of it that ask, `words` their telling
    words in their order, as they are written; `names`, which are written as code, and `files`, like a file or folder,
    are those of the message.
    """

    text: str
    asked: str
    names: tuple[Named, ...]
    files: tuple[str, ...]
    words: tuple[str, ...]

    def wants(self, form: re.Pattern[str]) -> bool:
        """Whether the text has a form."""
        return form.search(self.text[:MAX_CHARS]) is not None

    @property
    def wants_origin(self) -> bool:
        """Whether the first commit is asked for rather than the last ones.

        >>> [question_of(one).wants_origin for one in ("who wrote send?", "who last added a test to send?")]
        [True, False]
        """
        return self.wants(ORIGIN) and not self.wants(LATEST)

    def deeds(self) -> frozenset[str]:
        """Return what was done, as `deeds_in` does."""
        return deeds_in(self.text[:MAX_CHARS])

    def told(self, *, without: frozenset[str] = frozenset()) -> list[str]:
        """Return its names, then its words but those that say nothing here, as they are written."""
        return [*(one.name for one in self.names), *(word for word in self.words if word.lower() not in without)]

    def others(self, used: Sequence[str] = (), *, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Return the stems of its words but some that were `used` for a name and those that say nothing here.

        None of a question in another language that has names: code does not hold its words.
        """
        dropped = {stem(one.lower()) for one in used}
        if self.names and not self.wants(ENGLISH):
            return ()
        lowered = (word.lower() for word in self.words)
        return tuple(
            dict.fromkeys(found for one in lowered if one not in without and (found := stem(one)) not in dropped)
        )

    def runs(self) -> Iterator[tuple[str, ...]]:
        """Yield neighbouring words that may be one name of code, the most words first."""
        said = _WORD.findall(self.text[:MAX_CHARS])[: 2 * MAX_WORDS]
        for length in range(MAX_RUN, 0, -1):
            runs = (tuple(said[start : start + length]) for start in range(len(said) - length + 1))
            yield from (run for run in runs if run[0] in self.words)


def question_of(text: str) -> Question:
    """Return what a text asks.

    >>> found = question_of("where is `httpx.AsyncClient` closed, in src/client?")
    >>> found.names, found.files, found.words
    ((Named(name='AsyncClient', qualifiers=('httpx',)),), ('src/client',), ('closed', 'src', 'client'))
    """
    plain = without_markup(text)
    names, files, words = _told(plain)
    asked = " ".join(one for one in _SENTENCE_END.split(plain) if one.rstrip().endswith(("?", "？")))
    of_asked = _told(asked)[2]
    is_clear = MIN_ASKED <= len(of_asked) < len(words) / 2
    asked, words = (asked, of_asked) if is_clear else (plain, words)
    return Question(plain, asked, names[:MAX_NAMES], files[:MAX_NAMES], words[:MAX_WORDS])


def _told(plain: str) -> tuple[tuple[Named, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the names, the files and the other telling words of a text."""
    spans = _SPAN.findall(plain)
    bare = UNSPACED.sub(r" \g<0> ", _SPAN.sub(" ", plain))
    tokens = [token.strip("./-@") for token in _TOKEN.findall(bare) if len(token) <= MAX_TOKEN_CHARS]
    coded = list(dict.fromkeys(token for token in tokens if _is_code(token)))[: 8 * MAX_NAMES]
    pathlike = [token for token in tokens if "/" in token and token not in coded]
    for one in sorted(coded, key=len, reverse=True):
        bare = bare.replace(one, " ")
    written = [*spans, *coded]
    files = dict.fromkeys(found[0] for one in (*written, *pathlike) if (found := _FILE.match(one.strip())))
    names = dict.fromkeys(name for one in written if (name := _named(one)))
    return tuple(names), tuple(files), tuple(dict.fromkeys(_words(bare)))


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


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text as they are written, those that say nothing about code left out."""
    for token in _WORD.findall(text):
        word = token.replace("’", "'").partition("'")[0]
        if len(word) > 1 and word.lower() not in STOP_WORDS and not word.isdigit():
            yield word
