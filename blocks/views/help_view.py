"""What `/triage help` says, from the manual: all commands, one in full, the near ones for a slip of the pen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.text.outgoing_text import context, escape, fence, plain, section
from bot.domain.commands.command_specs import NOTHING, CommandSpec, command_names, commands, subcommands
from bot.domain.text.did_you_mean import near_ones

WORD_CHARS: Final = 40
ECHO_FROM_CHARS: Final = 60
ECHO_CHARS: Final = 550
"""Five times as long when escaped, and a section holds 3,000."""

ECHO_SECTIONS: Final = 8
_ASK: Final = (
    "To ask, mention me: `@triage where is the retry limit set?` In a thread Slack takes no commands: "
    "`@triage look into this`"
)


def help_blocks(problem: str = "") -> list[Block]:
    """Return the list of commands, one screen, led by what was wrong (mrkdwn)."""
    lines = [f"{_code(entry.form)}  {escape(entry.does)}" for entry in commands()]
    more = "`/triage help tiers add` says all about one: examples, who may, how to undo it."
    return [*_problem(problem), section("\n".join(lines)), context(f"{more}\n{_ASK}")]


def entry_blocks(entry: CommandSpec, problem: str = "") -> list[Block]:
    """Return all there is to say on one command, led by what was wrong (mrkdwn); what has subcommands lists them."""
    first, second = entry.examples
    facts = [
        f"*{_code(entry.form)}*  {escape(entry.does)}",
        f"*For example* {_code(first)} · {_code(second)}",
        f"*Who may* {escape(entry.who)}",
        f"*Changes* {escape(entry.changes)}",
    ]
    if entry.changes != NOTHING and entry.undo:
        facts.append(f"*To undo it* {_undo(entry.undo)}")
    below = usage_lines(entry.path)
    listed = [section("\n".join(below))] if below else []
    following = f"help {entry.path} {subcommands(entry.path)[0].path.partition(' ')[2]}" if below else first
    return [*_problem(problem), section("\n".join(facts)), *listed, context(f"Next: {_code(following)}")]


def usage_blocks(command: str, problem: str) -> list[Block]:
    """Return what can be typed after a command that has subcommands, led by what was wrong (mrkdwn)."""
    following = context(f"More on one: {_code(f'help {subcommands(command)[0].path}')}")
    return [*_problem(problem), section("\n".join(usage_lines(command))), following]


def usage_lines(command: str) -> list[str]:
    """Return a line for each subcommand."""
    return [f"{_code(entry.form)}  {escape(entry.does)}" for entry in subcommands(command)]


def unknown_verb(before: str, verb: str) -> list[Block]:
    """Return what may have been meant by a word that is no verb of a command, and how the command is used.

    `before` is what was typed up to the word: the command, and perhaps a session.
    """
    command = before.partition(" ")[0]
    near = [f"{before} {one}" for one in near_ones(verb, command_names(command))]
    return usage_blocks(command, unknown_text(verb, near, after=before))


def unknown_text(word: str, near: Sequence[str], *, after: str = "") -> str:
    """Return that there is no such command, and the near ones as they are typed; mrkdwn."""
    there = " ".join(part for part in (after, plain(word, WORD_CHARS)) if part)
    meant = f" Did you mean {' or '.join(map(_code, near))}?" if near else ""
    return f"There is no {_code(there)}, and nothing was done.{meant}"


def typed_blocks(text: str) -> list[Block]:
    """Return a long line as it was typed, to copy from: Slack does not keep what was typed. A short one is typed again.

    The screen shows its first `ECHO_SECTIONS` sections.
    """
    if len(text) <= ECHO_FROM_CHARS:
        return []
    pieces = [text[start : start + ECHO_CHARS] for start in range(0, len(text), ECHO_CHARS)][:ECHO_SECTIONS]
    cut = len(text) > ECHO_CHARS * ECHO_SECTIONS
    return [
        context("You typed" + (", in part:" if cut else ":")),
        *(section(fence(piece)) for piece in pieces),
    ]


def _undo(undo: str) -> str:
    """Return a way back: a command, or words that begin with one or are none."""
    command, comma, rest = undo.partition(",")
    if command.split()[0] not in {entry.path for entry in commands()}:
        return escape(undo)
    return f"{_code(command)}{escape(comma + rest)}"


def _problem(problem: str) -> list[Block]:
    return [section(problem)] if problem else []


def _code(form: str) -> str:
    """Return what is typed as code; a task in backticks would close it, so that its own are left out."""
    return f"`/triage {escape(form.replace('`', ''))}`"
