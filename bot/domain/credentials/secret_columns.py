"""Credentials in a column whose heading names them: of tables, of files such as CSV, of the rows of an SQL insert.

Pure. A heading is a line of nothing but short names between signs of one kind; its rows are the lines below it that
have such signs, too. No line is a row below two headings, so the time is proportional to the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from typing import Final

from bot.domain.credentials.secret_forms import SecretSpan, is_secret
from bot.domain.credentials.secret_names import Name

_QUOTED: Final = r"(?<![\w\\])(?:'(?>(?:[^'\\]|''|\\.){0,4000})'|\"(?>(?:[^\"\n]|\"\"){0,4000})\")|\([^()'\"]{0,200}\)"
_PARTING: Final = {"|": r"\|", "\u2502": "\u2502", "\t": "\t", ";": ";", "  ": " {2,}", ",": ",(?! )"}
_SIGNS: Final = {sign: re.compile(rf"{pattern}|{_QUOTED}", re.S) for sign, pattern in _PARTING.items()}
_LIST: Final = re.compile(rf",|{_QUOTED}", re.S)
_RULE: Final = re.compile(r"[-+|:=> \t\r\u2500-\u257f]+")
_NAME: Final = re.compile(r"(?P<name>[\w.#-]{1,40}(?: [\w.-]{1,40}){0,3})(?: ?\([^()]{1,40}\))?")
_AROUND: Final = " \t\r`*\"':>"
_MAX_HEADING_CHARS: Final = 1_000
_INSERT: Final = re.compile(
    r"(?i:\binto\s{1,40}[\w.\"`\[\]]{1,100}\s{0,40})\((?P<names>[^()]{1,1000})\)(?i:\s{0,40}values)"
)
_ROW: Final = re.compile(rf"[\s,]{{0,40}}\((?P<cells>(?>(?:{_QUOTED}|[^()'])*))\)", re.S)

_Cell = tuple[int, int]


def in_columns(text: str, names: Sequence[Name]) -> Iterator[SecretSpan]:
    """Yield where a credential stands below one of the names for one."""
    text += "\n"
    kinds_by_end = {name.end: name.kind for name in names if name.is_telling}
    done = 0
    for name in names:
        if name.start >= done:
            start, done = text.rfind("\n", 0, name.start) + 1, text.index("\n", name.start)
            heading = text[start:done] if done - start <= _MAX_HEADING_CHARS else ""
            for sign in (pattern for sign, pattern in _SIGNS.items() if sign in heading):
                kinds = _kinds(text, _cells(text, start, done, sign), kinds_by_end)
                if any(kinds):
                    done = yield from _below(text, done, sign, kinds)
                    break
    for insert in _INSERT.finditer(text) if kinds_by_end else ():
        kinds = _kinds(text, _cells(text, *insert.span("names"), _LIST), kinds_by_end)
        row = _ROW.match(text, insert.end()) if any(kinds) else None
        while row:
            yield from _in_row(text, kinds, _cells(text, *row.span("cells"), _LIST))
            row = _ROW.match(text, row.end())


def _kinds(text: str, cells: Sequence[_Cell], kinds_by_end: dict[int, str]) -> list[str]:
    """Return the kind of credential that each cell of a heading names, "" for none; [] for what is no heading."""
    names = [_NAME.fullmatch(text, *cell) for cell in cells]
    is_heading = sum(map(bool, names)) > 1 and all(
        name or start >= end for name, (start, end) in zip(names, cells, strict=True)
    )
    return [kinds_by_end.get(name.end("name"), "") if name else "" for name in names] if is_heading else []


def _below(text: str, done: int, sign: re.Pattern[str], kinds: Sequence[str]) -> Generator[SecretSpan, None, int]:
    """Yield the credentials of the rows behind `done`, the end of their heading; return the end of the last row."""
    while done < len(text) - 1:
        start, end = done + 1, text.index("\n", done + 1)
        cells = _cells(text, start, end, sign)
        if len(cells) < 2 and not _RULE.fullmatch(text, start, end):
            break
        yield from _in_row(text, kinds, cells)
        done = end
    return done


def _in_row(text: str, kinds: Sequence[str], cells: Sequence[_Cell]) -> Iterator[SecretSpan]:
    for kind, (start, end) in zip(kinds, cells, strict=False):  # a row may end without the sign, or too early
        if kind and is_secret(text[start:end], kind, "value"):
            yield SecretSpan(start, end, kind)


def _cells(text: str, start: int, end: int, sign: re.Pattern[str]) -> list[_Cell]:
    """Return where the cells of a row stand, without what is around their words; what is in quotes parts none."""
    cuts = [match for match in sign.finditer(text, start, end) if match[0][0] not in "'\"("]
    edges = [start, *(edge for cut in cuts for edge in cut.span()), end]
    return [_stripped(text, *cell) for cell in zip(edges[::2], edges[1::2], strict=True)]


def _stripped(text: str, start: int, end: int) -> _Cell:
    start = end - len(text[start:end].lstrip(_AROUND))
    return start, start + len(text[start:end].rstrip(_AROUND))
