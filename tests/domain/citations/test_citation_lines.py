"""Where lines went: unchanged ones are found exactly, changed ones by their neighbours, removed ones nowhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.citations.citation_lines import MAX_COMPARED, Lines, find_moved_lines

OLD = [f"line {n}" for n in range(1, 21)]


def test_lines_are_followed_past_what_was_added_and_removed_above() -> None:
    """Whole and in part."""
    new = ["added", *OLD[:4], *OLD[6:]]
    assert find_moved_lines(OLD, new, Lines(10, 12)) == Lines(9, 11)
    assert find_moved_lines(OLD, new, Lines(5, 6)) is None
    assert find_moved_lines(OLD, new, Lines(6, 7)) == Lines(6, 6)


def test_a_changed_line_is_what_stands_between_its_neighbours() -> None:
    """However many lines it became."""
    new = [*OLD[:9], "changed", "twice", *OLD[10:]]
    assert find_moved_lines(OLD, new, Lines(10, 10)) == Lines(10, 11)
    assert find_moved_lines(OLD, new, Lines(9, 11)) == Lines(9, 12)


def test_a_file_written_anew_is_compared_no_longer_than_it_is_worth() -> None:
    """Then all of what is new stands in its place."""
    old, new = ([f"{name} {n}" for n in range(MAX_COMPARED + 1)] for name in ("old", "new"))
    assert find_moved_lines(old, new, Lines(5, 6)) == Lines(1, len(new))
    assert find_moved_lines(old, [], Lines(5, 6)) is None


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12), st.data())
def test_the_answer_lies_in_the_new_file(old: list[str], new: list[str], data: st.DataObject) -> None:
    """And an unchanged file gives back what was asked."""
    if not old:
        return
    start = data.draw(st.integers(1, len(old)))
    end = data.draw(st.integers(start, len(old)))
    place = find_moved_lines(old, new, Lines(start, end))
    assert place is None or 1 <= place.start <= place.end <= len(new)
    assert find_moved_lines(old, old, Lines(start, end)) == Lines(start, end)
