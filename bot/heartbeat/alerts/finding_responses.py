"""What a human says about a finding: acknowledged, snoozed, fixed. Whoever comes second is told who was first.

Reads and writes the session's state and nothing else; who may is asked by the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from bot.domain.heartbeats.alerts import OpenFinding, finding_digest, removal_words
from bot.domain.heartbeats.beats import Delivered
from bot.domain.heartbeats.session_state import SessionState
from bot.errors import Conflict, InputError, TriageError
from bot.heartbeat.sessions.session_registry import SessionMemory
from bot.ports import Clock

SNOOZES: Final = {"1 h": timedelta(hours=1), "4 h": timedelta(hours=4), "24 h": timedelta(hours=24)}
"""What a finding can be snoozed for, by the words on the button."""

LONGEST_SNOOZE: Final = max(SNOOZES.values())


class FindingResponses:
    """Carries out the buttons of an alert; each returns the finding as it now stands."""

    def __init__(self, store: SessionMemory, clock: Clock) -> None:
        self._store, self._clock = store, clock

    def find(self, session_id: str, digest: str) -> OpenFinding:
        """Return the finding a button belongs to; raises InputError where it is not on file any more."""
        findings = self._store.load(session_id).findings.values()
        found = next((each for each in findings if finding_digest(each.key) == digest), None)
        if found is None:
            raise InputError("This alert is no longer stored; nothing was changed.")
        return found

    def owner_acted(self, session_id: str, owner: str) -> None:
        """Note that the owner acted in their direct messages: where `deliver.mode` is `last`, alerts go there now."""
        state = self._store.load(session_id)
        here = Delivered(mode="last", channel="slack", to=owner)
        if (state.last_place, state.last_owner) != (here, owner):
            self._store.evolve(session_id, last_place=here, last_owner=owner)

    def acknowledge(self, session_id: str, digest: str, *, by: str) -> OpenFinding:
        """Note that somebody saw it: it is not sent again while it stays as it is."""

        def change(now: OpenFinding) -> OpenFinding:
            if now.acknowledged_by:
                raise Conflict(f"<@{now.acknowledged_by}> has already acknowledged this.")
            return now.evolve(acknowledged_by=by)

        return self._change(session_id, digest, change)

    def snooze(self, session_id: str, digest: str, words: str) -> OpenFinding:
        """Say nothing about it for a while. Checks keep running."""
        if words not in SNOOZES:
            raise InputError(f"A finding can be snoozed for {', '.join(SNOOZES)}; nothing happened.")
        until = self._clock.now() + SNOOZES[words]
        return self._change(session_id, digest, lambda now: now.evolve(snoozed_until=until))

    def fix(self, session_id: str, digest: str, *, by: str) -> OpenFinding:
        """Close it; should a beat see it again, that is a new alert: the next one looks as if it were the first."""
        at = self._clock.now()
        return self._change(session_id, digest, lambda now: now.evolve(fixed_by=by, fixed_at=at, snoozed_until=None))

    def investigate(self, session_id: str, digest: str, *, by: str, ask: Callable[[OpenFinding], str]) -> str:
        """Have it looked into once, however often that is asked for; `ask` that raises leaves it to be asked again."""

        def claimed(now: OpenFinding) -> OpenFinding:
            if now.investigated_by:
                raise Conflict(f"<@{now.investigated_by}> has already started an investigation of this.")
            return now.evolve(investigated_by=by)

        found = self._change(session_id, digest, claimed)
        try:
            return ask(found)
        except TriageError:
            self._change(session_id, digest, lambda now: now.evolve(investigated_by=None))
            raise

    def _change(self, session_id: str, digest: str, change: Callable[[OpenFinding], OpenFinding]) -> OpenFinding:
        key, changed = self.find(session_id, digest).key, list[OpenFinding]()

        def apply(state: SessionState) -> SessionState:
            now = state.findings.get(key)
            if now is None or not now.is_open:
                raise Conflict(f"Already closed: {_ending(now)}. Your click changed nothing.")
            changed[:] = [change(now)]
            after = state.with_findings(*changed)
            return after if changed[0].is_open else after.evolve(probes={})

        self._store.save(session_id, apply)
        return changed[0]


def _ending(finding: OpenFinding | None) -> str:
    if finding is None:
        return "it is not on file any more"
    if finding.removed is not None:
        return removal_words(finding.removed)
    return f"<@{finding.fixed_by}> said it is fixed" if finding.fixed_by else "a later beat no longer found it"
