"""What a model may do during a beat: the playbook's commands, its own playbook, suggestions, and reading the code.

The pre-screen runs commands, ticks boxes and leaves notes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Final

from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.tools.base import Arguments, Line, Tool, ToolProblem
from bot.agent.tools.codebase_tools import repository_tools
from bot.domain.heartbeats.allowed_commands import split_command
from bot.errors import ConfigError
from bot.heartbeat.run.beat_view import BeatView
from bot.heartbeat.run.playbook_editor import PlaybookEditor
from bot.heartbeat.run.probes import Probes

_RUN: Final = "Run one of the commands this session allows, exactly as a task names it. Shows what it prints."


class RunCommand(Arguments):
    """Arguments of `run_command`."""

    command: Line


class BeatTools:
    """Makes the tools of one beat; `exchange` makes those that reach other sessions."""

    def __init__(
        self,
        probes: Probes,
        exchange: Callable[[BeatView], list[Tool]] = lambda _: [],
        *,
        known_secrets: Collection[str] = (),
    ) -> None:
        self._probes, self._exchange, self._secrets = probes, exchange, known_secrets

    def small(self, view: BeatView) -> list[Tool]:
        """Return what a pre-screen may use."""
        return self._own(view, "check_task", "note")

    def all(self, view: BeatView) -> list[Tool]:
        """Return what a full run may use; outside a git checkout there is no code to read."""
        own = [*self._own(view), *self._exchange(view)]
        try:
            repo = GitRepo(view.session.cwd)
            return [*own, *repository_tools(repo, Ledger(), known_secrets=self._secrets)]
        except ConfigError:
            return own

    def _own(self, view: BeatView, *edits: str) -> list[Tool]:
        """Return the session's commands, and these edits of its playbook; all where none is named."""
        run = Tool(name="run_command", description=_RUN, arguments=RunCommand, call=partial(self._run, view))
        return [run, *PlaybookEditor(view, known_secrets=self._secrets).tools(*edits)]

    def _run(self, view: BeatView, given: RunCommand) -> str:
        argv = split_command(given.command)
        result = self._probes.run_one(view.session.cwd, argv, view.session.beat.commands)
        if result is None:
            raise ToolProblem(f"`{given.command[:200]}` is not allowed here; the tasks name the commands that are")
        return result.problem or result.output or "(printed nothing)"
