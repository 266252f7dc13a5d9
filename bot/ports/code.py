"""Ports to code: the clones of a process, and code hosts; a client of one is for one repository."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from bot.domain.fixes.fixes import NewPullRequest, PullRequest
from bot.domain.returns import AgedClone


class Clones(Protocol):
    """The clones of this process."""

    def before_investigation(self, codebases: Collection[str] | None = None) -> tuple[AgedClone, ...]:
        """Fetch those of `codebases` (None: all) that are older than they may be; return those that still are."""


class CodeHostClient(Protocol):
    """What the bot asks of a code host.

    Each method raises ProviderError with the host's own words where it refuses (`code` is the HTTP status), Unavailable
    where the same may work later.
    """

    name: str
    """What people call it."""

    def default_branch(self) -> str:
        """Return the branch that pull requests lead to."""

    def find(self, branch: str, marker: str) -> PullRequest | None:
        """Return the pull request of a branch, in whatever state, whose body holds the marker."""

    def open(self, new: NewPullRequest) -> PullRequest:
        """Open a draft pull request; raises Unconfirmed where nobody can tell: look before trying again."""

    def look(self, number: int) -> PullRequest:
        """Return how a pull request stands now."""
