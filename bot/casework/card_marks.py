"""What a thread's card shows besides the thread's record: the votes on its reply, the fixes of its patch.

Reads only documents and codebases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bot.agent.codebases import Codebase
from bot.casework.patch_check import PatchCodebases
from bot.domain.fixes import NO_FIX, Fix, FixMark, FixStatus, hash_patch
from bot.domain.patches import FixRefused
from bot.domain.questions.feedback import Feedback, Votes
from bot.domain.threads import Resolution, ThreadState, ThreadStatus, reply_id_of
from bot.errors import ConfigError, StoreError
from bot.ports.code import CodeHostClient
from bot.ports.collections import Collection

ANSWERED: Final = (Resolution.APPROVED, Resolution.EDITED, Resolution.AUTO)


ClientOf = Callable[[Codebase], CodeHostClient | None]
"""Who opens pull requests for a codebase; None where there is no token."""


class FixMarks:
    """Answers for one data directory."""

    def __init__(self, store: Collection[Fix], codebases: PatchCodebases, client_of: ClientOf) -> None:
        self._store, self._codebases, self._client_of = store, codebases, client_of

    def __call__(self, state: ThreadState) -> FixMark:
        """Return the fixes of a thread, and whether one is offered for the patch of its draft."""
        patch = state.patch
        known = tuple(self._store.where("thread_id", state.thread_id))
        if patch is None and not known:
            return NO_FIX
        wanted = {hash_patch(fix.patch) for fix in known if fix.status is not FixStatus.REFUSED}
        waits = state.status is ThreadStatus.PENDING_USER or state.resolution in ANSWERED
        if patch is None or hash_patch(patch) in wanted or not waits:
            return FixMark(fixes=known)
        try:
            codebase = self._codebases.place(state, patch).codebase
        except FixRefused as error:
            return FixMark(fixes=known, problem=str(error))
        except (ConfigError, StoreError):  # it cannot be read now; a click says so
            return FixMark(fixes=known, is_offered=True)
        client = self._client_of(codebase)
        name = codebase.id if len(self._codebases) > 1 else ""
        return FixMark(fixes=known, host=client.name if client else None, codebase=name, is_offered=True)


class FeedbackCounts:
    """Answers what a card shows of the votes on its thread's reply; reads the disk only."""

    def __init__(self, store: Collection[Feedback]) -> None:
        self._store = store

    def __call__(self, state: ThreadState) -> Votes:
        """Return the votes on the reply of a thread that has ended."""
        found = None if state.is_open else self._store.find(reply_id_of(state))
        return found.counts if found else Votes()
