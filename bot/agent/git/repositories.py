"""Protocol for looking up what citations name: one checkout (`GitRepo`), or several (bot/agent/codebases.py).

With several, a citation begins with `<codebase>:`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from bot.agent.git.git_repo import GitRepo


class Located(NamedTuple):
    """A repository, and a path in it."""

    repo: GitRepo
    path: str


class Repositories(Protocol):
    """The repositories of one team."""

    def locate(self, path: str, commit: str | None = None) -> Located:
        """Return the repository that a cited path lies in; a path without a codebase lies where its commit does."""

    def holder(self, commit: str) -> GitRepo:
        """Return the repository whose HEAD contains a commit; any of them where none does."""

    def about(self, ids: Collection[str]) -> Repositories:
        """Return those that a question about these codebases is answered from."""

    def heads(self) -> Mapping[Path, str]:
        """Return the SHA of every HEAD, by the repository's root.

        Raises:
            ConfigError: a repository has no commit.
            CodebaseUnreadable: none of them can be read.
        """
