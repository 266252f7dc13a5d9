"""What the card of a thread shows of its patches; reads the disk only."""

from __future__ import annotations

from typing import Final

from bot.domain.fixes.fixes import NO_FIX, Fix, FixMark, FixStatus, hash_patch, patch_of
from bot.domain.threads import Resolution, ThreadState, ThreadStatus
from bot.ports.collections import Collection

ANSWERED: Final = (Resolution.APPROVED, Resolution.EDITED, Resolution.AUTO)


class FixMarks:
    """Answers for one data directory; `host` is who opens pull requests, None where there is no token."""

    def __init__(self, store: Collection[Fix], host: str | None) -> None:
        self._store, self._host = store, host

    def __call__(self, state: ThreadState) -> FixMark:
        """Return the fixes of a thread, and whether one is offered for the patch of its draft."""
        patch = patch_of(state)
        known = tuple(fix for fix in self._store.all() if fix.thread_id == state.thread_id)
        if patch is None and not known:
            return NO_FIX
        wanted = {hash_patch(fix.patch) for fix in known if fix.status is not FixStatus.REFUSED}
        is_new = patch is not None and hash_patch(patch) not in wanted
        waits = state.status is ThreadStatus.PENDING_USER or state.resolution in ANSWERED
        return FixMark(fixes=known, host=self._host, is_offered=waits and is_new)
