"""Maps a trace's files of an installed package to this codebase's files, where the codebase publishes that package.

Reads the index for manifests and git for their lines; writes nothing. A package is ours only if a manifest of the
codebase has its name; npm, Composer, Go, RubyGems and Cargo. Python needs no manifest: the path after `site-packages/`
is the path inside the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Final, NamedTuple

from bot.agent.git.git_repo import GitRepo
from bot.domain.search.stack_frames import StackFrame
from bot.ports import PassageIndex

MAX_MANIFESTS: Final = 50
"""Manifests of one kind that are looked at."""

MAX_MANIFEST_LINES: Final = 200

_REST: Final = r"/(?P<rest>[^\n]{1,400})"


class _Kind(NamedTuple):
    """Where packages of a kind lie: a pattern with the package's name and the path inside it."""

    installed: re.Pattern[str]
    manifest: Callable[[str], str]
    names: Callable[[str], str]
    """The pattern of the line that names the package in the manifest; the empty pattern: the file's name does."""


def _json_name(name: str) -> str:
    return rf'\s*"name"\s*:\s*"{re.escape(name)}"[\s,]*'


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


class OwnPackages:
    """Looks packages up at one commit; each manifest is read once, however many frames a trace has."""

    def __init__(self, repo: GitRepo, index: PassageIndex, commit: str) -> None:
        self._repo, self._index, self._commit = repo, index, commit
        self._manifests: dict[str, list[str]] = {}
        self._lines: dict[str, list[str]] = {}

    def path_of(self, frame: StackFrame, called: Collection[str]) -> str | None:
        """Return the file of this codebase that a frame in an installed package means; None if it is not ours.

        `called` are the files with the frame's file name.
        """
        for kind in _KINDS:
            found = kind.installed.search(f"/{frame.path}")
            if found is None:
                continue
            for folder in self._folders(kind, found["name"]):
                if folder + found["rest"] in called:
                    return str(folder + found["rest"])
        return None

    def _folders(self, kind: _Kind, name: str) -> Iterator[str]:
        """Yield the folders, each ending in a slash or empty, whose manifest has a package's name."""
        manifest, line = kind.manifest(name), kind.names(name)
        for path in self._called(manifest):
            if not line or any(re.fullmatch(line, one) for one in self._beginning(path)):
                yield path.removesuffix(manifest)

    def _called(self, manifest: str) -> list[str]:
        if manifest not in self._manifests:
            called = (path for path in self._index.places_called(manifest) if path.rpartition("/")[2] == manifest)
            self._manifests[manifest] = list(islice(called, MAX_MANIFESTS))
        return self._manifests[manifest]

    def _beginning(self, path: str) -> list[str]:
        if path not in self._lines:
            self._lines[path] = (self._repo.lines_at(self._commit, path) or [])[:MAX_MANIFEST_LINES]
        return self._lines[path]
