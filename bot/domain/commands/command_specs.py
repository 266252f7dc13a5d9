"""The manual of `/triage`: every command and subcommand, what it does, who may, what it changes, how to take it back.

The one table that help, near misses and the documentation read. Pure. `path` is what is typed without its arguments;
of `tiers <session> add …` that is `tiers add`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from bot.domain.text.did_you_mean import near_ones

EVERYBODY: Final = "everybody"
APPROVERS: Final = "approvers"
APPROVERS_OR_OWNER: Final = "approvers, and the session's owner"
NOTHING: Final = "nothing"


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandSpec:
    """One command. `form` is its syntax and `examples` two lines to type, all without `/triage`.

    `undo` is "" where nothing was changed. `extra_words` is how many words may follow the path (None: any number).
    """

    path: str
    form: str
    does: str
    examples: tuple[str, str]
    who: str = EVERYBODY
    changes: str = NOTHING
    undo: str = ""
    extra_words: int | None = None

    @property
    def is_subcommand(self) -> bool:
        """Whether it belongs to another command."""
        return " " in self.path


_ENTRIES: Final = (
    CommandSpec(
        path="status",
        form="status",
        does="what waits, what runs, whether Slack is heard",
        examples=("status", "help status"),
        who=f"{EVERYBODY}; the questions are shown to approvers",
    ),
    CommandSpec(
        path="open",
        form="open",
        does="the drafts that wait, oldest first, with links to their cards",
        examples=("open", "help open"),
        who=f"{EVERYBODY} see how many; the list is for approvers",
    ),
    CommandSpec(
        path="investigate",
        form="investigate <question>",
        does="ask from anywhere; the card stands in the ops channel",
        examples=("investigate How often do we retry a webhook?", "investigate Where is the session lifetime set?"),
        who=APPROVERS,
        changes="posts your question in the ops channel, where its card follows; an investigation costs money",
        undo="Dismiss on the card",
    ),
    CommandSpec(
        path="brief",
        form="brief",
        does="the last 24 hours: what waits, ended, was found, and cost",
        examples=("brief", "help brief"),
        who=f"{EVERYBODY} see counts; questions and findings are for approvers",
    ),
    CommandSpec(
        path="brief picture",
        form="brief picture",
        does="the last 7 days as a picture, in the ops channel",
        examples=("brief picture", "help brief picture"),
        who=APPROVERS,
        changes="posts a picture of counts in the ops channel",
        undo="an admin of the workspace deletes the message",
        extra_words=0,
    ),
    CommandSpec(
        path="metrics",
        form="metrics",
        does="what is promised, measured over the last 7 days",
        examples=("metrics", "help metrics"),
    ),
    CommandSpec(
        path="pause",
        form="pause",
        does="nothing that costs money begins until somebody resumes",
        examples=("pause", "help pause"),
        who=APPROVERS,
        changes=(
            "messages are still heard and get their cards; investigations, heartbeats and long runs that have not "
            "begun wait; what runs already ends. It outlives a restart"
        ),
        undo="resume",
        extra_words=0,
    ),
    CommandSpec(
        path="resume",
        form="resume",
        does="go on; what waited is taken up, oldest first",
        examples=("resume", "help resume"),
        who=APPROVERS,
        changes="investigations and heartbeats begin again, and cost money",
        undo="pause",
        extra_words=0,
    ),
    CommandSpec(
        path="approve-list",
        form="approve-list",
        does="who may approve, and where that is written",
        examples=("approve-list", "help approve-list"),
    ),
    CommandSpec(
        path="heartbeat",
        form="heartbeat …",
        does="sessions: list, on, off, every, run, assign, log, why",
        examples=("heartbeat", "heartbeat every shop 15m"),
        who=f"{EVERYBODY} may list; the rest is for approvers and the session's owner",
        changes="see each subcommand",
    ),
    CommandSpec(
        path="heartbeat list",
        form="heartbeat list",
        does="every session: how often it beats, how it stands",
        examples=("heartbeat list", "heartbeat"),
    ),
    CommandSpec(
        path="heartbeat on",
        form="heartbeat on <session>",
        does="switch its heartbeat on",
        examples=("heartbeat on shop", "heartbeat on docs"),
        who=APPROVERS_OR_OWNER,
        changes="the session beats again at its pace, whatever triage.yml says, across restarts",
        undo="heartbeat off <session>",
        extra_words=1,
    ),
    CommandSpec(
        path="heartbeat off",
        form="heartbeat off <session>",
        does="switch its heartbeat off",
        examples=("heartbeat off shop", "heartbeat off docs"),
        who=APPROVERS_OR_OWNER,
        changes="no wake starts a beat, across restarts; a beat under way is stopped",
        undo="heartbeat on <session>",
        extra_words=1,
    ),
    CommandSpec(
        path="heartbeat every",
        form="heartbeat every <session> <interval>",
        does="how often it beats, from 1m to 366d",
        examples=("heartbeat every shop 15m", "heartbeat every shop default"),
        who=APPROVERS_OR_OWNER,
        changes="the session's pace, across restarts",
        undo="heartbeat every <session> default, which gives the word back to triage.yml",
    ),
    CommandSpec(
        path="heartbeat run",
        form="heartbeat run <session>",
        does="a beat now, also outside its hours",
        examples=("heartbeat run shop", "heartbeat run docs"),
        who=APPROVERS_OR_OWNER,
        changes="starts one beat, which may cost money",
        undo="heartbeat off <session> stops a beat under way",
        extra_words=1,
    ),
    CommandSpec(
        path="heartbeat assign",
        form="heartbeat assign <session> <text>",
        does="give it something to look into, now",
        examples=("heartbeat assign shop Look at the payment errors since noon", "help heartbeat assign"),
        who=APPROVERS_OR_OWNER,
        changes="puts the text into the session's inbox and starts one beat, which may cost money",
        undo="heartbeat off <session> stops the beat under way; the text waits in the inbox until a beat has read it",
    ),
    CommandSpec(
        path="heartbeat log",
        form="heartbeat log <session>",
        does="its latest beats, a line each",
        examples=("heartbeat log shop", "heartbeat log docs"),
        who=f"{EVERYBODY}; what was found is shown to approvers and the session's owner",
    ),
    CommandSpec(
        path="heartbeat why",
        form="heartbeat why <session>",
        does="the way its latest beat went, step by step",
        examples=("heartbeat why shop", "heartbeat why docs"),
        who=f"{EVERYBODY}; what was found is shown to approvers and the session's owner",
    ),
    CommandSpec(
        path="tiers",
        form="tiers <session>",
        does="its tasks: list, add, remove, move, edit, due",
        examples=("tiers shop", "tiers shop add hourly Look at the error rate"),
        who=APPROVERS_OR_OWNER,
        changes="the list changes nothing; see each subcommand",
    ),
    CommandSpec(
        path="tiers add",
        form="tiers <session> add <tier> <task>",
        does="one more task; the tier is quick, hourly or daily",
        examples=(
            "tiers shop add hourly Look at the error rate",
            "tiers shop add quick Tree: `git status --porcelain`",
        ),
        who=APPROVERS_OR_OWNER,
        changes="adds a line to the session's HEARTBEAT.md; the next beat of that tier does it",
        undo="tiers <session> remove <n>, the number is in the answer",
    ),
    CommandSpec(
        path="tiers remove",
        form="tiers <session> remove <n>",
        does="take the task of that number out",
        examples=("tiers shop remove 3", "tiers docs remove 1"),
        who=APPROVERS_OR_OWNER,
        changes="takes a line out of HEARTBEAT.md, if the list is still the one you saw",
        undo="the answer shows the command that adds it again",
        extra_words=1,
    ),
    CommandSpec(
        path="tiers move",
        form="tiers <session> move <n> <tier>",
        does="put a task in another tier",
        examples=("tiers shop move 3 daily", "tiers docs move 1 quick"),
        who=APPROVERS_OR_OWNER,
        changes="moves a line of HEARTBEAT.md, if the list is still the one you saw",
        undo="the answer shows the command that moves it back",
        extra_words=2,
    ),
    CommandSpec(
        path="tiers edit",
        form="tiers <session> edit <tier>",
        does="the whole tier as text, in a dialogue",
        examples=("tiers shop edit hourly", "tiers docs edit daily"),
        who=APPROVERS_OR_OWNER,
        changes="nothing until you press Save; then the tier reads as you wrote it",
        undo="what stood there is shown after Save",
        extra_words=1,
    ),
    CommandSpec(
        path="tiers due",
        form="tiers <session> due",
        does="which tier is due, and when the next one is",
        examples=("tiers shop due", "tiers docs due"),
    ),
    CommandSpec(
        path="pollinate",
        form="pollinate …",
        does="checks offered between sessions: run, list, accept, reject",
        examples=("pollinate", "pollinate accept api-1a2b3c"),
        who=f"{APPROVERS}, and owners for their own sessions",
        changes="see each subcommand",
    ),
    CommandSpec(
        path="pollinate run",
        form="pollinate run",
        does="look for checks that sessions could take over, and offer the best",
        examples=("pollinate run", "help pollinate run"),
        who=APPROVERS,
        changes="sends suggestions: a card each in the ops channel; no playbook changes",
        undo="pollinate reject <id>",
        extra_words=0,
    ),
    CommandSpec(
        path="pollinate list",
        form="pollinate list",
        does="open suggestions and the latest decisions",
        examples=("pollinate list", "pollinate"),
        who=f"{APPROVERS}, and owners for their own sessions",
    ),
    CommandSpec(
        path="pollinate accept",
        form="pollinate accept <id>",
        does="add it to the session's tasks; the end of an id will do",
        examples=("pollinate accept api-1a2b3c", "pollinate accept 1a2b3c"),
        who=f"{APPROVERS}, and the owner of the session it is for",
        changes="adds a line to that session's HEARTBEAT.md",
        undo="tiers <session>, then remove its number",
    ),
    CommandSpec(
        path="pollinate reject",
        form="pollinate reject <id> [why]",
        does="not wanted; it is not offered again",
        examples=("pollinate reject api-1a2b3c", "pollinate reject api-1a2b3c we have that elsewhere"),
        who=f"{APPROVERS}, and the owner of the session it is for",
        changes="remembers the refusal, with your reason",
        undo="tiers <session> add <tier> <task>",
    ),
    CommandSpec(
        path="help",
        form="help [command]",
        does="this list; `help pause` says all about one command",
        examples=("help pause", "help tiers add"),
    ),
)

MANUAL: Final[Mapping[str, CommandSpec]] = MappingProxyType({entry.path: entry for entry in _ENTRIES})
"""Every command and subcommand by its path, in the order in which lists show them."""


def commands() -> tuple[CommandSpec, ...]:
    """Return the commands, without subcommands."""
    return tuple(entry for entry in _ENTRIES if not entry.is_subcommand)


def subcommands(command: str) -> tuple[CommandSpec, ...]:
    """Return what belongs to a command; empty where it has no subcommands.

    >>> [entry.path for entry in subcommands("pollinate")]
    ['pollinate run', 'pollinate list', 'pollinate accept', 'pollinate reject']
    """
    return tuple(entry for entry in _ENTRIES if entry.path.startswith(f"{command} "))


def command_names(command: str) -> tuple[str, ...]:
    """Return the words of a command's subcommands.

    >>> command_names("tiers")
    ('add', 'remove', 'move', 'edit', 'due')
    """
    return tuple(entry.path.partition(" ")[2] for entry in subcommands(command))


def near_commands(word: str) -> tuple[str, ...]:
    """Return the paths somebody may have meant by an unknown first word; a subcommand's word finds its command, too.

    >>> near_commands("stauts"), near_commands("acept")
    (('status',), ('pollinate accept',))
    """
    near = near_ones(word, [entry.path for entry in commands()])
    if near:
        return near
    by_verb: dict[str, str] = {}
    for entry in _ENTRIES:
        if entry.is_subcommand:
            by_verb.setdefault(entry.path.partition(" ")[2], entry.path)
    return tuple(by_verb[verb] for verb in near_ones(word, list(by_verb)))
