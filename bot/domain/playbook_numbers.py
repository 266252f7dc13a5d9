"""Tasks by the numbers people saw: counted across the tiers, bound to the list they were seen in. Pure.

A number means a task only while the list is the one that was shown. Boxes and times do not count, for beats change
those; once a task came, went or moved, a number could mean another one and is refused.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from bot.domain.playbook import Playbook
from bot.domain.playbook_edits import move_task, remove
from bot.domain.playbook_entries import Entry
from bot.domain.tiers import Tier
from bot.errors import InputError


class ListChanged(InputError):
    """The list is not the one the number was read in; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A task and its number in the list, from 1."""

    number: int
    tier: Tier
    task: Entry


def numbered(playbook: Playbook) -> tuple[Numbered, ...]:
    r"""Return every task, quick ones first, as lists show them.

    >>> from bot.domain.playbook import parse
    >>> [(one.number, one.task.text) for one in numbered(parse("## Daily\n- b\n## Quick\n- a\n"))]
    [(1, 'a'), (2, 'b')]
    """
    tasks = [(tier, task) for tier in Tier for task in playbook.tasks(tier)]
    return tuple(Numbered(number, tier, task) for number, (tier, task) in enumerate(tasks, start=1))


def list_digest(playbook: Playbook) -> str:
    """Return what tells one list of tasks from another; boxes, details and times make no difference."""
    said = "\n".join(f"{one.tier} {one.task.id}" for one in numbered(playbook))
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def task_of(playbook: Playbook, number: int, shown: str | None) -> Numbered:
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


def remove_number(playbook: Playbook, number: int, shown: str | None) -> Playbook:
    """Return the playbook without one task; raises as `task_of` and `remove` do."""
    return remove(playbook, task_of(playbook, number, shown).task)


def move_number(playbook: Playbook, number: int, to: Tier, shown: str | None) -> Playbook:
    """Return the playbook with one task in another tier; raises as `task_of` and `move_task` do."""
    return move_task(playbook, task_of(playbook, number, shown).task, to)
