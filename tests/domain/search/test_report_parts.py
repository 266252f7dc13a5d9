"""The parts of a report: what somebody said, apart from what they pasted."""

from __future__ import annotations

from bot.domain.search.report_parts import OPENING_WORDS, parts_of

REPORT = """Hi all!
<!-- Thanks for
reporting -->
### Describe the bug
The cart forgets its discount. It happens with `apply_coupon` only.

- [x] I searched
requests==2.3.0
numpy    1.26.4
```
>>> apply_coupon(cart)
ValueError: no coupon
```
"""


def test_each_part_holds_what_it_is_called_after() -> None:
    """The title is the first telling sentence; comments, check boxes, headings of forms and versions are nowhere."""
    parts = parts_of(REPORT)
    assert parts.title == "The cart forgets its discount."
    assert parts.errors == "ValueError: no coupon"
    assert parts.opening.startswith("Hi all! The cart")
    assert "ValueError" not in parts.opening
    assert "apply_coupon(cart)" in parts.whole
    assert not any(word in parts.whole for word in ("Thanks", "searched", "2.3.0", "1.26.4", "Describe"))
    assert parts.is_report


def test_a_question_is_one_part() -> None:
    """Title, opening and whole are the same, so that a report of one sentence is searched for as a question is."""
    parts = parts_of("why is the cart empty after login?")
    assert parts.title == parts.opening == parts.whole == "why is the cart empty after login?"
    assert not parts.is_report


def test_a_line_end_in_quoted_code_is_no_end_of_a_line() -> None:
    """Only traces are looked for in the one line of a log; a question that quotes such a text stays one."""
    asked = 'Why does `"\\n    ".join(rows)` drop the last line?'
    parts = parts_of(asked)
    assert (parts.title.count("drop the last line"), parts.is_report) == (1, False)


def test_more_text_changes_neither_title_nor_opening() -> None:
    """What stands first is searched for by itself, however much follows."""
    said = "The cart forgets its discount. " + "really " * OPENING_WORDS
    short, long = parts_of(said), parts_of(said + "\nlog of other things\n" * 3_000)
    assert (short.title, short.opening) == (long.title, long.opening)


def test_a_line_without_latin_letters_tells_something() -> None:
    """Of another script it is no line drawn with signs."""
    assert parts_of("タイムアウトはどこで設定されていますか\n-----").whole == "タイムアウトはどこで設定されていますか"
