"""Real git repositories for the tests: made in a temporary folder, committed with a fixed author and date."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_IDENTITY = {
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.com",
    "GIT_AUTHOR_DATE": "2026-01-05T09:00:00Z",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.com",
    "GIT_COMMITTER_DATE": "2026-01-05T09:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(path: Path, *args: str) -> str:
    """Run git in `path` and return what it printed, without the last line end."""
    done = subprocess.run(
        ["git", "-C", str(path), *args],
        env={**os.environ, **_IDENTITY},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.rstrip("\n")


def write_files(path: Path, files: Mapping[str, str | bytes]) -> None:
    """Write `files` (name from the top -> content) below `path`, with the folders they need."""
    for name, content in files.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)


def commit_files(path: Path, files: Mapping[str, str | bytes], message: str = "change") -> str:
    """Write `files`, commit all that lies in `path` and return the new commit's SHA."""
    write_files(path, files)
    git(path, "add", "--all", "--force")
    git(path, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(path, "rev-parse", "HEAD")


def make_repo(path: Path, files: Mapping[str, str | bytes] | None = None) -> Path:
    """Make a repository at `path` whose branch `main` has one commit with `files`, and return `path`.

    With `files=None` nothing is committed: a repository that has no HEAD yet. One with the same files as an earlier
    one is a copy of it, which takes a quarter of the time.
    """
    path.mkdir(parents=True, exist_ok=True)
    if files is None or any(path.iterdir()):
        git(path, "init", "--quiet", "--initial-branch=main")
        if files is not None:
            commit_files(path, files, "first")
        return path
    mode = path.stat().st_mode
    shutil.copytree(_made(tuple(files.items())), path, symlinks=True, dirs_exist_ok=True)
    path.chmod(mode)  # copytree gives it that of the folder it copies, which others may read
    git(path, "update-index", "--refresh")
    return path


@cache
def _made(files: tuple[tuple[str, str | bytes], ...]) -> Path:
    path = Path(tempfile.mkdtemp(dir=_folder().name), "made")
    path.mkdir()
    git(path, "init", "--quiet", "--initial-branch=main", "--template=")
    for name in ("hooks", "info"):  # without git's samples
        (path / ".git" / name).mkdir()
    commit_files(path, dict(files), "first")
    return path


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="triage-repositories-")
