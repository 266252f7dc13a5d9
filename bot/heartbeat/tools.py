"""What a model may do during a beat: the playbook's commands, its own playbook, and reading the code; nothing else.

The pre-screen gets the first two only. No tool takes a path of a playbook: it is the session's own, by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Annotated

from pydantic import Field

from bot.agent.git import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.tool import Tool, ToolProblem
from bot.agent.tools import repository_tools
from bot.agent.tools.arguments import Arguments, Line
from bot.domain.playbook import Playbook
from bot.domain.playbook_edits import add_note
from bot.errors import ConfigError, InputError, StoreError
from bot.heartbeat.commands import split_command
from bot.heartbeat.playbook_file import PlaybookFile, playbook_of
from bot.heartbeat.probes import Probes
from bot.heartbeat.view import BeatView

_RUN = "Run one of the commands this session allows, exactly as a task names it. Shows what it prints."
_CHECK = "Tick or clear the box of one of the due tasks, by its id."
_NOTE = "Leave one line in the Notes of HEARTBEAT.md for the next beats."


class RunCommand(Arguments):
    """Arguments of `run_command`."""

    command: Line


class CheckTask(Arguments):
    """Arguments of `check_task`."""

    task: Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
    ok: bool


class Note(Arguments):
    """Arguments of `note`."""

    text: Annotated[str, Field(min_length=1, max_length=300)]


class BeatTools:
    """Makes the tools of one beat."""

    def __init__(self, probes: Probes, *, known_secrets: Collection[str] = ()) -> None:
        self._probes, self._secrets = probes, known_secrets

    def small(self, view: BeatView) -> list[Tool]:
        """Return what a pre-screen may use."""
        file = playbook_of(view.session)
        return [
            Tool(name="run_command", description=_RUN, arguments=RunCommand, call=lambda given: self._run(view, given)),
            Tool(
                name="check_task", description=_CHECK, arguments=CheckTask, call=lambda given: _check(view, file, given)
            ),
            Tool(name="note", description=_NOTE, arguments=Note, call=lambda given: _note(file, given)),
        ]

    def all(self, view: BeatView) -> list[Tool]:
        """Return what a full run may use; outside a git checkout there is no code to read."""
        try:
            repo = GitRepo(view.session.cwd)
            return [*self.small(view), *repository_tools(repo, Ledger(), known_secrets=self._secrets)]
        except ConfigError:
            return self.small(view)

    def _run(self, view: BeatView, given: RunCommand) -> str:
        argv = split_command(given.command)
        result = self._probes.run_one(view.session.cwd, argv, view.session.beat.commands)
        if result is None:
            raise ToolProblem(f"`{given.command[:200]}` is not allowed here; the tasks name the commands that are")
        return result.problem or result.output or "(printed nothing)"


def _check(view: BeatView, file: PlaybookFile, given: CheckTask) -> str:
    task = next((each for each in view.tasks if each.id == given.task), None)
    if task is None:
        raise ToolProblem("no due task has that id")
    return _changed(file, lambda playbook: playbook.with_checked(task, given.ok))


def _note(file: PlaybookFile, given: Note) -> str:
    return _changed(file, lambda playbook: add_note(playbook, given.text))


def _changed(file: PlaybookFile, edit: Callable[[Playbook], Playbook]) -> str:
    try:
        file.change(edit)
    except (InputError, StoreError) as error:
        raise ToolProblem(str(error)) from error
    return "Done."
