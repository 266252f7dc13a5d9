"""The lines of a message that name an error."""

from __future__ import annotations

from bot.domain.search.report_parts import error_lines
from tests.tables import each_row


@each_row(
    "text, expected",
    [
        ("Traceback (most recent call last):\n  File 'a', line 1\nclick.exceptions.Exit: 1", [2]),
        ("  | Traceback (most recent call last):\n  |   go()\n  | KeyError: 'x'\n  +----", [2]),
        ("a.B: no\n\tat a.B.go(B.java:1)\nCaused by: a.Gone: cart\n\tat a.C.go(C.java:1)", [2]),
        ("ValueError: first\nERROR second", [1, 0]),
        ("  raise ValueError('source')\n\tat a.AnException.<init>(AnException.java:1)", []),
        ("What is the limit?\n\nThanks", []),
    ],
)
def test_the_lines_that_name_an_error_are_found(text: str, expected: list[int]) -> None:
    """Frames and their source are none, even where they name one."""
    assert error_lines(text.split("\n")) == expected
