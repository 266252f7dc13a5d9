"""Pages ring again while nobody has acknowledged them, and are escalated once to `then`.

Looks at the state of every session at each tick, so neither a restart nor a missing beat silences a page. What was sent
is remembered once the surface confirmed it; a crash in between is found by the surface, as with any other alert.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import Delivered
from bot.domain.paging import is_escalation_due, is_ring_due
from bot.domain.severity import Severity
from bot.domain.text.humanize import duration
from bot.errors import ProviderError, TriageError, Unavailable
from bot.heartbeat.alerts.alert_routing import AlertRouter, alert_of
from bot.heartbeat.sessions.session_registry import Session, SessionMemory, SessionRegistry
from bot.ports import Clock, Workspace

log = logging.getLogger(__name__)


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
        """Ring and escalate what is due; what fails is logged, silences no other page, and is due at the next tick."""
        now = self._clock.now()
        for session in self._sessions.all():
            with _logged(session):
                for key in self._waiting(session, now):
                    for step in (self._ring, self._escalate):  # an owner who cannot be reached is a reason to escalate
                        with _logged(session):
                            if stands := self._waiting(session, now).get(key):
                                step(session, stands, now)

    def _waiting(self, session: Session, now: datetime) -> dict[str, OpenFinding]:
        """Return the pages that want somebody as of now: one may have been clicked while another was on its way."""
        beat = session.beat
        is_told = beat.visibility.show_alerts and beat.deliver.mode != "none"
        if beat.again_after is None or not is_told or not beat.enabled:
            return {}
        known = self._store.load(session.id).findings
        return {key: each for key, each in known.items() if each.severity is Severity.PAGE and each.waits(now)}

    def _ring(self, session: Session, finding: OpenFinding, now: datetime) -> None:
        """Send the page anew to the session's owner; a webhook's receiver rings by itself."""
        route = self._alerts.route(session, self._store.load(session.id))
        if route is not None and route.rings_people and is_due(finding, session, now):
            rings = finding.rings + 1
            alert = alert_of(session, finding.to_ring_anew().evolve(rings=rings), now)
            self._alerts.send(session, alert, route, rung_at=now, rings=rings)

    def _escalate(self, session: Session, finding: OpenFinding, now: datetime) -> None:
        """Tell `then`, once, after the owner's second chance has passed.

        Raises:
            ProviderError: it cannot be told; the ops channel hears that once, and each tick tries again.
        """
        again, to = session.beat.again_after, session.beat.then
        since = finding.waits_since or finding.first_at
        is_due = is_escalation_due(now, first_at=since, rings=finding.rings, again_after=again)
        if to is None or again is None or finding.escalated_at is not None or not is_due:
            return
        why = f"Escalated: nobody has acknowledged this for {duration(max(now - since, again))}."
        first = finding.evolve(place=None, reference=None, copies=(), notes=(why, *finding.notes))
        route = Delivered(mode="explicit", channel="slack", to=to)
        try:
            if to[:1] in "CG" and not self._workspace.channel(to).is_private:
                raise ProviderError("it is not private")
            self._alerts.send(session, alert_of(session, first, now), route, is_next=True, escalated_at=now)
        except Unavailable:
            raise
        except ProviderError as error:
            if (session.id, finding.key) not in self._untold:
                self._untold.add((session.id, finding.key))
                place = f"<#{to}>" if to[:1] in "CG" else f"`{to}`"
                self._say(f"{session.id}: a page nobody acknowledged could not be told to {place} (`then`): {error}")
            raise
        log.info("a page was escalated", extra={"action": "page_escalated", "session": session.id})


@contextmanager
def _logged(session: Session) -> Iterator[None]:
    try:
        yield
    except TriageError:
        log.warning("a page did not ring", extra={"action": "ring_failed", "session": session.id}, exc_info=True)


def is_due(finding: OpenFinding, session: Session, now: datetime) -> bool:
    """Whether a page that waits is to ring now.

    One that could not be said when it was found is said after as long: the next beat may be hours away. After the last
    ring it is said again after `dedupe_window`, like any other finding.
    """
    again, said_at = session.beat.again_after, finding.rung_at or finding.sent_at
    if said_at is None and again is not None and now - finding.first_at < again:  # its beat may be saying it
        return False
    return is_ring_due(now, said_at=said_at, rings=finding.rings, again_after=again)
