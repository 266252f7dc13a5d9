"""CODEOWNERS as GitHub reads it; the rules and paths are those of its documentation."""

from __future__ import annotations

import time

from bot.casework.investigate.leads import owners_of
from tests.tables import each_row


@each_row(
    "rule, path, owned",
    [
        ("*.js", "src/a/b.js", True),
        ("/build/logs/", "build/logs/x/y", True),
        ("/build/logs/", "a/build/logs/x", False),
        ("docs/*", "docs/getting-started.md", True),
        ("docs/*", "docs/build-app/troubleshooting.md", False),
        ("apps/", "x/apps/f", True),
        ("**/logs", "deeply/nested/logs/y", True),
        ("src/**/test", "src/a/b/test/x.py", True),
        ("src/**", "src/a/b", True),
        ("/*", "a/b", False),
        ("a\\ b.py", "a b.py", True),
        ("foo", "a/foobar", False),
        ("!*.js", "a.js", False),
        ("[ab].py", "a.py", False),
    ],
)
def test_a_pattern_names_the_paths_that_github_says(rule: str, path: str, owned: bool) -> None:
    """Anchors, folders, stars; what GitHub does not support owns nothing."""
    assert bool(owners_of(f"{rule} @owner", path)) is owned


def test_the_last_rule_counts_and_may_name_nobody() -> None:
    """Comments are left out."""
    rules = "* @all\n*.py @a @b # ours\n/free.py\n"
    assert [owners_of(rules, path) for path in ("x.js", "x.py", "free.py")] == [("@all",), ("@a", "@b"), ()]


def test_a_hostile_file_takes_no_time() -> None:
    """Stars without end, against a long path."""
    begun = time.monotonic()
    assert owners_of("\n".join(["*a" * 99 + "x @a"] * 50 + ["*" * 9_000 + "x @a"]), "a" * 4_000) == ()
    assert time.monotonic() - begun < 10
