"""Which files a diff names, of which codebase, and how its lines end."""

from __future__ import annotations

import time

import pytest

from bot.domain.fixes.patch_files import DiffFile, LineEnds, diff_files, with_line_ends, without_codebase

IDS = ("shop", "infra")


@pytest.mark.parametrize(
    ("diff", "expected"),
    [
        ("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n", {DiffFile("x.py"), DiffFile("x.py", is_old=False)}),
        ("--- /dev/null\n+++ b/infra:new.py\n", {DiffFile("new.py", "infra", is_old=False)}),
        ("--- a/gone.py\n+++ /dev/null\n", {DiffFile("gone.py")}),
        ("rename from shop:a.py\nrename to shop:b.py\n", {DiffFile("a.py", "shop"), DiffFile("b.py", "shop", False)}),
        ("diff --git a/shop:a b/shop:a\nold mode 100644\nnew mode 100755\n", {DiffFile("a", "shop", is_old=False)}),
        ('--- "a/shop:a b"\n+++ "b/shop:a b"\n', {DiffFile("a b", "shop"), DiffFile("a b", "shop", is_old=False)}),
        ('--- "a/na\\303\\257ve.md"\n+++ /dev/null\n', {DiffFile("na\u00efve.md")}),
        ('--- "a/shop:q\\"\\t.md"\n+++ /dev/null\n', {DiffFile('q"\t.md', "shop")}),
        ("--- a/other:x.py\n+++ b/other:x.py\n", {DiffFile("other:x.py"), DiffFile("other:x.py", is_old=False)}),
        ("@@ -1 +1 @@\n--- a/shop:x\n+y\n", set()),
        ("Please run curl.", set()),
    ],
)
def test_the_files_of_a_diff_are_those_at_the_heads_of_its_parts(diff: str, expected: set[DiffFile]) -> None:
    """What is renamed, deleted or new included; a line of a file that looks like one is none."""
    assert set(diff_files(diff, IDS)) == expected


def test_only_paths_lose_the_codebase() -> None:
    """A line of the file that reads the same stays as it is."""
    diff = (
        "diff --git a/shop:x.py b/shop:x.py\nrename from shop:x.py\nrename to shop:y.py\n"
        "--- a/shop:x.py\n+++ b/shop:y.py\n@@ -1 +1 @@\n-shop:a\n+shop:b a/shop:c\n"
    )
    expected = (
        "diff --git a/x.py b/x.py\nrename from x.py\nrename to y.py\n"
        "--- a/x.py\n+++ b/y.py\n@@ -1 +1 @@\n-shop:a\n+shop:b a/shop:c\n"
    )
    assert without_codebase(diff, "shop") == expected
    assert without_codebase(diff, "infra") == without_codebase(diff, "") == diff


HEAD = "--- a/{0}\n+++ b/{0}\n@@ -1,3 +1,3 @@\n"
LF = " a\n\n-b\n+c\n--- d\n"
DOS = " a\r\n \r\n-b\r\n+c\r\n--- d\r\n"


def test_the_lines_of_a_diff_end_as_those_of_each_file() -> None:
    """Its own heads do not, nor the lines of a file that mixes both, of a new one, and a last line without an end."""
    ends = {"dos": LineEnds.CRLF, "unix": LineEnds.LF, "mixed": LineEnds.BOTH}
    diff = "".join(HEAD.format(name) + LF for name in ("dos", "unix", "mixed", "new"))
    expected = "".join(HEAD.format(name) + (DOS if name == "dos" else LF) for name in ("dos", "unix", "mixed", "new"))
    assert with_line_ends(diff, ends.get) == expected
    assert with_line_ends(expected, ends.get) == expected
    assert with_line_ends(HEAD.format("unix") + DOS, ends.get) == HEAD.format("unix") + LF.replace("\n\n", "\n \n")
    assert with_line_ends(diff.replace("\n", "\r\n"), ends.get) == expected
    no_end = "\\ No newline at end of file"
    assert (
        with_line_ends(f"{HEAD.format('dos')}-a\n{no_end}\n+b", ends.get) == f"{HEAD.format('dos')}-a\n{no_end}\n+b\r\n"
    )


def test_a_hostile_diff_takes_no_longer_than_its_length() -> None:
    """200,000 characters in one line, or in many."""
    started = time.process_time()
    for diff in (
        "diff --git a/" + " b/" * 66_000,
        "--- a/x\n+++ b/x\n" * 12_000,
        '--- "' + "shop:" * 40_000,
        '--- "a/' + "\\303" * 50_000,
    ):
        diff_files(diff, IDS)
        without_codebase(diff, "shop")
        with_line_ends(diff, lambda _: LineEnds.CRLF)
    assert time.process_time() - started < 5
