"""Which names a file gives a value to, and where: constants, defaults of parameters and options, keys of settings.

Pure. Each pattern is matched over the whole text or a part of bounded length, in time that grows with its length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import attrgetter
from typing import Final, NamedTuple

from bot.domain.search.definitions import MAX_NAME_CHARS, Defined, DefinitionKind

MAX_SETTINGS: Final = 2_000
"""So many of one file are kept; a file with more is data."""

MIN_NAME_CHARS: Final = 2
_SIGNATURE_CHARS: Final = 2_000
_KEYED: Final = frozenset({"yml", "yaml"})
_SECTIONED: Final = frozenset({"toml", "ini", "cfg", "conf", "properties", "env", "example"})
_NO_PROGRAM: Final = frozenset(
    {"md", "mdx", "rst", "adoc", "org", "txt", "json", "csv", "html", "htm", "xml", "svg", "sql"}
)

_TEXT: Final = r"""[rbuf]{0,2}(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'|`[^`\n]{0,300}`)"""
_VALUE: Final = rf"""(?:[-+]?\.?\d[\w.]*+|{_TEXT}|(?i:true|false|null|nil|none|undefined)\b|:[a-z]\w*+|[A-Z][\w.]*+
    |[\[({{]|(?:[\w.]++[({{])(?:[-+]?\d|["']))"""
_BEHIND: Final = rf"""(?:[^\n;]{{0,160}}?(?:\|\||\?\?|\bor\b|,|\.default\()[ \t]*+)?{_VALUE}"""

_WORDS_BEFORE: Final = r"""(?>(?:[\w<>\[\],.?&*:]*[\w<>\[\],.?&*][ \t]++(?=[\w$@*"']))*)"""
_OF_GO: Final = r"(?:(?:var|const)[ \t]++)?"


def _line(before: str, behind: str = "") -> re.Pattern[str]:
    """Return what finds a name that a line begins with; `before` and `behind` it may stand words, such as its type."""
    return re.compile(
        rf"""^(?P<indent>[ \t]*+)(?:\#[ \t]*+define[ \t]++(?P<macro>\w++)[ \t]++(?={_VALUE})
        |{before}(?>(?:[\w$@*]++(?:\.|->|::|\[(?=["'])))*)["']?(?:--)?(?P<name>[\w$@-]++)["']?\]?
        (?:[ \t]*+{behind}(?:(?::[^=\n"'{{(]{{1,80}}+)?(?::?=(?![=>~])|\|\|=|\?\?=)|=>)|:(?=[ \t]))[ \t]*+{_BEHIND}
        )""",
        re.M | re.X,
    )


_LINE: Final = _line(_WORDS_BEFORE)
_LINE_OF_GO: Final = _line(_OF_GO, r"(?:[\w.*\[\]]++[ \t]++)?")
_PARAMETER: Final = re.compile(
    rf"[(,][ \t\n]*+\*{{0,2}}(?P<name>[\w$-]++)[ \t]*+(?::[^=\n]{{1,100}}?)?[=:][ \t]*+{_VALUE}", re.X
)
_SIGNATURE: Final = re.compile(r"[^()\n]*+\((?>(?:[^()]|\((?>(?:[^()]|\([^()]*+\))*)\))*)\)")
_CALL: Final = re.compile(
    rf"""(?:set|get|[dD]efault|[oO]ption|argument|define|config|propert|env|flag|param|fetch|pop)\w*+[( ][ \t\n]*+
    (?:["'](?:--?)?(?P<name>\w[\w. -]{{1,80}}+)["']|:(?P<symbol>\w++))[ \t]*+,[ \t\n]*+
    (?:(?:[^()\n]{{0,100}}+\n){{0,4}}[^()\n]{{0,100}}?\bdefault[ \t]*+[=:][ \t]*+)?{_VALUE}""",
    re.X,
)
_KEY: Final = re.compile(r"^(?P<indent> *+)(?:- +)?[\"']?(?P<name>[\w./-]++)[\"']?:(?=[ \t]|$)", re.M)
_SECTION: Final = re.compile(
    r"^(?P<indent>[ \t]*+)(?:\[+(?P<section>[^\]\n]{1,120}+)\]+|(?P<name>[\w.-]++)[ \t]*+[=:])", re.M
)


class Assigned(NamedTuple):
    """A name that gets a value, the dotted names that enclose it, and its line (1-based)."""

    name: str
    scope: str
    line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """A name that a file of the codebase gives a value on line `line`; `scope` is as in `Assigned`."""

    name: str
    scope: str
    path: str
    line: int


class _Key(NamedTuple):
    """A key or section that encloses what is indented more, and its line."""

    indent: int
    name: str
    line: int


def settings_in(path: str, lines: Sequence[str], defined: Sequence[Defined] = ()) -> list[Assigned]:
    """Return what a file gives a value to, in the order of its lines, at most MAX_SETTINGS.

    `defined` is what `definitions_in` returned for the file.

    >>> settings_in("a.py", ["def pool(maxSize=5):", "    port = get('PORT', 80)"])
    [Assigned(name='port', scope='', line=2), Assigned(name='PORT', scope='', line=2)]
    """
    suffix = path.rpartition(".")[2].lower()
    if suffix in _NO_PROGRAM:
        return []
    text = "\n".join(lines)
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    if suffix in _KEYED or suffix in _SECTIONED:
        found = _nested(_KEY if suffix in _KEYED else _SECTION, text, starts, {})
    else:
        owners = _owners(defined)
        found = chain(
            _nested(_LINE_OF_GO if suffix == "go" else _LINE, text, starts, owners),
            _parameters(text, starts, defined),
            _calls(text, starts, owners),
        )
    named = (one for one in found if MIN_NAME_CHARS <= len(one.name) <= MAX_NAME_CHARS and not one.name.isdigit())
    return sorted(dict.fromkeys(named), key=attrgetter("line"))[:MAX_SETTINGS]


def _owners(defined: Sequence[Defined]) -> dict[int, Defined]:
    """Return, for each line inside a type or function, the innermost one."""
    owners: dict[int, Defined] = {}
    for one in defined:
        if one.kind is not DefinitionKind.VALUE:
            owners.update(dict.fromkeys(range(one.line + 1, one.end + 1), one))
    return owners


def _nested(
    pattern: re.Pattern[str], text: str, starts: Sequence[int], owners: Mapping[int, Defined]
) -> Iterator[Assigned]:
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
        yield Assigned(name, scope, line)
        for given in _PARAMETER.finditer(text, match.end(), starts[line] - 1):
            yield Assigned(given["name"], f"{scope}.{name}".removeprefix("."), line)
        if text[match.end() - 1] in "{[(:":
            keys.append(_Key(indent, name, line))


def _parameters(text: str, starts: Sequence[int], defined: Sequence[Defined]) -> Iterator[Assigned]:
    """Yield the parameters of functions that have a default."""
    for one in defined:
        start = starts[one.line - 1]
        if one.kind is DefinitionKind.FUNCTION and (head := _SIGNATURE.match(text, start, start + _SIGNATURE_CHARS)):
            for match in _PARAMETER.finditer(head[0]):
                at = bisect_right(starts, start + match.start("name"))
                yield Assigned(match["name"], _inside(one), at)


def _calls(text: str, starts: Sequence[int], owners: Mapping[int, Defined]) -> Iterator[Assigned]:
    """Yield the names that a call is given as text beside a value, as in `set("x", 1)`, or beside its default."""
    for match in _CALL.finditer(text):
        line = bisect_right(starts, match.start(match.lastgroup or 0))
        yield Assigned(match["name"] or match["symbol"], _inside(owners.get(line)), line)


def _inside(owner: Defined | None) -> str:
    return ".".join(filter(None, [owner.scope, owner.name])) if owner else ""
