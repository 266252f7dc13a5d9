"""The manual of `/triage`: every command and subcommand, what it does, who may, what it changes, how to undo it.

Help, near misses and the documentation read it; the table stands in command_specs.yml. `path` is what is typed without
its arguments; of `tiers <session> add …` that is `tiers add`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Final

from bot.domain.commands.command_line import CommandLine
from bot.domain.text.did_you_mean import near_ones

NOTHING: Final = "nothing"
_LIST: Final = "list"
_DASHES: Final = "-–—"
"""Slack's editors make one long dash of two."""

OF_TEAMS: Final = (
    "With several teams a command is for the team of the channel it is typed in; anywhere else, what changes nothing "
    "is answered for each of your teams, and what acts needs the team's name first: `/triage <team> pause`."
)
"""What help and the documentation say of `/triage` where there are several teams."""


class Who(StrEnum):
    """Who may type a command in Slack; on the terminal it is whoever can use the data directory."""

    EVERYBODY = "everybody"
    APPROVERS = "approvers"
    """The dispatcher refuses all others."""
    OWNER = "approvers, and the session's owner"
    """The session's commands ask whose it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandSpec:
    """One command. `form` is its syntax and `examples` two lines to type, all without `/triage`.

    `but` is what others than approvers do not see, `undo` is "" where nothing was changed, and `extra_words` is how
    many words may follow the path (None: any number).
    """

    path: str
    form: str
    does: str
    examples: tuple[str, str]
    who: Who = Who.EVERYBODY
    but: str = ""
    changes: str = NOTHING
    undo: str = ""
    extra_words: int | None = None

    @property
    def is_subcommand(self) -> bool:
        """Whether it belongs to another command."""
        return " " in self.path

    @property
    def who_words(self) -> str:
        """Who may type it and what others do not see."""
        return f"{self.who}; {self.but}" if self.but else self.who.value

    @property
    def words(self) -> int:
        """How many words of a line name it: of `tiers <session> add` three."""
        return self.form.split().index(self.path.split()[-1]) + 1


@cache
def manual() -> Mapping[str, CommandSpec]:
    """Return every command and subcommand by its path, in the order in which lists show them."""
    from bot.domain.tables import read_table  # here: a command that starts needs no manual

    entries = read_table(__file__, "command_specs.yml", tuple[CommandSpec, ...])
    return MappingProxyType({entry.path: entry for entry in entries})


REMOVED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "autonomy": "metrics --autonomy",
        "eval": "backtest",
        "files": "notes",
        "replay": "backtest",
        "review": "metrics",
    }
)
"""Commands of earlier releases, each with what to type instead."""


def commands() -> tuple[CommandSpec, ...]:
    """Return the commands, without subcommands."""
    return tuple(entry for entry in manual().values() if not entry.is_subcommand)


def subcommands(command: str) -> tuple[CommandSpec, ...]:
    """Return what belongs to a command; empty where it has no subcommands.

    >>> [entry.path for entry in subcommands("pollinate")]
    ['pollinate run', 'pollinate list', 'pollinate accept', 'pollinate reject']
    """
    return tuple(entry for entry in manual().values() if entry.path.startswith(f"{command} "))


def command_names(command: str) -> tuple[str, ...]:
    """Return the words of a command's subcommands.

    >>> command_names("tiers")
    ('add', 'remove', 'move', 'due')
    """
    return tuple(entry.path.partition(" ")[2] for entry in subcommands(command))


def typed_verb(line: CommandLine) -> tuple[CommandSpec, str]:
    """Return what a line names, whose first word is a command, and "" or the word that is none of its subcommands.

    Where no subcommand is given and `list` is one, that is meant.

    >>> from bot.domain.commands.command_line import read_line
    >>> [typed_verb(read_line(text))[0].path for text in ("tiers shop add daily x", "notes", "metrics —arm", "tiers a")]
    ['tiers add', 'notes list', 'metrics --arm', 'tiers']
    >>> typed_verb(read_line("heartbeat onn shop"))[1]
    'onn'
    """
    command = line.word(0)
    below = subcommands(command)
    if not below:
        return manual()[command], ""
    typed = line.word(below[0].words - 1)
    verb = f"--{typed.lstrip(_DASHES)}" if typed[:1] in _DASHES and typed else typed
    found = manual().get(f"{command} {verb or _LIST}")
    return found or manual()[command], "" if found or not verb else verb


def near_commands(word: str) -> tuple[str, ...]:
    """Return the paths somebody may have meant by an unknown first word; a subcommand's word finds its command, too.

    >>> near_commands("stauts"), near_commands("acept"), near_commands("review")
    (('status',), ('pollinate accept',), ('metrics',))
    """
    if word in REMOVED:
        return (REMOVED[word],)
    near = near_ones(word, [entry.path for entry in commands()])
    if near:
        return near
    by_verb: dict[str, str] = {}
    for entry in manual().values():
        if entry.is_subcommand:
            by_verb.setdefault(entry.path.partition(" ")[2], entry.path)
    return tuple(by_verb[verb] for verb in near_ones(word, list(by_verb)))
