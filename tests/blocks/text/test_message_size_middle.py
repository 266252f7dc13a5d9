"""The middle of a long report is left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blocks.text.message_size import without_middle
from blocks.text.splitting import FENCE


def test_of_a_long_trace_the_end_stays() -> None:
    """Whole lines of the middle are left out, and a code block stays one."""
    trace = "it fails:\n```\n" + "".join(f"frame {number}\n" for number in range(200)) + "KeyError: 'total'\n```"
    shown = without_middle(trace, 300)
    assert shown.startswith("it fails:\n```\nframe 0\n")
    assert shown.endswith("KeyError: 'total'\n```")
    assert "lines left out" in shown
    assert len(shown) <= 300


_LINES = st.sampled_from(["a", "```", "Traceback (most recent call last):", "  go()", "KeyError: 'x'", "", "b " * 40])


@given(st.lists(_LINES, max_size=120), st.integers(200, 1_500))
def test_no_line_is_invented_and_blocks_stay_balanced(lines: list[str], limit: int) -> None:
    """Fences are as balanced after the cut as before, within the limit."""
    text = "\n".join(lines)
    shown = without_middle(text, limit)
    assert shown == text or len(shown) <= limit
    assert shown.count(FENCE) % 2 == text.count(FENCE) % 2
    assert {one for one in shown.split("\n") if "left out" not in one} <= {*lines, FENCE, ""}
