"""Where comments and strings of several lines begin and end, in many kinds of files."""

from __future__ import annotations

import time

import pytest

from bot.domain.citations.citation_lines import MAX_WIDENED, Scan
from tests.tables import each_row

PYTHON = (
    'def f():\n    """Do not\n\n    call this.\n    """\n    x = """one\n  two"""\n    return 1  # yes\n# a\n# b\nY = 2'
)


@each_row(
    "path, text, line, widened",
    [
        ("a.py", PYTHON, 4, (2, 5)),
        ("a.py", PYTHON, 7, (6, 7)),
        ("a.py", PYTHON, 8, (8, 8)),
        ("a.py", PYTHON, 10, (9, 10)),
        ("a.py", "x = 1  # never\n# b", 2, (2, 2)),
        ("a.c", "int x; /* not\n * this */ int y;", 2, (1, 2)),
        ("a.js", "const q = `select\n  1`;\nlet u = 'http://x';", 2, (1, 2)),
        ("a.yml", "a: |\n  one\n\n  two\nb: 2", 3, (1, 4)),
        ("a.yml", "- c: >-\n    one\n    two\n- d", 4, (4, 4)),
        ("a.html", "<p>\n<!-- never\n this --></p>", 3, (2, 3)),
        ("a.sql", "-- never\n-- this\nSELECT 1", 2, (1, 2)),
        ("Makefile", "# never\n# this\nall:", 1, (1, 2)),
        ("run", "#!/bin/sh\n# never\nls", 2, (1, 2)),
        ("a.md", "One line\nand one more.", 2, (2, 2)),
    ],
)
def test_a_range_is_widened_to_the_comment_or_string_that_it_cuts(
    path: str, text: str, line: int, widened: tuple[int, int]
) -> None:
    """And not further; a comment behind code is a line of its own."""
    assert Scan(path, text.split("\n")).widened(line, line) == widened


@each_row(
    "path, text, comments",
    [
        ("a.py", PYTHON, [2, 4, 5, 9, 10]),
        ("a.go", 'x := "// no" // yes\n// all of it', [2]),
        ("a.js", "/* a */ x /* b */\n  /* c */", [2]),
        ("a.yml", "# a\nb: '# no'  # yes", [1]),
        ("a.py", 'SQL = """\n# no comment\n"""', []),
        ("a.c", "// it's\nx = 'a'; // it's", [1]),
    ],
)
def test_only_lines_that_hold_nothing_else_are_comments(path: str, text: str, comments: list[int]) -> None:
    """A docstring is one; so is no string that is a value."""
    lines = text.split("\n")
    scan = Scan(path, lines)
    found = [at for at in range(1, len(lines) + 1) if scan.is_comment(at, at)]
    assert [at for at in found if "/* a */ x" not in lines[at - 1]] == comments


def test_no_more_than_twelve_lines_are_added() -> None:
    """Before and behind together."""
    scan = Scan("a.py", ['"""'] + ["talk"] * 60 + ['"""'])
    assert scan.widened(30, 31) == (30 - MAX_WIDENED, 31)
    assert scan.widened(4, 5) == (1, 5 + MAX_WIDENED - 3)


@pytest.mark.full
@each_row("seed", ['"', "'", "#", "/*", '"""', "`", "\n#", "a: |\n", " a: |\n", "- ", "\\", "a\n", " ", "<!--", "--[["])
def test_hostile_text_is_scanned_in_linear_time(seed: str) -> None:
    """200 KB of whatever opens something."""
    lines = (seed * (200_000 // len(seed))).split("\n")
    for path in ("a.py", "a.yml", "a.js", "a.lua", "a"):
        began = time.process_time()
        Scan(path, lines).widened(1, min(2, len(lines)))
        assert time.process_time() - began < 3
