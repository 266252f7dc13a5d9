"""What counts as going round in circles."""

from __future__ import annotations

from bot.agent.watchdog import LoopDetector
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


def test_the_order_of_keys_is_no_difference() -> None:
    """Reading on in a file is progress."""
    repeats = LoopDetector()
    calls = [{"path": "a", "start": 1}, {"start": 1, "path": "a"}, {"path": "a", "start": 1}]
    assert [repeats.note([("read", given)]) is not None for given in calls] == [False, False, True]
    assert LoopDetector().note([("read", {"path": "a", "start": 2})]) is None
