"""The files of this codebase that a trace shows as an installed package: what we publish runs in other programs.

Reads the index for manifests and git for their lines; writes nothing. A package is ours only if a manifest of the
codebase has its name; npm, Composer, Go, RubyGems and Cargo. Python needs none of it: what stands behind
`site-packages/` is the path inside the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Final, NamedTuple

from bot.agent.git.git_repo import GitRepo
from bot.domain.search.stack_frames import StackFrame
from bot.ports import PassageIndex

MAX_MANIFESTS: Final = 50
"""Manifests of one kind that are looked at."""
MAX_MANIFEST_LINES: Final = 200


class _Kind(NamedTuple):
    """Where packages of a kind lie: a pattern with the package's name and the path inside it."""

    installed: re.Pattern[str]
    manifest: Callable[[str], str]
    names: Callable[[str], str]
    """The pattern of the line that names the package in the manifest; the empty pattern: the file's name does."""


def _json_name(name: str) -> str:
    return rf'\s*"name"\s*:\s*"{re.escape(name)}"[\s,]*'


_REST: Final = r"/(?P<rest>[^\n]{1,400})"
_KINDS: Final = (
    _Kind(
        re.compile(rf".*/node_modules/(?P<name>(?:@[\w.-]{{1,100}}/)?[\w.-]{{1,100}}){_REST}"),
        lambda _: "package.json",
        _json_name,
    ),
    _Kind(
        re.compile(rf"/vendor/(?P<name>[\w.-]{{1,100}}/[\w.-]{{1,100}}){_REST}"), lambda _: "composer.json", _json_name
    ),
    _Kind(
        re.compile(rf"/mod/(?P<name>[\w./-]{{1,200}})@[\w.+-]{{1,100}}{_REST}"),
        lambda _: "go.mod",
        lambda name: rf"module\s+{re.escape(name)}\s*",
    ),
    _Kind(re.compile(rf"/gems/(?P<name>[\w-]{{1,100}}?)-\d[\w.]{{0,40}}{_REST}"), "{}.gemspec".format, lambda _: ""),
    _Kind(
        re.compile(rf"/registry/src/[\w.-]{{1,100}}/(?P<name>[\w-]{{1,100}}?)-\d[\w.+-]{{0,60}}{_REST}"),
        lambda _: "Cargo.toml",
        lambda name: rf'name\s*=\s*"{re.escape(name)}"\s*',
    ),
)


def own_path(frame: StackFrame, called: Collection[str], repo: GitRepo, index: PassageIndex, commit: str) -> str | None:
    """Return the file of this codebase that a frame in an installed package means; None if the package is not ours.

    `called` are the files with the frame's file name.
    """
    for kind in _KINDS:
        found = kind.installed.search(f"/{frame.path}")
        if found is None:
            continue
        for folder in _folders(kind, found["name"], repo, index, commit):
            if folder + found["rest"] in called:
                return str(folder + found["rest"])
    return None


def _folders(kind: _Kind, name: str, repo: GitRepo, index: PassageIndex, commit: str) -> Iterator[str]:
    """Yield the folders, each ending in a slash or empty, whose manifest has a package's name."""
    manifest, line = kind.manifest(name), kind.names(name)
    called = [path for path in index.places_called(manifest) if path.rpartition("/")[2] == manifest]
    for path in called[:MAX_MANIFESTS]:
        lines = repo.lines_at(commit, path) or []
        if not line or any(re.fullmatch(line, one) for one in lines[:MAX_MANIFEST_LINES]):
            yield path.removesuffix(manifest)
