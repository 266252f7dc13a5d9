"""No tool shows a file that holds secrets, by whichever way one asks for it."""

from pathlib import Path

import pytest

from bot.agent.tools.base import ToolProblem
from tests.agent.tools.toolbox import SECRET, Toolbox
from tests.gitrepo import commit_files, git
from tests.tables import each_row

WITHHELD = (
    ".env",
    "deploy/.env.production",
    "certs/server.pem",
    "certs/server.key",
    "home/.ssh/id_rsa",
    ".npmrc",
    ".aws/config",
    "config/secrets.yml",
    "credentials.json",
)
MARK = "needle in the haystack"


@pytest.fixture
def tools(tmp_path: Path) -> Toolbox:
    """A repository with secret files of every kind, and one plain file."""
    content = f"{MARK}\n"
    return Toolbox(tmp_path, {**dict.fromkeys(WITHHELD, content), "plain.txt": "nothing here\n"})


@each_row("path", WITHHELD)
def test_a_secret_file_is_not_read_blamed_or_logged(tools: Toolbox, path: str) -> None:
    """Its path alone is refused."""
    for tool in ("read_file", "git_blame", "git_log"):
        with pytest.raises(ToolProblem, match="secrets"):
            tools(tool, path=path)


def test_searches_do_not_look_into_secret_files(tools: Toolbox) -> None:
    """Neither the literal nor the ranked search nor the search of changes finds what only stands there."""
    assert "nothing found" in tools("search_code", query=MARK)
    assert "no such commit" in tools("git_log", code_contains=MARK)
    assert MARK not in tools("search_code", query=MARK, path=".env")


def test_diffs_leave_secret_files_out(tools: Toolbox) -> None:
    """A commit names them as withheld and shows the rest."""
    shown = tools("git_show", commit=tools.head)
    assert MARK not in shown
    assert ".env (withheld: may hold secrets)" in shown
    assert "> +nothing here" in shown
    assert MARK not in tools("git_show", commit=tools.head, path=".env")


def test_a_folder_of_secrets_that_replaced_a_file_stays_out_of_the_diff(tools: Toolbox) -> None:
    """To git the path of the file means the folder too; it is not asked for."""
    commit_files(tools.code, {"conf": "x\n"})
    (tools.code / "conf").unlink()
    commit_files(tools.code, {"conf/.env": f"{MARK}\n"})
    tools.renew()
    assert MARK not in tools("git_show", commit="HEAD")


def test_a_renamed_secret_file_does_not_show_its_old_content(tools: Toolbox) -> None:
    """A rename is shown as a removal that is withheld and an addition."""
    git(tools.code, "mv", "plain.txt", "plain2.txt")
    git(tools.code, "rm", "--quiet", ".env")
    commit_files(tools.code, {})
    tools.renew()
    shown = tools("git_show", commit="HEAD")
    assert MARK not in shown
    assert "> +nothing here" in shown


def test_credentials_in_diffs_messages_and_hits_are_blacked_out(tmp_path: Path) -> None:
    """What looks like a secret is hidden wherever it turns up; no line is found by it."""
    tools = Toolbox(tmp_path, {"app.py": f'password = "{SECRET}"\n'})
    commit_files(tools.code, {"app.py": "password = None\n"}, f'Remove\n\npassword = "{SECRET}" was there')
    git(tools.code, "revert", "--no-edit", "HEAD")
    tools.renew()
    shown = [tools("git_show", commit="HEAD"), tools("git_show", commit=git(tools.code, "rev-parse", "HEAD~1"))]
    shown += [tools("git_blame", path="app.py"), tools("search_code", query="password"), tools("git_log")]
    assert not [text for text in shown if SECRET in text]
    assert "lines that hold the query" not in tools("search_code", query=SECRET)


def test_the_middle_of_a_key_does_not_show_in_a_diff(tmp_path: Path) -> None:
    """A hunk that holds only inner lines of a key hides them, though its head is not shown."""
    inner = [f"MIIEowIBAAKCAQEA7yqQxHk{n}zZbN0pPqRsTuVwXyZ0123456789abcdefgh" for n in range(20)]
    key = ["-----BEGIN RSA PRIVATE KEY-----", *inner, "-----END RSA PRIVATE KEY-----"]
    tools = Toolbox(tmp_path, {"config.txt": "\n".join(key)})
    key[11] = key[11].replace("MII", "MIJ")
    commit_files(tools.code, {"config.txt": "\n".join(key)})
    tools.renew()
    shown = tools("git_show", commit="HEAD")
    assert "MIIEow" not in shown
    assert "MIJEow" not in shown
