"""The block `codebases` of triage.yml: one repository each, by path or by address."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from bot.config.codebase_settings import CodebaseId, CodebaseSettings

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def refused(**values: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        CodebaseSettings.model_validate(values)
    return "; ".join(error["msg"] for error in caught.value.errors())


def test_a_path_is_read_at_its_head(tmp_path: Path) -> None:
    """A path needs nothing else."""
    found = CodebaseSettings.model_validate({"path": str(tmp_path)})

    assert (found.path, found.url, found.kind) == (tmp_path.resolve(), None, "code")


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.com/acme/infra.git",
        "https://ann@git.example.com/acme/infra.git",
        "git@git.example.com:acme/infra.git",
        "ssh://git@git.example.com:7999/acme/infra.git",
        "file:///srv/git/infra.git",
    ],
)
def test_an_address_that_git_clones_is_taken(url: str) -> None:
    """Each of git's spellings of a remote is one."""
    found = CodebaseSettings.model_validate({"url": url, "branch": "release/1.2", "refresh": "90s"})

    assert (found.url, found.branch, found.refresh) == (url, "release/1.2", timedelta(seconds=90))


@pytest.mark.parametrize(
    "url",
    [
        "https://ann:hunter2hunter2@git.example.com/acme/infra.git",
        f"https://{TOKEN}@git.example.com/acme/infra.git",
        "https://abcdefghijklmnopqrst@git.example.com/acme/infra.git",
        "https://git.example.com/acme/infra.git?private_token=abc",
        "ssh://git:hunter2@git.example.com/acme/infra.git",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    """Git has places of its own for credentials."""
    said = refused(url=url)

    assert "holds a password or token" in said
    assert not any(part in said for part in ("hunter2", TOKEN, "abcdefghijklmnopqrst", "private_token"))


@pytest.mark.parametrize("url", ["ext::sh -c true", "--upload-pack=x", "/srv/git/x", "host:path", "-x@host:a/b", ""])
def test_what_git_would_run_or_not_clone_is_refused(url: str) -> None:
    """No option, no helper program, no bare path."""
    assert "is no address git can clone" in refused(url=url)


def test_a_codebase_has_one_place(tmp_path: Path) -> None:
    """Neither or both is refused, and so is what belongs to a clone beside a path."""
    assert "either a path" in refused()
    assert "either a path" in refused(path=str(tmp_path), url="git@host:a/b.git")
    assert "branch belongs to a url" in refused(path=str(tmp_path), branch="main")
    assert "refresh belongs to a url" in refused(path=str(tmp_path), refresh="5m")


@pytest.mark.parametrize("branch", ["-f", "a..b", "a b", "main.lock", "/main", "a@{1}"])
def test_a_branch_is_a_name(branch: str) -> None:
    """Nothing that git reads as an option, a range or a step of a log."""
    assert "is no name of a branch" in refused(url="git@host:a/b.git", branch=branch)


@pytest.mark.parametrize("name", ["Shop", "a:b", "../x", "", "9", "a" * 41])
def test_an_id_is_a_small_word(name: str) -> None:
    """It stands before a colon in citations, and names a file."""
    with pytest.raises(ValidationError, match="is no id of a codebase"):
        TypeAdapter(CodebaseId).validate_python(name)
