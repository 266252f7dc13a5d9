"""A patch on its way to a draft pull request, and what became of that: one document each, named by thread and diff.

What may stand on the code host is on file before it is sent there (`pushed`), so that a start after a crash looks for
it. Pure values.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from pydantic import AwareDatetime

from bot.domain.frozen_value import FrozenValue
from bot.domain.patches import PatchRefusal, without_codebase
from bot.domain.returns import EvidenceRef, ProposedPatch
from bot.domain.threads import check_thread_id, hash_draft
from bot.errors import InputError

_FIX_ID: Final = re.compile(r"(?P<thread>[A-Za-z0-9_.-]+)~(?P<hash>[0-9a-f]{16})")


class FixStatus(StrEnum):
    """How far it is; the last three are those of the pull request."""

    OPENING = "opening"
    REFUSED = "refused"
    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


class PullRequest(FrozenValue):
    """A pull or merge request as its host shows it."""

    number: int
    url: str
    status: Literal[FixStatus.OPEN, FixStatus.MERGED, FixStatus.CLOSED] = FixStatus.OPEN
    is_draft: bool = True


class NewPullRequest(NamedTuple):
    """What is asked of a code host; the marker in its body tells ours from others of the branch."""

    branch: str
    base: str
    title: str
    body: str


class Fix(FrozenValue):
    """One patch that somebody wants a draft pull request for."""

    thread_id: str
    patch: ProposedPatch
    codebase: str = ""
    """The id of the codebase that it is for; empty where the team had one without an id."""
    commit: str
    """The commit that the draft cites and the patch was made for."""
    question: str
    permalink: str | None = None
    evidence: tuple[EvidenceRef, ...] = ()
    asked_by: str
    asked_by_name: str
    asked_in_team: str
    asked_at: AwareDatetime
    status: FixStatus = FixStatus.OPENING
    waits: str | None = None
    """Why it is not open yet, while the same will be tried again."""
    refusal: PatchRefusal | None = None
    log: str | None = None
    """The last lines of a check that failed, until they were shown."""
    checked: tuple[str, ...] = ()
    """What was checked before it was pushed, a sentence each."""
    pushed: tuple[str, ...] = ()
    """Every commit that may stand on its branch, on file before it is pushed."""
    request: PullRequest | None = None
    looked_at: AwareDatetime | None = None
    """When the code host was last asked how the pull request stands."""
    unseen: str | None = None
    """In the host's words, why it did not say that the last time."""
    is_shown: bool = False
    """Whether the card shows it as it stands."""
    version: int = 0

    @property
    def id(self) -> str:
        """Its name on disk."""
        return f"{self.thread_id}~{hash_patch(self.patch)}"

    @property
    def diff(self) -> str:
        """The diff, its paths as they are in the codebase."""
        return without_codebase(self.patch.diff, self.codebase)

    @property
    def branch(self) -> str:
        """The branch on the code host.

        A thread id has letters, digits, `_`, `-` and single dots between, all of which a branch may have.
        """
        return f"triage/{self.thread_id}-{hash_patch(self.patch)}"

    @property
    def marker(self) -> str:
        """What stands in the body of its pull request, unseen, and in no other."""
        return f"<!-- triage-fix {self.id} -->"


class FixMark(NamedTuple):
    """What a card shows of a thread's patches: those somebody wanted opened, and the one of its draft."""

    fixes: tuple[Fix, ...] = ()
    host: str | None = None
    """Who opens pull requests for the codebase that the draft's patch is for; None where nobody does."""
    codebase: str = ""
    """The id of that codebase, where the team has several."""
    problem: str | None = None
    """Why there can be none, in a sentence."""
    is_offered: bool = False


NO_FIX: Final = FixMark()


def hash_patch(patch: ProposedPatch) -> str:
    """Return the short hash of the diff, which a click is bound to."""
    return hash_draft(patch.diff)


def check_fix_id(given: str) -> str:
    """Return a fix's name that is safe as a file name; raises InputError for anything else."""
    match = _FIX_ID.fullmatch(given)
    if match is None:
        raise InputError(f"{given[:80]!r} names no proposed patch.")
    check_thread_id(match["thread"])
    return given
