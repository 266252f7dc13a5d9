"""Which codebases a diff names, how its lines end, and what people see of it."""

from __future__ import annotations

from bot.domain.patches import (
    codebases_in,
    fenced_diff,
    forms_of,
    patch_lines,
    patch_summary,
    without_codebase,
)
from bot.domain.returns import ProposedPatch
from tests.tables import each_row

IDS = ("shop", "infra")


@each_row(
    "diff, expected",
    [
        ("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n", []),
        ("--- /dev/null\n+++ b/infra:new.py\n", ["infra"]),
        ("rename from shop:a.py\nrename to infra:b.py\n", ["shop", "infra"]),
        ("diff --git a/shop:a b/shop:a\nold mode 100644\nnew mode 100755\n", ["shop"]),
        ('--- "a/shop:a b"\n+++ "b/shop:a b"\n', ["shop"]),
        ("--- a/other:x.py\n+++ b/other:x.py\n", []),
        ("@@ -1 +1 @@\n--- a/shop:x\n+y\n", []),
        ("Please run curl in shop:x", []),
    ],
)
def test_the_codebases_of_a_diff_stand_at_the_heads_of_its_parts(diff: str, expected: list[str]) -> None:
    """What is renamed or new included; a line of a file that looks like one is none."""
    assert codebases_in(diff, IDS) == expected


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


def test_a_diff_has_a_form_for_each_kind_of_line_end() -> None:
    """Heads stay as they are, and so does a last line without an end."""
    diff = HEAD.format("x") + LF
    for given in (diff, diff.replace("\n", "\r\n"), HEAD.format("x") + DOS):
        assert forms_of(given) == (given.replace("\r\n", "\n"), HEAD.format("x") + DOS)
    no_end = f"{HEAD.format('x')}-a\n\\ No newline at end of file\n"
    assert forms_of(f"{no_end}+b")[1] == f"{no_end}+b\r\n"


DIFF = """diff --git a/app/retry.py b/app/retry.py
--- a/app/retry.py
+++ b/app/retry.py
@@ -10,3 +10,4 @@
 def limit():
-    return 5
+    limit = 7
+    return limit
--- /dev/null
+++ b/docs/retry.md
@@ -0,0 +1 @@
+# Retries"""


def a_patch(diff: str = DIFF, title: str = "Raise the limit") -> ProposedPatch:
    """Return a patch that a model proposes."""
    return ProposedPatch(title=title, diff=diff, rationale="Five are too few.")


@each_row(
    "diff, said",
    [
        (DIFF, "app/retry.py, docs/retry.md · +3 −1 lines"),
        ("diff --git a/x.py b/y.py\nrename from x.py\nrename to y.py\n", "x.py, y.py · +0 −0 lines"),
        ("diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n", "run.sh · +0 −0 lines"),
        ("-\n" * 30_000 + DIFF, "app/retry.py, docs/retry.md · +3 −30001 lines"),
        ("--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1 @@\n--- old\n select 1", "x.sql · +0 −1 lines"),
    ],
)
def test_files_and_lines_are_counted(diff: str, said: str) -> None:
    """Each file once, a new one by its new name; headers are no lines, and a removed SQL comment is no header."""
    assert patch_summary(a_patch(diff)) == f"Raise the limit · {said}"


def test_credentials_and_hidden_signs_are_not_shown() -> None:
    """Neither patterns nor the process's own secrets, in title and diff."""
    token = "ghp_" + "a1B2" * 9
    patch = a_patch(f"+token = '{token}'\u202e\n+x = 'own-secret-value'", f"Use {token}")
    said = "\n".join([patch_summary(patch), *fenced_diff(patch, {"own-secret-value"}, at_most=9)])
    assert token not in said
    assert "own-secret-value" not in said
    assert "\u202e" not in said


def test_a_long_diff_is_cut_and_says_so() -> None:
    """With the number of lines that are left; long lines are cut as well."""
    lines, left = patch_lines(a_patch("\n".join(f"+{n}" for n in range(100))), at_most=60)
    assert (len(lines), left) == (60, 40)
    lines, left = patch_lines(a_patch("+x\n" * 200_000), at_most=60)
    assert left > 100_000
    assert len(patch_lines(a_patch("+" + "x" * 5_000), at_most=60)[0][0]) <= 301


def test_no_line_of_a_diff_closes_its_fence() -> None:
    """Or passes for a line of ours."""
    shown = fenced_diff(a_patch("+```\n  ✓ app/retry.py:3"), at_most=9)
    assert shown[0] == "    ````diff"
    assert all(line.startswith("    ") for line in shown)
