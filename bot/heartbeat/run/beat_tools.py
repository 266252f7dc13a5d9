"""What a model may do during a beat: the playbook's commands, its own playbook, suggestions, and reading the code.

The pre-screen runs commands, ticks boxes and leaves notes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Annotated, Any, Final

from pydantic import Field

from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.tools.base import Arguments, Line, Tool, ToolProblem
from bot.agent.tools.codebase_tools import repository_tools
from bot.domain.heartbeats.allowed_commands import split_command
from bot.domain.playbooks.playbook_entries import MAX_TEXT_CHARS
from bot.domain.tiers import Tier
from bot.errors import ConfigError
from bot.heartbeat.run.beat_view import BeatView, EditKind
from bot.heartbeat.run.playbook_editor import PlaybookEditor
from bot.heartbeat.run.probes import Probes
from bot.ports import Clock

EntryId = Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
"""What stands in brackets before a task, a flag or a note."""

EntryText = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS)]
"""One line of plain text."""


_SAID: Final = {
    EditKind.ADD_TASK: "Add a check to a tier of HEARTBEAT.md: one line; a command goes in backticks.",
    EditKind.CHECK_TASK: "Tick or clear the box of one of the due tasks, by its id.",
    EditKind.REMOVE_TASK: "Remove a task that is not worth what it costs, by its id.",
    EditKind.MOVE_TASK: "Move a task to another tier, by its id.",
    EditKind.RAISE_FLAG: "Raise an urgent flag: something a human must act on soon. The owner is alerted at once.",
    EditKind.CLEAR_FLAG: "Clear an urgent flag that is dealt with, by its id.",
    EditKind.NOTE: "Leave one line in the Notes of HEARTBEAT.md for the next beats.",
    EditKind.DROP_NOTE: "Drop a note that is no longer true or useful, by its id.",
}
_SMALL: Final = frozenset({EditKind.CHECK_TASK, EditKind.NOTE})
"""What even a pre-screen may do to a playbook."""

_RUN: Final = "Run one of the commands this session allows, exactly as a task names it. Shows what it prints."


class AddTask(Arguments):
    """Arguments of `add_task`."""

    tier: Tier
    text: EntryText


class CheckTask(Arguments):
    """Arguments of `check_task`."""

    task: EntryId
    ok: bool


class RemoveTask(Arguments):
    """Arguments of `remove_task`; `tier` is needed only where the same task stands in several."""

    task: EntryId
    tier: Tier | None = None


class MoveTask(Arguments):
    """Arguments of `move_task`; `tier`, where it stands, is needed only where it stands in several."""

    task: EntryId
    to: Tier
    tier: Tier | None = None


class Text(Arguments):
    """Arguments of `raise_flag` and `note`."""

    text: EntryText


class Flag(Arguments):
    """Arguments of `clear_flag`."""

    flag: EntryId


class Note(Arguments):
    """Arguments of `drop_note`."""

    note: EntryId


def playbook_tools(editor: PlaybookEditor) -> list[Tool]:
    """Return what edits the session's own playbook."""
    calls: dict[EditKind, tuple[type[Arguments], Callable[[Any], str]]] = {
        EditKind.CHECK_TASK: (CheckTask, lambda given: editor.check_task(given.task, ok=given.ok)),
        EditKind.NOTE: (Text, lambda given: editor.note(given.text)),
        EditKind.ADD_TASK: (AddTask, lambda given: editor.add_task(given.tier, given.text)),
        EditKind.REMOVE_TASK: (RemoveTask, lambda given: editor.remove_task(given.task, given.tier)),
        EditKind.MOVE_TASK: (MoveTask, lambda given: editor.move_task(given.task, given.to, given.tier)),
        EditKind.RAISE_FLAG: (Text, lambda given: editor.raise_flag(given.text)),
        EditKind.CLEAR_FLAG: (Flag, lambda given: editor.clear_flag(given.flag)),
        EditKind.DROP_NOTE: (Note, lambda given: editor.drop_note(given.note)),
    }
    return [Tool(name=kind, description=_SAID[kind], arguments=of, call=call) for kind, (of, call) in calls.items()]


class RunCommand(Arguments):
    """Arguments of `run_command`."""

    command: Line


class BeatTools:
    """Makes the tools of one beat; `exchange` makes those that reach other sessions."""

    def __init__(
        self,
        probes: Probes,
        clock: Clock,
        exchange: Callable[[BeatView], list[Tool]] = lambda _: [],
        *,
        known_secrets: Collection[str] = (),
    ) -> None:
        self._probes, self._clock, self._exchange, self._secrets = probes, clock, exchange, known_secrets

    def small(self, view: BeatView) -> list[Tool]:
        """Return what a pre-screen may use."""
        return [self._commands(view), *(tool for tool in self._edits(view) if tool.name in _SMALL)]

    def all(self, view: BeatView) -> list[Tool]:
        """Return what a full run may use; outside a git checkout there is no code to read."""
        own = [self._commands(view), *self._edits(view), *self._exchange(view)]
        try:
            repo = GitRepo(view.session.cwd)
            return [*own, *repository_tools(repo, Ledger(), known_secrets=self._secrets)]
        except ConfigError:
            return own

    def _edits(self, view: BeatView) -> list[Tool]:
        return playbook_tools(PlaybookEditor(view, self._clock, known_secrets=self._secrets))

    def _commands(self, view: BeatView) -> Tool:
        return Tool(
            name="run_command", description=_RUN, arguments=RunCommand, call=lambda given: self._run(view, given)
        )

    def _run(self, view: BeatView, given: RunCommand) -> str:
        argv = split_command(given.command)
        result = self._probes.run_one(view.session.cwd, argv, view.session.beat.commands)
        if result is None:
            raise ToolProblem(f"`{given.command[:200]}` is not allowed here; the tasks name the commands that are")
        return result.problem or result.output or "(printed nothing)"
