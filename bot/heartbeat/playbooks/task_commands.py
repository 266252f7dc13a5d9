"""What `tiers …` does to a session's playbook, and answers: list, add, remove, move, what is due.

What a playbook says and changing it is for approvers and the session's owner; everybody may see what is due. A number
means what it meant in the list the same person saw last; `shown` remembers which list that was.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from bot.domain.answers import Answer, Part, lines_of
from bot.domain.commands.command_line import CommandLine
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import (
    ListChanged,
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
from bot.heartbeat.playbooks.task_list import TaskList, parse_number, parse_tier, task_list, which_answer
from bot.heartbeat.sessions.session_registry import PLAYBOOK, Asker, Owners, Session, SessionMemory, SessionRegistry
from bot.ports import Clock
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

MAX_REMEMBERED: Final = 500
NO_TASKS_OF_YOURS: Final = "Only approvers and the session's owner may see and change its tasks."


class TaskCommands:
    """Answers every verb of `tiers`."""

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

    def answer(self, line: CommandLine, by: Asker) -> Answer:
        """Do what a line says with a session's tasks, or list them.

        A number out of a list that changed does nothing: the answer's `problem` says so above the list as it is now.

        Raises:
            InputError: there is no such session, task or tier, or they may not.
            StoreError: the disk refuses it.
        """
        if not line.word(1):
            return which_answer([session.id for session in self._sessions.all()])
        session, verb = self._sessions.get(line.word(1)), line.word(2)
        if verb == "due":
            return self._list(session, self._playbook(session)).due_answer()
        by.require(NO_TASKS_OF_YOURS, session, next_step=f"What is due: /triage tiers {session.id} due")
        if not verb:
            return self._seen(session, self._playbook(session), by).answer()
        if verb == "add":
            return self._add(session, parse_tier(line.word(3), session.id), line.words_after(4), by)
        to = parse_tier(line.word(4), session.id) if verb == "move" else None
        number = parse_number(line.word(3), session.id)
        try:
            return self._remove(session, number, by) if to is None else self._move(session, number, to, by)
        except ListChanged as changed:
            return self._seen(session, self._playbook(session), by).answer(problem=str(changed))

    def _add(self, session: Session, tier: Tier, text: str, by: Asker) -> Answer:
        """Add a task; raises InputError unless it is one line of plain text that the playbook does not hold."""
        said = plain_text(text)
        playbook_of(session).read()
        _, playbook = playbook_of(session).change(lambda now: add(now, tier, said))
        found = next(one for one in numbered(playbook) if one.tier is tier and one.task.id == id_of_task(said))
        runs = [f"`{' '.join(argv)}` is not among `commands` in triage.yml" for argv in session.refused_commands(said)]
        note = f" {'; '.join(runs)}, so it does not run without a model." if runs else ""
        told = f"Added to the {tier} tasks of {session.id} as number {found.number}: {said}.{note}"
        return self._changed(session, playbook, by, told, ("remove", str(found.number)))

    def _remove(self, session: Session, number: int, by: Asker) -> Answer:
        """Remove the task `by` saw as `number`; raises ListChanged if that is another list by now."""
        playbook, one = self._change(session, number, by, remove)
        comes_back = _is_plain(one.task.text)
        lost = (*(() if comes_back else (one.task.text,)), *one.task.details)
        told = f"Removed from the {one.tier} tasks of {session.id}: {one_line(one.task.text)}."
        told += " `add` cannot restore the lines shown here." if lost else ""
        undo = ("add", one.tier, one.task.text) if comes_back else ()
        return self._changed(session, playbook, by, told, undo, "\n".join(map(one_line, lost)))

    def _move(self, session: Session, number: int, to: Tier, by: Asker) -> Answer:
        """Move the task `by` saw as `number`; raises ListChanged if that is another list by now."""
        playbook, one = self._change(session, number, by, lambda now, task: move_task(now, task, to))
        found = [other for other in numbered(playbook) if other.tier is to and other.task.id == one.task.id][-1]
        told = f"Moved from {one.tier} to {to} in {session.id}, now number {found.number}: {one_line(one.task.text)}."
        return self._changed(session, playbook, by, told, ("move", str(found.number), one.tier))

    def _changed(
        self, session: Session, playbook: Playbook, by: Asker, told: str, undo: tuple[str, ...], lost: str = ""
    ) -> Answer:
        """Return what changed, how it is undone, what no command brings back, and the list as it is now."""
        words = ("tiers", session.id, *undo) if undo else ()
        return self._seen(session, playbook, by).answer(Part(lines=lines_of([told]), quoted=lost), undo=words)

    def _playbook(self, session: Session) -> Playbook:
        """Return the playbook; raises InputError where there is none yet."""
        if not playbook_of(session).path.exists():
            raise InputError(
                f"{session.id} has no {PLAYBOOK} yet; its first beat creates one: /triage heartbeat run {session.id}.",
                next_step="If it was deleted, add a task to create it again: "
                f"/triage tiers {session.id} add quick <task>",
            )
        return playbook_of(session).read()

    def _change(
        self, session: Session, number: int, by: Asker, edit: Callable[[Playbook, PlaybookEntry], Playbook]
    ) -> tuple[Playbook, NumberedTask]:
        """Edit the task `by` saw as `number`; return the playbook after it, and the task as it was."""
        self._playbook(session)
        shown = self._shown.read().get(_key(session, by))
        before, after = playbook_of(session).change(lambda now: edit(now, task_of(now, number, shown).task))
        self._removals.note_removals(session.id, before, after, by=by.id, at=self._clock.now())
        return after, task_of(before, number, shown)

    def _seen(self, session: Session, playbook: Playbook, by: Asker) -> TaskList:
        """Return the list and remember that `by` saw it; a disk that is full costs them the numbers, not the list."""
        try:
            self._shown.keep_newest({_key(session, by): list_digest(playbook)}, at_most=MAX_REMEMBERED)
        except StoreError:
            log.warning("a list that was shown is not remembered", extra={"action": "list_forgotten"}, exc_info=True)
        return self._list(session, playbook)

    def _list(self, session: Session, playbook: Playbook) -> TaskList:
        return task_list(session, playbook, self._store, self._zones, self._clock.now())


def _is_plain(text: str) -> bool:
    """Whether a task could be added again just as it stood."""
    try:
        return plain_text(text) == text
    except InputError:
        return False


def _key(session: Session, by: Asker) -> str:
    return f"{session.id} {by.id}"
