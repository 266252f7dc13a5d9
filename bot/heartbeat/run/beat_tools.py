"""What a model may do during a beat: run commands, edit its own playbook, answer suggestions, read the code.

The pre-screen runs commands, ticks boxes and leaves notes. Each edit is bounded, recorded and made to the file as it
is. The file is the session's own: nothing an agent says names another one. What a human changed meanwhile stands; an
edit whose entry is gone is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.tools.base import Arguments, Line, Tool, ToolProblem
from bot.agent.tools.codebase_tools import repository_tools
from bot.domain.heartbeats.allowed_commands import not_run_notice, split_command
from bot.domain.playbook import Playbook, add, move_task, remove
from bot.domain.playbook_entries import MAX_TEXT_CHARS, PlaybookEntry, PlaybookSection, plain_text
from bot.domain.secrets import redact
from bot.domain.tiers import Tier
from bot.errors import ConfigError, InputError, StoreError
from bot.heartbeat.playbook_file import playbook_of
from bot.heartbeat.run.beat_record import BeatView, PlaybookEdit, news_in
from bot.heartbeat.run.probes import Probes

MAX_EDITS: Final = 15
"""In one beat, ticked boxes aside: an agent prunes its lists, it does not rewrite them."""

EntryId = Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
"""What stands in brackets before a task, a flag or a note."""


class RunCommand(Arguments):
    """Arguments of `run_command`."""

    command: Line


class Note(Arguments):
    """Arguments of `note`: one line of plain text."""

    place: ClassVar = PlaybookSection.NOTES
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS)]


class RaiseFlag(Note):
    """Arguments of `raise_flag`."""

    place: ClassVar = PlaybookSection.FLAGS


class AddTask(Note):
    """Arguments of `add_task`."""

    tier: Tier


class CheckTask(Arguments):
    """Arguments of `check_task`."""

    id: EntryId
    ok: bool


class Remove(Arguments):
    """Arguments of `remove`; `place` is needed only where the same words stand in several."""

    id: EntryId
    place: Literal["quick", "hourly", "daily", "urgent", "notes"] | None = None


class MoveTask(Remove):
    """Arguments of `move_task`."""

    to: Tier


_RUN: Final = "Run one of the commands this session allows, exactly as a task names it. Shows what it prints."
_EDITS: Final[dict[str, tuple[type[Arguments], str]]] = {
    "check_task": (CheckTask, "Tick or clear the box of one of the due tasks, by its id."),
    "note": (Note, "Leave one line in the Notes of HEARTBEAT.md for the next beats."),
    "add_task": (AddTask, "Add a check to a tier of HEARTBEAT.md: one line; a command goes in backticks."),
    "move_task": (MoveTask, "Move a task to another tier, by its id."),
    "raise_flag": (RaiseFlag, "Raise an urgent flag, which alerts the owner at once: a human must act soon."),
    "remove": (Remove, "Remove a task, clear an urgent flag or drop a note, by its id."),
}


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
        own = [*self._own(view, *_EDITS), *self._exchange(view)]
        try:
            repo = GitRepo(view.session.cwd)
            return [*own, *repository_tools(repo, Ledger(), known_secrets=self._secrets)]
        except ConfigError:
            return own

    def _own(self, view: BeatView, *names: str) -> list[Tool]:
        """Return the session's commands, and the edits of its playbook that have these names."""
        run = Tool(name="run_command", description=_RUN, arguments=RunCommand, call=partial(self._run, view))
        edits = ((name, *_EDITS[name]) for name in names)
        return [
            run,
            *(
                Tool(name=name, description=does, arguments=arguments, call=partial(self._edit, view))
                for name, arguments, does in edits
            ),
        ]

    def _run(self, view: BeatView, given: RunCommand) -> str:
        argv = split_command(given.command)
        result = self._probes.run_one(view.session.cwd, argv, view.session.beat.commands)
        if result is None:
            raise ToolProblem(f"`{given.command[:200]}` is not allowed here; the tasks name the commands that are")
        return result.problem or result.output or "(printed nothing)"

    def _edit(self, view: BeatView, given: Any) -> str:
        """Make an edit and record it; return a sentence for the agent, or raise ToolProblem with one."""
        text = getattr(given, "text", "")
        if not isinstance(given, CheckTask) and len(news_in(view.edits)) >= MAX_EDITS:
            raise ToolProblem(f"{MAX_EDITS} edits in one beat are enough; the rest can wait for the next one")
        if redact(text, self._secrets) != text:
            raise ToolProblem("this looks like a secret; a playbook is no place for one")
        try:
            before, _ = playbook_of(view.session).change(lambda now: _edited(view, now, given)[0])
        except (InputError, StoreError) as error:
            raise ToolProblem(str(error)) from error
        view.edits.append(_edited(view, before, given)[1])
        refused = view.session.refused_commands(text) if isinstance(given, AddTask) else ()
        advice = (f"Until its owner allows it, the command is only read: {not_run_notice(argv)}" for argv in refused)
        return " ".join(["Done.", *advice])


def _edited(view: BeatView, now: Playbook, given: Any) -> tuple[Playbook, PlaybookEdit]:
    """Return the playbook after an edit, and the edit; raises InputError."""
    match given:
        case CheckTask():
            due = next((task for task in view.tasks if task.id == given.id), None)
            if due is None:
                raise InputError("No due task has that id.")
            return now.with_boxes([(due, given.ok)]), PlaybookEdit("checked", due.section, due.text)
        case MoveTask():
            task = _meant(now.all_tasks, given)
            return move_task(now, task, given.to), PlaybookEdit("moved", given.to, task.text, task.section)
        case Remove():
            entry = _meant(now.listed, given)
            return remove(now, entry), PlaybookEdit("removed", entry.section, entry.text)
        case _:
            place, text = PlaybookSection(getattr(given, "tier", given.place)), plain_text(given.text)
            return add(now, place, text), PlaybookEdit("added", place, text)


def _meant(entries: Iterable[PlaybookEntry], given: Remove) -> PlaybookEntry:
    """Return the one entry meant; raises InputError."""
    named = (entry for entry in entries if entry.id == given.id)
    found = {entry.section: entry for entry in named if given.place in (None, entry.section)}
    if not found:
        raise InputError("Nothing there has that id; somebody may have changed the playbook.")
    if len(found) > 1:
        raise InputError(f"It stands in several places; say which: {', '.join(found)}.")
    return next(iter(found.values()))
