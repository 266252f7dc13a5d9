"""Where in a YAML text one value runs over several lines: `>` and `|` blocks, and plain or quoted text that goes on.

Pure and linear; it reads lines and their indents, no grammar. Source: https://yaml.org/spec/1.2.2/#81-block-scalar-styles
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

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


def long_scalars(text: str) -> list[Scalar]:
    r"""Return the values of a YAML text that have more than one line, in order, and blocks of one line.

    >>> long_scalars("a: >\n  one\n  two\nb: 1")
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
