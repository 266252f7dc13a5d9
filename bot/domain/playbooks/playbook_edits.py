"""What people and models may change in a playbook: add, remove and move tasks, flags and notes. Pure.

An entry is found by its section and id, never by a line number. After each edit the file is read again: if anything but
the entry meant reads differently, the edit is refused and nothing is changed. A task's number means it only while the
list is the one that was shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.playbook import Playbook, line_end
from bot.domain.playbooks.playbook_entries import (
    PLACEHOLDER,
    LineKind,
    PlaybookEntry,
    PlaybookSection,
    id_of_task,
    is_placeholder,
    plain_text,
    task_id,
)
from bot.domain.tiers import Tier
from bot.errors import InputError

_BOM: Final = "\ufeff"
_HEADINGS: Final = {
    PlaybookSection.FLAGS: "Urgent Flags",
    PlaybookSection.QUICK: "Quick Tasks",
    PlaybookSection.HOURLY: "Hourly Tasks",
    PlaybookSection.DAILY: "Daily Tasks",
    PlaybookSection.NOTES: "Notes",
}
_Meaning = tuple[PlaybookSection, str, bool | None, tuple[str, ...]]


def add_task(playbook: Playbook, tier: Tier, text: str) -> Playbook:
    r"""Return the playbook with a task more at the end of a tier; a missing section is added at the end of the file.

    Raises:
        InputError: the text is not one line of plain text, or the tier holds the task already or cannot take one.

    >>> from bot.domain.playbook import parse
    >>> add_task(parse("## Quick Tasks\n- [ ] a\n\n## Notes\n"), Tier.QUICK, "b").render()
    '## Quick Tasks\n- [ ] a\n- [ ] b\n\n## Notes\n'
    """
    said, tasks = plain_text(text), playbook.tasks(tier)
    if any(task.id == id_of_task(said) for task in tasks):
        raise InputError(f"The {tier} tasks hold {said!r} already.")
    return _added(playbook, _room_for(playbook, tier), [f"- [ ] {said}"], said, checked=False)


def remove(playbook: Playbook, entry: PlaybookEntry) -> Playbook:
    """Return the playbook without a task, flag or note and all that belongs to it; raises InputError if it is gone."""
    found = _found(playbook, entry)
    lines, rest = list(playbook.lines[: found.start]), list(playbook.lines[found.end :])
    if found.section in (PlaybookSection.FLAGS, PlaybookSection.NOTES) and _count(playbook, found.section) == 1:
        rest.insert(0, f"- {PLACEHOLDER}{line_end(playbook.lines[found.end - 1])}")
    if playbook.lines[found.start].startswith(_BOM):
        rest[:1] = [_BOM + "".join(rest[:1])]
    kept = [_meaning(other) for other in playbook.entries if other is not found]
    return _verified(Playbook((*lines, *rest)), kept)


def move_task(playbook: Playbook, task: PlaybookEntry, to: Tier) -> Playbook:
    """Return the playbook with a task, its details and its box at the end of another tier.

    Raises:
        InputError: the task is gone or no list item, or the tier holds it already or cannot take it.
    """
    found = _found(playbook, task)
    if not found.is_item:
        raise InputError(f"{found.text!r} is a paragraph; make it a list item first.")
    if any(other.id == found.id for other in playbook.tasks(to)):
        raise InputError(f"The {to} tasks hold {found.text!r} already.")
    section = _room_for(playbook, to)
    lines = [line.removeprefix(_BOM).rstrip("\r\n") for line in playbook.lines[found.start : found.end]]
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    bare = [line.removeprefix(margin) for line in lines]
    return _added(remove(playbook, found), section, bare, found.text, found.checked, found.details)


def raise_flag(playbook: Playbook, text: str) -> Playbook:
    """Return the playbook with an urgent flag up; raises InputError unless the text is one line of plain text."""
    said = plain_text(text)
    if any(flag.id == task_id(said) for flag in playbook.flags):
        return playbook
    return _added(playbook, PlaybookSection.FLAGS, [f"- {said}"], said)


def add_note(playbook: Playbook, text: str) -> Playbook:
    """Return the playbook with a note more; raises InputError unless the text is one line of plain text."""
    said = plain_text(text)
    if any(note.id == task_id(said) for note in playbook.notes):
        return playbook
    return _added(playbook, PlaybookSection.NOTES, [f"- {said}"], said)


def _room_for(playbook: Playbook, tier: Tier) -> PlaybookSection:
    """Return the section a new task of a tier goes to."""
    tasks = playbook.tasks(tier)
    if playbook.is_freeform and playbook.tasks(Tier.QUICK):
        if tier is not Tier.QUICK:
            raise InputError("This playbook has no tiers; put its tasks under a heading ## Quick Tasks first.")
        return PlaybookSection.OTHER
    if tasks and not any(task.is_item for task in tasks):
        raise InputError(f"The {tier} tasks are written as plain text; make them a list first.")
    return PlaybookSection(tier)


def _added(
    playbook: Playbook,
    section: PlaybookSection,
    lines: Sequence[str],
    text: str,
    checked: bool | None = None,
    details: tuple[str, ...] = (),
) -> Playbook:
    meanings = [*map(_meaning, playbook.entries), (section, text, checked, details)]
    entries = [entry for entry in playbook.entries if entry.section is section]
    if entries:
        last = ([entry for entry in entries if entry.is_item] or entries)[-1]
        margin = " " * last.indent if last.is_item else ""
        return _verified(
            playbook.with_lines(playbook.line_after(last.end - 1), [margin + line for line in lines]), meanings
        )
    if section not in playbook.sections:
        gap = [""] if playbook.lines and playbook.lines[-1].strip() else []
        new = [*gap, f"## {_HEADINGS[section]}", *lines]
        return _verified(playbook.with_lines(len(playbook.lines), new), meanings)
    return _verified(_filled(playbook, section, lines), meanings)


def _filled(playbook: Playbook, section: PlaybookSection, lines: Sequence[str]) -> Playbook:
    """Put lines into a section that holds nothing: in the place of its `(none)`, else under its heading."""
    numbers = [number for number, other in enumerate(playbook.sections) if other is section]
    for number in numbers:
        line = playbook.scanned[number]
        if line.kind in (LineKind.ITEM, LineKind.TEXT) and is_placeholder(line.text):
            filled = playbook.with_lines(number + 1, lines).lines
            return Playbook((*filled[:number], *filled[number + 1 :]))
    return playbook.with_lines(playbook.line_after(numbers[0]), lines)


def _found(playbook: Playbook, entry: PlaybookEntry) -> PlaybookEntry:
    """Return the entry as it stands in this version; of two that say the same, the one nearest to where it stood."""
    same = [other for other in playbook.entries if (other.section, other.id) == (entry.section, entry.id)]
    if not same:
        raise InputError(f"{entry.text!r} is not in the playbook any more; somebody changed it.")
    return min(same, key=lambda other: abs(other.start - entry.start))


def _count(playbook: Playbook, section: PlaybookSection) -> int:
    return sum(entry.section is section for entry in playbook.entries)


def _meaning(entry: PlaybookEntry) -> _Meaning:
    return entry.section, entry.text, entry.checked, entry.details


def _verified(edited: Playbook, meanings: Sequence[_Meaning]) -> Playbook:
    if sorted(map(repr, map(_meaning, edited.entries))) != sorted(map(repr, meanings)):
        raise InputError(
            "The playbook is written so that this edit would change something else; edit the file by hand."
        )
    return edited


class ListChanged(InputError):
    """The list is not the one the number was read in; nothing was changed."""


@dataclass(frozen=True, slots=True)
class NumberedTask:
    """A task and its number in the list, from 1."""

    number: int
    tier: Tier
    task: PlaybookEntry


def numbered(playbook: Playbook) -> tuple[NumberedTask, ...]:
    r"""Return every task, quick ones first, as lists show them.

    >>> from bot.domain.playbook import parse
    >>> [(one.number, one.task.text) for one in numbered(parse("## Daily\n- b\n## Quick\n- a\n"))]
    [(1, 'a'), (2, 'b')]
    """
    return tuple(NumberedTask(number, tier, task) for number, (tier, task) in enumerate(playbook.all_tasks, start=1))


def list_digest(playbook: Playbook) -> str:
    """Return what tells one list of tasks from another; boxes, details and times make no difference."""
    said = "\n".join(f"{one.tier} {one.task.id}" for one in numbered(playbook))
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def task_of(playbook: Playbook, number: int, shown: str | None) -> NumberedTask:
    """Return the task of a number that was read in the list whose digest is `shown`.

    Raises:
        ListChanged: the list is another one by now, or was never shown.
        InputError: there is no such number.
    """
    tasks = numbered(playbook)
    if shown is None:
        raise ListChanged("You have not seen this list yet, so nothing was changed. Here it is; type it again.")
    if shown != list_digest(playbook):
        raise ListChanged("The list changed since you saw it, so nothing was changed. This is how it is now.")
    if not 1 <= number <= len(tasks):
        raise InputError(
            f"There is no task {number}; they go from 1 to {len(tasks)}." if tasks else "There is no task."
        )
    return tasks[number - 1]
