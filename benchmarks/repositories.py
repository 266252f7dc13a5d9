"""Repositories to measure with: pinned packages of PyPI, and large ones of varied copies of this installation."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

MAX_BYTES: Final = 200_000
COMMITS: Final = 4
SEED: Final = 5
_WORD: Final = re.compile(r"\b[a-z]{5,}(?=_)|(?<=_)[a-z]{5,}\b")
_RENAMED: Final = 12


def fetch(package: str, version: str, folder: Path) -> Path:
    """Return a repository whose one commit is the source package; fetched unless `folder` has it already."""
    checkout = folder / f"{package}-{version}"
    if not (checkout / ".git").is_dir():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*pip, "--dest", str(folder), f"{package}=={version}"], check=True)
        with tarfile.open(next(folder.glob(f"{package}-{version}.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
        git(checkout, "init", "--quiet")
        commit_all(checkout)
    return checkout


def library_sources() -> list[tuple[str, str]]:
    """Return path and text of every Python source of site-packages, in the order of the paths."""
    top = Path(sysconfig.get_paths()["purelib"])
    files = sorted(path for path in top.rglob("*.py") if 0 < path.stat().st_size <= MAX_BYTES)
    return [(str(path.relative_to(top)), path.read_text("utf-8", "replace")) for path in files]


def varied_copies(files: int) -> Iterator[tuple[str, str]]:
    """Yield `files` paths and texts: each source as it is, then copies with other parts in their names."""
    sources, random_ = library_sources(), random.Random(SEED)
    words = sorted({word for _, text in sources[:: max(1, len(sources) // 500)] for word in _WORD.findall(text)})
    for number in range(files):
        path, text = sources[number % len(sources)]
        copy = number // len(sources)
        if copy:
            parts = list(dict.fromkeys(_WORD.findall(text)))[:_RENAMED]
            names = dict(zip(parts, random_.choices(words, k=len(parts)), strict=True))
            text = _renamed(text, names)
        yield f"part_{copy:02}/{path}", text


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return _WORD.sub(lambda word: names.get(word[0], word[0]), text)


def make_large_repository(folder: Path, files: int) -> Path:
    """Return a repository of `files` files in COMMITS commits at `folder`; one that is there already is kept."""
    if (folder / ".git" / "finished").is_file():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    for number, (path, text) in enumerate(varied_copies(files), 1):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        if number % (files // COMMITS) == 0 or number == files:
            commit_all(folder)
    git(folder, "repack", "-a", "-d", "--quiet", "--window=0")
    (folder / ".git" / "finished").touch()
    return folder


def commit_all(folder: Path) -> None:
    """Commit all that lies in the folder."""
    git(folder, "add", "--all", "--force")
    identity = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@example.com"]
    git(folder, *identity, "commit", "--quiet", "--allow-empty", "--message", "change")


def git(folder: Path, *args: str) -> None:
    """Run git in a folder."""
    subprocess.run(["git", "-C", str(folder), "-c", "gc.auto=0", "-c", "core.compression=1", *args], check=True)
