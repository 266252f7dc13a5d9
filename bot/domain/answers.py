"""What a command answers before it is laid out: built once, shown by Slack and by the terminal.

Every text is raw; the renderers (blocks/views/answers.py, `show` in bot/cli/output.py) make it inert and short enough.
A sentence names commands as Slack takes them (`/triage status`); the terminal leaves the slash out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line: when, how it stands, what it is about, what is said of it."""

    text: str
    at: datetime | None = None
    mark: str = ""
    """A word for how it stands (Slack shows its emoji beside it), or a sign."""
    name: str = ""
    who: str = ""
    """The Slack user or user group it belongs to; the terminal leaves it out."""
    more: tuple[str, ...] = ()
    """What stands below it, a line each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Lines that belong together, under a title if there is one; `quoted` are somebody's lines as they stand."""

    lines: tuple[Line, ...] = ()
    title: str = ""
    quoted: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What is said, how it is undone and what to type next; both commands without the program's name.

    `problem` says why nothing was done, above what stands instead. `data` is the same for programs (`--json`).
    """

    parts: tuple[Part, ...]
    following: str = ""
    undo: tuple[str, ...] = ()
    problem: str = ""
    data: object = None


def lines_of(texts: Iterable[str]) -> tuple[Line, ...]:
    """Return a plain line for each text."""
    return tuple(Line(text=text) for text in texts)


def sentence(text: str, following: str = "", *, undo: tuple[str, ...] = (), data: object = None) -> Answer:
    """Return an answer of one sentence or a few."""
    return Answer(parts=(Part(lines=lines_of([text])),), following=following, undo=undo, data=data)
