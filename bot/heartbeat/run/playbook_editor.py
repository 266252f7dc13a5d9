"""A session's playbook in the hands of its agent, for one beat: each edit bounded, recorded, made to the file as it is.

The file is the session's own: nothing an agent says names another one. What a human changed meanwhile stands; an edit
whose entry is gone is refused, and the agent is told what stands there instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from bot.agent.tools.base import ToolProblem
from bot.domain.heartbeats.allowed_commands import not_run_notice
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import add_note, add_task, move_task, raise_flag, remove
from bot.domain.playbooks.playbook_entries import PlaybookEntry, id_of_task, plain_text
from bot.domain.secrets import redact
from bot.domain.tiers import Tier
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.run.beat_view import BeatView, EditKind, PlaybookEdit
from bot.ports import Clock

MAX_EDITS: Final = 15
"""In one beat, ticked boxes aside: an agent prunes its lists, it does not rewrite them."""

MAX_TASKS: Final = 30
"""In one tier; each costs at every beat of it."""

MAX_FLAGS: Final = 10
MAX_NOTES: Final = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    """A playbook after an edit, and what was edited in it."""

    after: Playbook
    text: str
    tier: Tier | None = None
    before: Tier | None = None


class PlaybookEditor:
    """Makes a beat's edits; every method returns a sentence for the agent, or raises ToolProblem with one."""

    def __init__(self, view: BeatView, clock: Clock, *, known_secrets: Collection[str]) -> None:
        self._view, self._clock, self._secrets = view, clock, known_secrets
        self._file = playbook_of(view.session)

    def add_task(self, tier: Tier, text: str) -> str:
        """Add a task to a tier; one that stands in the playbook already, in any tier, is refused."""

        def edit(playbook: Playbook) -> _Change:
            said = plain_text(text)
            for where, task in _tasks(playbook, id_of_task(said)):
                raise InputError(f"The {where} tasks hold it already: [{task.id}] {task.text}")
            return _Change(after=add_task(with_room(playbook, tier), tier, said), text=said, tier=tier)

        self._checked(text)
        made = self._make(EditKind.ADD_TASK, edit)
        refused = self._view.session.refused_commands(made.text) if made else ()
        return " ".join(["Added.", *map(_advice, refused)])

    def check_task(self, task: str, *, ok: bool) -> str:
        """Tick or clear the box of one of the beat's tasks."""
        due = next((each for each in self._view.tasks if each.id == task), None)
        if due is None:
            raise ToolProblem("no due task has that id")
        self._make(EditKind.CHECK_TASK, lambda playbook: _Change(after=playbook.with_boxes([(due, ok)]), text=due.text))
        return "Done."

    def remove_task(self, task: str, tier: Tier | None) -> str:
        """Remove a task and its details."""

        def edit(playbook: Playbook) -> _Change:
            where, found = _task(playbook, task, tier)
            return _Change(after=remove(playbook, found), text=found.text, tier=where)

        self._make(EditKind.REMOVE_TASK, edit)
        return "Removed."

    def move_task(self, task: str, to: Tier, tier: Tier | None) -> str:
        """Move a task with its details to the end of another tier."""

        def edit(playbook: Playbook) -> _Change:
            where, found = _task(playbook, task, tier)
            return _Change(after=move_task(with_room(playbook, to), found, to), text=found.text, tier=to, before=where)

        self._make(EditKind.MOVE_TASK, edit)
        return "Moved."

    def raise_flag(self, text: str) -> str:
        """Raise an urgent flag; it is an alert of this beat."""

        def edit(playbook: Playbook) -> _Change:
            after = raise_flag(playbook, text)
            if len(after.flags) > MAX_FLAGS:
                raise InputError(f"{MAX_FLAGS} flags are up; clear one first.")
            return _Change(after=after, text=plain_text(text))

        self._checked(text)
        return "Raised; the owner is told." if self._make(EditKind.RAISE_FLAG, edit) else "It is up already."

    def clear_flag(self, flag: str) -> str:
        """Take a flag down."""

        self._drop(EditKind.CLEAR_FLAG, lambda now: _entry(now.flags, flag, "flag"))
        return "Cleared."

    def note(self, text: str) -> str:
        """Leave a note."""

        def edit(playbook: Playbook) -> _Change:
            after = add_note(playbook, text)
            if len(after.notes) > MAX_NOTES:
                raise InputError(f"There are {MAX_NOTES} notes; drop one first.")
            return _Change(after=after, text=plain_text(text))

        self._checked(text)
        return "Noted." if self._make(EditKind.NOTE, edit) else "It is there already."

    def drop_note(self, note: str) -> str:
        """Drop a note."""

        self._drop(EditKind.DROP_NOTE, lambda now: _entry(now.notes, note, "note"))
        return "Dropped."

    def _drop(self, what: EditKind, find: Callable[[Playbook], PlaybookEntry]) -> None:
        def edit(playbook: Playbook) -> _Change:
            found = find(playbook)
            return _Change(after=remove(playbook, found), text=found.text)

        self._make(what, edit)

    def _checked(self, text: str) -> None:
        if redact(text, self._secrets) != text:
            raise ToolProblem("this looks like a secret; a playbook is no place for one")

    def _make(self, what: EditKind, edit: Callable[[Playbook], _Change]) -> PlaybookEdit | None:
        """Make an edit and record it; None if the playbook says so already."""
        edits = self._view.edits
        if what is not EditKind.CHECK_TASK and len(edits.news) >= MAX_EDITS:
            raise ToolProblem(f"{MAX_EDITS} edits in one beat are enough; the rest can wait for the next one")
        tries: list[tuple[Playbook, _Change]] = []

        def change(playbook: Playbook) -> Playbook:
            tries.append((playbook, edit(playbook)))
            return tries[-1][1].after

        try:
            self._file.change(change)
        except (InputError, StoreError) as error:
            raise ToolProblem(str(error)) from error
        before, done = tries[-1]
        if done.after == before:
            return None
        made = PlaybookEdit(what=what, text=done.text, at=self._clock.now(), tier=done.tier, before=done.before)
        edits.made.append(made)
        return made


def with_room(playbook: Playbook, tier: Tier) -> Playbook:
    """Return the playbook if a tier may take one task more; raises InputError."""
    if len(playbook.tasks(tier)) >= MAX_TASKS:
        raise InputError(f"The {tier} tier holds {MAX_TASKS} tasks, which is enough; remove one first.")
    return playbook


def _tasks(playbook: Playbook, wanted: str) -> list[tuple[Tier, PlaybookEntry]]:
    return [(tier, task) for tier, task in playbook.all_tasks if task.id == wanted]


def _task(playbook: Playbook, wanted: str, tier: Tier | None) -> tuple[Tier, PlaybookEntry]:
    """Return the one task meant; `tier` tells apart those that say the same."""
    found = [(where, task) for where, task in _tasks(playbook, wanted) if tier in (None, where)]
    if not found:
        raise InputError("No task has that id; somebody may have changed the playbook. The due tasks name theirs.")
    if len({where for where, _ in found}) > 1:
        raise InputError(f"It stands in several tiers; say which: {', '.join(where for where, _ in found)}.")
    return found[0]


def _entry(entries: Collection[PlaybookEntry], wanted: str, kind: str) -> PlaybookEntry:
    found = next((entry for entry in entries if entry.id == wanted), None)
    if found is None:
        raise InputError(f"No {kind} has that id; those that stand there: {_listed(entries)}")
    return found


def _listed(entries: Collection[PlaybookEntry]) -> str:
    return "; ".join(f"[{entry.id}] {entry.text[:60]}" for entry in entries) or "(none)"


def _advice(argv: tuple[str, ...]) -> str:
    return f"Until its owner allows it, the command is only read: {not_run_notice(argv)}"
