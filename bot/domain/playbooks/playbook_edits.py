"""What people and models may change in a playbook: add, remove and move tasks, flags and notes. Pure.

An edit is made to the entries of the playbook it is given. The result is read again, once: if anything but the entry
meant reads differently, the edit is refused and nothing is changed. A task's number means it only while the list is the
one that was shown.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.domain.playbook import BOM, Playbook, parse
from bot.domain.playbooks.playbook_entries import PlaybookEntry, PlaybookSection, is_placeholder, plain_text
from bot.domain.tiers import Tier
from bot.errors import InputError

_LISTS: Final = {
    **{PlaybookSection(tier): (f"{tier.title()} Tasks", 30) for tier in Tier},
    PlaybookSection.FLAGS: ("Urgent Flags", 10),
    PlaybookSection.NOTES: ("Notes", 40),
}
"""What may be edited: the heading of each list, and how many entries it may hold; each task costs at every beat."""


def listed(playbook: Playbook) -> list[tuple[PlaybookSection, PlaybookEntry]]:
    """Return every task, flag that is up and note with its list; tasks of a file without tiers are quick ones."""
    tasks = [(PlaybookSection(tier), task) for tier, task in playbook.all_tasks]
    return [*tasks, *((each.section, each) for each in (*playbook.flags, *playbook.notes))]


def add(playbook: Playbook, to: PlaybookSection | Tier, text: str) -> Playbook:
    r"""Return the playbook with a task, flag or note more; a missing section is added at the end of the file.

    Raises:
        InputError: the text is not one line of plain text, or the list has it already or cannot take it. A task is had
            where any tier names the same command, or where it names none, the same title.

    >>> add(parse("## Quick Tasks\n- [ ] a\n\n## Notes\n"), Tier.QUICK, "b").render()
    '## Quick Tasks\n- [ ] a\n- [ ] b\n\n## Notes\n'
    """
    said, is_task = plain_text(text), to.value in list(Tier)
    new = PlaybookEntry(PlaybookSection(to), said, False if is_task else None, 0, 1)
    return _placed(playbook, new, [f"- [ ] {said}" if is_task else f"- {said}"])


def remove(playbook: Playbook, *gone: PlaybookEntry) -> Playbook:
    """Return the playbook without these entries of it and all that belongs to them."""
    dropped = {number for entry in gone for number in range(entry.start, entry.end)}
    left = [line for number, line in enumerate(playbook.lines) if number not in dropped]
    return _verified(playbook, left, lost=gone)


def move_task(playbook: Playbook, task: PlaybookEntry, to: Tier) -> Playbook:
    """Return the playbook with a task of it, its details and its box at the end of another tier.

    Raises:
        InputError: it is no list item, or a tier it would stand beside holds it already or cannot take it.
    """
    if not task.is_item:
        raise InputError(f"{task.text!r} is no list item; make it one first.")
    if task in playbook.tasks(to):
        raise InputError(f"{to.title()} Tasks hold it already.")
    lines = [line.removeprefix(BOM).rstrip("\r\n") for line in playbook.lines[task.start : task.end]]
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    bare = [line.removeprefix(margin) for line in lines]
    return _placed(remove(playbook, task), replace(task, section=PlaybookSection(to)), bare)


def _placed(playbook: Playbook, entry: PlaybookEntry, lines: Sequence[str]) -> Playbook:
    """Put an entry at the end of its list, instead of the `(none)` of an empty one."""
    section, (title, most) = entry.section, _LISTS[entry.section]
    known = listed(playbook)
    for where, other in known:
        if other.id == entry.id and (where is section or {where.value, section.value} <= {*Tier}):
            raise InputError(f"{_LISTS[where][0]} hold it already: {other.text[:60]}")
    if sum(where is section for where, _ in known) >= most:
        raise InputError(f"{title} hold {most}, which is enough; remove one first.")
    if section.value in list(Tier) and playbook.is_freeform and playbook.all_tasks:
        if section is not PlaybookSection.QUICK:
            raise InputError("This playbook has no tiers; put its tasks under a heading ## Quick Tasks first.")
        section = PlaybookSection.OTHER
    if section in playbook.sections:
        held, at = playbook.in_section(section), playbook.end_of(section)
        margin = " " * next((each.indent for each in reversed(held) if each.is_item), 0)
        shown = zip(playbook.lines[:at], playbook.sections, playbook.scanned, strict=False)
        above = [line for line, of, as_ in shown if held or of is not section or not is_placeholder(as_.text)]
        whole = Playbook((*above, *playbook.lines[at:]))
        edited = whole.with_lines(len(above), [margin + line for line in lines])
    else:
        gap = [""] if playbook.lines and playbook.lines[-1].strip() else []
        edited = playbook.with_lines(len(playbook.lines), [*gap, f"## {title}", *lines])
    return _verified(playbook, edited.lines, gained=[replace(entry, section=section)])


def _verified(
    before: Playbook, lines: Sequence[str], *, lost: Sequence[PlaybookEntry] = (), gained: Sequence[PlaybookEntry] = ()
) -> Playbook:
    """Return the edited playbook, with the byte order mark it had, if it reads as expected."""
    text = "".join(lines)
    edited = parse(BOM + text if before.render().startswith(BOM) and not text.startswith(BOM) else text)
    expected = Counter(map(_meaning, before.entries)) - Counter(map(_meaning, lost)) + Counter(map(_meaning, gained))
    if Counter(map(_meaning, edited.entries)) != expected:
        raise InputError("This edit would change something else in the playbook, too; edit the file by hand.")
    return edited


def _meaning(entry: PlaybookEntry) -> tuple[PlaybookSection, str, bool | None, tuple[str, ...]]:
    return entry.section, entry.text, entry.checked, entry.details


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


def task_of(playbook: Playbook, number: int, shown: object) -> NumberedTask:
    """Return the task of a number that was read in the list whose digest is `shown`.

    Raises:
        ListChanged: the list is another one by now, or was never shown.
        InputError: there is no such number.
    """
    tasks = numbered(playbook)
    if shown != list_digest(playbook):
        raise ListChanged("This is not the list you saw last, so nothing was changed. Type it again by these numbers.")
    if not 1 <= number <= len(tasks):
        raise InputError(f"There is no task {number}; there are {len(tasks)}.")
    return tasks[number - 1]
