"""The middle of a long report is left out, but for what went wrong."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blocks.text.message_size import without_middle
from blocks.text.splitting import FENCE
from tests.tables import each_row

FRAMES = "".join(f'  File "/srv/shop/step_{number}.py", line {number}, in step\n    go()\n' for number in range(30))
TRACE = f"Traceback (most recent call last):\n{FRAMES}app.errors.CartGone: cart 7 of Ana is gone"
JAVA = (
    "\n".join(f"\tat io.shop.Step{number}.run(Step{number}.java:{number})" for number in range(30))
    + "\nCaused by: io.shop.Gone: cart 7 of Ana is gone\n"
    + "\n".join(f"\tat io.shop.Inner{number}.run(Inner{number}.java:{number})" for number in range(30))
)
AFTER = "\n".join(f"I have tried thing number {number}, without any luck." for number in range(30))


def test_of_a_long_trace_the_end_stays() -> None:
    """Whole lines of the middle are left out, and a code block stays one."""
    trace = "it fails:\n```\n" + "".join(f"frame {number}\n" for number in range(200)) + "KeyError: 'total'\n```"
    shown = without_middle(trace, 300)
    assert shown.startswith("it fails:\n```\nframe 0\n")
    assert shown.endswith("KeyError: 'total'\n```")
    assert "lines left out" in shown
    assert len(shown) <= 300


@each_row("trace", [TRACE, f"io.shop.Failed: no\n{JAVA}"])
@each_row("fence", ["", "```\n"])
def test_the_error_of_a_trace_in_the_middle_stays(trace: str, fence: str) -> None:
    """It is what the report is about; the report begins and ends with other things."""
    shown = without_middle(f"Checkout fails since Monday\n{fence}{trace}\n{fence}{AFTER}", 1_200)
    assert "cart 7 of Ana is gone" in shown
    assert shown.startswith("Checkout fails since Monday\n")
    assert shown.endswith("thing number 29, without any luck.")
    assert shown.count(FENCE) % 2 == 0
    assert len(shown) <= 1_200


def test_the_innermost_frame_stays_with_its_error() -> None:
    """It says where."""
    shown = without_middle(f"Checkout fails\n{TRACE}\n{AFTER}", 1_200)
    assert '  File "/srv/shop/step_29.py", line 29, in step\n    go()\napp.errors.CartGone: cart 7' in shown


def test_what_was_raised_last_comes_before_what_it_came_from() -> None:
    """Where not all of many errors fit, and a log of a thousand errors leaves room for the end of a trace."""
    log = "\n".join(f"ERROR worker {number} has no connection to the broker" for number in range(500))
    shown = without_middle(f"Checkout fails\n{TRACE}\n{log}\n{AFTER}", 1_200)
    assert "cart 7 of Ana is gone" in shown
    assert len(shown) <= 1_200


def test_a_very_long_error_line_is_shortened() -> None:
    """The message of a database may hold a whole statement."""
    shown = without_middle(f"It fails\n{TRACE} {'x ' * 3_000}\n{AFTER}", 1_200)
    assert "cart 7 of Ana is gone" in shown
    assert len(shown) <= 1_200


def test_a_code_block_that_is_cut_is_closed_before_the_note() -> None:
    """Half a block would draw the prose after it as code."""
    shown = without_middle("It fails\n```\n" + "a\n" * 200 + "```\n" + "b\n" * 200, 300)
    assert "a\n```\n… (" in shown
    assert shown.count(FENCE) == 2


def test_prose_stays_as_it_is() -> None:
    """The beginning of prose tells most."""
    prose = "word " * 400
    assert without_middle(prose, 300) == prose


_LINES = st.sampled_from(["a", "```", "Traceback (most recent call last):", "  go()", "KeyError: 'x'", "", "b " * 40])


@given(st.lists(_LINES, max_size=120), st.integers(200, 1_500))
def test_no_line_is_invented_and_blocks_stay_balanced(lines: list[str], limit: int) -> None:
    """Fences are as balanced after the cut as before, within the limit."""
    text = "\n".join(lines)
    shown = without_middle(text, limit)
    assert shown == text or len(shown) <= limit
    assert shown.count(FENCE) % 2 == text.count(FENCE) % 2
    assert {one for one in shown.split("\n") if "left out" not in one} <= {*lines, FENCE, ""}
