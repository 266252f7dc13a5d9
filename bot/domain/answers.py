"""What a command answers before it is laid out: built once, shown by Slack and by the terminal.

Every text is raw; the renderers (blocks/views/answers.py, `show` in bot/cli/output.py) make it inert and short enough.
A sentence names commands as Slack takes them (`/triage status`); the terminal leaves the slash out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line: when (`at`), how it stands, what it is about, what is said of it, and what stands below it (`more`).

    `mark` is a word, beside which Slack shows an emoji, or a sign. `who` is the Slack user or user group that it
    belongs to, whom the text may name as `<@U…>`; where it does not, the terminal leaves them out. `link` is an address
    that leads on: Slack puts it behind the word `linked`.
    """

    text: str
    at: datetime | None = None
    mark: str = ""
    name: str = ""
    who: str = ""
    more: tuple[str, ...] = ()
    link: str = ""
    linked: str = "thread"


class Linked(NamedTuple):
    """A cell of a table with somebody's words, which lead to an address, if there is one; other cells are ours."""

    text: str
    link: str = ""


Cell = str | Linked


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Rows below a head; every row has as many cells. Without room for columns a row is one line."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def row_text(self, row: Sequence[Cell]) -> str:
        """Return a row as one line: its first two cells as they are, of the others what they are, too.

        >>> Table(head=("", "What", "Value"), rows=()).row_text(("✓", "replies", "12"))
        '✓ · replies · value 12'
        """
        cells = [str(cell if isinstance(cell, str) else cell.text) for cell in row]
        named = [f"{head.lower()} {cell}" for head, cell in zip(self.head[2:], cells[2:], strict=True) if cell]
        return " · ".join([*filter(None, cells[:2]), *named])


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Lines that belong together, under a title if there is one, then a table.

    `quoted` are somebody's lines as they stand; `printed` are ours, laid out for 80 columns of one width.
    """

    lines: tuple[Line, ...] = ()
    title: str = ""
    quoted: str = ""
    table: Table | None = None
    printed: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What is said (at least one part), how it is undone, what to type next; both commands without the program's name.

    `problem` says why nothing was done, above what stands instead. `data` is the same for programs (`--json`).
    """

    parts: tuple[Part, ...]
    following: str = ""
    undo: tuple[str, ...] = ()
    problem: str = ""
    data: Any = None


def lines_of(texts: Iterable[str]) -> tuple[Line, ...]:
    """Return a plain line for each text."""
    return tuple(Line(text=text) for text in texts)


def sentence(text: str, following: str = "", *, undo: tuple[str, ...] = (), data: Any = None) -> Answer:
    """Return an answer of one sentence or a few."""
    return Answer(parts=(Part(lines=lines_of([text])),), following=following, undo=undo, data=data)
