"""Small pieces of Markdown: tables, and code that survives inside them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN: Final = MarkdownIt("commonmark").enable("table")


@cache
def parsed(text: str) -> Sequence[Token]:
    """Return a page's tokens; each check asks for those of every page."""
    return tuple(_MARKDOWN.parse(text))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a `|` or a line end inside a cell does not end the cell.

    >>> print(table(["a", "b"], [["1|2", "3"]]))
    | a | b |
    |---|---|
    | 1\\|2 | 3 |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(_row(cells, glue="|" if number == 1 else " | ") for number, cells in enumerate(lines))


def code(text: object) -> str:
    """Return an inline code span."""
    return f"`{text}`"


def plain(text: str) -> str:
    """Return words that are no code; `<session>` in them is no HTML.

    >>> plain("off <session>")
    'off \\\\<session>'
    """
    return text.replace("<", "\\<")


def one_line(text: str) -> str:
    """Return a text's paragraphs as one line."""
    return " ".join(text.split())


def _row(cells: Sequence[str], *, glue: str) -> str:
    inner = glue.join(one_line(cell).replace("|", "\\|") for cell in cells)
    return f"|{inner}|" if glue == "|" else f"| {inner} |"
