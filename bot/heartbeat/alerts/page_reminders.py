"""Pages ring again while nobody has acknowledged them, and are escalated once to `then`.

Looks at the state of every session at each tick, so neither a restart nor a missing beat silences a page. What was sent
is remembered once the surface confirmed it; a crash in between is found by the surface, as with any other alert.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from bot.domain.heartbeats.alerts import Alert, OpenFinding, Posted
from bot.domain.heartbeats.beats import Delivered, Wake
from bot.domain.heartbeats.session_state import SessionState, is_snoozed
from bot.domain.paging import is_escalation_due, is_ring_due
from bot.domain.severity import Severity
from bot.domain.text.humanize import duration
from bot.errors import ProviderError, StoreError, TriageError, Unavailable
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.alerts.finding_responses import LONGEST_SNOOZE
from bot.heartbeat.alerts.notifications import alert_about, destination
from bot.heartbeat.sessions.session_registry import Session, SessionMemory, SessionRegistry
from bot.ports import Clock, Surface, Workspace

log = logging.getLogger(__name__)

_Step = Callable[[Session, OpenFinding, datetime], None]


class Rings:
    """Sends pages again that nobody acknowledged, at each `tick`; `say` posts a line in the ops channel."""

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        delivery: AlertRouter,
        workspace: Workspace,
        clock: Clock,
        *,
        zone_of: Callable[[Session], str],
        say: Callable[[str], None],
    ) -> None:
        self._sessions, self._store, self._delivery = sessions, store, delivery
        self._workspace, self._clock = workspace, clock
        self._zone_of, self._say = zone_of, say
        self._untold: set[tuple[str, str]] = set()

    def tick(self) -> None:
        """Ring and escalate what is due; what fails is logged and due again at the next tick."""
        now = self._clock.now()
        for session in self._sessions.all():
            for finding in self._findings(session):
                for step in (self._ring, self._escalate):  # an owner who cannot be reached is a reason to escalate
                    self._take(step, session, finding, now)

    def _findings(self, session: Session) -> list[OpenFinding]:
        """Return what is on file; nothing of a session that cannot be read, which silences no other."""
        try:
            return list(self._store.load(session.id).findings.values())
        except StoreError:
            log.warning("a session cannot be read", extra={"action": "ring_failed", "session": session.id})
            return []

    def _take(self, step: _Step, session: Session, finding: OpenFinding, now: datetime) -> None:
        """Take one step for a page as it stands by now: somebody may have clicked while the last one was on its way."""
        try:
            stands = self._store.load(session.id).findings.get(finding.key)
            if stands is not None and is_waiting(stands, session, now):
                step(session, stands, now)
        except TriageError:
            log.warning(
                "a page did not ring again", extra={"action": "ring_failed", "session": session.id}, exc_info=True
            )

    def _ring(self, session: Session, finding: OpenFinding, now: datetime) -> None:
        """Send the page anew to the session's owner; a webhook's receiver rings by itself."""
        state = self._store.load(session.id)
        route = self._delivery.route(session, state)
        surface = self._delivery.surface(route)
        if route is None or surface is None or route.channel == "webhook" or not is_due(finding, session, now):
            return
        rung = finding.to_ring_anew().evolve(rings=finding.rings + 1)
        posted = surface.send(str(route.to), self._alert(session, rung, now))

        def note(now_: SessionState) -> SessionState:
            known = now_.findings.get(finding.key, finding)
            as_rung = known.standing_at(posted).evolve(rung_at=now, rings=known.rings + 1)
            sent = now_.sent.stamped(finding.key, finding.text, destination(route), now)
            return now_.with_findings(as_rung).evolve(sent=sent if known.is_open else now_.sent)

        self._store.save(session.id, note)
        self._show_a_click_meanwhile(session, finding, route, posted, now)

    def _escalate(self, session: Session, finding: OpenFinding, now: datetime) -> None:
        """Tell `then`, once, after the owner's second chance has passed."""
        again, to = session.beat.again_after, session.beat.then
        surface = self._delivery.surface(Delivered(mode="explicit", channel="slack", to=to))
        if to is None or surface is None or again is None or finding.escalated_at is not None:
            return
        if not is_escalation_due(now, first_at=finding.first_at, rings=finding.rings, again_after=again):
            return
        try:
            self._tell_next(session, finding, now, to=to, again=again, surface=surface)
        except Unavailable:
            raise
        except ProviderError as error:
            self._say_untold(session, finding, to, error)
            raise

    def _tell_next(
        self, session: Session, finding: OpenFinding, now: datetime, *, to: str, again: timedelta, surface: Surface
    ) -> None:
        if to[:1] in "CG" and not self._workspace.channel(to).is_private:
            self._say(f"{session.id}: a page nobody acknowledged was not told to <#{to}> (`then`): it is not private.")
            self._note(session, finding, escalated_at=now)
            return
        waited = f"Escalated: nobody has acknowledged this for {duration(max(now - finding.first_at, again))}."
        first = finding.evolve(place=None, reference=None, copies=(), notes=(waited, *finding.notes))
        posted = surface.send(to, self._alert(session, first, now))
        known = self._store.load(session.id).findings.get(finding.key, finding)
        copies = (*known.copies, (posted.place, posted.reference), *posted.copies)
        self._note(session, finding, escalated_at=now, copies=tuple(dict.fromkeys(copies)))
        log.info("a page was escalated", extra={"action": "page_escalated", "session": session.id})

    def _say_untold(self, session: Session, finding: OpenFinding, to: str, error: ProviderError) -> None:
        """Tell the ops channel once that `then` cannot be told; it is tried again at each tick."""
        if (session.id, finding.key) not in self._untold:
            self._untold.add((session.id, finding.key))
            self._say(f"{session.id}: a page nobody acknowledged could not be told to `{to}` (`then`): {error}")

    def _note(self, session: Session, finding: OpenFinding, **changes: object) -> None:
        def note(state: SessionState) -> SessionState:
            return state.with_findings(state.findings.get(finding.key, finding).evolve(**changes))

        self._store.save(session.id, note)

    def _show_a_click_meanwhile(
        self, session: Session, rung: OpenFinding, route: Delivered, posted: Posted, now: datetime
    ) -> None:
        """Show a click that came while the page was on its way."""
        stands = self._store.load(session.id).findings.get(rung.key, rung)
        surface = self._delivery.surface(route)
        if surface is None or is_waiting(stands, session, now):
            return
        try:
            surface.update(str(route.to), posted, self._alert(session, stands, now))
        except ProviderError:
            log.warning("a page was not updated", extra={"action": "alert_stale", "session": session.id}, exc_info=True)

    def _alert(self, session: Session, finding: OpenFinding, now: datetime) -> Alert:
        return alert_about(session, finding, at=now, wake=Wake.INTERVAL, zone=self._zone_of(session))


def is_waiting(finding: OpenFinding, session: Session, now: datetime) -> bool:
    """Whether a page still wants somebody: open, neither acknowledged nor snoozed, in a session that shows alerts."""
    beat = session.beat
    if finding.severity is not Severity.PAGE or not finding.is_open or finding.acknowledged_by:
        return False
    until = finding.snoozed_until
    snoozed = until is not None and is_snoozed(until, now, LONGEST_SNOOZE)
    return not snoozed and beat.again_after is not None and beat.visibility.show_alerts and beat.enabled


def is_due(finding: OpenFinding, session: Session, now: datetime) -> bool:
    """Whether a page that waits is to ring now.

    One that could not be said when it was found is said after as long: the next beat may be hours away. After the last
    ring it is said again after `dedupe_window`, like any other finding.
    """
    again, said_at = session.beat.again_after, finding.rung_at or finding.sent_at
    if said_at is None and again is not None and now - finding.first_at < again:  # its beat may be saying it
        return False
    return is_ring_due(now, said_at=said_at, rings=finding.rings, again_after=again)
