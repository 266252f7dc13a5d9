"""An answer of a command as Slack shows it: a section for each part, then what to type next. One screen. Pure.

A table block, and the text that stands for it where Slack does not take one. Pure.

Source: https://docs.slack.dev/reference/block-kit/blocks/table-block (100 rows, 20 columns, 10,000 characters).
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from itertools import accumulate, chain
from typing import Any, Final

from slack_sdk.models.blocks import Block, RawTextObject, SectionBlock, TableBlock

from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import context, escape, escape_controls, escape_text, fence, local_time, mention, section
from blocks.text.splitting import ROOMY_SECTION_CHARS, lines_that_fit, shorten, truncate
from bot.domain.answers import Answer, Cell, Line, Part, Table
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line, without_marks

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


MAX_PARTS: Final = 12
LINE_CHARS: Final = 500
"""Five times as long when escaped, and a section holds 3,000."""

ECHO_FROM_CHARS: Final = 60
ECHO_CHARS: Final = 550
ECHO_SECTIONS: Final = 8

MARK_CHARS: Final = 3
"""Of a sign; what is longer is a word or a few, set apart from what follows."""

EMOJI: Final = {
    "ok": ":large_green_circle:",
    "alert": ":red_circle:",
    "error": ":warning:",
    "new": ":white_circle:",
    "off": ":no_entry:",
    "paused": ":double_vertical_bar:",
}
"""What stands before the word for how something stands."""


def answer_blocks(answer: Answer) -> list[Block]:
    """Return the blocks of an answer; the terminal shows what is left out of very many parts."""
    problem = message_blocks(answer.problem) if answer.problem else []
    first, *others = [_part(part) for part in answer.parts[:MAX_PARTS]]
    undo = message_blocks(f"To undo: /triage {' '.join(answer.undo)}") if answer.undo else []
    left = len(answer.parts) - MAX_PARTS
    print_ = [f"{left} more on the terminal."] if left > 0 else []
    print_ += [f"Next: `/triage {escape(answer.following)}`"] if answer.following else []
    small = [context(" ".join(print_))] if print_ else []
    return fit_message([*problem, *first, *undo, *chain(*others), *small])


def message_blocks(text: str) -> list[Block]:
    """Return one sentence."""
    return [section(escape(text))]


def typed_blocks(text: str) -> list[Block]:
    """Return a long line as it was typed, to copy from: Slack does not keep what was typed. A short one is typed again.

    The screen shows its first `ECHO_SECTIONS` sections.
    """
    if len(text) <= ECHO_FROM_CHARS:
        return []
    pieces = [text[start : start + ECHO_CHARS] for start in range(0, len(text), ECHO_CHARS)][:ECHO_SECTIONS]
    cut = len(text) > ECHO_CHARS * ECHO_SECTIONS
    return [context("You typed" + (", in part:" if cut else ":")), *(section(fence(piece)) for piece in pieces)]


def line_text(line: Line) -> str:
    """Return a line as mrkdwn, with what stands below it."""
    emoji, word = EMOJI.get(line.mark, line.mark), line.mark if line.mark in EMOJI else ""
    when = local_time(line.at) if line.at else ""
    lead = " ".join(filter(None, [when, emoji, f"*{escape(line.name)}*" if line.name else "", word]))
    link = f"<{line.link}|{escape(line.linked)}>" if line.link else ""
    who = mention(line.who) if line.who else ""
    text = escape(one_line(line.text, LINE_CHARS), {line.who})  # which may name them, too
    said = " · ".join(filter(None, [who if who not in text else "", link, text]))
    between = " · " if word or len(line.mark) > MARK_CHARS else " "
    return "\n".join([between.join(filter(None, [lead, said])), *map(_plain, line.more)])


def _part(part: Part) -> list[Block]:
    title = [f"*{_plain(part.title)}*"] if part.title else []
    lines = [*title, *map(line_text, part.lines)]
    quoted = [section(truncate(fence(text), ROOMY_SECTION_CHARS)) for text in (part.quoted, part.printed) if text]
    table = table_blocks(part.table) if part.table else []
    return [*([section(lines_that_fit(lines, len(lines)))] if lines else []), *table, *quoted]


def _plain(text: str) -> str:
    return escape(one_line(text, LINE_CHARS))
