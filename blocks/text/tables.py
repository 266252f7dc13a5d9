"""A table block, and the text that stands for it where Slack does not take one. Pure.

Source: https://docs.slack.dev/reference/block-kit/blocks/table-block (100 rows, 20 columns, 10,000 characters).
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from itertools import accumulate
from typing import Any, Final

from slack_sdk.models.blocks import Block, RawTextObject, SectionBlock, TableBlock

from blocks.text.outgoing_text import context, escape_controls, escape_text, section
from blocks.text.splitting import lines_that_fit, shorten
from bot.domain.answers import Cell, Table
from bot.domain.text.humanize import counted
from bot.domain.text.marks import without_marks
from bot.domain.text.sanitize import one_line

MAX_ROWS: Final = 100
MAX_COLUMNS: Final = 20
MAX_CELL_CHARS: Final = 120
MAX_TABLE_CHARS: Final = 6_000
"""Of all cells: the other blocks of the message need room, too."""


class ListedTable(TableBlock):
    """A table block that knows its text."""

    def __init__(self, rows: list[list[Any]], text: SectionBlock) -> None:
        super().__init__(rows=rows)
        self.as_text = text


def table_blocks(table: Table) -> list[Block]:
    """Return a table, as many of its rows as one block holds, and a line for those that are left out."""
    rows = [[_cell(cell) for cell in row[:MAX_COLUMNS]] for row in table.rows]
    sizes = accumulate(sum(_chars(cell) for cell in row) for row in rows)
    fits = [size <= MAX_TABLE_CHARS for size in sizes][: MAX_ROWS - 1].count(True)
    head = [RawTextObject(text=title or " ") for title in table.head[:MAX_COLUMNS]]
    shown = ListedTable([head, *rows[:fits]], section(_text(table)))
    left = len(rows) - fits
    return [shown, *([context(f"… and {counted(left, 'more row')}")] if left else [])]


def without_tables(blocks: Iterable[Block]) -> list[Block]:
    """Return blocks with the text of each table in its place."""
    return [block.as_text if isinstance(block, ListedTable) else block for block in blocks]


def _text(table: Table) -> str:
    lines = [f"• {table.row_text(list(map(_mrkdwn, row)))}" for row in table.rows]
    return lines_that_fit(lines, len(lines))


def _mrkdwn(cell: Cell) -> str:
    """Return a cell as mrkdwn, with its link behind it."""
    if isinstance(cell, str):
        return escape_controls(cell)
    text = escape_text(one_line(cell.text)).replace("```", "'''")
    return f"{text} · <{cell.link}|thread>" if cell.link else text


def _cell(cell: Cell) -> Any:
    """Return a cell; a link needs rich text, which also shows controls as they are."""
    text = (shorten(one_line(cell), MAX_CELL_CHARS) if isinstance(cell, str) else _inert(cell.text)) or " "
    if isinstance(cell, str) or not cell.link:
        return RawTextObject(text=text)
    link = {"type": "link", "url": cell.link, "text": text}
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [link]}]}


def _inert(text: str) -> str:
    """Return somebody's words for a cell, where nothing is a control: without our marks, mentions or broadcasts."""
    shown = html.unescape(escape_text(shorten(one_line(without_marks(text)), MAX_CELL_CHARS)))
    return shown.replace("<", "\u2039").replace(">", "\u203a").replace("```", "'''")


def _chars(cell: Any) -> int:
    return len(cell.text) if isinstance(cell, RawTextObject) else len(str(cell))
