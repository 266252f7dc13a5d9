"""What people may do to a session's playbook by command: list, add, remove, move.

Who may is asked before. A number means what it meant in the list the same person saw last; `shown` remembers which
list that was. Every change is one sentence that says what changed and how to undo it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import (
    NumberedTask,
    add,
    list_digest,
    move_task,
    numbered,
    remove,
    task_of,
)
from bot.domain.playbooks.playbook_entries import PlaybookEntry, id_of_task, plain_text
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import Tier
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import Removals, playbook_of
from bot.heartbeat.playbooks.task_list import TaskList, task_list
from bot.heartbeat.sessions.session_registry import PLAYBOOK, Owners, SessionMemory, SessionRegistry
from bot.ports import Clock
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

MAX_REMEMBERED: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskAnswer:
    """A sentence or two, and the list as it is now; `kept` is what was taken out and `add` cannot bring back."""

    text: str
    undo: tuple[str, ...]
    """The words of the command that takes it back, without the program's name; none where no command can."""
    tasks: TaskList
    kept: str = ""


class TaskCommands:
    """The playbooks of all sessions. Every method raises InputError for an unknown session, StoreError for the disk."""

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        zones: Owners,
        clock: Clock,
        shown: SingleDocument,
        removals: Removals,
    ) -> None:
        self._sessions, self._store, self._zones, self._clock = sessions, store, zones, clock
        self._shown = shown
        self._removals = removals

    def listed(self, session_id: str, by: str) -> TaskList:
        """Return the list, whose numbers count for `by` from now on.

        Raises:
            InputError: there is no playbook yet.
        """
        return self._seen(session_id, self._playbook(session_id), by)

    def list_tasks(self, session_id: str) -> TaskList:
        """Return the list without a number counting for anybody; raises as `listed` does."""
        return self._list(session_id, self._playbook(session_id))

    def add(self, session_id: str, tier: Tier, text: str, by: str) -> TaskAnswer:
        """Add a task; raises InputError unless it is one line of plain text that the playbook does not hold."""
        session, said = self._sessions.get(session_id), plain_text(text)
        playbook_of(session).read()
        _, playbook = playbook_of(session).change(lambda now: add(now, tier, said))
        found = next(one for one in numbered(playbook) if one.tier is tier and one.task.id == id_of_task(said))
        runs = [f"`{' '.join(argv)}` is not among `commands` in triage.yml" for argv in session.refused_commands(said)]
        note = f" {'; '.join(runs)}, so it does not run without a model." if runs else ""
        return TaskAnswer(
            text=f"Added to the {tier} tasks of {session_id} as number {found.number}: {said}.{note}",
            undo=("tiers", session_id, "remove", str(found.number)),
            tasks=self._seen(session_id, playbook, by),
        )

    def remove(self, session_id: str, number: int, by: str) -> TaskAnswer:
        """Remove the task `by` saw as `number`; raises ListChanged if that is another list by now."""
        playbook, one = self._changed(session_id, number, by, remove)
        comes_back = _is_plain(one.task.text)
        lost = (*(() if comes_back else (one.task.text,)), *one.task.details)
        return TaskAnswer(
            text=f"Removed from the {one.tier} tasks of {session_id}: {one_line(one.task.text)}."
            + (" `add` cannot restore the lines shown here." if lost else ""),
            undo=("tiers", session_id, "add", one.tier, one.task.text) if comes_back else (),
            tasks=self._seen(session_id, playbook, by),
            kept="\n".join(map(one_line, lost)),
        )

    def move(self, session_id: str, number: int, to: Tier, by: str) -> TaskAnswer:
        """Move the task `by` saw as `number`; raises ListChanged if that is another list by now."""
        playbook, one = self._changed(session_id, number, by, lambda now, task: move_task(now, task, to))
        found = [other for other in numbered(playbook) if other.tier is to and other.task.id == one.task.id][-1]
        said = f"Moved from {one.tier} to {to} in {session_id}, now number {found.number}"
        return TaskAnswer(
            text=f"{said}: {one_line(one.task.text)}.",
            undo=("tiers", session_id, "move", str(found.number), one.tier),
            tasks=self._seen(session_id, playbook, by),
        )

    def _playbook(self, session_id: str) -> Playbook:
        session = self._sessions.get(session_id)
        if not session.playbook_path.exists():
            raise InputError(
                f"{session_id} has no {PLAYBOOK} yet; its first beat creates one: /triage heartbeat run {session_id}.",
                next_step="If it was deleted, add a task to create it again: "
                f"/triage tiers {session_id} add quick <task>",
            )
        return playbook_of(session).read()

    def _changed(
        self, session_id: str, number: int, by: str, edit: Callable[[Playbook, PlaybookEntry], Playbook]
    ) -> tuple[Playbook, NumberedTask]:
        """Edit the task `by` saw as `number`; return the playbook after it, and the task as it was."""
        self._playbook(session_id)
        shown = self._shown.read().get(_key(session_id, by))
        file = playbook_of(self._sessions.get(session_id))
        before, after = file.change(lambda now: edit(now, task_of(now, number, shown).task))
        self._removals.note_removals(session_id, before, after, by=by, at=self._clock.now())
        return after, task_of(before, number, shown)

    def _seen(self, session_id: str, playbook: Playbook, by: str) -> TaskList:
        """Return the list and remember that `by` saw it; a disk that is full costs them the numbers, not the list."""
        try:
            self._shown.keep_newest({_key(session_id, by): list_digest(playbook)}, at_most=MAX_REMEMBERED)
        except StoreError:
            log.warning("a list that was shown is not remembered", extra={"action": "list_forgotten"}, exc_info=True)
        return self._list(session_id, playbook)

    def _list(self, session_id: str, playbook: Playbook) -> TaskList:
        return task_list(self._sessions.get(session_id), playbook, self._store, self._zones, self._clock.now())


def _is_plain(text: str) -> bool:
    """Whether a task could be added again just as it stood."""
    try:
        return plain_text(text) == text
    except InputError:
        return False


def _key(session_id: str, by: str) -> str:
    return f"{session_id} {by}"
