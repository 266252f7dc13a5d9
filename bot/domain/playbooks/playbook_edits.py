"""What people and models may change in a playbook: add, remove and move tasks, flags and notes. Pure.

An entry is found by its section and id, never by a line number. After each edit the file is read again, once: if
anything but the entry meant reads differently, the edit is refused and nothing is changed. A task's number means it
only while the list is the one that was shown.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.playbook import BOM, Playbook, line_end, parse
from bot.domain.playbooks.playbook_entries import (
    PLACEHOLDER,
    PlaybookEntry,
    id_of_task,
    is_placeholder,
    plain_text,
    task_id,
)
from bot.domain.playbooks.playbook_lines import PlaybookSection
from bot.domain.tiers import Tier
from bot.errors import InputError

_HEADINGS: Final = {PlaybookSection.FLAGS: "Urgent Flags", PlaybookSection.NOTES: "Notes"}
"""Those of the tiers are made of their names."""

_Meaning = tuple[PlaybookSection, str, bool | None, tuple[str, ...]]


def add_task(playbook: Playbook, tier: Tier, text: str) -> Playbook:
    r"""Return the playbook with a task more at the end of a tier; a missing section is added at the end of the file.

    Raises:
        InputError: the text is not one line of plain text, or the tier holds the task (the same command, or without
            one the same title) already or cannot take one.

    >>> add_task(parse("## Quick Tasks\n- [ ] a\n\n## Notes\n"), Tier.QUICK, "b").render()
    '## Quick Tasks\n- [ ] a\n- [ ] b\n\n## Notes\n'
    """
    said = plain_text(text)
    section = _room_for(playbook, tier, id_of_task(said), said)
    return _added(playbook, section, [f"- [ ] {said}"], (said, False, ()))


def remove(playbook: Playbook, *gone: PlaybookEntry) -> Playbook:
    """Return the playbook without these entries and all that belongs to them; raises InputError if one is gone.

    A list of flags or notes that holds nothing any more says so.
    """
    found = [_found(playbook, entry) for entry in gone]
    dropped = {number for entry in found for number in range(entry.start, entry.end)}
    emptied = {entry.start: line_end(playbook.lines[entry.end - 1]) for entry in _last_ones(playbook, found)}
    lines: list[str] = []
    for number, line in enumerate(playbook.lines):
        if number in emptied:
            lines.append(f"- {PLACEHOLDER}{emptied[number]}")
        if number not in dropped:
            lines.append(line)
    return _verified(playbook, lines, Counter(_meanings(playbook)) - Counter(map(_meaning, found)))


def move_task(playbook: Playbook, task: PlaybookEntry, to: Tier) -> Playbook:
    """Return the playbook with a task, its details and its box at the end of another tier.

    Raises:
        InputError: the task is gone or no list item, or the tier holds it already or cannot take it.
    """
    found = _found(playbook, task)
    if not found.is_item:
        raise InputError(f"{found.text!r} is no list item; make it one first.")
    section = _room_for(playbook, to, found.id, found.text)
    lines = [line.removeprefix(BOM).rstrip("\r\n") for line in playbook.lines[found.start : found.end]]
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    bare = [line.removeprefix(margin) for line in lines]
    return _added(remove(playbook, found), section, bare, (found.text, found.checked, found.details))


def raise_flag(playbook: Playbook, text: str) -> Playbook:
    """Return the playbook with an urgent flag up; raises InputError unless the text is one line of plain text."""
    return _said_once(playbook, playbook.flags, PlaybookSection.FLAGS, plain_text(text))


def add_note(playbook: Playbook, text: str) -> Playbook:
    """Return the playbook with a note more; raises InputError unless the text is one line of plain text."""
    return _said_once(playbook, playbook.notes, PlaybookSection.NOTES, plain_text(text))


def _said_once(playbook: Playbook, known: Iterable[PlaybookEntry], section: PlaybookSection, said: str) -> Playbook:
    if any(entry.id == task_id(said) for entry in known):
        return playbook
    return _added(playbook, section, [f"- {said}"], (said, None, ()))


def _room_for(playbook: Playbook, tier: Tier, wanted: str, said: str) -> PlaybookSection:
    """Return the section a task goes to that is new in a tier; raises InputError where there is no room for it."""
    if any(task.id == wanted for task in playbook.tasks(tier)):
        raise InputError(f"The {tier} tasks hold {said!r} already.")
    if not (playbook.is_freeform and playbook.tasks(Tier.QUICK)):
        return PlaybookSection(tier)
    if tier is not Tier.QUICK:
        raise InputError("This playbook has no tiers; put its tasks under a heading ## Quick Tasks first.")
    return PlaybookSection.OTHER


def _added(
    playbook: Playbook,
    section: PlaybookSection,
    lines: Sequence[str],
    meaning: tuple[str, bool | None, tuple[str, ...]],
) -> Playbook:
    """Put an entry into a section: in the place of its `(none)`, else at its end; a missing one is added."""
    held = playbook.in_section(section)
    nothing = [entry for entry in playbook.entries if entry.section is section and not held]
    if section not in playbook.sections:
        title = _HEADINGS.get(section, f"{section.title()} Tasks")
        gap = [""] if playbook.lines and playbook.lines[-1].strip() else []
        edited = playbook.with_lines(len(playbook.lines), [*gap, f"## {title}", *lines]).lines
    elif nothing:
        start, end = nothing[0].start, nothing[0].end
        filled = playbook.with_lines(end, lines).lines
        edited = (*filled[:start], *filled[end:])
    else:
        margin = " " * next((entry.indent for entry in reversed(held) if entry.is_item), 0)
        edited = playbook.with_lines(playbook.end_of(section), [margin + line for line in lines]).lines
    return _verified(playbook, edited, Counter([*_meanings(playbook), (section, *meaning)]))


def _found(playbook: Playbook, entry: PlaybookEntry) -> PlaybookEntry:
    """Return the entry as it stands in this version; of two that say the same, the one nearest to where it stood."""
    same = [other for other in playbook.in_section(entry.section) if other.id == entry.id]
    if not same:
        raise InputError(f"{entry.text!r} is not in the playbook any more; somebody changed it.")
    return min(same, key=lambda other: abs(other.start - entry.start))


def _last_ones(playbook: Playbook, gone: Sequence[PlaybookEntry]) -> list[PlaybookEntry]:
    """Return the first entry that goes of each list of flags or notes that keeps none."""
    lists = (PlaybookSection.FLAGS, PlaybookSection.NOTES)
    leaving = [[entry for entry in gone if entry.section is section] for section in lists]
    return [each[0] for each in leaving if each and len(each) == len(playbook.in_section(each[0].section))]


def _meaning(entry: PlaybookEntry) -> _Meaning:
    return entry.section, entry.text, entry.checked, entry.details


def _meanings(playbook: Playbook) -> list[_Meaning]:
    return [_meaning(entry) for entry in playbook.entries if not is_placeholder(entry.text)]


def _verified(before: Playbook, lines: Sequence[str], expected: Counter[_Meaning]) -> Playbook:
    """Return the edited playbook, with the byte order mark it had, if it reads as expected."""
    text = "".join(lines)
    mark = BOM if before.render().startswith(BOM) and not text.startswith(BOM) else ""
    edited = parse(mark + text)
    if Counter(_meanings(edited)) != expected:
        raise InputError("This edit would change something else in the playbook, too; edit the file by hand.")
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
