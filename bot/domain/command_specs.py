"""The manual of `/triage`: every command and subcommand, what it does, who may, what it changes, how to undo it.

Help, near misses and the documentation read it; the table stands in command_specs.yml. `path` is what is typed without
its arguments; of `tiers <session> add …` that is `tiers add`.

What somebody typed after `/triage`, word by word: words that steer are cleaned, words that are said are kept.

People paste commands from documents and chats, so that a steering word may come in any case, in quotes or backticks,
with a slash, with hidden characters, or as Slack writes people and channels (`<#C1|shop>`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Final

from bot.domain.text.humanize import near_ones
from bot.domain.text.sanitize import strip_hidden

_WORD: Final = re.compile(r"\S+")
_NAMED: Final = re.compile(r"<[@#!](?:[^<>|\s]*)\|([^<>\s]+)>|<([@#!][^<>|\s]*)>")
_WRAPPING: Final = "`'\"´‘’“”„‚«»‹›"
_ENTITIES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_OWN_NAMES: Final = frozenset({"triage", "/triage", "/"})
_PAIRS: Final = {"`": "`", '"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»"}


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandLine:
    """A typed line. `words` are cleaned, in their own case; `text` is the line without the bot's own name."""

    text: str
    words: tuple[str, ...]

    def word(self, place: int) -> str:
        """Return the cleaned word at a place, in lower case; "" where there is none."""
        return self.words[place].lower() if place < len(self.words) else ""

    def words_after(self, count: int) -> str:
        """Return what was typed after so many words, as it was typed: its quotes, blanks and lines are its own.

        >>> read_line("investigate  Why “five”?").words_after(1)
        'Why “five”?'
        """
        found = list(_WORD.finditer(self.text))
        return self.text[found[count].start() :].strip() if count < len(found) else ""

    def without_first(self) -> CommandLine:
        """Return the line without its first word.

        >>> read_line("payments  Heartbeat run shop").without_first()
        CommandLine(text='Heartbeat run shop', words=('Heartbeat', 'run', 'shop'))
        """
        return CommandLine(text=self.words_after(1), words=self.words[1:])


def read_line(typed: object) -> CommandLine:
    """Return what was typed; anything but text is an empty line. Nothing is left out of `text` but wrapping and name.

    >>> read_line("`/Triage  Heartbeat\u00a0RUN <#C1|shop>`").words
    ('Heartbeat', 'RUN', 'shop')
    """
    text = _unwrapped(_unescaped(typed.strip()) if isinstance(typed, str) else "")
    while (first := _WORD.match(text)) and clean_word(first[0]).lower() in _OWN_NAMES | {""}:
        text = text[first.end() :].lstrip()
    return CommandLine(text=text, words=tuple(clean_word(word[0]) for word in _WORD.finditer(text)))


def clean_word(word: str) -> str:
    """Return a steering word without what it may be wrapped in; "" where nothing is left.

    >>> clean_word("“Status”,"), clean_word("/help"), clean_word("<@U1|ana>"), clean_word("<#C1>"), clean_word("```")
    ('Status', 'help', 'ana', 'C1', '')
    """
    bare = strip_hidden(word)[0].strip(_WRAPPING)
    if named := _NAMED.fullmatch(bare.rstrip(".,;:")):
        return str(named[1] or named[2][1:])
    return bare.rstrip(_WRAPPING + ".,;:").removeprefix("/") if bare != "/" else ""


def _unescaped(text: str) -> str:
    """Undo Slack's three escapes, `&amp;` last; half characters, which no file can hold, are replaced."""
    text = text.encode("utf-8", "replace").decode()
    for entity, plain in _ENTITIES:
        text = text.replace(entity, plain)
    return text


def _unwrapped(text: str) -> str:
    """Return a line without the one pair of quotes or backticks around all of it."""
    for fence in ("```", "`"):
        if len(text) > 2 * len(fence) and text.startswith(fence) and text.endswith(fence):
            inner = text[len(fence) : -len(fence)]
            if "`" not in inner:
                return inner.strip()
    if len(text) > 2 and _PAIRS.get(text[0]) == text[-1] and not set(text[1:-1]) & {text[0], text[-1]}:
        return text[1:-1].strip()
    return text


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

    >>> from bot.domain.command_specs import read_line
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
