"""A session's playbook in the hands of its agent, for one beat: each edit bounded, recorded, made to the file as it is.

The file is the session's own: nothing an agent says names another one. What a human changed meanwhile stands; an edit
whose entry is gone is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from bot.agent.tools.base import Arguments, Tool, ToolProblem
from bot.domain.heartbeats.allowed_commands import not_run_notice
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import add_note, add_task, move_task, raise_flag, remove
from bot.domain.playbooks.playbook_entries import MAX_TEXT_CHARS, PlaybookEntry, plain_text
from bot.domain.secrets import redact
from bot.domain.tiers import Tier
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.run.beat_view import BeatView, EditKind, PlaybookEdit
from bot.ports import Clock

MAX_EDITS: Final = 15
"""In one beat, ticked boxes aside: an agent prunes its lists, it does not rewrite them."""

Place = Literal["quick", "hourly", "daily", "urgent", "notes"]
"""A tier, the urgent flags or the notes."""

MOST: Final[dict[str, int]] = {**dict.fromkeys(Tier, 30), "urgent": 10, "notes": 40}
"""How many entries a place may hold; each task costs at every beat of its tier."""

EntryId = Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
"""What stands in brackets before a task, a flag or a note."""

EntryText = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS)]
"""One line of plain text."""


class AddTask(Arguments):
    """Arguments of `add_task`."""

    tier: Tier
    text: EntryText


class CheckTask(Arguments):
    """Arguments of `check_task`."""

    id: EntryId
    ok: bool


class Entry(Arguments):
    """Arguments of `remove`; `place` is needed only where the same words stand in several."""

    id: EntryId
    place: Place | None = None


class MoveTask(Entry):
    """Arguments of `move_task`."""

    to: Tier


class OneLine(Arguments):
    """Arguments of `raise_flag` and `note`."""

    text: EntryText


@dataclass(frozen=True, slots=True)
class _Change:
    """A playbook after an edit, and what was edited in it."""

    what: EditKind
    after: Playbook
    text: str
    tier: Tier | None = None
    before: Tier | None = None


Edit = Callable[[Playbook, Any, BeatView], _Change]


class PlaybookEditor:
    """Makes a beat's edits."""

    def __init__(self, view: BeatView, clock: Clock, *, known_secrets: Collection[str]) -> None:
        self._view, self._clock, self._secrets = view, clock, known_secrets
        self._file = playbook_of(view.session)

    def tools(self, *names: str) -> list[Tool]:
        """Return the tools of these names; all where none is named."""
        return [
            Tool(name=name, description=said, arguments=arguments, call=partial(self._make, edit))
            for name, (arguments, edit, said) in _TOOLS.items()
            if not names or name in names
        ]

    def _make(self, edit: Edit, given: Any) -> str:
        """Make an edit and record it; return a sentence for the agent, or raise ToolProblem with one."""
        edits, text = self._view.edits, getattr(given, "text", "")
        if edit is not _check_task and len(edits.news) >= MAX_EDITS:
            raise ToolProblem(f"{MAX_EDITS} edits in one beat are enough; the rest can wait for the next one")
        if redact(text, self._secrets) != text:
            raise ToolProblem("this looks like a secret; a playbook is no place for one")
        tries: list[tuple[Playbook, _Change]] = []

        def change(playbook: Playbook) -> Playbook:
            tries.append((playbook, edit(playbook, given, self._view)))
            return tries[-1][1].after

        try:
            self._file.change(change)
        except (InputError, StoreError) as error:
            raise ToolProblem(str(error)) from error
        before, done = tries[-1]
        if done.after == before:
            return "Nothing was changed: the playbook says so already."
        at = self._clock.now()
        edits.made.append(PlaybookEdit(what=done.what, text=done.text, at=at, tier=done.tier, before=done.before))
        refused = self._view.session.refused_commands(done.text) if done.what is EditKind.ADD_TASK else ()
        advice = (f"Until its owner allows it, the command is only read: {not_run_notice(argv)}" for argv in refused)
        return " ".join(["Done.", *advice])


def with_room(playbook: Playbook, place: str) -> Playbook:
    """Return the playbook if a place may take one entry more; raises InputError."""
    if sum(where == place for where, _ in _entries(playbook)) >= MOST[place]:
        raise InputError(f"The list ({place}) holds {MOST[place]}, which is enough; remove one first.")
    return playbook


def _entries(playbook: Playbook) -> list[tuple[str, PlaybookEntry]]:
    """Return all there is, each with its place."""
    others = {"urgent": playbook.flags, "notes": playbook.notes}
    return [*playbook.all_tasks, *((place, entry) for place, found in others.items() for entry in found)]


def _entry(entries: Sequence[tuple[str, PlaybookEntry]], given: Entry) -> tuple[str, PlaybookEntry]:
    """Return the one entry meant, with its place."""
    found = {place: entry for place, entry in entries if entry.id == given.id and given.place in (None, place)}
    if not found:
        raise InputError("Nothing there has that id; somebody may have changed the playbook.")
    if len(found) > 1:
        raise InputError(f"It stands in several places; say which: {', '.join(found)}.")
    return next(iter(found.items()))


def _add_task(now: Playbook, given: AddTask, _: BeatView) -> _Change:
    """Add a task; one that stands in the playbook already, in any tier, is refused."""
    after = add_task(with_room(now, given.tier), given.tier, given.text)
    new = after.tasks(given.tier)[-1]
    for tier, task in now.all_tasks:
        if task.id == new.id:
            raise InputError(f"The {tier} tasks hold it already: [{task.id}] {task.text[:60]}")
    return _Change(EditKind.ADD_TASK, after, new.text, given.tier)


def _check_task(now: Playbook, given: CheckTask, view: BeatView) -> _Change:
    due = next((task for task in view.tasks if task.id == given.id), None)
    if due is None:
        raise InputError("No due task has that id.")
    return _Change(EditKind.CHECK_TASK, now.with_checked(due, given.ok), due.text)


def _move_task(now: Playbook, given: MoveTask, _: BeatView) -> _Change:
    place, task = _entry(now.all_tasks, given)
    after = move_task(with_room(now, given.to), task, given.to)
    return _Change(EditKind.MOVE_TASK, after, task.text, given.to, Tier(place))


def _remove(now: Playbook, given: Entry, _: BeatView) -> _Change:
    place, entry = _entry(_entries(now), given)
    what = {"urgent": EditKind.CLEAR_FLAG, "notes": EditKind.DROP_NOTE}.get(place, EditKind.REMOVE_TASK)
    return _Change(what, remove(now, entry), entry.text, Tier(place) if what is EditKind.REMOVE_TASK else None)


def _raise_flag(now: Playbook, given: OneLine, _: BeatView) -> _Change:
    return _Change(EditKind.RAISE_FLAG, raise_flag(with_room(now, "urgent"), given.text), plain_text(given.text))


def _note(now: Playbook, given: OneLine, _: BeatView) -> _Change:
    return _Change(EditKind.NOTE, add_note(with_room(now, "notes"), given.text), plain_text(given.text))


_TOOLS: Final[dict[str, tuple[type[Arguments], Edit, str]]] = {
    "check_task": (CheckTask, _check_task, "Tick or clear the box of one of the due tasks, by its id."),
    "note": (OneLine, _note, "Leave one line in the Notes of HEARTBEAT.md for the next beats."),
    "add_task": (AddTask, _add_task, "Add a check to a tier of HEARTBEAT.md: one line; a command goes in backticks."),
    "move_task": (MoveTask, _move_task, "Move a task to another tier, by its id."),
    "raise_flag": (
        OneLine,
        _raise_flag,
        "Raise an urgent flag, which alerts the owner at once: a human must act soon.",
    ),
    "remove": (Entry, _remove, "Remove a task, clear an urgent flag or drop a note, by its id."),
}
