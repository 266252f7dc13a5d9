"""What counts as going round in circles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.agent.watchdog import LoopDetector, signature
from tests.tables import each_row


def noted(queries: str) -> list[bool]:
    """Return, for a string of one-letter calls, after which of them a circle is seen."""
    repeats = LoopDetector()
    return [repeats.note([("look", {"query": query})]) is not None for query in queries]


@each_row("queries", ["aaa", "xaaa", "abab", "xyabab", "abcabc"])
def test_a_circle_is_seen_at_its_last_call(queries: str) -> None:
    """Not before, and not only at the start of a run."""
    assert noted(queries) == [False] * (len(queries) - 1) + [True]


@each_row("queries", ["aa", "aba", "aab", "abac", "abcab", "abcd", "aabb"])
def test_a_second_look_is_no_circle(queries: str) -> None:
    """Going back to something once is how people read, too."""
    assert not any(noted(queries))


def test_several_calls_of_one_turn_count_together_in_any_order() -> None:
    """The same two files, asked for the other way round."""
    repeats, one, two = LoopDetector(), ("read", {"path": "a"}), ("read", {"path": "b"})
    assert [repeats.note(calls) is not None for calls in ([one, two], [two, one], [one, two])] == [False, False, True]


@each_row(
    "left, right",
    [
        ({"query": "Retry limit"}, {"query": " limit  retry"}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"paths": ["a", "b"]}, {"paths": ["b", "a"]}),
    ],
)
def test_case_space_and_order_are_no_difference(left: dict[str, object], right: dict[str, object]) -> None:
    """The tool would find the same."""
    assert signature("look", left) == signature("look", right)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_other_lines_are_another_question(one: int, two: int) -> None:
    """Reading on in a file is progress."""
    same = signature("read", {"path": "a", "start": one}) == signature("read", {"path": "a", "start": two})
    assert same == (one == two)
