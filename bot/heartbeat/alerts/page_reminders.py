"""Pages ring again while nobody has acknowledged them, and are escalated once to `then`.

Looks at the state of every session at each tick, so neither a restart nor a missing beat silences a page. What was sent
is remembered once the surface confirmed it; a crash in between is found by the surface, as with any other alert.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.paging import is_escalation_due, is_ring_due
from bot.domain.severity import Severity
from bot.domain.text.humanize import duration
from bot.errors import ProviderError, StoreError, TriageError, Unavailable
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.sessions.session_registry import Session, SessionMemory, SessionRegistry
from bot.ports import Clock, Workspace

log = logging.getLogger(__name__)

_Step = Callable[[Session, OpenFinding, datetime], None]


class Rings:
    """Sends pages again that nobody acknowledged, at each `tick`; `say` posts a line in the ops channel."""

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        alerts: AlertRouter,
        workspace: Workspace,
        clock: Clock,
        *,
        say: Callable[[str], None],
    ) -> None:
        self._sessions, self._store, self._alerts = sessions, store, alerts
        self._workspace, self._clock, self._say = workspace, clock, say
        self._untold: set[tuple[str, str]] = set()

    def tick(self) -> None:
        """Ring and escalate what is due; what fails is logged and due again at the next tick."""
        now = self._clock.now()
        for session in self._sessions.all():
            for finding in self._findings(session):
                for step in (self._ring, self._escalate):  # an owner who cannot be reached is a reason to escalate
                    self._take(step, session, finding.key, now)

    def _findings(self, session: Session) -> list[OpenFinding]:
        """Return the pages that wait; nothing of a session that cannot be read, which silences no other."""
        try:
            known = self._store.load(session.id).findings.values()
        except StoreError:
            log.warning("a session cannot be read", extra={"action": "ring_failed", "session": session.id})
            return []
        return [each for each in known if is_waiting(each, session, self._clock.now())]

    def _take(self, step: _Step, session: Session, key: str, now: datetime) -> None:
        """Take one step for a page as it stands by now: somebody may have clicked while the last one was on its way."""
        try:
            stands = self._store.load(session.id).findings.get(key)
            if stands is not None and is_waiting(stands, session, now):
                step(session, stands, now)
        except TriageError:
            extra = {"action": "ring_failed", "session": session.id}
            log.warning("a page did not ring again", extra=extra, exc_info=True)

    def _ring(self, session: Session, finding: OpenFinding, now: datetime) -> None:
        """Send the page anew to the session's owner; a webhook's receiver rings by itself."""
        sender = self._alerts.sender(session, now)
        if sender is None or sender.route.channel == "webhook" or not is_due(finding, session, now):
            return
        rings = finding.rings + 1
        sender.send(
            sender.say(finding.to_ring_anew().evolve(rings=rings)),
            lambda stands, posted: stands.standing_at(posted).evolve(rung_at=now, rings=rings),
        )

    def _escalate(self, session: Session, finding: OpenFinding, now: datetime) -> None:
        """Tell `then`, once, after the owner's second chance has passed."""
        again, to = session.beat.again_after, session.beat.then
        since = finding.waits_since or finding.first_at
        is_due = is_escalation_due(now, first_at=since, rings=finding.rings, again_after=again)
        if to is None or again is None or finding.escalated_at is not None or not is_due:
            return
        waited = duration(max(now - since, again))
        try:
            self._tell_next(session, finding, now, to=to, waited=waited)
        except Unavailable:
            raise
        except ProviderError as error:
            if (session.id, finding.key) not in self._untold:  # said once; it is tried again at each tick
                self._untold.add((session.id, finding.key))
                self._say(f"{session.id}: a page nobody acknowledged could not be told to `{to}` (`then`): {error}")
            raise

    def _tell_next(self, session: Session, finding: OpenFinding, now: datetime, *, to: str, waited: str) -> None:
        sender = self._alerts.sender(session, now, to=to)
        if to[:1] in "CG" and not self._workspace.channel(to).is_private:
            self._say(f"{session.id}: a page nobody acknowledged was not told to <#{to}> (`then`): it is not private.")

            def told(state: SessionState) -> SessionState:
                return state.with_findings(state.findings.get(finding.key, finding).evolve(escalated_at=now))

            self._store.save(session.id, told)
        elif sender is not None:
            why = f"Escalated: nobody has acknowledged this for {waited}."
            first = finding.evolve(place=None, reference=None, copies=(), notes=(why, *finding.notes))
            sender.send(sender.say(first), lambda stands, posted: stands.also_at(posted).evolve(escalated_at=now))
            log.info("a page was escalated", extra={"action": "page_escalated", "session": session.id})


def is_waiting(finding: OpenFinding, session: Session, now: datetime) -> bool:
    """Whether a page still wants somebody, in a session that shows alerts to anybody."""
    beat = session.beat
    is_told = beat.visibility.show_alerts and beat.deliver.mode != "none"
    rings = beat.again_after is not None and is_told and beat.enabled
    return finding.severity is Severity.PAGE and finding.waits(now) and rings


def is_due(finding: OpenFinding, session: Session, now: datetime) -> bool:
    """Whether a page that waits is to ring now.

    One that could not be said when it was found is said after as long: the next beat may be hours away. After the last
    ring it is said again after `dedupe_window`, like any other finding.
    """
    again, said_at = session.beat.again_after, finding.rung_at or finding.sent_at
    if said_at is None and again is not None and now - finding.first_at < again:  # its beat may be saying it
        return False
    return is_ring_due(now, said_at=said_at, rings=finding.rings, again_after=again)
