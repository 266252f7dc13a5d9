"""Which names a file gives a value to, and where: constants, defaults of parameters and options, keys of settings.

Pure. Each pattern is matched over the whole text or a part of bounded length, in time that grows with its length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple

from bot.domain.search.definitions import MAX_NAME_CHARS, Definition, DefinitionKind, line_starts
from bot.domain.search.languages import CALL, PARAMETER, SIGNATURE, language_of

MAX_SETTINGS: Final = 2_000
"""So many of one file are kept; a file with more is data."""

MIN_NAME_CHARS: Final = 2
_SIGNATURE_CHARS: Final = 2_000

_Given = tuple[str, str, int]
"""A name, the dotted names that enclose it, and its line."""


class Setting(NamedTuple):
    """A name that gets a value, the dotted names that enclose it, its file and its line (1-based)."""

    name: str
    scope: str
    path: str
    line: int


class _Key(NamedTuple):
    """A key or section that encloses what is indented more, and its line."""

    indent: int
    name: str
    line: int


def settings_in(path: str, lines: Sequence[str], defined: Sequence[Definition] = ()) -> list[Setting]:
    """Return what a file gives a value to, in the order of its lines, at most MAX_SETTINGS.

    `defined` is what `definitions_in` returned for the file.

    >>> settings_in("a.py", ["def pool(maxSize=5):", "    port = get('PORT', 80)"])[0]
    Setting(name='port', scope='', path='a.py', line=2)
    """
    pattern = language_of(path).assigning
    if pattern is None:
        return []
    text = "\n".join(lines)
    starts = line_starts(lines)
    owners = _owners(defined)
    found = chain(
        _nested(pattern, text, starts, owners), _parameters(text, starts, defined), _calls(text, starts, owners)
    )
    named = [
        Setting(name, scope, path, line)
        for name, scope, line in dict.fromkeys(found)
        if MIN_NAME_CHARS <= len(name) <= MAX_NAME_CHARS and not name.isdigit()
    ]
    return sorted(named, key=attrgetter("line"))[:MAX_SETTINGS]


def _owners(defined: Sequence[Definition]) -> dict[int, Definition]:
    """Return, for each line inside a type or function, the innermost one."""
    owners: dict[int, Definition] = {}
    for one in defined:
        if one.kind is not DefinitionKind.VALUE:
            owners.update(dict.fromkeys(range(one.line + 1, one.end + 1), one))
    return owners


def _nested(
    pattern: re.Pattern[str], text: str, starts: Sequence[int], owners: Mapping[int, Definition]
) -> Iterator[_Given]:
    """Yield the names at the beginning of lines, with the definitions and the keys that enclose them."""
    keys: list[_Key] = []
    for match in pattern.finditer(text):
        groups = match.groupdict()
        line, indent = bisect_right(starts, match.start()), len(groups["indent"])
        if section := groups.get("section"):
            keys = [_Key(-1, section.strip(" \"'"), line)]
            continue
        while keys and keys[-1].indent >= indent:
            keys.pop()
        name = (groups.get("macro") or groups["name"]).strip("@$*-")
        owner = owners.get(line)
        within = [key.name for key in keys if owner is None or key.line > owner.line]
        if name == "default":
            if not within:
                continue  # of an option whose name stands elsewhere
            name = within.pop()
        scope = ".".join(filter(None, [_inside(owner), *within]))
        yield name, scope, line
        for given in PARAMETER.finditer(text, match.end(), starts[line] - 1):
            yield given["name"], f"{scope}.{name}".removeprefix("."), line
        if text[match.end() - 1] in "{[(:":
            keys.append(_Key(indent, name, line))


def _parameters(text: str, starts: Sequence[int], defined: Sequence[Definition]) -> Iterator[_Given]:
    """Yield the parameters of functions that have a default."""
    for one in defined:
        start = starts[one.line - 1]
        if one.kind is DefinitionKind.FUNCTION and (head := SIGNATURE.match(text, start, start + _SIGNATURE_CHARS)):
            for match in PARAMETER.finditer(head[0]):
                at = bisect_right(starts, start + match.start("name"))
                yield match["name"], _inside(one), at


def _calls(text: str, starts: Sequence[int], owners: Mapping[int, Definition]) -> Iterator[_Given]:
    """Yield the names that a call is given as text beside a value, as in `set("x", 1)`, or beside its default."""
    for match in CALL.finditer(text):
        line = bisect_right(starts, match.start(match.lastgroup or 0))
        yield match["name"] or match["symbol"], _inside(owners.get(line)), line


def _inside(owner: Definition | None) -> str:
    return ".".join(filter(None, [owner.scope, owner.name])) if owner else ""
