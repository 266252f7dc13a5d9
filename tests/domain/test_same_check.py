"""When two tasks make the same check: the same program, subcommand and operands, whatever their output options."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.suggestions import check_keys
from tests.tables import each_row

SAME = [
    ("`git status --porcelain`", "`git status --porcelain=v1 --branch`"),
    ("`git log -n 5 main`", "`git log --oneline main`"),
    ("`git log --max-count=20 HEAD..origin/HEAD`", "`git log HEAD..origin/HEAD --oneline`"),
    ("`git log main -- docs`", "`git log main docs`"),
    ("`git branch --sort=-committerdate`", "`git branch`"),
    ("`gh pr list`", "`gh pr list -L 20`"),
    ("`gh pr view 17 --json title`", "`gh pr view 17`"),
    ("`glab mr list --output json --per-page 100`", "`glab mr list`"),
    ("`df -h`", "`df --human-readable`"),
    ("`npm audit`", "`npm audit --json`"),
    ("`systemctl status --no-pager nginx`", "`systemctl status nginx`"),
    ("`./queue.sh --since 1h eu`", "`./queue.sh eu`"),
    ("First `df -h`, then `git status`", "`git status --short` and `df -k`"),
    ("! Deploys look healthy", "Deploys look healthy"),
]
DIFFERENT = [
    ("`df -h`", "`df -h /var`"),
    ("`git log --oneline main`", "`git log --oneline release`"),
    ("`git log main..release`", "`git log release..main`"),
    ("`git log main -- docs`", "`git log main -- src`"),
    ("`git status`", "`git stash list`"),
    ("`gh pr list`", "`gh pr status`"),
    ("`gh pr checks 17`", "`gh pr checks 18`"),
    ("`gh api --paginate repos/shop/api`", "`gh api --paginate repos/shop/web`"),
    ("`journalctl --unit nginx`", "`journalctl --unit postgres`"),
    ("`make -C api check`", "`make -C api build`"),
    ("`./queue.sh eu`", "`./queue.sh us`"),
    ("`df -h` and `git status`", "`df -h`"),
    ("Failing nightly builds", "Nightly builds that fail"),
]


@each_row("one, other", SAME)
def test_output_options_and_titles_do_not_count(one: str, other: str) -> None:
    """Nor do the spelling of a program's options, and case in a task without a command."""
    assert check_keys(one) == check_keys(other)


@each_row("one, other", DIFFERENT)
def test_programs_subcommands_operands_and_their_order_count(one: str, other: str) -> None:
    """And so do the whole words of a task without a command."""
    assert check_keys(one) != check_keys(other)


def test_a_command_below_the_title_counts() -> None:
    """A task is the same check with its command in its first line or in a detail."""
    assert check_keys("Disk", "- `df -h`") == check_keys("`df -k`")


WORD = st.text("abz019", min_size=1, max_size=6)


@given(words=st.lists(WORD, min_size=1, max_size=4), flags=st.lists(WORD.map("--{}=x".format), max_size=4))
def test_joined_options_never_matter_wherever_they_stand(words: list[str], flags: list[str]) -> None:
    """Between the operands or after them."""
    program = "look " + " ".join(words)
    mixed = " ".join(f"{word} {flag}" for word, flag in zip(words, [*flags, *["--a=b"] * 4], strict=False))
    assert check_keys(f"`{program}`") == check_keys(f"`look {mixed}`") == check_keys(f"`{program} {' '.join(flags)}`")


@given(st.text(), st.text())
def test_any_text_has_keys(one: str, other: str) -> None:
    """Whatever it holds."""
    assert check_keys(one, other)
