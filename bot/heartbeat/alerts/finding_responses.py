"""What a human clicks on the alert of a finding: acknowledged, snoozed, fixed, to be looked into.

Whoever comes second is told who was first; what changed is shown wherever the finding's alert stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.domain.heartbeats.alerts import SNOOZES, OpenFinding, Place, finding_digest
from bot.domain.heartbeats.beats import Delivered
from bot.domain.heartbeats.session_state import SessionState
from bot.errors import Conflict, InputError
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.sessions.session_registry import Session, SessionMemory
from bot.ports import Clock


class FindingResponses:
    """Carries out the buttons of an alert, each of which returns the finding as it now stands."""

    def __init__(self, store: SessionMemory, alerts: AlertRouter, clock: Clock) -> None:
        self._store, self._alerts, self._clock = store, alerts, clock

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
        return self._claim(session_id, digest, "acknowledged_by", by, "has already acknowledged this")

    def snooze(self, session_id: str, digest: str, words: str) -> OpenFinding:
        """Say nothing about it for a while, and then as if it had just been found. Checks keep running."""
        if words not in SNOOZES:
            raise InputError(f"A finding can be snoozed for {', '.join(SNOOZES)}; nothing happened.")
        until = self._clock.now() + SNOOZES[words]
        return self._change(session_id, digest, lambda now: now.waiting_anew(until).evolve(snoozed_until=until))

    def fix(self, session_id: str, digest: str, *, by: str) -> OpenFinding:
        """Close it; should a beat see it again, that is a new alert: the next one looks as if it were the first."""
        at = self._clock.now()
        changes: dict[str, Any] = {"fixed_by": by, "fixed_at": at, "snoozed_until": None, "stamps": {}}
        return self._change(session_id, digest, lambda now: now.evolve(**changes))

    def investigate(
        self, session_id: str, digest: str, *, by: str, ask: Callable[[OpenFinding], str]
    ) -> tuple[OpenFinding, str]:
        """Have it looked into once, however often that is asked for; returns it, and what `ask` says.

        `ask` does nothing twice for one finding, so whoever dies after it may be asked again.
        """
        found = self.find(session_id, digest)
        said = ask(found) if found.is_open and not found.investigated_by else ""
        already = "has already started an investigation of this"
        return self._claim(session_id, digest, "investigated_by", by, already), said

    def show(self, session: Session, finding: OpenFinding, *, clicked: Place | None = None) -> None:
        """Show wherever its alert stands how a finding stands, first on the card that was clicked.

        Raises:
            ProviderError: a card, most likely the first one, could not be changed.
        """
        if (problem := self._alerts.show(session, finding, clicked)) is not None:
            raise problem

    def _claim(self, session_id: str, digest: str, field: str, by: str, already: str) -> OpenFinding:
        """Note who was first; raises Conflict for whoever is second."""

        def change(now: OpenFinding) -> OpenFinding:
            if first := getattr(now, field):
                raise Conflict(f"<@{first}> {already}.")
            return now.evolve(**{field: by})

        return self._change(session_id, digest, change)

    def _change(self, session_id: str, digest: str, change: Callable[[OpenFinding], OpenFinding]) -> OpenFinding:
        key, changed = self.find(session_id, digest).key, list[OpenFinding]()

        def apply(state: SessionState) -> SessionState:
            now = state.findings.get(key)
            if now is None or not now.is_open:
                raise Conflict("This alert is closed already, as its card says. Your click changed nothing.")
            changed[:] = [change(now)]
            after = state.with_findings(*changed)
            return after if changed[0].is_open else after.evolve(probes={})

        self._store.save(session_id, apply)
        return changed[0]
