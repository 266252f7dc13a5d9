"""Credentials in a column whose heading names them: of tables, of files such as CSV, of the rows of an SQL insert.

Pure. A heading is a line of nothing but short names between signs of one kind; its rows are the lines below it that
have such signs, too. No line is a row below two headings, so the time is proportional to the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Final

from bot.domain.credentials.secret_forms import SecretSpan
from bot.domain.credentials.secret_names import Name, names_in
from bot.domain.credentials.secret_values import is_value

_COMMA: Final = re.compile(r",|\"(?>(?:[^\"\n]|\"\"){0,500})\"")
_SIGNS: Final = {sign: re.compile(re.escape(sign)) for sign in ("|", "\u2502", "\t", ";")} | {
    ",": _COMMA,
    "  ": re.compile(" {2,}"),
}
_VALUE: Final = r"'(?>(?:[^'\\]|''|\\.){0,4000})'|\([^()']{0,200}\)"  # a text, or what a function is called with
_IN_INSERTS: Final = re.compile(rf",|{_VALUE}", re.DOTALL)
_QUOTES: Final = ("'", '"', "(")
_RULE: Final = re.compile(r"[-+|:=> \t\r\u2500-\u257f]+")
_NAME: Final = re.compile(r"(?P<name>[\w.#-]{1,40}(?: [\w.-]{1,40}){0,3})(?: ?\([^()]{1,40}\))?")
_AROUND: Final = " \t\r`*\"':>"
_MAX_HEADING_CHARS: Final = 1_000
_INSERT: Final = re.compile(
    r"(?i:\binto\s{1,40}[\w.\"`\[\]]{1,100}\s{0,40})\((?P<names>[^()]{1,1000})\)(?i:\s{0,40}values)"
)
_ROW: Final = re.compile(rf"[\s,]{{0,40}}\((?P<cells>(?>(?:{_VALUE}|[^()'])*))\)", re.DOTALL)

_Cell = tuple[int, int]


def in_columns(text: str, names: Iterable[Name]) -> Iterator[SecretSpan]:
    """Yield where a credential stands below one of the names for one."""
    done = 0
    for name in names:
        if name.start >= done:
            start, done = text.rfind("\n", 0, name.start) + 1, _line_end(text, name.start)
            heading = text[start:done] if done - start <= _MAX_HEADING_CHARS else ""
            for sign in (
                sign
                for begins, sign in _SIGNS.items()
                if begins in heading and (sign is not _COMMA or ", " not in heading)
            ):
                if kinds := _kinds(text, _cells(text, start, done, sign), is_list=sign is _COMMA):
                    done = yield from _below(text, done, sign, kinds)
                    break
    for insert in _INSERT.finditer(text):
        kinds = _kinds(text, _cells(text, *insert.span("names"), _IN_INSERTS), is_list=True)
        row = _ROW.match(text, insert.end()) if kinds else None
        while row:
            yield from _in_row(text, kinds, _cells(text, *row.span("cells"), _IN_INSERTS))
            row = _ROW.match(text, row.end())


def _below(text: str, done: int, sign: re.Pattern[str], kinds: Sequence[str]) -> Generator[SecretSpan, None, int]:
    """Yield the credentials of the rows behind `done`, the end of their heading; return the end of the last row."""
    while done < len(text):
        start, end = done + 1, _line_end(text, done + 1)
        cells = _cells(text, start, end, sign)
        if len(cells) < 2 and not _RULE.fullmatch(text, start, end):
            break
        yield from _in_row(text, kinds, cells)
        done = end
    return done


def _in_row(text: str, kinds: Sequence[str], cells: Sequence[_Cell]) -> Iterator[SecretSpan]:
    for kind, (start, end) in zip(kinds, cells, strict=False):  # a row may end without the sign, or too early
        if kind and is_value(text[start:end], kind):
            yield SecretSpan(start, end, kind)


def _kinds(text: str, cells: Sequence[_Cell], *, is_list: bool) -> list[str]:
    """Return the kind of credential that each cell of a heading names, "" for none; [] for what is no such heading.

    A cell may be empty, but in a list with commas, which may be one of code.
    """
    names = [_NAME.fullmatch(text, *cell) for cell in cells]
    headed = [name.span("name") for name in names if name]
    unnamed = [cell for cell, name in zip(cells, names, strict=True) if not name]
    if len(headed) < 2 or any(is_list or start < end for start, end in unnamed):
        return []
    first = headed[0][0]
    named = {first + name.end: name.kind for name in names_in(text[first : headed[-1][1]]) if name.is_telling}
    kinds = [named.get(name.end("name"), "") if name else "" for name in names]
    return kinds if any(kinds) else []


def _cells(text: str, start: int, end: int, sign: re.Pattern[str]) -> list[_Cell]:
    """Return where the cells of a row stand, without what is around their words; what is in quotes parts none."""
    cells = []
    for between in (*sign.finditer(text, start, end), None):
        if between and between[0].startswith(_QUOTES):
            continue
        stop = between.start() if between else end
        cell = text[start:stop]
        left = len(cell) - len(cell.lstrip(_AROUND))
        cells.append((start + left, max(start + left, start + len(cell.rstrip(_AROUND)))))
        start = between.end() if between else end
    return cells


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
