"""read_file and list_files: committed lines, numbered, noted in the ledger, and nothing outside."""

from hashlib import sha256
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.agent.tools.base import ToolProblem
from tests.agent.tools.toolbox import SECRET, Toolbox
from tests.gitrepo import commit_files, git, write_files
from tests.tables import each_row

CODE = "".join(f"line {n}\n" for n in range(1, 1001))


def test_lines_are_shown_with_their_numbers(tmp_path: Path) -> None:
    """Each line stands behind its number, under a heading with path, range, total and commit."""
    tools = Toolbox(tmp_path, {"app.py": "a\n\tb\nc\n"})
    assert tools("read_file", path="app.py", start=2) == f"app.py lines 2-3 of 3 at {tools.head[:12]}\n2| \tb\n3| c"


def test_what_was_shown_stands_in_the_ledger(tmp_path: Path) -> None:
    """The ledger holds path, lines, commit and the hash of the exact text."""
    tools = Toolbox(tmp_path, {"app.py": "a\r\nb\r\nc\r\n"})
    tools("read_file", path="./app.py", start=1, end=2)
    (read,) = tools.ledger.reads
    assert (read.path, read.start, read.end, read.commit) == ("app.py", 1, 2, tools.head)
    assert read.content_hash == sha256(b"a\nb").hexdigest()


def test_a_large_file_is_cut_with_an_honest_line(tmp_path: Path) -> None:
    """What does not fit is counted, and only what was shown counts as read."""
    tools = Toolbox(tmp_path, {"app.py": CODE})
    shown = tools("read_file", path="app.py", start=101)
    assert shown.endswith("500| line 500\ntruncated: 400 of 900 lines shown; narrow with start/end")
    assert tools.ledger.covers("app.py", 101, 500)
    assert not tools.ledger.covers("app.py", 501, 501)


def test_an_asked_range_is_no_truncation(tmp_path: Path) -> None:
    """A range that is shown in full carries no remark."""
    tools = Toolbox(tmp_path, {"app.py": CODE})
    assert "truncated" not in tools("read_file", path="app.py", start=5, end=9)


def test_a_line_too_long_is_cut_and_does_not_count_as_read(tmp_path: Path) -> None:
    """A minified line says how much of it is missing; its neighbours count as read."""
    tools = Toolbox(tmp_path, {"app.js": f"a\n{'x' * 5000}\nc\n"})
    assert "[line cut: 4000 more characters]" in tools("read_file", path="app.js")
    assert [(read.start, read.end) for read in tools.ledger.reads] == [(1, 1), (3, 3)]


def test_only_committed_content_is_read(tmp_path: Path) -> None:
    """The work tree, untracked files and commits after the run began are not seen."""
    tools = Toolbox(tmp_path, {"app.py": "old\n"})
    commit_files(tools.code, {"app.py": "newer\n"})
    write_files(tools.code, {"app.py": "dirty\n", "untracked.py": "x\n"})
    assert "1| old" in tools("read_file", path="app.py")
    assert tools.ledger.reads[0].commit == tools.head
    with pytest.raises(ToolProblem, match="no file untracked"):
        tools("read_file", path="untracked.py")


@each_row(
    "path",
    ["../out.txt", "/etc/passwd", "a/../../out.txt", "..\\out.txt", "a//b", ".git/config", "a/.GIT/config", "", "."],
)
def test_a_path_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    """Traversal, absolute paths and .git are refused by every tool that takes a path to read."""
    tools = Toolbox(tmp_path, {"a/b": "x\n"})
    (tmp_path / "out.txt").write_text("outside\n")
    for tool in ("read_file", "git_blame"):
        with pytest.raises(ToolProblem):
            tools(tool, path=path)
    assert tools.ledger.reads == []


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A committed link, to a file or as a folder on the way, shows nothing of where it leads."""
    tools = Toolbox(tmp_path, {"real/a.txt": "x\n"})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.txt").write_text("outside\n")
    (tools.code / "link.txt").symlink_to(tmp_path / "out" / "b.txt")
    (tools.code / "folder").symlink_to(tmp_path / "out")
    commit_files(tools.code, {})
    tools.renew()
    with pytest.raises(ToolProblem, match="symbolic link"):
        tools("read_file", path="link.txt")
    with pytest.raises(ToolProblem, match="no file"):
        tools("read_file", path="folder/b.txt")
    assert "link.txt" not in tools("list_files")


def test_a_submodule_is_named_as_such(tmp_path: Path) -> None:
    """A submodule is neither read nor fetched."""
    tools = Toolbox(tmp_path, {"a.txt": "x\n"})
    git(tools.code, "update-index", "--add", "--cacheinfo", f"160000,{tools.head},lib")
    git(tools.code, "commit", "--quiet", "--message", "submodule")
    tools.renew()
    with pytest.raises(ToolProblem, match="submodule"):
        tools("read_file", path="lib")


def test_a_binary_file_and_a_folder_are_named_as_such(tmp_path: Path) -> None:
    """Neither has lines to show."""
    tools = Toolbox(tmp_path, {"logo.png": b"\x89PNG\0\0", "docs/a.md": "x\n"})
    with pytest.raises(ToolProblem, match="binary file of 6 bytes"):
        tools("read_file", path="logo.png")
    with pytest.raises(ToolProblem, match="folder"):
        tools("read_file", path="docs")


def test_a_wrong_path_gets_a_hint(tmp_path: Path) -> None:
    """A file of that name elsewhere is suggested; one that holds secrets never is."""
    tools = Toolbox(tmp_path, {"src/app.py": "x\n", "deploy/.env": "x\n"})
    with pytest.raises(ToolProblem, match=r"did you mean src/app\.py\?"):
        tools("read_file", path="app.py")


@each_row("path", ["a\0b", "a" * 1001, "\ud800"])
def test_text_no_program_can_be_told_is_refused(tmp_path: Path, path: str) -> None:
    """NUL, endless and impossible paths do not get past the arguments."""
    with pytest.raises(ValidationError):
        Toolbox(tmp_path, {"a": "x\n"})("read_file", path=path)


def test_lines_beyond_the_end_are_refused(tmp_path: Path) -> None:
    """The refusal says how many lines there are."""
    tools = Toolbox(tmp_path, {"a.txt": "x\n", "empty.txt": ""})
    with pytest.raises(ToolProblem, match="has 1 lines"):
        tools("read_file", path="a.txt", start=2)
    assert "is empty" in tools("read_file", path="empty.txt")


def test_credentials_are_blacked_out_and_their_lines_not_read(tmp_path: Path) -> None:
    """A value that looks like a secret, or is one of ours, is hidden without moving a line."""
    files: dict[str, str | bytes] = {"app.py": f'a = 1\npassword = "{SECRET}"\nours = "the-bots-own"\nb = 2\n'}
    tools = Toolbox(tmp_path, files, known_secrets=["the-bots-own"])
    shown = tools("read_file", path="app.py")
    assert SECRET not in shown
    assert "the-bots-own" not in shown
    assert "4| b = 2" in shown
    assert [(read.start, read.end) for read in tools.ledger.reads] == [(1, 1), (4, 4)]


def test_a_private_key_is_hidden_even_from_its_middle(tmp_path: Path) -> None:
    """Lines of a key are hidden whichever part is asked for, and those around it keep their numbers."""
    key = "\n".join(
        ["-----BEGIN RSA PRIVATE KEY-----", *["MIIEowIBAAKCAQEA7yq" * 3] * 5, "-----END RSA PRIVATE KEY-----"]
    )
    tools = Toolbox(tmp_path, {"config.py": f"before = 1\nKEY = '''\n{key}\n'''\nafter = 2\n"})
    assert "MIIEow" not in tools("read_file", path="config.py", start=5, end=7)
    assert "11| after = 2" in tools("read_file", path="config.py")


def test_a_folder_is_listed_with_what_lies_below(tmp_path: Path) -> None:
    """Folders tell how many files they hold, files their size, secret files that they are withheld."""
    tools = Toolbox(tmp_path, {"a/b/c.py": "x\n", "a/d.py": "x\n", ".env": "x\n", "top.md": "abc\n"})
    lines = tools("list_files").splitlines()
    assert lines[1:] == ["a/ (2 files)", ".env (withheld)", "top.md (4 bytes)"]
    assert tools("list_files", folder="a/").splitlines()[1:] == ["a/b/ (1 files)", "a/d.py (2 bytes)"]


def test_a_pattern_finds_files_at_every_depth(tmp_path: Path) -> None:
    """A pattern is matched on the whole path; too many are cut with an honest line."""
    tools = Toolbox(tmp_path, {f"src/{n}/mod.py": "x\n" for n in range(400)} | {"readme.md": "x\n"})
    shown = tools("list_files", pattern="*mod.py")
    assert "readme" not in shown
    assert shown.endswith("truncated: 300 of 400 entries shown; narrow with folder/pattern")
