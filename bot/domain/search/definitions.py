"""Which names a file defines, and where: types, functions and values, by the rules of its language.

Pure. A definition stands on the line that names it. Patterns are matched once over the whole text, each in linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import accumulate
from typing import Final, NamedTuple

from bot.domain.search.files import KEYWORDS, language_of

MAX_NAME_CHARS: Final = 120

_CLOSERS: Final = (")", "]", "}", "end", "{", "*/")

_COMMENTS: Final = ("#", "//")
_LABEL: Final = re.compile(r"(?!(?:try|else|finally)\b)\w+:\s*$")
"""Where a jump leads; it stands at the margin, and what it is in goes on."""

_OVERLOAD: Final = re.compile(r"@(?:\w+\.)?overload\b")
_NO_SCOPE: Final = frozenset({"", "exports", "module"})


class DefinitionKind(IntEnum):
    """What is defined; the number is what the index stores."""

    TYPE = 0
    FUNCTION = 1
    VALUE = 2


class Definition(NamedTuple):
    """A name, the dotted names that enclose it, its file, its first and last line (1-based), and what it is."""

    name: str
    scope: str
    path: str
    line: int
    end: int
    kind: DefinitionKind


def definitions_in(path: str, lines: Sequence[str]) -> list[Definition]:
    """Return what a file defines, in the order of its lines; nothing of a language that is not known here.

    >>> definitions_in("a.py", ["class A:", "    def run(self):", "        pass"])[1]
    Definition(name='run', scope='A', path='a.py', line=2, end=3, kind=<DefinitionKind.FUNCTION: 1>)
    """
    language = language_of(path)
    if language.defining is None:
        return []
    found = language.defining.finditer("\n".join(lines))
    return list(_scoped(path, lines, ((match.start(), language.groups(match)) for match in found if match.lastgroup)))


class _Enclosing(NamedTuple):
    """A definition that encloses what is indented more."""

    indent: int
    name: str
    has_methods: bool


def _scoped(path: str, lines: Sequence[str], found: Iterable[tuple[int, Mapping[str, str]]]) -> Iterator[Definition]:
    """Yield each definition with the names of those above it that are indented less."""
    enclosing: list[_Enclosing] = []
    indents = _indents(lines)
    starts = line_starts(lines)
    for at, groups in found:
        line = bisect_right(starts, at)
        indent = len(groups.get("indent", ""))
        while enclosing and enclosing[-1].indent >= indent:
            enclosing.pop()
        has_methods = bool(enclosing) and enclosing[-1].has_methods
        is_statement = "method" in groups and (groups["name"] in KEYWORDS or not has_methods)
        if is_statement or len(groups["name"]) > MAX_NAME_CHARS:
            continue
        if line > 1 and _OVERLOAD.search(lines[line - 2]):
            continue
        outer = [*(one.name for one in enclosing), *({groups.get("scope", "")} - _NO_SCOPE)]
        kind = _kind(groups)
        if "holder" not in groups:
            end = _end(lines, indents, line, may_hold_labels=kind is not DefinitionKind.VALUE)
            yield Definition(groups["name"], ".".join(outer), path, line, end, kind)
        if kind is not DefinitionKind.VALUE:
            enclosing.append(_Enclosing(indent, groups["name"], "holder" in groups or kind is DefinitionKind.TYPE))


def _kind(groups: Mapping[str, str]) -> DefinitionKind:
    if "type" in groups:
        return DefinitionKind.TYPE
    return DefinitionKind.VALUE if "value" in groups and "method" not in groups else DefinitionKind.FUNCTION


def definition_end(lines: Sequence[str], line: int) -> int:
    """Return the last line of what is defined on `line` (both from 1): what is indented more, and what closes it.

    >>> definition_end(["def a(", "    b,", "):", "    return b", "", "c = 1"], 1)
    4
    """
    return _end(lines, _indents(lines), line, may_hold_labels=True)


def line_starts(lines: Sequence[str]) -> list[int]:
    """Return where each line begins in the text they make, joined by newlines, and where one more would."""
    return list(accumulate((len(line) + 1 for line in lines), initial=0))


def _indents(lines: Sequence[str]) -> list[int]:
    """Return how far each line is indented; of a blank one -1."""
    return [len(line) - len(text) if (text := line.lstrip()) else -1 for line in lines]


def _end(lines: Sequence[str], indents: Sequence[int], line: int, *, may_hold_labels: bool) -> int:
    own, last = indents[line - 1], line
    for at in range(line, len(lines)):
        indent = indents[at]
        if indent > own:
            last = at + 1
        elif indent >= 0:
            text = lines[at].lstrip()
            if indent == own and text.startswith(_CLOSERS):
                last = at + 1
            elif not (text.startswith(_COMMENTS) or (may_hold_labels and _LABEL.match(text))):
                break
    return last
