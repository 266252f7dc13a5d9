"""An edit does what it says to one entry, keeps every other byte, and lets nobody smuggle structure in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.playbook import Playbook, add, line_end, move_task, parse, remove
from bot.domain.playbook_entries import PlaybookEntry, PlaybookSection, plain_text, task_id
from bot.domain.tiers import Tier
from bot.errors import InputError
from tests.playbooks import FILES, template
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FILE = (
    "\ufeff# Heartbeat\r\n\r\n## Urgent Flags\r\n- (none)\r\n## Quick\r\n* [x] a\r\n  - detail\r\n\r\n"
    "## Hourly\n\n## Notes\n- n"
)


def lines_changed(before: Playbook, after: Playbook) -> tuple[list[str], list[str]]:
    """The lines that are only in the one, and only in the other."""
    old, new = list(before.lines), list(after.lines)
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return old, new


def said(playbook: Playbook) -> list[str]:
    """Everything an entry says, in order."""
    return [entry.text for entry in playbook.entries]


def test_a_task_is_added_below_the_last_one_of_its_tier() -> None:
    """With the line end of its neighbour; below the details of that one."""
    before = parse(FILE)
    assert lines_changed(before, add(before, Tier.QUICK, "b")) == ([], ["- [ ] b\r\n"])
    assert lines_changed(before, add(before, Tier.HOURLY, "b")) == ([], ["- [ ] b\n"])


def test_a_missing_section_is_added_at_the_end() -> None:
    """A last line without an end stays one."""
    before = parse(FILE)
    after = add(before, Tier.DAILY, "b")
    assert lines_changed(before, after) == (["- n"], ["- n\n", "\n", "## Daily Tasks\n", "- [ ] b"])
    assert add(parse(""), Tier.DAILY, "b").render() == "## Daily Tasks\n- [ ] b\n"
    assert add(parse("- a\n"), PlaybookSection.NOTES, "b").render() == "- a\n\n## Notes\n- b\n"


def test_a_note_takes_the_place_of_none_and_of_nothing_below_it() -> None:
    """What somebody wrote there without taking `(none)` away is theirs."""
    below = "## Notes\n(none)\nDeploys happen on Tuesdays.\n"
    assert add(parse(below), PlaybookSection.NOTES, "b").render() == f"{below}- b\n"
    assert add(parse("## Notes\n(none)\n"), PlaybookSection.NOTES, "b").render() == "## Notes\n- b\n"


def test_a_task_leaves_with_all_that_belongs_to_it() -> None:
    """And nothing else."""
    before = parse(FILE)
    after = remove(before, before.tasks(Tier.QUICK)[0])
    assert lines_changed(before, after) == (["* [x] a\r\n", "  - detail\r\n"], [])


def test_a_moved_task_keeps_its_box_and_details() -> None:
    """At the margin of its new neighbours."""
    before = parse("## Quick\n  - [x] a\n    ```\n    run\n    ```\n  - b\n## Daily\n- c\n")
    after = move_task(before, before.tasks(Tier.QUICK)[0], Tier.DAILY)
    assert after.render() == "## Quick\n  - b\n## Daily\n- c\n- [x] a\n  ```\n  run\n  ```\n"


def test_of_two_that_say_the_same_the_one_meant_is_taken() -> None:
    """By where it stands."""
    before = parse("# Quick\n- a\n  - first\n- a\n")
    assert remove(before, before.tasks(Tier.QUICK)[1]).render() == "# Quick\n- a\n  - first\n"
    assert remove(before, before.tasks(Tier.QUICK)[0]).render() == "# Quick\n- a\n"


def test_a_playbook_without_tiers_takes_quick_tasks_only() -> None:
    """A heading for another tier would turn its tasks into none."""
    before = parse("Look at CI.\n\n- mail\n")
    assert add(before, Tier.QUICK, "disk").render() == "Look at CI.\n\n- mail\n- [ ] disk\n"
    with pytest.raises(InputError, match="no tiers"):
        add(before, Tier.HOURLY, "disk")
    two = add(before, Tier.QUICK, "disk")
    with pytest.raises(InputError, match="no tiers"):
        move_task(two, two.tasks(Tier.QUICK)[0], Tier.HOURLY)


def test_no_task_stands_twice() -> None:
    """Its receipts would be one; a command is the same under any title, in any tier."""
    with pytest.raises(InputError, match="already"):
        add(parse("# Quick\n- Tree: `git status`\n"), Tier.QUICK, "Is it clean? `git  status`")
    with pytest.raises(InputError, match="Daily Tasks hold it already: look"):
        add(parse("# Quick\n- a\n# Daily\n- look\n"), Tier.QUICK, "LOOK")
    before = parse("# Quick\n- a\n# Daily\n- A\n")
    with pytest.raises(InputError, match="already"):
        add(before, Tier.QUICK, " A ")
    with pytest.raises(InputError, match="already"):
        move_task(before, before.tasks(Tier.QUICK)[0], Tier.DAILY)


@each_row(
    "text",
    [
        *(
            "",
            " ",
            "- [ ]",
            "* ",
            "x" * 301,
            "a\nb",
            "a\r# Quick",
            "a\u2028b",
            "a\x0cb",
            "a\x00b",
            "a\u202eb",
            "a\u200bb",
        ),
        *("# Daily", "###### x", "```", "a ```", "~~~", "<!-- a", "a -->", "(none)", "- (None)", "\U000e0041x", "#"),
    ],
)
def test_structure_cannot_be_smuggled_in(text: str) -> None:
    """Not by a task, a flag or a note."""
    for to in (PlaybookSection.QUICK, PlaybookSection.FLAGS, PlaybookSection.NOTES):
        with pytest.raises(InputError):
            add(parse(FILE), to, text)


@each_row("text", ["b", " - b", "- [ ] b", "* [x]  b", "[ ] b", "1. b", "- [x] b "])
def test_a_marker_and_a_box_that_come_along_are_taken_off(text: str) -> None:
    """Models write them; a ticked box would make a flag that is not up."""
    assert plain_text(text) == "b"


_EDITS: list[Callable[[Playbook, PlaybookEntry, Tier, str], Playbook]] = [
    lambda playbook, _entry, tier, text: add(playbook, tier, text),
    lambda playbook, _entry, _tier, text: add(playbook, PlaybookSection.FLAGS, text),
    lambda playbook, _entry, _tier, text: add(playbook, PlaybookSection.NOTES, text),
    lambda playbook, entry, _tier, _text: remove(playbook, entry),
    lambda playbook, entry, tier, _text: move_task(playbook, entry, tier),
]


@given(FILES, st.sampled_from(_EDITS), st.sampled_from(Tier), st.text(max_size=20), st.data())
def test_an_edit_of_any_file_keeps_every_other_entry_or_is_refused(
    text: str, edit: Callable[[Playbook, PlaybookEntry, Tier, str], Playbook], tier: Tier, new: str, data: st.DataObject
) -> None:
    """Property: at most one entry differs, no line outside the edit does, and stamps stay."""
    before = parse(text)
    entry = data.draw(st.sampled_from(before.entries or parse("- x").entries))
    if not before.entries and edit in _EDITS[3:]:
        return
    try:
        after = edit(before, entry, tier, new)
    except InputError:
        return
    assert abs(len(said(after)) - len(said(before))) <= 1
    for other in before.entries:
        assert other.id == entry.id or other.text in said(after)
    bare = [line.removeprefix("\ufeff").rstrip("\r\n") for line in before.lines if line.strip()]
    left = [line.removeprefix("\ufeff").rstrip("\r\n") for line in after.lines]
    touched = {line.removeprefix("\ufeff").rstrip("\r\n") for line in before.lines[entry.start : entry.end]}
    assert all(line in left or line in touched or "(none)" in line for line in bare)
    assert after.stamps == before.stamps or entry.section == "timestamps"


@given(st.text("abc #-*`<>!~[]()x\n", min_size=1, max_size=15), st.sampled_from(Tier))
def test_what_is_added_is_read_back_and_removed_again(new: str, tier: Tier) -> None:
    """Property: for any text that is allowed, the file after adding and removing is the one before."""
    before = template("worker")
    try:
        after = add(before, tier, new)
    except InputError:
        return
    assert after.tasks(tier)[-1].text == plain_text(new)
    assert remove(after, after.tasks(tier)[-1]) == before


_HEADS = ["## Quick Tasks (every beat)", "## Hourly", "### Daily tasks", "## Notes", "## URGENT flags", "## Timestamps"]


@st.composite
def tidy_files(draw: st.DrawFn) -> str:
    """All sections in any order, every line different, tasks with details, prose and blank lines in between."""
    names = iter(range(1_000))
    lines = ["# Ours", "Some words about it.", ""]
    for head in draw(st.permutations(_HEADS)):
        lines += [head, *draw(st.sampled_from([[], [""], ["", "<!-- keep -->"]]))]
        for has_detail in draw(st.lists(st.booleans(), max_size=3)) if head != "## Timestamps" else ():
            lines += [f"- [ ] entry {next(names)}", *([f"  - `detail {next(names)}`"] if has_detail else [])]
        lines += draw(st.sampled_from([[], ["", "---", ""]]))
    return draw(st.sampled_from(["\n", "\r\n"])).join([*lines, *draw(st.sampled_from([[], [""]]))])


@given(
    tidy_files(), st.lists(st.tuples(st.sampled_from(_EDITS), st.sampled_from(Tier), st.integers(0, 99)), max_size=12)
)
def test_any_row_of_edits_changes_the_lines_it_means_and_no_other(
    text: str, edits: list[tuple[Callable[[Playbook, PlaybookEntry, Tier, str], Playbook], Tier, int]]
) -> None:
    """Property: what is no entry stays byte for byte in its place, and an entry left alone keeps all its lines."""
    before = playbook = parse(text)
    for number, (edit, tier, pick) in enumerate(edits):
        entry = playbook.entries[pick % len(playbook.entries)] if playbook.entries else None
        if entry is None or entry.section is PlaybookSection.OTHER:
            continue
        with suppress(InputError):
            playbook = edit(playbook, entry, tier, f"new {number}")
        playbook = parse(playbook.render())
    assert _frame(playbook) == _frame(before)
    assert {line_end(line) for line in playbook.lines[:-1]} <= {line_end(text.splitlines(keepends=True)[0])}
    left = _blocks(playbook)
    assert {said: block for said, block in _blocks(before).items() if said in left}.items() <= left.items()
    assert all(said in _blocks(before) or said.startswith("new ") for said in left)


def _frame(playbook: Playbook) -> list[str]:
    """The lines that belong to no entry; a last line without an end counts as one that has it."""
    inside = {number for entry in playbook.entries for number in range(entry.start, entry.end)}
    outside = [line for number, line in enumerate(playbook.lines) if number not in inside and "(none)" not in line]
    return [line.rstrip("\r\n") for line in outside]


def _blocks(playbook: Playbook) -> dict[str, list[str]]:
    return {
        entry.text: [line.rstrip("\r\n") for line in playbook.lines[entry.start : entry.end]]
        for entry in playbook.entries
    }


def test_many_entries_go_in_one_edit() -> None:
    """The file is read once for all of them; what they leave is what one after the other leave."""
    before = parse("## Quick\n- a\n- [ ] b\n## Urgent Flags\n- f\n- g\n")
    gone = [*before.tasks(Tier.QUICK), *before.flags]
    one_by_one = before
    for entry in reversed(gone):
        one_by_one = remove(one_by_one, entry)
    assert remove(before, *gone) == one_by_one == parse("## Quick\n## Urgent Flags\n")


def test_an_id_is_the_first_command_else_the_title() -> None:
    """Flags and notes go by their text."""
    playbook = parse("## Quick\n- Tree: `git status`\n- look\n## Notes\n- Tree: `git status`\n")
    assert [task.id for task in playbook.tasks(Tier.QUICK)] == [task_id("git status"), task_id("LOOK")]
    assert playbook.notes[0].id == task_id("Tree: `git status`")
