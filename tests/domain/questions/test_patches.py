"""A proposed patch at a glance, and its diff as it may be shown."""

from __future__ import annotations

import time

from bot.domain.fixes.patch_files import fenced_diff, patch_facts, patch_lines, patch_summary
from bot.domain.returns import ProposedPatch

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


def test_files_and_lines_are_counted() -> None:
    """Each file once, a new one by its new name; headers are no lines."""
    assert patch_facts(DIFF) == (("app/retry.py", "docs/retry.md"), 3, 1)
    moved = "diff --git a/x.py b/y.py\nsimilarity index 100%\nrename from x.py\nrename to y.py\n"
    assert patch_facts(moved) == (("x.py", "y.py"), 0, 0)
    assert patch_facts("diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n") == (("run.sh",), 0, 0)
    quoted = '--- "a/gr\\303\\266\\303\\237e.py"\n+++ "b/gr\\303\\266\\303\\237e.py"\n@@ -1 +1 @@\n-a\n+b\n'
    assert patch_facts(quoted) == (("größe.py",), 1, 1)
    assert patch_facts("-\n" * 30_000 + DIFF).files == patch_facts(DIFF).files
    assert patch_summary(a_patch()) == "Raise the limit · app/retry.py, docs/retry.md · +3 −1 lines"


def test_a_removed_comment_is_no_header() -> None:
    """SQL's comments begin with two dashes."""
    assert patch_facts("--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1 @@\n--- old\n select 1") == (("x.sql",), 0, 1)


def test_what_is_no_diff_is_counted_as_it_is() -> None:
    """A model may write anything."""
    assert patch_summary(a_patch("change it", "")) == "no title · no file named · +0 −0 lines"
    assert [patch.is_empty for patch in (a_patch(" \n"), a_patch())] == [True, False]


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
    started = time.process_time()
    lines, left = patch_lines(a_patch("+x\n" * 200_000), at_most=60)
    assert left > 100_000
    assert time.process_time() - started < 2
    assert len(patch_lines(a_patch("+" + "x" * 5_000), at_most=60)[0][0]) <= 301


def test_no_line_of_a_diff_closes_its_fence() -> None:
    """Or passes for a line of ours."""
    shown = fenced_diff(a_patch("+```\n  ✓ app/retry.py:3"), at_most=9)
    assert shown[0] == "    ````diff"
    assert all(line.startswith("    ") for line in shown)
