"""What a question names, and what it asks for by its form. Pure.

A name is a code span, or a word written as code (`snake_case`, `CamelCase`, `dotted.name`, `ALL_CAPS`, `call()`). Forms
are those of English; a question in another language is answered by the names in it.
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

MAX_RUN: Final = 4
"""So many plain words may be one name of code."""

_SPAN: Final = re.compile(r"(?<!`)`{1,3}([^`\n]{1,200})`{1,3}")
_TOKEN: Final = re.compile(r"(?<![\w$#@./-])[\w$#@./-]*[\w$](?:::[\w$]+)*(?:\(\))?")
_PARTS: Final = re.compile(r"::|->|[.#]")
_BEHIND_NAME: Final = re.compile(r"[\s(\[<=,;]|(?<!:):(?!:)")
_NAME: Final = re.compile(r"[^\W\d][\w$]*[?!]?|\$\w+")
_FILE: Final = re.compile(r"[\w@.-]+(?:/[\w@.-]+)*\.[A-Za-z]\w{0,9}(?!\w)|[\w@.-]+(?:/[\w@.-]+)+/?")
_WORD: Final = re.compile(r"[^\W_][\w'’]*")
_ENGLISH: Final = re.compile(
    r"\b(?:the|how|what|whats|which|where|why|when|who|does|is|are|our|my|your|with|can|there|do|did|any|should|would"
    r"|we|this|that|from|for|of|it|if|i)\b",
    re.I,
)

_DEED: Final = (
    r"(?:made|chang|touch|edit|modif|wr[io]t|add|introduc|author|commit|creat|remov|delet|renam|mov|updat|upgrad|bump"
    r"|refactor|rewr[io]t|revert|replac|fix|broke|break|drop|deprecat|merg|land|start|stop|switch|migrat|disabl|enabl"
    r"|get rid|got rid|implement)[a-z]*(?!\w)"
)
_IS_DEED: Final = re.compile(_DEED, re.I)
_HISTORY: Final = re.compile(
    rf"\bwho\b(?:\W+\w+){{0,5}}?\W+(?:{_DEED}|(?:rais|lower|increas|reduc)ed\b)|\bwh(?:en|y)\b\W+(?:was|were|did|has|have)\b[^?\n]{{1,80}}?\b{_DEED}"
    rf"|\bwhy\b\W+{_DEED}|\b(?:which|what)\s+(?:commit|pr|pull request|version|release)\b"
    r"|\bsince\s+(?:when|wh\w+ version)\b|\bgit\s+(?:history|log|blame)\b|\b(?:history|author)\s+of\b"
    r"|\blast\s+(?:commit|touched|edited|modified)\b"
    rf"|\bhow\s+long\s+ago\b|\bsomeone\W+{_DEED}",
    re.I,
)
_CHANGES: Final = re.compile(
    r"\bwhat(?:['’]?s|\s+(?:has|have|was|were|got))?(?:\s+\w+){0,3}?\s+(?:changed|new|merged|shipped|landed|released)\b"
    r"|\bwhat\s+changes\s+(?:were|was|have|has|did|are there|landed)\b|\banything\s+(?:new|changed|merged)\b"
    r"|\b(?:recent|latest|last|newest)\s+(?:\w+\s+)?(?:changes?|commits?|edits?)\b",
    re.I,
)
_VALUE: Final = re.compile(
    r"\b(?:defaults?|limits?|timeouts?|ttl|ports?|max(?:imum)?|min(?:imum)?|values?|thresholds?|intervals?|retries|sizes?"
    r"|how\s+(?:many|long|often|big|large|much)|biggest|longest|tolerance|number\s+of|setting|configured|set\s+to)\b",
    re.I,
)
_NUMBER: Final = re.compile(
    r"\b(?:limits?|timeouts?|ttl|ports?|max(?:imum)?|min(?:imum)?|thresholds?|intervals?|retries|sizes?|lengths?|biggest"
    r"|longest|tolerance|how\s+(?:many|long|often|big|large|much)|number\s+of)\b",
    re.I,
)
_USES: Final = re.compile(
    r"\b(?:who|what|which(?:\s+\w+){1,3})\s+(?:calls?|uses?|invokes?|references?|imports?)\b(?!\s+(?:do|does|did|is|are)\b)"
    r"|\bwhere\b[^?\n]{1,100}\b(?:calls?|called|uses?|used|invoked|referenced|imported)\b"
    r"|\b(?:callers?|usages?|call\s+sites?|references|uses)\s+(?:of|to|for)\b|\bplaces\s+(?:that\s+)?(?:calls?|uses?)\b",
    re.I,
)
_DEFINITION: Final = re.compile(
    r"\bwhere(?:['’]?s|\s+(?:is|are|do(?:es)?\s+we|can\s+i\s+find))\b|\bwhere\s+do(?:es)?\b[^?\n]{1,60}\blives?\b|\bwhat(?:['’]?s|\s+(?:is|are|do|does))\b"
    r"|\b(?:defined|declared|implemented|definition|implementation|explain|describe|show\s+me)\b",
    re.I,
)
_MEANING: Final = re.compile(r"\A(?![^?]{0,400}\bwhere\b)[^?]{0,400}\b(?:what|how|explain|describe|mean)", re.I)
_OF_PEOPLE: Final = re.compile(
    r"\b(?:on[- ]call|tomorrow|tonight|weekend|opinions?|(?:this|next)\s+(?:week|month|quarter|year|sprint)"
    r"|(?:should|shall)\s+we|give\s+me\s+access)\b",
    re.I,
)
_LATEST: Final = re.compile(r"\b(?:last|lately|latest|recent(?:ly)?|newest)\b", re.I)
_ORIGIN: Final = re.compile(r"\b(?:introduc\w*|creat\w*|add(?:ed)?|wrote|written|originally|first|author\w*)\b", re.I)


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

    `names` are written as code, `files` like a file or folder; `words` are the other telling words in their order, as
    they are written; `text` is without mentions and addresses.
    """

    text: str
    names: tuple[Named, ...]
    files: tuple[str, ...]
    words: tuple[str, ...]

    def wants(self, form: re.Pattern[str]) -> bool:
        """Whether the text has a form."""
        return form.search(self.text[:MAX_CHARS]) is not None

    @property
    def wants_history(self) -> bool:
        """Whether it asks who changed something, when or why.

        >>> [question_of(one).wants_history for one in ("who last changed send?", "what changes the log level?")]
        [True, False]
        """
        return self.wants(_HISTORY)

    @property
    def wants_changes(self) -> bool:
        """Whether it asks what has changed.

        >>> [question_of(one).wants_changes for one in ("what's new since 2.0?", "what changes the log level?")]
        [True, False]
        """
        return self.wants(_CHANGES)

    @property
    def wants_value(self) -> bool:
        """Whether it asks for a default, a limit or another value.

        >>> [question_of(one).wants_value for one in ("what's the read timeout?", "how is the cart locked?")]
        [True, False]
        """
        return self.wants(_VALUE)

    @property
    def wants_number(self) -> bool:
        """Whether the value it asks for is a number.

        >>> [question_of(one).wants_number for one in ("how long do we wait?", "which date format is the default?")]
        [True, False]
        """
        return self.wants(_NUMBER)

    @property
    def wants_uses(self) -> bool:
        """Whether it asks what calls or uses something.

        >>> [question_of(one).wants_uses for one in ("who calls `send`?", "what calls does it make?")]
        [True, False]
        """
        return self.wants(_USES)

    @property
    def wants_definition(self) -> bool:
        """Whether a plain word in it may be the name of what is asked for.

        >>> [question_of(one).wants_definition for one in ("where is the cart defined?", "why are carts lost?")]
        [True, False]
        """
        return self.wants(_DEFINITION)

    @property
    def wants_meaning(self) -> bool:
        """Whether it asks what something is or does rather than where it stands.

        >>> [question_of(one).wants_meaning for one in ("what does send do?", "where is send, and what is it?")]
        [True, False]
        """
        return self.wants(_MEANING)

    @property
    def wants_origin(self) -> bool:
        """Whether the first commit is asked for rather than the last ones.

        >>> [question_of(one).wants_origin for one in ("who wrote send?", "who last added a test to send?")]
        [True, False]
        """
        return self.wants(_ORIGIN) and not self.wants(_LATEST)

    @property
    def is_of_people(self) -> bool:
        """Whether it asks for what people plan, own or think, which no code holds.

        >>> [question_of(one).is_of_people for one in ("who is on call tonight?", "who calls send?")]
        [True, False]
        """
        return self.wants(_OF_PEOPLE)

    @property
    def is_english(self) -> bool:
        """Whether it has a word that English questions mostly have.

        >>> question_of("Where is it checked?").is_english, question_of("Wo wird es geprüft?").is_english
        (True, False)
        """
        return self.wants(_ENGLISH)

    def is_deed(self, word: str) -> bool:
        """Whether a word says what was done: what a commit did is seldom told in the same one."""
        return _IS_DEED.match(word) is not None

    def others(self, used: Sequence[str] = (), *, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Return the stems of its words but some that were `used` for a name and those that say nothing here.

        None of a question in another language that has names: code does not hold its words.
        """
        dropped = {stem(one.lower()) for one in used}
        if self.names and not self.is_english:
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
    words = dict.fromkeys(_words(bare))
    return Question(plain, tuple(names)[:MAX_NAMES], tuple(files)[:MAX_NAMES], tuple(words)[:MAX_WORDS])


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
