"""A session's playbook in the hands of its agent, for one beat: each edit bounded, recorded, made to the file as it is.

The file is the session's own: nothing an agent says names another one. What a human changed meanwhile stands; an edit
whose entry is gone is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from bot.agent.tools.base import Arguments, Tool, ToolProblem
from bot.domain.heartbeats.allowed_commands import not_run_notice
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import add, listed, move_task, remove
from bot.domain.playbooks.playbook_entries import MAX_TEXT_CHARS, PlaybookEntry, PlaybookSection, plain_text
from bot.domain.secrets import redact
from bot.domain.tiers import Tier
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.run.beat_view import BeatView, EditKind, PlaybookEdit

MAX_EDITS: Final = 15
"""In one beat, ticked boxes aside: an agent prunes its lists, it does not rewrite them."""

EntryId = Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
"""What stands in brackets before a task, a flag or a note."""


class Note(Arguments):
    """Arguments of `note`: one line of plain text."""

    place: ClassVar[str] = "notes"
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS)]


class RaiseFlag(Note):
    """Arguments of `raise_flag`."""

    place: ClassVar[str] = "urgent"


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


_TOOLS: Final[dict[str, tuple[type[Arguments], str]]] = {
    "check_task": (CheckTask, "Tick or clear the box of one of the due tasks, by its id."),
    "note": (Note, "Leave one line in the Notes of HEARTBEAT.md for the next beats."),
    "add_task": (AddTask, "Add a check to a tier of HEARTBEAT.md: one line; a command goes in backticks."),
    "move_task": (MoveTask, "Move a task to another tier, by its id."),
    "raise_flag": (RaiseFlag, "Raise an urgent flag, which alerts the owner at once: a human must act soon."),
    "remove": (Remove, "Remove a task, clear an urgent flag or drop a note, by its id."),
}


_KINDS: Final[dict[str, tuple[EditKind, EditKind]]] = {
    **dict.fromkeys(Tier, (EditKind.ADD_TASK, EditKind.REMOVE_TASK)),
    "urgent": (EditKind.RAISE_FLAG, EditKind.CLEAR_FLAG),
    "notes": (EditKind.NOTE, EditKind.DROP_NOTE),
}
"""What it is to add to a place, and to remove from it."""


class PlaybookEditor:
    """Makes a beat's edits."""

    def __init__(self, view: BeatView, *, known_secrets: Collection[str]) -> None:
        self._view, self._secrets = view, known_secrets

    def tools(self, *names: str) -> list[Tool]:
        """Return the tools of these names; all where none is named."""
        return [
            Tool(name=name, description=said, arguments=arguments, call=self._make)
            for name, (arguments, said) in _TOOLS.items()
            if not names or name in names
        ]

    def _make(self, given: Any) -> str:
        """Make an edit and record it; return a sentence for the agent, or raise ToolProblem with one."""
        edits, text = self._view.edits, getattr(given, "text", "")
        if not isinstance(given, CheckTask) and len(edits.news) >= MAX_EDITS:
            raise ToolProblem(f"{MAX_EDITS} edits in one beat are enough; the rest can wait for the next one")
        if redact(text, self._secrets) != text:
            raise ToolProblem("this looks like a secret; a playbook is no place for one")
        try:
            before, _ = playbook_of(self._view.session).change(lambda now: self._edited(now, given)[0])
        except (InputError, StoreError) as error:
            raise ToolProblem(str(error)) from error
        edits.made.append(self._edited(before, given)[1])
        refused = self._view.session.refused_commands(text) if isinstance(given, AddTask) else ()
        advice = (f"Until its owner allows it, the command is only read: {not_run_notice(argv)}" for argv in refused)
        return " ".join(["Done.", *advice])

    def _edited(self, now: Playbook, given: Any) -> tuple[Playbook, PlaybookEdit]:
        """Return the playbook after an edit, and the edit; raises InputError."""
        match given:
            case CheckTask():
                due = next((task for task in self._view.tasks if task.id == given.id), None)
                if due is None:
                    raise InputError("No due task has that id.")
                return now.with_boxes([(due, given.ok)]), PlaybookEdit(what=EditKind.CHECK_TASK, text=due.text)
            case MoveTask():
                before, task = _meant(now.all_tasks, given)
                edit = PlaybookEdit(what=EditKind.MOVE_TASK, text=task.text, tier=given.to, before=Tier(before))
                return move_task(now, task, given.to), edit
            case Remove():
                place, entry = _meant(listed(now), given)
                after, text, kind = remove(now, entry), entry.text, _KINDS[place][1]
            case _:
                place, text = getattr(given, "tier", given.place), plain_text(given.text)
                after, kind = add(now, PlaybookSection(place), text), _KINDS[place][0]
        return after, PlaybookEdit(what=kind, text=text, tier=Tier(place) if place in list(Tier) else None)


def _meant(entries: Iterable[tuple[str, PlaybookEntry]], given: Remove) -> tuple[str, PlaybookEntry]:
    """Return the one entry meant, with its place; raises InputError."""
    found = {place: entry for place, entry in entries if entry.id == given.id and given.place in (None, place)}
    if not found:
        raise InputError("Nothing there has that id; somebody may have changed the playbook.")
    if len(found) > 1:
        raise InputError(f"It stands in several places; say which: {', '.join(found)}.")
    return next(iter(found.items()))
