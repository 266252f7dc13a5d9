"""What a command answers before it is laid out: built once, shown by Slack and by the terminal.

Every text is raw; the renderers (blocks/views/answers.py, `show` in bot/cli/output.py) make it inert and short enough.
A sentence names commands as Slack takes them (`/triage status`); the terminal leaves the slash out.

What help says, from the manual: all commands, one in full, the near ones for a slip of the pen. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from bot.domain.command_specs import (
    NOTHING,
    CommandLine,
    CommandSpec,
    command_names,
    commands,
    manual,
    near_commands,
    subcommands,
)
from bot.domain.text.humanize import near_ones
from bot.domain.text.sanitize import one_line


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


WORD_CHARS: Final = 40
_ASK: Final = (
    "To ask, mention me: `@triage where is the retry limit set?` In a thread Slack takes no commands: "
    "`@triage look into this`"
)


def all_commands(problem: str = "") -> Answer:
    """Return the list of commands, one screen, led by what was wrong."""
    parts = (Part(lines=_forms(commands())), Part(lines=lines_of([_ASK])))
    return Answer(parts=parts, following="help tiers add", problem=problem)


def one_command(entry: CommandSpec, problem: str = "") -> Answer:
    """Return all there is to say on one command, led by what was wrong; what has subcommands lists them."""
    first, second = entry.examples
    facts = {"For example:": f"{_code(first)} · {_code(second)}", "Who may:": entry.who_words}
    facts |= {"Changes:": entry.changes}
    if entry.changes != NOTHING and entry.undo:
        facts["To undo it:"] = _undo(entry.undo)
    below = subcommands(entry.path)
    listed = [Part(lines=_forms(below))] if below else []
    parts = (Part(lines=(*_forms([entry]), *lines_of(f"{what} {said}" for what, said in facts.items()))), *listed)
    return Answer(parts=parts, following=f"help {below[0].path}" if below else first, problem=problem)


def help_on(words: Sequence[str]) -> Answer:
    """Return the help on a command or a subcommand, named by these words, or what may have been meant by them."""
    named = [word.lower() for word in words if word]
    if not named:
        return all_commands()
    command, *more = named
    if command not in manual():
        return all_commands(unknown(command, [f"help {path}" for path in near_commands(command)]))
    for word in reversed(more):  # `help tiers shop add` and `help tiers add`
        if found := manual().get(f"{command} {word}"):
            return one_command(found)
    near = [f"help {command} {one}" for one in near_ones(more[0], command_names(command))] if more else []
    return one_command(manual()[command], unknown(more[0], near, after=command) if near else "")


def unknown_command(word: str) -> Answer:
    """Return that there is no such command, the near ones, and all."""
    return all_commands(unknown(word, near_commands(word)))


def unknown_verb(line: CommandLine, verb: str) -> Answer:
    """Return what may have been meant by a word that is no subcommand, and how the command is used."""
    command = line.word(0)
    below = subcommands(command)
    before = " ".join(word[:WORD_CHARS] for word in line.words[: below[0].words - 1])
    near = [f"{before} {one}" for one in near_ones(verb, command_names(command))]
    problem = unknown(verb, near, after=before)
    return Answer(parts=(Part(lines=_forms(below)),), following=f"help {below[0].path}", problem=problem)


def unknown(word: str, near: Sequence[str], *, after: str = "") -> str:
    """Return that there is no such command, and the near ones as they are typed."""
    there = " ".join(filter(None, [after, one_line(word, WORD_CHARS)]))
    meant = f" Did you mean {' or '.join(map(_code, near))}?" if near else ""
    return f"There is no {_code(there)}, and nothing was done.{meant}"


def _forms(entries: Iterable[CommandSpec]) -> tuple[Line, ...]:
    return tuple(Line(text=f"{_code(entry.form)}: {entry.does}") for entry in entries)


def _undo(undo: str) -> str:
    """Return a way back: a command, or words that begin with one or are none."""
    command, comma, rest = undo.partition(",")
    return f"{_code(command)}{comma}{rest}" if command.split()[0] in manual() else undo


def _code(form: str) -> str:
    """Return what is typed as code; a task in backticks would close it, so that its own are left out."""
    return f"`/triage {form.replace('`', '')}`"
