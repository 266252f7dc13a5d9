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

MAX_NAME_CHARS: Final = 120


class DefinitionKind(IntEnum):
    """What is defined; the number is what the index stores."""

    TYPE = 0
    FUNCTION = 1
    VALUE = 2


class Defined(NamedTuple):
    """A name, the dotted names that enclose it, its line (1-based) and what it is."""

    name: str
    scope: str
    line: int
    kind: DefinitionKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A name that a file of the codebase defines on line `line`; `scope` is as in `Defined`."""

    name: str
    scope: str
    path: str
    line: int
    kind: DefinitionKind


MAX_BODY: Final = 400
"""So many lines of a definition are looked through for its end."""

_CLOSERS: Final = (")", "]", "}", "end", "{", "*/")
_I: Final = r"^(?P<indent>[ \t]*+)"
_NAME: Final = r"(?P<name>[^\W\d]\w*+)"
_JS_NAME: Final = r"(?P<name>[A-Za-z_$][\w$]*+)"
_MODIFIERS: Final = (
    r"(?:(?:export|default|declare|public|private|protected|internal|fileprivate|static|final|abstract|async|open"
    r"|override|sealed|data|suspend|partial|virtual|synchronized|native|inline|constexpr|readonly|unsafe|extern"
    r"|case|inner|companion|implicit|lazy|required|mutating|explicit|operator|tailrec|infix|new)[ \t]++)"
)
_PARENS: Final = r"\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)"

_PYTHON: Final = (
    rf"{_I}(?:async[ \t]++)?(?:(?P<type>class)|def)[ \t]++{_NAME}[ \t]*+(?=[(\[:])",
    rf"^(?:type[ \t]++)?{_NAME}[ \t]*+(?::[^=\n#]{{1,200}})?(?P<value>=)(?!=)",
    r"^(?P<indent>[ \t]++)(?P<name>[A-Z][A-Z0-9_]{2,})[ \t]*+(?::[^=\n#]{1,200})?(?P<value>=)(?!=)",
)
_JS_MODIFIERS: Final = r"(?:(?:export|default|declare|abstract|async)[ \t]++)*"
_MEMBER: Final = (
    r"(?:(?:public|private|protected|static|async|override|abstract|readonly|declare|get|set)[ \t]++|\*[ \t]*+)*"
)
_FUNCTION_VALUE: Final = r"[ \t]*+(?:async[ \t]*+)?(?:function\b|\([^\n]*=>|\([^()\n]*$|[\w$]+[ \t]*+=>)"
_JAVASCRIPT: Final = (
    rf"{_I}{_JS_MODIFIERS}(?:const[ \t]++)?(?P<type>class|interface|enum|namespace|module)[ \t]++"
    rf"{_JS_NAME}(?=[ \t<{{]|$)",
    rf"{_I}{_JS_MODIFIERS}(?P<type>type)[ \t]++{_JS_NAME}[ \t]*+(?=[<=]|$)",
    rf"{_I}{_JS_MODIFIERS}function[ \t]*+\*?[ \t]*+{_JS_NAME}[ \t]*+(?=[(<])",
    rf"{_I}{_JS_MODIFIERS}(?:const|let|var)[ \t]++{_JS_NAME}[ \t]*+(?::[^=\n]{{1,200}})?={_FUNCTION_VALUE}",
    rf"^(?:export[ \t]++)?(?P<value>const|let|var)[ \t]++{_JS_NAME}[ \t]*+(?=[:=;]|$)(?![ \t]*+=[ \t]*+require\b)",
    r"^(?P<indent>[ \t]++)['\"]?(?P<name>[A-Z][A-Z0-9_]{2,})['\"]?[ \t]*+(?P<value>:|=(?!=))(?=[ \t])",
    rf"^(?P<scope>[A-Za-z_$][\w$]*+)(?:\.prototype)?\.{_JS_NAME}[ \t]*+={_FUNCTION_VALUE}",
    rf"^(?P<indent>[ \t]++){_MEMBER}(?P<method>)#?{_JS_NAME}[ \t]*+\??(?:<[^>\n]{{0,200}}>)?"
    rf"(?=\([^()\n]*$|{_PARENS}[ \t]*+(?:\{{|:[^\n]*[;{{][ \t]*+$)"
    r"|[ \t]*+=[ \t]*+(?:async[ \t]*+)?(?:function\b|\([^\n]*=>|[\w$]+[ \t]*+=>))",
)
_GO: Final = (
    rf"^func[ \t]++(?:\((?:\w+[ \t]++)?\*?(?P<scope>\w+)(?:\[[^\]\n]*\])?\)[ \t]*+)?{_NAME}[ \t]*+(?=[\[(])",
    rf"^(?P<type>type)[ \t]++{_NAME}(?=[ \t\[])",
    rf"^\t{_NAME}[ \t]++(?P<type>struct|interface)[ \t]*+\{{",
    rf"^(?P<value>const|var)[ \t]++{_NAME}",
    r"^\t(?P<name>[A-Z]\w*)(?:[ \t]++[\w.*\[\]]+)?[ \t]*+(?P<value>=)[ \t]",
)
_RUST: Final = (
    rf"{_I}(?:pub(?:\([^)\n]*\))?[ \t]++)?(?:(?:default|async|unsafe|const|extern|\"[^\"\n]*\")[ \t]++)*"
    rf"(?:(?P<type>struct|enum|trait|union|type|mod)|fn|(?P<value>const|static)(?:[ \t]++mut)?|macro_rules!)"
    rf"[ \t]++{_NAME}",
    rf"{_I}(?:unsafe[ \t]++)?(?P<holder>impl)(?:<[^>\n]*>)?[ \t]++(?:[^{{\n]*?[ \t]for[ \t]++)?&?{_NAME}",
)
_BRACES: Final = (
    rf"{_I}{_MODIFIERS}*(?P<type>class|interface|@interface|enum(?:[ \t]++(?:class|struct))?|record|struct|union|trait"
    rf"|object|protocol|extension|namespace|module|actor|mixin|typealias)[ \t]++"
    rf"(?:[A-Z_]{{3,40}}[ \t]++)?{_NAME}(?=[^\n;{{]*(?:\{{|$))",
    rf"{_I}{_MODIFIERS}*(?:fun|func|def|function)[ \t]++(?:<[^>\n]*>[ \t]*+)?(?:&[ \t]*+)?(?:(?P<scope>\w+)\.)?"
    rf"{_NAME}[ \t]*+(?=[(<\[=:{{])",
    rf"{_I}{_MODIFIERS}+(?:[\w<>\[\],.?&*:]+[ \t]++){{0,6}}{_NAME}[ \t]*+(?=\()",
    rf"^(?P<indent>[ \t]++)(?P<method>)(?:[\w<>\[\],.?&*:]+[ \t]++){{1,4}}{_NAME}[ \t]*+(?=\([^\n;]*\{{[ \t]*+$)",
    rf"{_I}{_MODIFIERS}*(?P<value>const|val|let|var)[ \t]++(?:\w+[ \t]++)?{_NAME}[ \t]*+(?=[:=])",
    rf"{_I}(?:(?:public|private|protected|static|final)[ \t]++)+(?:[\w<>\[\],.?]+[ \t]++){{1,2}}{_NAME}"
    r"[ \t]*+(?P<value>=)",
)
_C: Final = (
    rf"^(?!(?:return|else|if|while|for|switch|case|typedef|using|goto|throw|new|delete)\b)(?:[\w:<>,]+[ \t*&]+){{1,8}}"
    rf"(?:(?P<scope>\w+)::)?~?{_NAME}[ \t]*+(?=\([^;\n]*$)",
    rf"^[ \t]*+#[ \t]*+(?P<value>define)[ \t]++{_NAME}",
    rf"^typedef[ \t][^\n]*?(?P<type>[ \t*]){_NAME};[ \t]*+$",
)
_RUBY: Final = (
    r"^(?P<indent>[ \t]*+)(?P<type>class|module)[ \t]++(?:\w+::)*(?P<name>[A-Z]\w*)",
    r"^(?P<indent>[ \t]*+)def[ \t]++(?:self\.)?(?P<name>[^\W\d]\w*[?!=]?)",
    r"^(?P<indent>[ \t]*+)(?P<name>[A-Z]\w*)[ \t]*+(?P<value>=)(?![=~])",
)
_SHELL: Final = (
    rf"{_I}(?:function[ \t]++(?P<scope>))?(?P<name>[A-Za-z_][\w-]*)[ \t]*+\(\)",
    rf"{_I}function[ \t]++(?P<name>[A-Za-z_][\w-]*)",
    r"^(?:(?:export|readonly|declare[ \t]++-\w+)[ \t]++)?(?P<name>[A-Z]\w+)(?P<value>=)",
)
_SQL: Final = (
    r"^(?i:[ \t]*+create[ \t]++(?:or[ \t]++replace[ \t]++)?(?:temp(?:orary)?[ \t]++|unique[ \t]++|materialized[ \t]++)*"
    r"(?:(?P<type>table|view|type)|function|procedure|trigger|index)[ \t]++(?:if[ \t]++not[ \t]++exists[ \t]++)?)"
    r"(?:[\w\"]+\.)?[\"`]?(?P<name>\w+)",
)
_LUA: Final = (rf"{_I}(?:local[ \t]++)?function[ \t]++(?:(?P<scope>\w+)[.:])?{_NAME}[ \t]*+(?=\()",)
_ELIXIR: Final = (
    r"^(?P<indent>[ \t]*+)(?:(?P<type>defmodule)|defp?|defmacrop?)[ \t]++(?:\w+\.)*(?P<name>[^\W\d]\w*[?!]?)",
)
_SETTINGS: Final = (
    r"^\[+(?P<value>)\"?(?:[\w-]+\.)*(?P<name>[\w-]+)\"?\]+",
    r"^(?P<name>[A-Za-z_][\w-]*)[ \t]*+(?P<value>=)",
)
_YAML: Final = (r"^(?P<indent> {0,6})(?P<name>[A-Za-z_][\w-]*)(?P<value>:)(?=[ \t]|$)",)

_SUFFIXES: Final = {
    "py pyi pyx": _PYTHON,
    "js mjs cjs jsx ts mts cts tsx vue svelte": _JAVASCRIPT,
    "go": _GO,
    "rs": _RUST,
    "java kt kts scala cs swift php dart groovy": _BRACES,
    "c h cc cpp cxx hh hpp hxx m mm": (*_C, *_BRACES),
    "rb rake": _RUBY,
    "sh bash zsh": _SHELL,
    "sql": _SQL,
    "lua": _LUA,
    "ex exs": _ELIXIR,
    "toml ini cfg conf properties env example": _SETTINGS,
    "yml yaml": _YAML,
}
_ANY_GROUP: Final = re.compile(r"\(\?P<(\w+)>")


class _Language(NamedTuple):
    """One pattern for all that a language defines, and for each of its parts what its groups are called."""

    pattern: re.Pattern[str]
    roles: Mapping[str, Mapping[str, str]]


def _language(patterns: Sequence[str]) -> _Language:
    """Return patterns as one, so that each line is looked at once; each one's groups get its number."""
    parts = [_ANY_GROUP.sub(rf"(?P<\1_{at}>", one.removeprefix("^")) for at, one in enumerate(patterns)]
    roles = {str(at): {role: f"{role}_{at}" for role in _ANY_GROUP.findall(one)} for at, one in enumerate(patterns)}
    return _Language(re.compile(f"^(?:{'|'.join(parts)})", re.M), roles)


_LANGUAGES: Final = {
    suffix: language
    for suffixes, patterns in _SUFFIXES.items()
    for language in (_language(patterns),)
    for suffix in suffixes.split()
}
_KEYWORDS: Final = frozenset(
    """
    if for while switch catch function return with super constructor typeof new await else do try throw case match
    sizeof using lock foreach elseif unless until when
    """.split()  # noqa: SIM905 - a word list is read as words
)
_PYTHON_STRING: Final = re.compile(
    r"#[^\n]*|(?P<long>\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)|'''(?:[^\\]|\\.)*?(?:'''|\Z))|\"(?:[^\"\\\n]|\\.)*|'(?:[^'\\\n]|\\.)*",
    re.S,
)
_PYTHON_SUFFIXES: Final = frozenset({"py", "pyi", "pyx"})
_OVERLOAD: Final = re.compile(r"@(?:\w+\.)?overload\b")
_NO_SCOPE: Final = frozenset({"", "exports", "module"})


def definitions_in(path: str, lines: Sequence[str]) -> list[Defined]:
    """Return what a file defines, in the order of its lines; nothing of a language that is not known here.

    >>> definitions_in("a.py", ["class A:", "    def run(self):", "        pass"])[1]
    Defined(name='run', scope='A', line=2, kind=<DefinitionKind.FUNCTION: 1>)
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
            yield Defined(groups["name"], ".".join(outer), line, kind)
        if kind is not DefinitionKind.VALUE:
            enclosing.append(_Enclosing(indent, groups["name"], "holder" in groups or kind is DefinitionKind.TYPE))


def _is_none(groups: Mapping[str, str], *, in_type: bool) -> bool:
    """Whether a match defines nothing: a keyword, or a call that looks like a method."""
    return groups["name"] in _KEYWORDS or len(groups["name"]) > MAX_NAME_CHARS or ("method" in groups and not in_type)


def _kind(groups: Mapping[str, str]) -> DefinitionKind:
    if "type" in groups:
        return DefinitionKind.TYPE
    return DefinitionKind.VALUE if "value" in groups and "method" not in groups else DefinitionKind.FUNCTION


def definition_end(lines: Sequence[str], line: int) -> int:
    """Return the last line of what is defined on `line` (both from 1): what is indented more, and what closes it.

    >>> definition_end(["def a(", "    b,", "):", "    return b", "", "c = 1"], 1)
    4
    """
    indent = _indent(lines[line - 1])
    last = line
    for at in range(line, min(len(lines), line + MAX_BODY)):
        text = lines[at]
        if text.strip():
            if _indent(text) <= indent and not (_indent(text) == indent and text.strip().startswith(_CLOSERS)):
                break
            last = at + 1
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
