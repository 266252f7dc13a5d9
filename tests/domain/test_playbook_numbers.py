"""A number means the task it meant in the list that was seen, or nothing at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.playbook import ListChanged, Playbook, add, list_digest, move_task, parse, remove, task_of
from bot.domain.tiers import Tier
from bot.errors import InputError

FILE = parse("## Quick\n- [ ] a\n  - detail\n## Hourly\n- [x] b\n- c\n## Daily\n- d\n")
EDITS = st.lists(st.tuples(st.sampled_from(["add", "remove", "move"]), st.integers(0, 9), st.sampled_from([*Tier])))


def said(playbook: Playbook) -> list[tuple[str, str]]:
    return [(str(task.tier), task.text) for task in playbook.all_tasks]


def edited(playbook: Playbook, edits: list[tuple[str, int, Tier]]) -> Playbook:
    """Do what somebody else may do meanwhile; what is refused is left out."""
    for what, number, tier in edits:
        tasks = playbook.all_tasks
        task = tasks[number % len(tasks)] if tasks else None
        try:
            if what == "add" or task is None:
                playbook = add(playbook, tier, f"new {number}")
            else:
                playbook = remove(playbook, task) if what == "remove" else move_task(playbook, task, tier)
        except InputError:
            continue
    return playbook


@given(EDITS, st.integers(-1, 12))
def test_a_number_removes_the_task_it_was_shown_for_or_is_refused(edits: list[tuple[str, int, Tier]], n: int) -> None:
    """Whatever happened to the file between the list and the command, no other task goes."""
    shown, now = list_digest(FILE), edited(FILE, edits)
    meant = dict(enumerate(said(FILE), 1))
    try:
        after = remove(now, task_of(now, n, shown))
    except ListChanged:
        assert said(now) != said(FILE)
    except InputError:
        assert n not in meant
    else:
        assert sorted([*said(after), meant[n]]) == sorted(said(now))


def test_boxes_times_and_details_change_no_number() -> None:
    """A beat that ran between the list and the command makes no difference."""
    ran = parse(FILE.render().replace("[ ]", "[x]").replace("detail", "other"))
    assert task_of(ran, 2, list_digest(FILE)).text == "b"


def test_who_has_not_seen_the_list_has_no_numbers() -> None:
    """Nothing is guessed."""
    with pytest.raises(ListChanged, match="not the list you saw"):
        task_of(FILE, 1, None)
