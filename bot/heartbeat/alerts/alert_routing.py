"""Who is told what a beat found, and what is not said again.

One alert stands for one finding: it is updated in place while the finding stays, sent again only after the
de-duplication window, and closed once. Of many new findings a few get an alert each and the rest one list; on a
webhook, where nobody is rung, each is posted. What was sent is on file once the surface confirmed it; a click that
comes meanwhile is neither lost nor painted over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.domain.heartbeats.alerts import Alert, OpenFinding, Place, Posted
from bot.domain.heartbeats.beats import Delivered, Wake
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.text.humanize import counted
from bot.domain.tiers import Tier
from bot.errors import ProviderError, StoreError, Unavailable, failure_kind
from bot.heartbeat.alerts.notifications import (
    BeatOutcome,
    DeliveryResult,
    alert_about,
    destination,
    digest_text,
    is_private_route,
    is_quiet,
    redact_route,
    seen_and_ended,
    split_for_digest,
)
from bot.heartbeat.sessions.session_registry import Session, SessionMemory
from bot.ports import Clock, Surface

log = logging.getLogger(__name__)

SLACK_PLACES: Final = ("C", "D", "G")

Note = Callable[[OpenFinding, Posted], OpenFinding]
"""Takes a finding as it stands once its alert was sent, and where that is; returns it with what is to be noted."""


def channel_of(place: str) -> str:
    """Return the name of the surface that an alert stands on.

    >>> channel_of("D024BE91L"), channel_of("webhook"), channel_of("-1001")
    ('slack', 'webhook', 'telegram')
    """
    if place.startswith(SLACK_PLACES):
        return "slack"
    return "webhook" if place == "webhook" else "telegram"


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertSender:
    """Speaks for a session at a moment: to `route`, and wherever one of its alerts stands.

    `surfaces` go by the names of the settings; `is_owners`: the route leads to the session's owner.
    """

    session: Session
    surfaces: Mapping[str, Surface]
    store: SessionMemory
    at: datetime
    route: Delivered | None = None
    wake: Wake = Wake.INTERVAL
    tier: Tier | None = None
    is_owners: bool = True

    @property
    def surface(self) -> Surface | None:
        """What reaches the end of the route; None where nobody is told."""
        return self.surfaces.get(self.route.channel or "") if self.route and self.route.to else None

    @property
    def rings_people(self) -> bool:
        """Whether somebody is rung by each message; a webhook's receiver rings by itself."""
        return self.surface is not None and self.route is not None and self.route.channel != "webhook"

    def say(self, about: OpenFinding | str, **more: object) -> Alert:
        """Return the alert of a finding or a text at this moment."""
        return alert_about(self.session, about, at=self.at, wake=self.wake, tier=self.tier).evolve(**more)

    def say_list(self, listed: Iterable[OpenFinding]) -> Alert:
        """Return the alert of a list of findings as they stand now."""
        listed = tuple(listed)
        return self.say(digest_text(self.session.id, listed), listed=listed)

    def post(self, alert: Alert) -> Posted:
        """Say an alert and return where it stands.

        Raises:
            ProviderError: nobody can be told, or the surface did not confirm it.
        """
        if self.surface is None or self.route is None:
            raise ProviderError(f"{self.session.id} has no owner who can be told: {alert.text}")
        return self.surface.send(str(self.route.to), alert)

    def send(self, alert: Alert, note: Note = lambda finding, _: finding) -> None:
        """Send an alert; each of its findings is stamped and noted by `note`, and a click that came meanwhile is shown.

        Raises:
            ProviderError: as `post`; nothing was noted.
        """
        posted, noted = self.post(alert), list[OpenFinding]()
        assert self.route is not None
        route, to = self.route, destination(self.route)

        def sent(state: SessionState) -> SessionState:
            noted[:] = [
                self._stamped(note(state.findings.get(each.key, each), posted), to) for each in alert.findings
            ]
            is_place = self.is_owners and is_private_route(route)
            place = {"last_place": route, "last_owner": self.session.owner} if is_place else {}
            return state.with_findings(*noted).evolve(last_sent=self.at, **place)

        self.store.save(self.session.id, sent)
        for each in noted:
            if not each.waits(self.at):
                self.show(each)

    def _stamped(self, finding: OpenFinding, to: str) -> OpenFinding:
        """Return a finding as it was sent just now: its snooze is over, unless it was snoozed meanwhile."""
        until = finding.snoozed_until if finding.is_snoozed(self.at) else None
        stamps = {**finding.stamps, to: self.at} if finding.is_open else finding.stamps
        return finding.evolve(stamps=stamps, snoozed_until=until)

    def show(self, finding: OpenFinding, clicked: Place | None = None) -> ProviderError | None:
        """Bring a finding's alert, or its list, up to date wherever it stands; a click that comes meanwhile too.

        `clicked` is a card that is shown first. Returns why that, or the first place, is not up to date.
        """
        known = finding.posted.all if finding.posted else ()
        cards = (*([clicked] if clicked else ()), *(() if finding.is_listed else known))
        problem = self._update(cards, self.say(finding))
        if finding.is_listed:
            those = self.store.load(self.session.id).findings.values()
            listed = (each for each in those if each.is_listed and each.posted == finding.posted)
            return self._update(known, self.say_list(listed)) or problem
        now = self.store.load(self.session.id).findings.get(finding.key, finding)
        return problem if now == finding else self._update(cards, self.say(now))

    def _update(self, places: Iterable[Place], alert: Alert) -> ProviderError | None:
        """Show an alert as it stands, over the surface of each place; returns what went wrong first."""
        deliver, problem = self.session.beat.deliver, None
        grouped: dict[str, list[Place]] = {}
        for place in dict.fromkeys(places):
            grouped.setdefault(channel_of(place[0]), []).append(place)
        for channel, (first, *others) in grouped.items():
            to = first[0] if channel != "webhook" else deliver.to if deliver.channel == "webhook" else None
            if to is None or channel not in self.surfaces:
                continue
            try:
                self.surfaces[channel].update(to, Posted(*first, tuple(others)), alert)
            except ProviderError as error:
                extra = {"action": "alert_stale", "session": self.session.id}
                log.warning("alert not updated", extra=extra, exc_info=True)
                problem = problem or error
        return problem


class AlertRouter:
    """Takes an outcome to the session's owner over `surfaces` (by the names of the settings).

    `say` tells the ops channel.
    """

    def __init__(
        self, surfaces: Mapping[str, Surface], store: SessionMemory, clock: Clock, *, say: Callable[[str], None]
    ) -> None:
        self._surfaces, self._store, self._clock, self._say = surfaces, store, clock, say

    def route(self, session: Session, state: SessionState) -> Delivered | None:
        """Return where the session's alerts go, or None if there is no way; mode `none` goes to the log alone.

        In Slack an owner is reached by their id, whoever owned the session before.
        """
        said, last = session.beat.deliver, state.last_place
        if said.mode == "none":
            return Delivered(mode="none", channel=None, to=None)
        channel, to = said.channel, said.to
        if said.mode == "last":
            channel, to = "slack", session.owner
            if last and last.channel != "slack" and last.channel in self._surfaces and state.last_owner == to:
                channel, to = last.channel, last.to
        return Delivered(mode=said.mode, channel=channel, to=to) if to and channel in self._surfaces else None

    def sender(
        self, session: Session, at: datetime, *, wake: Wake = Wake.INTERVAL, tier: Tier | None = None, to: str = ""
    ) -> AlertSender:
        """Return what speaks to the session's owner, or in Slack to somebody else (`to`)."""
        other = Delivered(mode="explicit", channel="slack", to=to) if to else None
        return AlertSender(
            session=session,
            surfaces=self._surfaces,
            store=self._store,
            at=at,
            route=other or self.route(session, self._store.load(session.id)),
            wake=wake,
            tier=tier,
            is_owners=other is None,
        )

    def deliver(self, session: Session, outcome: BeatOutcome) -> DeliveryResult:
        """Say what is new, bring up to date what stands, close what is gone; the state is saved as it goes."""
        sender = self.sender(session, outcome.at, wake=outcome.wake, tier=outcome.tier)
        return Notifier(sender, outcome).notify()

    def tell_owner_or_ops(self, session: Session, text: str) -> None:
        """Say one line to the owner about the beats themselves, or to the ops channel where no owner can be told.

        Where the session's own way is not there, the owner is told in Slack; where its state cannot be read, nobody
        knows the way, and the ops channel is told.

        Raises:
            Unavailable: only time is missing; the owner is to be told later.
        """
        try:
            sender = self.sender(session, self._clock.now())
            if sender.route is None:
                sender = self.sender(session, sender.at, to=session.owner)
            sender.post(sender.say(text))
        except Unavailable:
            raise
        except (ProviderError, StoreError) as error:
            log.warning("an owner cannot be told: %s", error, extra={"action": "owner_untold", "session": session.id})
            self._say(text if session.id in text else f"{session.id}: {text}")


class Notifier:
    """One outcome on its way to the owner."""

    def __init__(self, sender: AlertSender, outcome: BeatOutcome) -> None:
        self._sender, self._outcome = sender, outcome
        self._shows = sender.session.beat.visibility
        self._said: list[str] = []
        self._told = False
        self._suppressed: list[str] = []
        self._problem: ProviderError | None = None

    def notify(self) -> DeliveryResult:
        """Note what is seen and what is gone, say, update and close; returns what was said."""
        outcome, sender = self._outcome, self._sender
        seen = self._look()
        loud = [each for each in seen if not is_quiet(each, sender.session, outcome.at, sender.route)]
        listed = split_for_digest(loud)[1] if sender.rings_people else []
        if listed:
            self._send(sender.say_list(listed), is_listed=True)
        apart = {each.key for each in listed}
        wanted = {each.key for each in loud} if sender.surface is not None else set()
        for finding in seen:
            if finding.key not in apart:
                self._tell(finding, is_loud=finding.key in wanted)
        self._show_closed()
        if outcome.ok_text and not self._said and self._shows.show_ok and sender.surface is not None:
            self._say_ok()
        unsaid = outcome.findings[0].text if outcome.findings else outcome.ok_text
        return DeliveryResult(
            delivered=redact_route(sender.route) if self._said and sender.route else None,
            preview=self._said[0] if self._said else unsaid,
            suppressed=tuple(self._suppressed),
            says_ok=bool(self._said) and not self._told,
            problem=str(self._problem) if self._problem else None,
            problem_kind=failure_kind(self._problem) if self._problem else "",
            is_refused=self._problem is not None and not isinstance(self._problem, Unavailable),
        )

    def _look(self) -> list[OpenFinding]:
        """Note what the beat sees and closes, as it stands at that moment; return what it sees."""
        outcome, seen = self._outcome, list[OpenFinding]()

        def look(state: SessionState) -> SessionState:
            seen[:], gone = seen_and_ended(state, outcome, is_unshown=self._shows.show_alerts)
            return state.with_findings(*gone, *seen)

        self._sender.store.save(self._sender.session.id, look)
        return seen  # not read back: of very many findings not all are kept

    def _tell(self, finding: OpenFinding, *, is_loud: bool) -> None:
        if finding.sent_at == self._outcome.at:  # said by this very beat, before a crash
            self._told = True
            self._said.append(finding.text)
        elif is_loud:
            self._send(self._sender.say(finding.to_ring_anew()))
        else:
            self._suppressed.append(finding.key)
            if not finding.is_listed:
                self._sender.show(finding)

    def _send(self, alert: Alert, *, is_listed: bool = False) -> None:
        """Send an alert; a finding that has one of its own when it is put on a list goes on being shown there."""

        def sent(now: OpenFinding, posted: Posted) -> OpenFinding:
            has_card = is_listed and now.posted is not None and not now.is_listed
            shown = now if has_card else now.standing_at(posted, is_listed=is_listed)
            return shown.evolve(sent_at=self._outcome.at, rung_at=None)

        try:
            self._sender.send(alert, sent)
        except ProviderError as error:
            extra = {"action": "alert_unsent", "session": self._sender.session.id}
            log.warning("alert not sent", extra=extra, exc_info=True)
            self._problem = error
            return
        self._told = self._told or bool(alert.findings)
        self._said.append(alert.text)

    def _show_closed(self) -> None:
        """Show that findings are closed, all on one list at once; what cannot be shown is left to the next beat."""
        closed = [each for each in self._known() if each.is_unshown]
        groups = {(each.posted if each.is_listed else each.key): each for each in closed}
        late = {key for key, each in groups.items() if isinstance(self._sender.show(each), Unavailable)}
        shown = {each.key for each in closed if (each.posted if each.is_listed else each.key) not in late}

        def note(state: SessionState) -> SessionState:
            now = [each.evolve(is_unshown=False) for key, each in state.findings.items() if key in shown]
            return state.with_findings(*now)

        if shown:
            self._sender.store.save(self._sender.session.id, note)

    def _say_ok(self) -> None:
        """Say that all is well, or how many alerts are open where it is not."""
        outcome, still = self._outcome, sum(each.is_open for each in self._known())
        count = counted(still, "alert is", "alerts are")
        text = f"Nothing new in {self._sender.session.name}; {count} still open." if still else outcome.ok_text
        self._told = still > 0
        self._send(self._sender.say(text, reasoning=outcome.reasoning, notes=outcome.notes))

    def _known(self) -> list[OpenFinding]:
        return list(self._sender.store.load(self._sender.session.id).findings.values())
