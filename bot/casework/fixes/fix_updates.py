"""Follows each draft pull request on its code host, and shows its state on the thread's card."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Final

from bot.casework.card_marks import ClientOf
from bot.casework.fixes.fix_opening import words_of
from bot.casework.fixes.patch_check import PatchCodebases
from bot.casework.thread_service import ThreadService
from bot.domain.drafts import name_request
from bot.domain.fixes.fixes import Fix, FixStatus, PullRequest, hash_patch
from bot.domain.threads import ThreadState, ThreadStatus
from bot.errors import ProviderError, Unavailable
from bot.ports import CardFiles
from bot.ports.collections import Collection

log = logging.getLogger(__name__)


LOOK_AGAIN_AFTER: Final = timedelta(minutes=5)
LEAST_PAUSE_S: Final = 60
LONGEST_ADVICE_S: Final = 3_600
"""The longest pause that a host can ask for."""

NO_CLIENT: Final = "triage has no token for its codebase, or that left triage.yml"
ENDED: Final = (FixStatus.REFUSED, FixStatus.MERGED, FixStatus.CLOSED)
LOOKS_AT_ONCE: Final = 10
"""Requests followed in one go, those first that were not looked at for longest."""


class FixUpdates:
    """Shows what became of fixes; of a codebase without a client nothing is asked.

    Fixes that ended longer ago than `keep` are removed; None keeps all.
    """

    def __init__(
        self,
        service: ThreadService,
        store: Collection[Fix],
        files: CardFiles,
        codebases: PatchCodebases,
        client_of: ClientOf,
        *,
        keep: timedelta | None = None,
    ) -> None:
        self._service, self._store, self._files = service, store, files
        self._codebases, self._client_of, self._keep = codebases, client_of, keep
        self._silent_until: dict[str, datetime] = {}

    def show_all(self) -> None:
        """Show every fix that is not shown as it stands; what the chat refuses now is tried again."""
        for fix in self._store.all():
            if not fix.is_shown:
                try:
                    self._show(fix)
                except ProviderError as error:
                    extra = {"action": "fix_unshown", "thread_id": fix.thread_id}
                    log.info("a fix is shown later: %s", error, extra=extra)

    def follow(self) -> None:
        """Ask the code hosts about the open requests; `show_all` shows what is news."""
        at = self._service.clock.now()
        self._remove_old(at)
        oldest_first = sorted(self._store.where("status", FixStatus.OPEN), key=_looked_at)
        due = (fix for fix in oldest_first if _is_due(fix, at) and self._silent_until.get(fix.codebase, at) <= at)
        for fix in islice(due, LOOKS_AT_ONCE):
            try:
                now, unseen = self._look(fix)
            except Unavailable as error:
                log.info("a pull request is looked at later: %s", error, extra={"action": "fix_unseen"})
                pause_s = min(max(error.retry_after_s or 0, LEAST_PAUSE_S), LONGEST_ADVICE_S)
                self._silent_until[fix.codebase] = at + timedelta(seconds=pause_s)
            else:
                self._store.change(fix.id, partial(_seen, now=now, unseen=unseen, at=at))

    def _remove_old(self, at: datetime) -> None:
        """Remove what ended long ago; the card of a thread that is still open goes on showing it."""
        for fix in self._store.all():
            is_old = self._keep is not None and fix.is_shown and at - _looked_at(fix) > self._keep
            if is_old and fix.status in ENDED and self._service.store.get(fix.thread_id) is None:
                self._store.remove(fix.id)

    def _look(self, fix: Fix) -> tuple[PullRequest, str | None]:
        """Return how a request stands; as it was known where nobody says, and why. Raises Unavailable."""
        assert fix.request is not None
        codebase = self._codebases.of(fix)
        client = self._client_of(codebase) if codebase else None
        if client is None:
            return fix.request, NO_CLIENT
        try:
            return client.look(fix.request.number), None
        except Unavailable:
            raise
        except ProviderError as error:
            if fix.unseen is None:
                log.warning("a pull request cannot be seen", extra={"action": "fix_unseen"}, exc_info=True)
            return fix.request, words_of(error, self._service.known_secrets)

    def _show(self, fix: Fix) -> None:
        """Name the request in a draft that waits, show the card, and put what a check printed below it."""
        self._service.store.amend(fix.thread_id, partial(_naming, fix=fix))
        state = self._service.store.get(fix.thread_id)
        closed = self._service.store.last_closed(fix.thread_id) if state is None else None
        if state is not None:
            self._service.cards.show_card(fix.thread_id)
        elif closed is not None:
            self._service.show_closed(closed)
        self._store.change(
            fix.id, lambda now: now.evolve(is_shown=True, log=None) if now.version == fix.version else now
        )
        if fix.log and fix.refusal and (where := state or closed) is not None:
            title = "The check's last lines"
            self._files.show(where, filename="check.log", title=title, text=fix.log, said=fix.refusal.text)


def _naming(now: ThreadState, fix: Fix) -> ThreadState | None:
    """Return a thread whose waiting draft names the request of its own patch; None where nothing is to be changed."""
    patch = now.patch
    waits = now.status is ThreadStatus.PENDING_USER and now.post_intent is None and now.draft_pending
    is_its_own = patch is not None and hash_patch(patch) == hash_patch(fix.patch)
    if not waits or not is_its_own or fix.request is None or now.fix_url == fix.request.url:
        return None
    return name_request(now, fix.request.url)


def _seen(fix: Fix, now: PullRequest, unseen: str | None, at: datetime) -> Fix:
    """Return a fix as its host shows the request; the card follows where that is news."""
    is_shown = fix.is_shown and (now, unseen) == (fix.request, fix.unseen)
    return fix.evolve(request=now, unseen=unseen, status=now.status, looked_at=at, is_shown=is_shown)


def _is_due(fix: Fix, at: datetime) -> bool:
    return fix.looked_at is None or not timedelta() <= at - fix.looked_at < LOOK_AGAIN_AFTER


def _looked_at(fix: Fix) -> datetime:
    return fix.looked_at or fix.asked_at
