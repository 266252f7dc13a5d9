"""Which names a file defines, and where: types, functions and values, by the rules of its language.

Pure. A definition stands on the line that names it. Patterns are matched once over the whole text, each in linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from bot.domain.tables import Parts, Words, WordSet, fill, read_table

MAX_NAME_CHARS: Final = 120

_CLOSERS: Final = (")", "]", "}", "end", "{", "*/")

_COMMENTS: Final = ("#", "//")
_LABEL: Final = re.compile(r"(?!(?:try|else|finally)\b)\w+:\s*$")
"""Where a jump leads; it stands at the margin, and what it is in goes on."""

_ANY_GROUP: Final = re.compile(r"\(\?P<(\w+)>")

_PYTHON_STRING: Final = re.compile(
    r"#[^\n]*|(?P<long>\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)|'''(?:[^\\]|\\.)*?(?:'''|\Z))"
    r"|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?",
    re.S,
)
_PYTHON_SUFFIXES: Final = frozenset({"py", "pyi", "pyx"})
_OVERLOAD: Final = re.compile(r"@(?:\w+\.)?overload\b")
_NO_SCOPE: Final = frozenset({"", "exports", "module"})


class DefinitionKind(IntEnum):
    """What is defined; the number is what the index stores."""

    TYPE = 0
    FUNCTION = 1
    VALUE = 2


class Defined(NamedTuple):
    """A name, the dotted names that enclose it, what it is, and its first and last line (1-based)."""

    name: str
    scope: str
    line: int
    end: int
    kind: DefinitionKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A name that a file of the codebase defines in the lines `line` to `end`; `scope` is as in `Defined`."""

    name: str
    scope: str
    path: str
    line: int
    end: int
    kind: DefinitionKind


class _Forms(NamedTuple):
    endings: Words
    forms: Words


class _DefinitionsTable(NamedTuple):
    parts: Parts
    forms: dict[str, list[str]]
    languages: list[_Forms]
    keywords: WordSet


_TABLE: Final = read_table(__file__, "definitions.yml", _DefinitionsTable)


class _Language(NamedTuple):
    """One pattern for all that a language defines, and for each of its parts what its groups are called."""

    pattern: re.Pattern[str]
    roles: Mapping[str, Mapping[str, str]]


def _language(patterns: Sequence[str]) -> _Language:
    """Return patterns as one, so that each line is looked at once; each one's groups get its number."""
    parts = [_ANY_GROUP.sub(rf"(?P<\1_{at}>", one.removeprefix("^")) for at, one in enumerate(patterns)]
    roles = {str(at): {role: f"{role}_{at}" for role in _ANY_GROUP.findall(one)} for at, one in enumerate(patterns)}
    return _Language(re.compile(f"^(?:{'|'.join(parts)})", re.M), roles)


def _languages() -> Iterator[tuple[str, _Language]]:
    """Yield each ending of a file name with its language."""
    for one in _TABLE.languages:
        patterns = [fill(pattern, _TABLE.parts) for form in one.forms for pattern in _TABLE.forms[form]]
        yield from dict.fromkeys(one.endings, _language(patterns)).items()


_LANGUAGES: Final = dict(_languages())


def definitions_in(path: str, lines: Sequence[str]) -> list[Defined]:
    """Return what a file defines, in the order of its lines; nothing of a language that is not known here.

    >>> definitions_in("a.py", ["class A:", "    def run(self):", "        pass"])[1]
    Defined(name='run', scope='A', line=2, end=3, kind=<DefinitionKind.FUNCTION: 1>)
    """
    suffix = path.rpartition(".")[2].lower()
    language = _LANGUAGES.get(suffix)
    if language is None:
        return []
    text = "\n".join(lines)
    found = list(language.pattern.finditer(text))
    if suffix in _PYTHON_SUFFIXES:
        quoted = _quoted(text, [match.start() for match in found])
        found = [match for match in found if match.start() not in quoted]
    return list(_scoped(text, [(match.start(), _groups(match, language)) for match in found], lines))


def _groups(match: re.Match[str], language: _Language) -> dict[str, str]:
    """Return what matched by the name of its group."""
    assert match.lastgroup is not None
    roles = language.roles[match.lastgroup.rpartition("_")[2]]
    return {role: found for role, group in roles.items() if (found := match[group]) is not None}


def _quoted(text: str, starts: Sequence[int]) -> frozenset[int]:
    """Return those places of a Python text that lie in a string of several lines."""
    if not _may_be_quoted(text, starts):
        return frozenset()
    longs = [match.span() for match in _PYTHON_STRING.finditer(text) if match["long"]]
    begins = [start for start, _ in longs]
    return frozenset(at for at in starts if (one := bisect_right(begins, at)) and longs[one - 1][1] > at)


def _may_be_quoted(text: str, starts: Sequence[int]) -> bool:
    """Whether one of these places has an odd number of marks before it; counting is faster than reading strings."""
    before, double, single = 0, 0, 0
    for at in starts:
        double += text.count('"""', before, at)
        single += text.count("'''", before, at)
        before = at
        if double % 2 or single % 2:
            return True
    return False


class _Enclosing(NamedTuple):
    """A definition that encloses what is indented more."""

    indent: int
    name: str
    has_methods: bool


def _scoped(text: str, found: Iterable[tuple[int, Mapping[str, str]]], lines: Sequence[str]) -> Iterator[Defined]:
    """Yield each definition with the names of those above it that are indented less."""
    enclosing: list[_Enclosing] = []
    indents = _indents(lines)
    line, counted = 1, 0
    for at, groups in found:
        line, counted = line + text.count("\n", counted, at), at
        indent = len(groups.get("indent", ""))
        while enclosing and enclosing[-1].indent >= indent:
            enclosing.pop()
        has_methods = bool(enclosing) and enclosing[-1].has_methods
        if _is_none(groups, in_type=has_methods) or (line > 1 and _OVERLOAD.search(lines[line - 2])):
            continue
        outer = [*(one.name for one in enclosing), *({groups.get("scope", "")} - _NO_SCOPE)]
        kind = _kind(groups)
        if "holder" not in groups:
            end = _end(lines, indents, line, may_hold_labels=kind is not DefinitionKind.VALUE)
            yield Defined(groups["name"], ".".join(outer), line, end, kind)
        if kind is not DefinitionKind.VALUE:
            enclosing.append(_Enclosing(indent, groups["name"], "holder" in groups or kind is DefinitionKind.TYPE))


def _is_none(groups: Mapping[str, str], *, in_type: bool) -> bool:
    """Whether a match defines nothing: a keyword, or a call that looks like a method."""
    return (
        groups["name"] in _TABLE.keywords
        or len(groups["name"]) > MAX_NAME_CHARS
        or ("method" in groups and not in_type)
    )


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
