"""What people answer to an alert, and pages, which ring again until an act ends them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, Final

from bot.domain.alerts import Severity
from bot.domain.events import Event, MessageType
from bot.domain.heartbeats.alerts import SNOOZES, OpenFinding, Place, finding_digest
from bot.domain.heartbeats.beats import Delivered
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.paging import is_escalation_due, is_ring_due
from bot.domain.text.humanize import duration
from bot.errors import Conflict, InputError, ProviderError, TriageError, Unavailable
from bot.heartbeat.alert_routing import AlertRouter, alert_of, surface_of
from bot.heartbeat.session_registry import Owners, Session, SessionMemory, SessionRegistry
from bot.ports import Clock, Workspace

log = logging.getLogger(__name__)


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
            changed[:] = [change(now).evolve(is_unshown=bool(now.places))]
            after = state.with_findings(*changed)
            return after if changed[0].is_open else after.evolve(probes={})

        self._store.save(session_id, apply)
        return changed[0]


_CHANGES: Final = frozenset({MessageType.EDIT, MessageType.DELETE})


class Rings:
    """Sends pages again that nobody acknowledged, at each `tick`, and shows what Slack had no time for.

    `say` posts a line in the ops channel.
    """

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
        """Show, ring and escalate what is due; what fails is logged, silences no other page, and is due again."""
        now = self._clock.now()
        for session in self._sessions.all():
            with _logged(session):
                self._alerts.show_unshown(session)
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
        """Send the page anew to the session's owner; a webhook's receiver rings by itself.

        One that could not be said when it was found is said after as long: the next beat may be hours away. After the
        last ring it is said again after `dedupe_window`, like any other finding.
        """
        route = self._alerts.route(session, self._store.load(session.id))
        said_at, rings = finding.rung_at or finding.sent_at or finding.first_at, finding.rings
        is_due = is_ring_due(now, said_at=said_at, rings=rings, again_after=session.beat.again_after)
        if route is not None and route.rings_people and is_due:
            alert = alert_of(session, finding.to_ring_anew().evolve(rings=rings + 1), now)
            self._alerts.send(session, alert, route, rung_at=now, rings=rings + 1)

    def _escalate(self, session: Session, finding: OpenFinding, now: datetime) -> None:
        """Tell `then`, once, after the owner's second chance has passed.

        Raises:
            ProviderError: it cannot be told; the ops channel hears that once, and each tick tries again.
        """
        again, to = session.beat.again_after, session.beat.then
        since = finding.waits_since or finding.first_at
        is_due = is_escalation_due(now, first_at=since, rings=finding.rings, again_after=again)
        if to is None or finding.escalated_at is not None or not is_due:
            return
        waited = max(now - since, again or timedelta())  # at least that, though the clock was set back
        why = f"Escalated: nobody has acknowledged this for {duration(waited)}."
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


class PageThreads:
    """The threads under alerts, of which nothing is kept in memory; hearing a message twice changes nothing.

    `allows` takes a user, a team and who of a session's own people that is, or "".
    """

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        owners: Owners,
        responses: FindingResponses,
        *,
        allows: Callable[[str, str, str], bool],
    ) -> None:
        self._sessions, self._store, self._owners = sessions, store, owners
        self._responses, self._allows = responses, allows

    def holds(self, event: Event) -> bool:
        """Whether a new message stands in the thread under an alert."""
        return event.msg_type not in _CHANGES and any(True for _ in self._under(event))

    def chats(self) -> frozenset[str]:
        """Return the chats where pages stand that nobody has yet: what is missed there has to be read back."""
        findings = (each for session in self._sessions.all() for each in self._store.load(session.id).findings.values())
        pages = (each.places for each in findings if _is_unanswered(each))
        return frozenset(place for places in pages for place, _ in places if surface_of(place) == "slack")

    def hear(self, event: Event) -> None:
        """Take a message under a page as its writer's acknowledgement, if they are answerable; the card says so.

        Raises:
            ProviderError: the chat cannot say who is answerable.
            StoreError: the disk refuses.
        """
        if event.sender.type != "user" or event.msg_type in _CHANGES:
            return
        by = event.sender.id
        for session, finding in self._under(event):
            if not _is_unanswered(finding):
                continue
            owner = self._owners.claim(session, by, event.chat_id)
            if self._allows(by, event.team_id, owner):
                with suppress(Conflict, ProviderError):  # somebody was quicker, or the card is behind, which is logged
                    stands = self._responses.acknowledge(session.id, finding_digest(finding.key), by=by)
                    log.info("a page was answered", extra={"action": "page_answered", "session": session.id})
                    self._responses.show(session, stands)

    def _under(self, event: Event) -> Iterator[tuple[Session, OpenFinding]]:
        """Yield the findings under whose alert a message stands; only chats are looked at where alerts are sent."""
        if event.thread_id is None:
            return
        for session in self._sessions.all():
            beat = session.beat
            if event.chat_id[:1] == "D" or event.chat_id in (beat.deliver.to, beat.then):
                for finding in self._store.load(session.id).findings.values():
                    if (event.chat_id, event.thread_id) in (*finding.places, *finding.earlier):
                        yield session, finding


def _is_unanswered(finding: OpenFinding) -> bool:
    return finding.severity is Severity.PAGE and finding.is_open and not finding.acknowledged_by


@contextmanager
def _logged(session: Session) -> Iterator[None]:
    try:
        yield
    except TriageError:
        log.warning("a page did not ring", extra={"action": "ring_failed", "session": session.id}, exc_info=True)
