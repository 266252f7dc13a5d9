"""Who is told what a beat found, and what is not said again.

One alert stands for one finding: it is updated in place while the finding stays, sent again only after the
de-duplication window, and closed once. Of many new findings a few get an alert each and the rest one list; on a
webhook, where nobody is rung, each is posted. What was sent is remembered only when the surface confirmed it;
everything is saved as it goes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial

from bot.domain.heartbeats.alerts import Alert, OpenFinding, Posted
from bot.domain.heartbeats.beats import Delivered, Wake
from bot.domain.heartbeats.session_state import SessionState, is_snoozed
from bot.domain.text.humanize import counted
from bot.errors import ProviderError, StoreError, Unavailable, failure_kind
from bot.heartbeat.alerts.finding_responses import LONGEST_SNOOZE
from bot.heartbeat.alerts.notifications import (
    BeatOutcome,
    DeliveryResult,
    alert_about,
    as_seen,
    destination,
    digest_text,
    ended,
    is_private_route,
    preview_of,
    redact_route,
    split_for_digest,
)
from bot.heartbeat.sessions.owners import OwnerZones
from bot.heartbeat.sessions.session_registry import Session, SessionMemory
from bot.ports import Clock, Surface

log = logging.getLogger(__name__)


class AlertRouter:
    """Takes an outcome to the session's owner over `surfaces` (by the names of the settings).

    `say` tells the ops channel.
    """

    def __init__(
        self,
        surfaces: Mapping[str, Surface],
        store: SessionMemory,
        zones: OwnerZones,
        clock: Clock,
        *,
        say: Callable[[str], None],
    ) -> None:
        self._surfaces, self._store = surfaces, store
        self._zones, self._clock, self._say = zones, clock, say
        self._elsewhere = surfaces.keys() - {"slack"}  # in Slack an owner is reached by their id, whoever was before

    def route(self, session: Session, state: SessionState) -> Delivered | None:
        """Return where the session's alerts go, or None if there is no way; mode `none` goes to the log alone."""
        said, owner = session.beat.deliver, session.owner
        if said.mode == "none":
            return Delivered(mode="none", channel=None, to=None)
        if said.mode == "explicit":
            place = (said.channel, said.to)
        elif (last := state.last_place) and last.channel in self._elsewhere and state.last_owner == owner:
            place = (last.channel, last.to)
        else:
            place = ("slack", owner)
        channel, to = place
        if not channel or not to or channel not in self._surfaces:
            return None
        return Delivered(mode=said.mode, channel=channel, to=to)

    def surface(self, route: Delivered | None) -> Surface | None:
        """Return what reaches people on a route; None where nobody is to be told."""
        return self._surfaces.get(route.channel) if route and route.channel and route.to else None

    def deliver(self, session: Session, outcome: BeatOutcome) -> DeliveryResult:
        """Say what is new, bring up to date what stands, close what is gone; the state is saved as it goes."""
        state = self._store.load(session.id)
        route = self.route(session, state)
        if route is None or route.mode == "none":
            self._remember(session, outcome)
            return DeliveryResult(preview=preview_of(outcome))
        surface, zone = self._surfaces[str(route.channel)], self._zones.zone_name(session)
        owner = session.owner
        return Notifier(session, outcome, route, surface, self._store, owner, zone=zone).notify()

    def tell_owner_or_ops(self, session: Session, text: str) -> None:
        """Say one line to the owner about the beats themselves, or to the ops channel where no owner can be told.

        Where the session's state cannot be read, nobody knows the owner's way, and the ops channel is told.

        Raises:
            Unavailable: only time is missing; the owner is to be told later.
        """
        try:
            self.tell_owner(session, text)
        except Unavailable:
            raise
        except (ProviderError, StoreError) as error:
            log.warning("an owner cannot be told: %s", error, extra={"action": "owner_untold", "session": session.id})
            self._say(text if session.id in text else f"{session.id}: {text}")

    def tell_owner(self, session: Session, text: str) -> None:
        """Say one line to the owner about the beats themselves: in Slack where the session's own way is not there.

        Raises:
            ProviderError: there is no way to, or the surface refused it.
        """
        route = self.route(session, self._store.load(session.id))
        route = route or Delivered(mode="last", channel="slack", to=session.owner)
        surface = self.surface(route)
        if surface is None or route.mode == "none":
            raise ProviderError(f"{session.id} has no owner who can be told: {text}")
        surface.send(str(route.to), alert_about(session, text, at=self._clock.now(), wake=Wake.INTERVAL))

    def _remember(self, session: Session, outcome: BeatOutcome) -> None:
        def note(state: SessionState) -> SessionState:
            found = (as_seen(each, outcome, state.findings.get(each.key)) for each in outcome.findings)
            return state.with_findings(*ended(state, outcome), *found)

        self._store.save(session.id, note)


class Notifier:
    """One outcome on its way over one surface."""

    def __init__(
        self,
        session: Session,
        outcome: BeatOutcome,
        route: Delivered,
        surface: Surface,
        store: SessionMemory,
        owner: str,
        *,
        zone: str,
    ) -> None:
        self._session, self._outcome, self._route = session, outcome, route
        self._surface, self._store, self._owner, self._zone = surface, store, owner, zone
        self._said: list[str] = []
        self._told = False
        self._suppressed: list[str] = []
        self._problem: ProviderError | None = None

    def notify(self) -> DeliveryResult:
        """Say, update and close; returns what was said."""
        outcome = self._outcome
        known = [self._save(each.key, partial(as_seen, each, outcome)) for each in outcome.findings]
        ringing = [] if self._route.channel == "webhook" else [each for each in known if not self._is_quiet(each)]
        listed = split_for_digest(ringing)[1]
        if listed:
            self._tell_in_one(listed)
        for finding in known:
            if finding not in listed:
                self._tell(finding)
        unshown = [each for each in self._state().findings.values() if each.is_unshown]
        closed = [now for gone in ended(self._state(), self._outcome) if (now := self._close(gone))]
        self._tick_off([each for each in (*closed, *unshown) if each.is_listed])
        for each in unshown:
            self._show_closed(each)
        if self._outcome.ok_text and not self._said and self._session.beat.visibility.show_ok:
            self._say_ok()
        delivered = redact_route(self._route) if self._said else None
        return DeliveryResult(
            delivered=delivered,
            preview=self._said[0] if self._said else preview_of(self._outcome),
            suppressed=tuple(self._suppressed),
            says_ok=bool(self._said) and not self._told,
            problem=str(self._problem) if self._problem else None,
            problem_kind=failure_kind(self._problem) if self._problem else "",
            is_refused=self._problem is not None and not isinstance(self._problem, Unavailable),
        )

    def _tell(self, finding: OpenFinding) -> None:
        if finding.sent_at == self._outcome.at:  # said by this very beat, before a crash
            self._told = True
            self._said.append(finding.text)
            return
        if self._is_quiet(finding):
            self._suppressed.append(finding.key)
            self._update(finding)
            return
        posted = self._send(self._alert(finding.to_ring_anew()))
        if posted is not None:
            self._told = True
            self._confirm([finding], posted)

    def _tell_in_one(self, listed: list[OpenFinding]) -> None:
        """Send the list; a finding that has an alert of its own goes on being shown there."""
        posted = self._send(self._list(listed))
        if posted is None:
            return
        self._told = True
        self._confirm(listed, posted, is_listed=True)

    def _tick_off(self, closed: list[OpenFinding]) -> None:
        """Bring the lists up to date on which something is gone, each once."""
        findings = self._state().findings.values()
        for place, reference in dict.fromkeys((each.place, each.reference) for each in closed):
            listed = [f for f in findings if f.is_listed and (f.place, f.reference) == (place, reference)]
            self._show(Posted(str(place), str(reference)), self._list(listed))

    def _confirm(self, findings: list[OpenFinding], posted: Posted, *, is_listed: bool = False) -> None:
        """Remember a send that the surface confirmed; what a human clicked meanwhile stands."""
        at, window = self._outcome.at, self._session.beat.dedupe_window

        def note(state: SessionState) -> SessionState:
            stamps, known = state.sent.pruned(at, window), []
            for finding in findings:
                now = state.findings.get(finding.key, finding)
                has_card = is_listed and now.reference is not None and not now.is_listed
                shown = now if has_card else now.standing_at(posted, is_listed=is_listed)
                known.append(shown.evolve(sent_at=at, rung_at=None, snoozed_until=None))
                if now.is_open:
                    stamps = stamps.stamped(finding.key, finding.text, destination(self._route), at)
            last = self._route if is_private_route(self._route) else state.last_place
            return state.with_findings(*known).evolve(
                sent=stamps, last_sent=at, last_place=last, last_owner=self._owner
            )

        self._store.save(self._session.id, note)

    def _is_quiet(self, finding: OpenFinding) -> bool:
        """Whether a finding is known well enough: acknowledged, snoozed, said a while ago, or not wanted."""
        if not self._session.beat.visibility.show_alerts or finding.acknowledged_by:
            return True
        at = self._outcome.at
        if finding.snoozed_until is not None:
            # one that is over rings again, window or not
            return is_snoozed(finding.snoozed_until, at, LONGEST_SNOOZE)
        stamps, window = self._state().sent, self._session.beat.dedupe_window
        return stamps.is_repeat(finding.key, finding.text, destination(self._route), at, window)

    def _state(self) -> SessionState:
        return self._store.load(self._session.id)

    def _save(self, key: str, change: Callable[[OpenFinding | None], OpenFinding]) -> OpenFinding:
        """Change what is on file of a finding, as it stands at that moment; return how it stands then."""
        changed: list[OpenFinding] = []

        def note(state: SessionState) -> SessionState:
            changed[:] = [change(state.findings.get(key))]
            return state.with_findings(*changed)

        self._store.save(self._session.id, note)
        return changed[0]  # not read back: of very many findings not all are kept

    def _close(self, gone: OpenFinding) -> OpenFinding | None:
        """Close a finding, once; should it come back, that is news whatever the window says.

        Returns it as it then stands, or None where a human said a moment ago that it is fixed.
        """
        over = {name: getattr(gone, name) for name in ("resolved_at", "snoozed_until", "removed")}
        if gone.removed is not None:
            del over["snoozed_until"]  # a snooze pressed a moment ago is remembered too
        closed = self._save(gone.key, lambda now: now.evolve(**over) if now and now.is_remembered else now or gone)
        if closed.fixed_by:
            return None
        self._show_closed(closed)
        return closed

    def _show_closed(self, closed: OpenFinding) -> None:
        """Show that a finding is closed; while Slack is away, that is left to the next beat."""
        is_unshown = self._session.beat.visibility.show_alerts and not self._update(closed)
        if is_unshown is not closed.is_unshown:
            self._save(closed.key, lambda now: (now or closed).evolve(is_unshown=is_unshown))

    def _say_ok(self) -> None:
        """Say that all is well, or how many alerts are open where it is not."""
        outcome, still = self._outcome, sum(each.is_open for each in self._state().findings.values())
        count = counted(still, "alert is", "alerts are")
        text = f"Nothing new in {self._session.name}; {count} still open." if still else outcome.ok_text
        self._told = still > 0
        self._send(self._alert(text).evolve(reasoning=outcome.reasoning, notes=outcome.notes))

    def _alert(self, about: OpenFinding | str) -> Alert:
        outcome = self._outcome
        return alert_about(self._session, about, at=outcome.at, wake=outcome.wake, tier=outcome.tier, zone=self._zone)

    def _list(self, listed: list[OpenFinding]) -> Alert:
        return self._alert(digest_text(self._session.id, listed)).evolve(listed=tuple(listed))

    def _send(self, alert: Alert) -> Posted | None:
        try:
            posted = self._surface.send(str(self._route.to), alert)
        except ProviderError as error:
            log.warning("alert not sent", extra={"action": "alert_unsent", "session": self._session.id}, exc_info=True)
            self._problem = error
            return None
        self._said.append(alert.text)
        return posted

    def _update(self, finding: OpenFinding) -> bool:
        """Bring an alert that stands up to date; a list is, once something on it is gone. False: to be tried again."""
        if finding.place is None or finding.reference is None or finding.is_listed:
            return True
        is_shown = self._show(Posted(finding.place, finding.reference, finding.copies), self._alert(finding))
        if is_shown:
            self._show_a_click_meanwhile(finding)
        return is_shown

    def _show(self, posted: Posted, alert: Alert) -> bool:
        """Show an alert as it stands; one that cannot be shown is no reason to fail. False: it can be, later."""
        try:
            self._surface.update(str(self._route.to), posted, alert)
        except ProviderError as error:
            log.warning(
                "alert not updated", extra={"action": "alert_stale", "session": self._session.id}, exc_info=True
            )
            return not isinstance(error, Unavailable)
        return True

    def _show_a_click_meanwhile(self, shown: OpenFinding) -> None:
        """Show a click again that came between our look and our update, which has painted it over."""
        now = self._state().findings.get(shown.key, shown)
        if now != shown and shown.is_open:
            self._show(Posted(str(shown.place), str(shown.reference), shown.copies), self._alert(now))
