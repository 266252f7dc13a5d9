"""Draft pull requests of proposed patches: a click stores the request, `tick` carries it out.

One at a time, and again after a crash or an outage: the request stays stored until there is a pull request or a reason
why there is none.

Follows each draft pull request on its code host, and shows its state on the thread's card.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any, Final

from bot.agent.codebases import Codebase
from bot.casework.card_marks import ClientOf
from bot.casework.check_run import CheckStopped
from bot.casework.fix_opening import FixOpening, host_refused, words_of
from bot.casework.patch_check import PatchCodebases
from bot.casework.thread_service import ThreadService
from bot.domain.drafts import name_request
from bot.domain.fixes import Fix, FixStatus, PullRequest, hash_patch
from bot.domain.patches import FixCode, FixRefused, forms_of, paths_in
from bot.domain.returns import ProposedPatch
from bot.domain.secrets import redact
from bot.domain.threads import ThreadState, ThreadStatus
from bot.errors import Conflict, ProviderError, StoreError, TriageError, Unavailable
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


MAX_TRIES: Final = 12
FIRST_PAUSE_S: Final = 5
LONGEST_PAUSE_S: Final = 600
GIVEN_UP: Final = f"triage tried {MAX_TRIES} times and tries no more. Press Open draft PR again when that works."
NO_TOKEN: Final = (
    "triage opens no PRs for this codebase, so the patch is a file in this card's thread, with what to type."  # noqa: S105
)
NO_HOST: Final = "triage opens no PRs for the codebase of this patch any more: it has no token, or left triage.yml."
OpeningOf = Callable[[Codebase], FixOpening | None]
"""What opens draft pull requests of a codebase; None where there is no token."""


class Fixes:
    """Carries out what approvers click; raises InputError with a text for the one who clicked.

    Of a codebase without a token the patch is given as a file, with the commands to type.
    """

    def __init__(
        self,
        service: ThreadService,
        store: Collection[Fix],
        codebases: PatchCodebases,
        files: CardFiles,
        updates: FixUpdates,
        opening_of: OpeningOf,
    ) -> None:
        self._service, self._store, self._codebases, self._files = service, store, codebases, files
        self._updates, self._opening_of = updates, opening_of
        self._tries: dict[str, tuple[int, datetime]] = {}
        self._shown: set[str] = set()
        self._working = threading.Lock()

    def proposed(self, thread_id: str, patch_hash: str) -> tuple[ThreadState, ProposedPatch]:
        """Return the thread and the patch that a button was made for; raises Conflict where it is another by now."""
        state = self._service.store.latest(thread_id)
        patch = state.patch if state else None
        if state is None or patch is None or hash_patch(patch) != patch_hash:
            raise Conflict("The draft has another patch by now, or none; nothing happened. Read the card again.")
        return state, patch

    def show_whole(self, state: ThreadState, patch: ProposedPatch) -> None:
        """Put the whole diff into the card's thread, once while the bot runs; raises ProviderError."""
        key = f"{state.thread_id}~{hash_patch(patch)}"
        if key not in self._shown:
            self._show_patch(state, patch.diff, "The whole diff. Nothing of it is applied.")
            self._shown.add(key)

    def open(self, thread_id: str, patch_hash: str, *, by: str, team: str, name: str) -> str:
        """Note that a draft pull request is wanted; without a token, give the patch as a file. Returns what happens.

        Raises:
            Conflict: the patch is another one by now, or somebody was first.
            FixRefused: it is for no codebase, or for several.
        """
        state, patch = self.proposed(thread_id, patch_hash)
        place = self._codebases.place(state, patch)
        fix = Fix(
            thread_id=thread_id,
            patch=patch,
            codebase=place.codebase.id,
            commit=place.commit,
            question=state.question,
            permalink=state.permalink,
            evidence=state.evidence_refs,
            asked_by=by,
            asked_by_name=name,
            asked_in_team=team,
            asked_at=self._service.clock.now().replace(microsecond=0),
        )
        if self._opening_of(place.codebase) is None:
            self._show_patch(state, _as_file(fix, place.codebase), self._by_hand(fix))
            return NO_TOKEN
        if not self._store.add(fix.id, fix):
            self._store.change(fix.id, lambda now: _again(now, fix))
        self._tries.pop(fix.id, None)
        return "A draft PR is being opened: the patch is checked first. The card shows how it goes."

    def tick(self) -> None:
        """Carry out what is wanted and due, each shown before and after."""
        at = self._service.clock.now()
        with self._working:
            self._updates.show_all()
            for fix in self._store.where("status", FixStatus.OPENING):
                if self._tries.get(fix.id, (0, at))[1] <= at:
                    self._carry_out(fix)
                    self._updates.show_all()

    def _carry_out(self, fix: Fix) -> None:
        try:
            codebase = self._codebases.of(fix)
            opening = self._opening_of(codebase) if codebase else None
            if opening is None:
                raise FixRefused(FixCode.HOST, NO_HOST)
            request = opening.carry_out(fix)
        except CheckStopped:
            return  # the next start takes it up
        except FixRefused as error:
            changes = _refused(error)
        except (Unavailable, StoreError) as error:
            changes = self._later(fix, error)
        except TriageError as error:
            changes = _refused(host_refused(error, "", self._service.known_secrets))
        else:
            changes = {"status": request.status, "request": request, "looked_at": self._service.clock.now()}
        if "status" in changes:
            self._tries.pop(fix.id, None)
        outcome = str(changes.get("status", "waits"))
        log.info("a draft PR: %s", outcome, extra={"action": "fix_carried_out", "thread_id": fix.thread_id})
        after = {"waits": None, **changes, "is_shown": False}
        self._store.change(fix.id, lambda now: now.evolve(**after) if now.status is FixStatus.OPENING else now)

    def _later(self, fix: Fix, error: TriageError) -> dict[str, Any]:
        """Return what is noted of something that may work later: why, or after many tries that it does not."""
        tries = self._tries.get(fix.id, (0, self._service.clock.now()))[0] + 1
        log.warning("a draft PR waits", extra={"action": "fix_waits", "thread_id": fix.thread_id}, exc_info=True)
        if tries >= MAX_TRIES:
            return _refused(host_refused(error, GIVEN_UP, self._service.known_secrets))
        advised_s = error.retry_after_s if isinstance(error, ProviderError) else None
        pause_s = max(min(FIRST_PAUSE_S * 2 ** (tries - 1), LONGEST_PAUSE_S), min(advised_s or 0, LONGEST_ADVICE_S))
        self._tries[fix.id] = tries, self._service.clock.now() + timedelta(seconds=pause_s)
        return {"waits": words_of(error, self._service.known_secrets)}

    def _by_hand(self, fix: Fix) -> str:
        where = f"`{fix.codebase}`" if fix.codebase and len(self._codebases) > 1 else "the codebase"
        return (
            f"In a checkout of {where}, with this file beside it: `git switch -c {fix.branch} {fix.commit}`, "
            "`git apply --recount --index triage.patch`, then commit and push."
        )

    def _show_patch(self, state: ThreadState, diff: str, said: str) -> None:
        text = redact(f"{diff.removesuffix(chr(10))}\n", self._service.known_secrets)
        self._files.show(state, filename="triage.patch", title="Proposed patch", text=text, said=said)


def _as_file(fix: Fix, codebase: Codebase) -> str:
    """Return the diff as `git apply` takes it, with the line ends of the files it changes."""
    has_dos_lines = any(b"\r\n" in (codebase.repo.blob_at(fix.commit, path) or b"") for path in paths_in(fix.diff))
    return forms_of(fix.diff)[has_dos_lines]


def _again(now: Fix, wanted: Fix) -> Fix:
    """Return a fix that was refused, wanted anew; what may stand on the branch stays known."""
    if now.status is FixStatus.OPENING:
        raise Conflict(f"<@{now.asked_by}> has already asked for it; the card shows how it goes.")
    if now.status is not FixStatus.REFUSED:
        raise Conflict("There is a draft PR already, open or ended; the card links to it.")
    return wanted.evolve(pushed=now.pushed, checked=now.checked, version=now.version)


def _refused(error: FixRefused) -> dict[str, Any]:
    return {"status": FixStatus.REFUSED, "refusal": error.refusal, "log": error.log}
