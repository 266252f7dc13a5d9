"""git_log, git_show and git_blame: what happened, with every driver, hook and option off."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.agent.tools.base import ToolProblem
from tests.agent.tools.toolbox import Toolbox
from tests.builders import asked
from tests.gitrepo import commit_files, git
from tests.tables import each_row


@pytest.fixture
def tools(tmp_path: Path) -> Toolbox:
    """A repository of two commits, the newer one tagged."""
    box = Toolbox(tmp_path, {"app.py": "LIMIT = 3\nNAME = 'x'\n"})
    commit_files(
        box.code, {"app.py": "LIMIT = 5\nNAME = 'x'\n", "b.py": "x\n"}, "Raise the limit\n\nThree was too few."
    )
    git(box.code, "tag", "v1.2")
    box.renew()
    return box


def test_the_log_shows_id_date_author_tag_and_subject(tools: Toolbox) -> None:
    """One line a commit, newest first."""
    lines = tools("git_log").splitlines()
    assert lines[1] == f"{tools.head[:12]} 2026-01-05 Test (tag: v1.2): Raise the limit"
    assert lines[2].endswith("Test: first")


def test_the_log_is_narrowed_by_path_message_and_text(tools: Toolbox) -> None:
    """Each filter alone leaves the one commit that fits."""
    for narrowed in ({"path": "b.py"}, {"message_contains": "too FEW"}, {"code_contains": "LIMIT = 5"}):
        lines = tools("git_log", **narrowed).splitlines()
        assert [line[:12] for line in lines[1:]] == [tools.head[:12]]


def test_a_log_cut_short_says_so(tools: Toolbox) -> None:
    """At the limit the last line tells how to narrow."""
    assert tools("git_log", limit=1).endswith("narrow with path, message_contains or code_contains")


def test_a_commit_is_shown_whole_and_stands_in_the_ledger(tools: Toolbox) -> None:
    """Message, files and diff, and its full id as a query, which a citation of it needs."""
    shown = tools("git_show", commit=tools.head[:8])
    assert f"commit {tools.head}" in shown
    assert "> Raise the limit\n> \n> Three was too few." in shown
    assert "files changed: 2\napp.py\nb.py" in shown
    assert "> -LIMIT = 3\n> +LIMIT = 5" in shown
    assert tools.head in asked(tools.ledger)


def test_a_commit_is_narrowed_to_a_path(tools: Toolbox) -> None:
    """Only the changes of that file are shown."""
    shown = tools("git_show", commit="HEAD", path="b.py")
    assert "LIMIT" not in shown
    assert "> +x" in shown


def test_the_first_commit_and_a_merge_have_a_diff(tools: Toolbox) -> None:
    """A root is compared with nothing, a merge with its first parent."""
    assert "> +LIMIT = 3" in tools("git_show", commit=git(tools.code, "rev-parse", "HEAD~1"))
    git(tools.code, "checkout", "--quiet", "-b", "side", "HEAD~1")
    commit_files(tools.code, {"side.py": "side\n"})
    git(tools.code, "checkout", "--quiet", "main")
    git(tools.code, "merge", "--quiet", "--no-ff", "--no-edit", "side")
    tools.renew()
    assert "> +side" in tools("git_show", commit="HEAD")


def test_an_unknown_commit_is_refused(tools: Toolbox) -> None:
    """So is a blob's id; neither stands in the ledger as shown."""
    blob = git(tools.code, "rev-parse", "HEAD:app.py")
    for commit in ("0" * 40, blob):
        with pytest.raises(ToolProblem, match="there is no commit"):
            tools("git_show", commit=commit)
        assert commit not in asked(tools.ledger)


@each_row("commit", ["--output=pwned", "-1", "main", "HEAD~1", "HEAD:app.py", "v1.2", "a" * 6, "@{-1}"])
def test_only_ids_name_a_commit(tools: Toolbox, commit: str) -> None:
    """Options, branches and expressions are no ids."""
    with pytest.raises(ValidationError):
        tools("git_show", commit=commit)


def test_blame_names_the_commit_of_each_line(tools: Toolbox) -> None:
    """Each line carries a short id, and the commits follow."""
    first = git(tools.code, "rev-parse", "HEAD~1")
    shown = tools("git_blame", path="app.py")
    assert f"{tools.head[:12]} 1| LIMIT = 5\n{first[:12]} 2| NAME = 'x'" in shown
    assert f"{tools.head[:12]} 2026-01-05 Test: Raise the limit" in shown
    assert not tools.ledger.covers("app.py", 1, 2)


@each_row("content", [b"one\rtwo\r", b"one\rtwo\nthree\n", "one\ntwo\n".encode("utf-32")])
def test_blame_refuses_where_git_counts_other_lines(tools: Toolbox, content: bytes) -> None:
    """A commit beside the wrong line would be a false proof."""
    commit_files(tools.code, {"mac.txt": content})
    tools.renew()
    with pytest.raises(ToolProblem, match="line ends that git does not count"):
        tools("git_blame", path="mac.txt")


def test_only_the_history_of_the_run_s_commit_is_shown(tools: Toolbox) -> None:
    """A branch, a stash, a commit that was amended away and a later one lie in the object store; none is shown."""
    pinned = git(tools.code, "rev-parse", "HEAD")
    (tools.code / "app.py").write_text("LIMIT = 99\n")
    git(tools.code, "stash")
    stashed = git(tools.code, "rev-parse", "stash@{0}")
    amended = commit_files(tools.code, {"app.py": "LIMIT = 7\n"}, "amended away")
    git(tools.code, "reset", "--quiet", "--hard", pinned)
    git(tools.code, "checkout", "--quiet", "-b", "side")
    branch = commit_files(tools.code, {"side.py": "x\n"}, "on a branch")
    git(tools.code, "checkout", "--quiet", "main")
    later = commit_files(tools.code, {"later.py": "x\n"}, "later")
    for commit in (stashed, amended, branch, later):
        for said in (commit, commit[:10]):
            with pytest.raises(ToolProblem, match="there is no commit"):
                tools("git_show", commit=said)
        assert not tools.ledger.was_shown(commit)
    assert "later" not in tools("git_log")
    tools.renew()
    assert "later" in tools("git_show", commit=later[:10])
    assert tools.ledger.was_shown(later)


def test_a_huge_diff_is_cut_with_an_honest_line(tools: Toolbox) -> None:
    """Lines that are not shown are counted."""
    commit_files(tools.code, {"big.txt": "".join(f"row {n}\n" for n in range(3000))})
    tools.renew()
    assert "truncated: 500 of 3006 lines shown; narrow with path" in tools("git_show", commit="HEAD")
    commit_files(tools.code, {"huge.txt": "".join(f"row {n} {'x' * 90}\n" for n in range(40_000))})
    tools.renew()
    assert "lines shown; narrow with path" in tools("git_show", commit="HEAD")
    assert "of more than" in tools("git_show", commit="HEAD")


def test_hooks_drivers_and_pagers_do_not_run(tools: Toolbox, tmp_path: Path) -> None:
    """A checkout that configures programs for every occasion gets none of them started."""
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\ncat\n")
    script.chmod(0o755)
    commit_files(tools.code, {".gitattributes": "*.py diff=evil filter=evil\n", "c.py": "x\n"})
    names = ("diff.evil.command", "diff.evil.textconv", "filter.evil.smudge", "filter.evil.clean", "diff.external")
    for name in (*names, "core.pager", "pager.log", "core.fsmonitor", "gpg.program", "core.sshCommand"):
        git(tools.code, "config", name, str(script))
    git(tools.code, "config", "log.showSignature", "true")
    tools.renew()
    for tool in ("git_log", "list_files"):
        tools(tool)
    tools("git_show", commit="HEAD")
    tools("git_blame", path="c.py")
    tools("read_file", path="c.py")
    tools("search_code", query="LIMIT")
    tools("git_log", code_contains="LIMIT")
    assert not (tmp_path / "pwned").exists()
