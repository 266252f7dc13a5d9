"""What every command shares towards the terminal: lines of at most 80 columns, marks, and commands as typed here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from bot.domain.text.sanitize import one_line

if TYPE_CHECKING:  # the ports import the whole domain, and every command imports this module
    from bot.domain.answers import Answer, Line, Table
    from bot.ports import Progress

WIDTH: Final = 80
MIN_LAST: Final = 20
"""The last column of a table is wrapped if it has so much room."""

MARKS: Final = {True: "✓", False: "✗", None: "?"}
"""What a check found: yes, no, cannot be told."""

_COMMAND: Final = re.compile(r"`[^`\n]{1,300}`")
_SLASH: Final = re.compile(
    r"(?<![\w./])/triage(?= (?:heartbeat|tiers|pollinate|status|open|brief|metrics|investigate|pause|resume)\b)"
)
_KEPT_SPACE: Final = "\0"


def wrapped(text: str, *, lead: str = "", indent: str | None = None) -> str:
    r"""Return text on lines of at most 80 columns, `lead` before the first; lines keep their own indent.

    What the first line continues on has `indent` before it, or as many blanks as `lead` has characters. A path, a
    link, and a command in backticks is one word and never broken, however long.

    >>> print(wrapped("put that right first, and then look whether the bot is in every channel you named", lead="  - "))
      - put that right first, and then look whether the bot is in every channel you
        named
    """
    first, *rest = text.split("\n")
    lines = [
        _fill(first, lead, " " * len(lead) if indent is None else indent),
        *(_fill(line.lstrip(), _indent(line), _indent(line)) for line in rest),
    ]
    return "\n".join(lines)


def show(answer: Answer) -> str:
    """Return an answer of a command as the terminal shows it; nothing is cut, columns are as wide as they need."""
    import shlex  # here: not every command answers so

    lines = [line for part in answer.parts for line in part.lines]
    mark, name = (max((len(getattr(line, column)) for line in lines), default=0) for column in ("mark", "name"))
    # Quoted, for what is to be typed may hold backticks.
    undo = [f"To undo: triage {one_line(shlex.join(answer.undo))}"] if answer.undo else []
    shown: list[str] = []
    for place, part in enumerate(answer.parts):
        shown += ["", one_line(part.title)] if part.title else []
        margin = "  " if part.title else ""
        shown += [row for line in part.lines for row in _rows(line, margin, mark, name)]
        shown += _table(part.table, margin) if part.table else []
        shown += [wrapped(one_line(line), lead="  | ", indent="  | ") for line in part.quoted.splitlines()]
        shown += [] if place else undo
    shown += ["", f"Next: triage {answer.following}"] if answer.following else []
    return terminal_words("\n".join(shown).lstrip("\n"))


def _rows(line: Line, margin: str, mark: int, name: int) -> list[str]:
    """Return a line under its margin, its columns so wide, and what stands below it under its text."""
    when = f"{line.at:%d %b %H:%M}  " if line.at else ""
    lead = f"{line.mark:<{mark}} " * bool(line.mark) + f"{line.name:<{name}}  " * bool(line.name)
    indent = f"{margin}{' ' * len(when + lead)}"
    hanging = indent if when or lead else f"{margin}  " * bool(margin)
    first = wrapped(one_line(line.text), lead=f"{margin}{when}{lead}", indent=hanging)
    below = [wrapped(one_line(text), lead=indent) for text in (*line.more, *([line.link] if line.link else []))]
    return [first.rstrip(), *below]


def _table(table: Table, margin: str) -> list[str]:
    """Return a table as columns; what is wider than a line goes on below its row."""
    texts = [[one_line(str(cell if isinstance(cell, str) else cell.text)) for cell in row] for row in table.rows]
    rows = [*([list(table.head)] if any(table.head) else []), *texts]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    last = len(widths) - 1
    widths[last] = 0  # the end of a line needs no blanks
    lines = []
    for row in rows:
        lead = margin + "  ".join(f"{cell:<{width}}" for cell, width in zip(row[:last], widths, strict=False))
        is_narrow = len(lead) < WIDTH - MIN_LAST
        lines.append(wrapped(row[last], lead=f"{lead}  ").rstrip() if is_narrow else f"{lead}  {row[last]}")
    return lines


def cut(line: str) -> str:
    """Return a line of at most 80 columns; "…" stands for the rest."""
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def index_progress(say: Callable[[str], object]) -> Progress:
    """Return what tells `say` how far a codebase is indexed; of what is done at once it tells nothing."""

    def tell(done: int, todo: int) -> None:
        if done < todo:
            say(f"indexing: {done:,} of {todo:,} files …")

    return tell


def terminal_words(text: str) -> str:
    """Return text that names commands of Slack with those of the terminal.

    >>> terminal_words("Next: /triage heartbeat why shop; to resume: /triage resume")
    'Next: triage heartbeat why shop; to resume: triage resume'
    """
    return _SLASH.sub("triage", text)


def to_json(value: object) -> str:
    """Return a value as JSON for programs; times and paths become text."""
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _fill(line: str, lead: str, indent: str) -> str:
    import textwrap  # here: most commands have nothing to wrap

    filled = textwrap.fill(
        _COMMAND.sub(lambda command: command[0].replace(" ", _KEPT_SPACE), line),
        WIDTH,
        initial_indent=lead,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace(_KEPT_SPACE, " ") or lead.rstrip()


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
