"""Which names a file gives a value to, where, and what is said of them beside it.

Names are constants, defaults of parameters and options, keys of settings, and sections of prose that tell a default.
Pure. Each pattern is matched over the whole text or a part of bounded length, in time that grows with its length.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple

from bot.domain.search.definitions import MAX_NAME_CHARS, Definition, DefinitionKind, line_starts
from bot.domain.search.files import CALL, PARAMETER, SIGNATURE, is_prose, language_of
from bot.domain.search.passages import first_attached, sections

MAX_SETTINGS: Final = 2_000
"""So many of one file are kept."""

MAX_IN_DENSE: Final = 500
DENSE: Final = 0.75
"""A file with more of them, on more of its lines than this share, is data: none is kept."""

MIN_NAME_CHARS: Final = 2
_SIGNATURE_CHARS: Final = 2_000
LINES_BEHIND: Final = 2
"""So many lines behind a name tell of it, too; of a call all of its arguments do."""

LINES_OF_PROSE: Final = 20
_DEFAULT: Final = re.compile(r"\bdefaults?\b", re.I)


class _Given(NamedTuple):
    """A name, the dotted names that enclose it, its line, and the last line of what tells of it, 0 if not known."""

    name: str
    scope: str
    line: int
    end: int = 0


class Setting(NamedTuple):
    """A name that gets a value, the dotted names that enclose it, its file and line, and the lines that tell of it.

    These are `start` to `end`: the comment above it, its line, and LINES_BEHIND that follow, if the file has them, or
    the rest of a call. All lines are 1-based.
    """

    name: str
    scope: str
    path: str
    line: int
    start: int
    end: int


class _Key(NamedTuple):
    """A key or section that encloses what is indented more, and its line."""

    indent: int
    name: str
    line: int


def settings_in(path: str, lines: Sequence[str], defined: Sequence[Definition] = ()) -> list[Setting]:
    """Return what a file gives a value to, in the order of its lines, at most MAX_SETTINGS; nothing of data.

    `defined` is what `definitions_in` returned for the file.

    >>> settings_in("a.py", ["def pool(maxSize=5):", "    port = get('PORT', 80)"])[0]
    Setting(name='port', scope='', path='a.py', line=2, start=2, end=4)
    """
    if is_prose(path):
        return list(_of_prose(path, lines))[:MAX_SETTINGS]
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
        one
        for one in sorted(dict.fromkeys(found), key=attrgetter("line"))
        if MIN_NAME_CHARS <= len(one.name) <= MAX_NAME_CHARS and not one.name.isdigit()
    ]
    if len(named) > max(MAX_IN_DENSE, DENSE * len(lines)):
        return []
    heads = [0, *(one.line for one in named)]
    return [
        Setting(
            *(one.name, one.scope, path, one.line),
            start=first_attached(lines, one.line - 1, after=heads[bisect_left(heads, one.line) - 1]) + 1,
            end=one.end or one.line + LINES_BEHIND,
        )
        for one in named[:MAX_SETTINGS]
    ]


def _of_prose(path: str, lines: Sequence[str]) -> Iterator[Setting]:
    """Yield the sections that tell a default, each by its heading, at the first line that does."""
    for one in sections(lines):
        end = min(one.end, one.start + LINES_OF_PROSE)
        if at := next((at for at in range(one.start, end) if _DEFAULT.search(lines[at])), None):
            yield Setting(one.names[0].strip("`")[:MAX_NAME_CHARS], "", path, at + 1, one.start + 1, end)


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
        yield _Given(name, scope, line)
        for given in PARAMETER.finditer(text, match.end(), starts[line] - 1):
            yield _Given(given["name"], f"{scope}.{name}".removeprefix("."), line)
        if text[match.end() - 1] in "{[(:":
            keys.append(_Key(indent, name, line))


def _parameters(text: str, starts: Sequence[int], defined: Sequence[Definition]) -> Iterator[_Given]:
    """Yield the parameters of functions that have a default."""
    for one in defined:
        start = starts[one.line - 1]
        if one.kind is DefinitionKind.FUNCTION and (head := SIGNATURE.match(text, start, start + _SIGNATURE_CHARS)):
            for match in PARAMETER.finditer(head[0]):
                at = bisect_right(starts, start + match.start("name"))
                yield _Given(match["name"], _inside(one), at)


def _calls(text: str, starts: Sequence[int], owners: Mapping[int, Definition]) -> Iterator[_Given]:
    """Yield the names that a call is given as text beside a value, as in `set("x", 1)`, or tells the default of."""
    for match in CALL.finditer(text):
        whole = SIGNATURE.match(text, match.start(), match.start() + _SIGNATURE_CHARS)
        if match["value"] is None and not (whole and _DEFAULT.search(whole[0])):
            continue
        line = bisect_right(starts, match.start("name" if match["name"] else "symbol"))
        end = bisect_right(starts, whole.end()) if whole else 0
        yield _Given(match["name"] or match["symbol"], _inside(owners.get(line)), line, end)


def _inside(owner: Definition | None) -> str:
    return ".".join(filter(None, [owner.scope, owner.name])) if owner else ""
