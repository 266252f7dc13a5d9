"""What has changed, since when, and when it was written."""

from pathlib import Path

import pytest

from tests.casework.investigate.finder import ask
from tests.gitrepo import commit_files, git, make_repo
from tests.tables import each_row


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A codebase whose last commit was written a month before it was committed."""
    code = make_repo(tmp_path_factory.mktemp("history") / "code", {"shop/cart.py": "ITEMS = 1\n"})
    commit_files(code, {"shop/cart.py": "ITEMS = 2\n"}, "Raise the items of a cart")
    git(code, "commit", "--quiet", "--amend", "--no-edit", "--date=2025-12-01T09:00:00Z")
    return code


@each_row(
    "question, said",
    [
        ("who raised the items of a cart?", "by Test on 2025-12-01."),
        ("what changed in cart.py lately?", "Newest commits that changed `shop/cart.py`, the last on 2025-12-01."),
        ("what changed since january 2026?", "Newest commits since 2026-01-01 that changed the codebase"),
        ("what's new since 2026?", "Newest commits since 2026-01-01 that changed the codebase"),
        ("what changed since 2026-01-02?", "Newest commits since 2026-01-02 that changed the codebase"),
    ],
)
def test_a_commit_is_dated_by_its_author(old: Path, question: str, said: str) -> None:
    """It is new from when it came into the history; what nothing is like has nothing beside it."""
    ret = ask(old, question).ret
    assert said in ret.draft_reply
    assert "Raise the items of a cart" in ret.draft_reply
    assert "Commit `" not in ret.draft_reply.partition("```")[2]


@each_row("question", ["what changed since may 2026?", "what changed since 2026-13?"])
def test_a_time_without_commits_is_said(old: Path, question: str) -> None:
    """A day that no calendar has is none."""
    ret = ask(old, question).ret
    assert bool(ret.draft_reply) == ("-13" in question)
    assert ret.candidates == ()


def test_a_version_is_read_whole_and_the_deed_is_one_of_what_is_named(tmp_path: Path) -> None:
    """What another commit did counts for nothing."""
    code = make_repo(tmp_path / "code", {"shop/cart.py": "ITEMS = 1\n"})
    for message in (
        "Drop python 3.6 support",
        "Drop python 3.8 support",
        "Staple receipts",
        "Add carts\n\nSee receipts.",
    ):
        git(code, "commit", "--quiet", "--allow-empty", "--message", message)
    assert "Drop python 3.8" in ask(code, "when was python 3.8 support dropped?").ret.draft_reply
    assert "Drop python 3.6" in ask(code, "when was python 3.6 support dropped?").ret.draft_reply
    assert "Staple receipts" in ask(code, "who added the stapled receipts?").ret.draft_reply
