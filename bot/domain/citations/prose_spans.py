"""Where in a file people talk: its comments, docstrings and prose, line by line; and where its strings stand.

Pure and linear. It knows the ways to comment of about sixty kinds of files; of any other it takes what is common. It
reads no grammar: where it errs it takes code for prose, which asks for a whole line and so only makes a check stricter.
Of YAML it also finds the values that run over several lines: `>` and `|` blocks, and plain or quoted text that goes on.
Source: https://yaml.org/spec/1.2.2/#81-block-scalar-styles
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from bot.domain.search.files import FileKind, file_kind, is_prose
from bot.domain.tables import Parts, Words, fill, read_table

MAX_HEADER_CHARS: Final = 400
"""Of a line that is looked at for a key; a longer one is data."""

_ENTRY: Final = re.compile(
    r"(?P<lead> *(?:- +)*)(?:(?P<key>\"[^\"\n]{0,120}\"|'[^'\n]{0,120}'|[^\s#\"'\[{&*!|>%@`-][^:#\n]{0,120}):(?=\s|$))?"
    r"[ \t]*(?:[&!][^\s]{0,80}[ \t]+){0,2}(?P<value>.*)"
)
_BLOCK: Final = re.compile(r"(?P<style>[>|])[0-9+-]{0,2}[ \t]*(?:#.*)?")
_PLAIN: Final = re.compile(r"[^\s#\[{&*!|>%@`](?:(?!\s#).)*")
_SCRIPT_KEY: Final = re.compile(
    r"(?:run|.*script|commands?|cmd|args|entrypoint|shell|code|sql|query|expr|expression|.*\.\w{1,10})", re.IGNORECASE
)

_TALK: Final = frozenset({FileKind.DOCS, FileKind.LEGAL, FileKind.CHANGELOG})


class Scalar(NamedTuple):
    """Characters `start` to `end` (excluded) that are one value; a script's lines count each by itself."""

    start: int
    end: int
    is_script: bool


class _Line(NamedTuple):
    """A line, where it begins, and how far it is indented."""

    start: int
    text: str

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip(" "))


def _long_scalars(text: str) -> list[Scalar]:
    r"""Return the values of a YAML text that have more than one line, in order, and blocks of one line.

    >>> _long_scalars("a: >\n  one\n  two\nb: 1")
    [Scalar(start=7, end=16, is_script=False)]
    """
    return list(_scalars(_lines(text)))


def _lines(text: str) -> list[_Line]:
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append(_Line(at, line))
        at += len(line) + 1
    return lines


def _scalars(lines: list[_Line]) -> Iterator[Scalar]:
    at, parent = 0, ""
    while at < len(lines):
        line, at = lines[at], at + 1
        entry = _ENTRY.match(line.text[:MAX_HEADER_CHARS])
        if entry is None or not (entry["key"] or "-" in entry["lead"]):
            continue
        parent = entry["key"] if entry["key"] and not entry["value"].strip() else parent
        block = _BLOCK.fullmatch(entry["value"].rstrip())
        if block is None and not _PLAIN.fullmatch(entry["value"].rstrip()):
            continue
        column = len(entry["lead"]) if entry["key"] else entry["lead"].rindex("-")
        last = _last_below(lines, at, column, is_block=block is not None)
        if last >= at:
            first = lines[at].start + lines[at].indent if block else line.start + entry.start("value")
            is_script = block is not None and _is_script(block["style"], entry["key"] or parent)
            yield Scalar(first, lines[last].start + len(lines[last].text.rstrip()), is_script)
            at = last + 1


def _last_below(lines: list[_Line], at: int, column: int, *, is_block: bool) -> int:
    """Return the number of the last line that belongs to the value before line `at`; `at - 1` if none does."""
    last = at - 1
    while at < len(lines):
        said = lines[at].text.strip()
        if said and (lines[at].indent <= column or (not is_block and said.startswith(("#", "{{", "{%")))):
            break
        last = at if said else last
        at += 1
    return last


def _is_script(style: str, key: str) -> bool:
    return style == "|" and bool(_SCRIPT_KEY.fullmatch(key.strip("\"' ")))


class Span(NamedTuple):
    """Characters `start` to `end` (excluded) of a text, within one line; a string of code where not `is_prose`."""

    start: int
    end: int
    is_prose: bool


class Spans:
    """The spans of a text, in order; none overlaps another.

    `values` are the spans of values that are one text over several lines. `code` are those where operators join parts.
    """

    def __init__(self, spans: Sequence[Span], *, values: Sequence[Span] = (), code: Sequence[Span] = ()) -> None:
        self._spans, self._values, self._code = _Index(spans), _Index(values), _Index(code)

    def at(self, place: int) -> Span | None:
        """Return the span that holds the character at `place`; None in plain code."""
        return self._spans.at(place)

    def value_at(self, place: int) -> Span | None:
        """Return the value of several lines that holds the character at `place`; None elsewhere."""
        return self._values.at(place)

    def is_code_at(self, place: int) -> bool:
        """Whether the character at `place` stands in a language with operators, its strings included."""
        return self._code.at(place) is not None


class _Index:
    """Spans by where they start."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._starts = [span.start for span in spans]

    def at(self, place: int) -> Span | None:
        index = bisect_right(self._starts, place) - 1
        span = self._spans[index] if index >= 0 else None
        return span if span is not None and place < span.end else None


class _Syntax(NamedTuple):
    """How a kind of file comments: marks to the line's end, pairs, and patterns of strings."""

    endings: Words = ()
    lines: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    strings: tuple[str, ...] = ()
    operators: bool = True


class _ProseSpansTable(NamedTuple):
    parts: Parts
    syntaxes: dict[str, _Syntax]


_PARTS, _SYNTAXES = read_table(__file__, "prose_spans.yml", _ProseSpansTable)
_SETTINGS, _SHELL, _ANY = (_SYNTAXES[name] for name in ("settings", "shell", "any"))
_SYNTAX_OF: Final = {ending: syntax for syntax in _SYNTAXES.values() for ending in syntax.endings}


def spans_of(path: str, text: str) -> Spans:
    r"""Return the spans of the text of the file at `path`.

    >>> code = spans_of("a.py", 'x = "a"  # why')
    >>> code.at(0), code.at(10), spans_of("a.md", "x").at(0)
    (None, Span(start=9, end=14, is_prose=True), Span(start=0, end=1, is_prose=True))
    """
    if is_prose(path) or (file_kind(path) in _TALK and _ending(path) not in _SYNTAX_OF):
        return Spans([*_by_line(text, 0, len(text), is_prose=True)])
    syntax = _SYNTAX_OF.get(_ending(path), _SHELL if text.startswith("#!") else _ANY)
    if syntax is _SETTINGS:
        return _yaml_spans(text)
    return Spans([*_scan(syntax, text)], code=[Span(0, len(text), is_prose=False)] if syntax.operators else ())


def prose_of(text: str) -> Spans:
    """Return the spans of a text that is prose throughout: a message, a note."""
    return Spans([*_by_line(text, 0, len(text), is_prose=True)])


def _yaml_spans(text: str) -> Spans:
    """Return the spans of a YAML text: values of several lines are prose, but for scripts."""
    scalars, at = _long_scalars(text), 0
    spans: list[Span] = []
    for scalar in scalars:
        spans += _scan(_SETTINGS, text, at, scalar.start)
        inside = _scan(_SHELL, text, scalar.start, scalar.end)
        spans += inside if scalar.is_script else _by_line(text, scalar.start, scalar.end, is_prose=True)
        at = scalar.end
    spans += _scan(_SETTINGS, text, at)
    values = [Span(start, end, is_prose=True) for start, end, is_script in scalars if not is_script]
    code = [Span(start, end, is_prose=False) for start, end, is_script in scalars if is_script]
    return Spans(spans, values=values, code=code)


def _ending(path: str) -> str:
    name = path.rpartition("/")[2].lower()
    return name.rpartition(".")[2]


def _scan(syntax: _Syntax, text: str, at: int = 0, until: int | None = None) -> Iterator[Span]:
    openers, closers = _openers(syntax), dict(syntax.pairs)
    until = len(text) if until is None else until
    while found := openers.search(text, at, until):
        start, end = found.span()
        kind = found.lastgroup
        if kind == "line":
            end = min(_or_end(text.find("\n", start), text), until)
        elif kind == "pair":
            closer = closers[found[0]]
            end = min(_or_end(text.find(closer, end), text) + len(closer), until)
        yield from _by_line(text, start, end, is_prose=kind != "string")
        at = max(end, start + 1)


@cache
def _openers(syntax: _Syntax) -> re.Pattern[str]:
    """Return the pattern of whatever opens a comment or a string; the longest opener is tried first."""
    groups = {
        "pair": [re.escape(opener) for opener, _ in syntax.pairs],
        "line": [fill(pattern, _PARTS) for pattern in syntax.lines],
        "string": [fill(pattern, _PARTS) for pattern in syntax.strings],
    }
    return re.compile("|".join(f"(?P<{name}>{'|'.join(parts)})" for name, parts in groups.items() if parts))


def _or_end(place: int, text: str) -> int:
    return place if place >= 0 else len(text)


def _by_line(text: str, start: int, end: int, *, is_prose: bool) -> Iterator[Span]:
    """Yield the part on each line that says anything."""
    while start < end:
        stop = min(_or_end(text.find("\n", start), text), end)
        if text[start:stop].strip():
            yield Span(start, stop, is_prose)
        start = stop + 1
