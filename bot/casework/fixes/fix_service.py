"""Draft pull requests of proposed patches: a click stores the request, `tick` carries it out.

One at a time, and again after a crash or an outage: the request stays stored until there is a pull request or a reason
why there is none.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from bot.agent.codebases import Codebase
from bot.casework.fixes.check_run import CheckStopped
from bot.casework.fixes.fix_opening import FixOpening, host_refused, words_of
from bot.casework.fixes.fix_updates import LONGEST_ADVICE_S, FixUpdates
from bot.casework.fixes.patch_check import PatchCodebases
from bot.casework.thread_service import ThreadService
from bot.domain.fixes.fixes import Fix, FixStatus, hash_patch
from bot.domain.fixes.patch_files import forms_of, paths_in
from bot.domain.fixes.patch_limits import FixCode, FixRefused
from bot.domain.returns import ProposedPatch
from bot.domain.secrets import redact
from bot.domain.threads import ThreadState
from bot.errors import Conflict, ProviderError, StoreError, TriageError, Unavailable
from bot.ports import CardFiles
from bot.ports.collections import Collection

log = logging.getLogger(__name__)

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
