"""Who is told what a beat found, and what is not said again.

One alert stands for one finding: it is updated in place while the finding stays, sent again only after the
de-duplication window, and closed once. Of many new findings a few get an alert each and the rest one list; on a
webhook, where nobody is rung, each is posted. Everything is saved as it goes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

from bot.domain.heartbeats.alerts import Alert, OpenFinding, Posted
from bot.domain.heartbeats.beats import Delivered, Wake
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.text.humanize import counted
from bot.domain.tiers import Tier
from bot.errors import ProviderError, StoreError, Unavailable, failure_kind
from bot.heartbeat.alerts.alert_sender import AlertSender
from bot.heartbeat.alerts.notifications import (
    BeatOutcome,
    DeliveryResult,
    as_seen,
    destination,
    ended,
    list_about,
    preview_of,
    redact_route,
    split_for_digest,
)
from bot.heartbeat.sessions.session_registry import Session, SessionMemory
from bot.ports import Clock, Surface

log = logging.getLogger(__name__)


class AlertRouter:
    """Takes an outcome to the session's owner over `surfaces` (by the names of the settings).

    `say` tells the ops channel.
    """

    def __init__(
        self, surfaces: Mapping[str, Surface], store: SessionMemory, clock: Clock, *, say: Callable[[str], None]
    ) -> None:
        self._surfaces, self._store, self._clock, self._say = surfaces, store, clock, say
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

    def sender(
        self, session: Session, at: datetime, *, wake: Wake = Wake.INTERVAL, tier: Tier | None = None, to: str = ""
    ) -> AlertSender | None:
        """Return what speaks to the session's owner, or in Slack to somebody else (`to`); None where nobody is told."""
        other = Delivered(mode="explicit", channel="slack", to=to) if to else None
        route = other or self.route(session, self._store.load(session.id))
        surface = self._surfaces.get(route.channel) if route and route.channel and route.to else None
        if route is None or surface is None:
            return None
        return AlertSender(
            session=session,
            route=route,
            surface=surface,
            store=self._store,
            at=at,
            wake=wake,
            tier=tier,
            is_owners=other is None,
        )

    def deliver(self, session: Session, outcome: BeatOutcome) -> DeliveryResult:
        """Say what is new, bring up to date what stands, close what is gone; the state is saved as it goes."""
        sender = self.sender(session, outcome.at, wake=outcome.wake, tier=outcome.tier)
        if sender is not None:
            return Notifier(sender, outcome).notify()

        def note(state: SessionState) -> SessionState:
            found = (as_seen(each, outcome, state.findings.get(each.key)) for each in outcome.findings)
            return state.with_findings(*ended(state, outcome), *found)

        self._store.save(session.id, note)
        return DeliveryResult(preview=preview_of(outcome))

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
        has_way, at = self.route(session, self._store.load(session.id)) is not None, self._clock.now()
        sender = self.sender(session, at, to="" if has_way else session.owner)
        if sender is None:
            raise ProviderError(f"{session.id} has no owner who can be told: {text}")
        sender.surface.send(str(sender.route.to), sender.say(text))


class Notifier:
    """One outcome on its way to the owner."""

    def __init__(self, sender: AlertSender, outcome: BeatOutcome) -> None:
        self._sender, self._outcome = sender, outcome
        self._session, self._store = sender.session, sender.store
        self._said: list[str] = []
        self._told = False
        self._suppressed: list[str] = []
        self._problem: ProviderError | None = None

    def notify(self) -> DeliveryResult:
        """Say, update and close; returns what was said."""
        outcome, route = self._outcome, self._sender.route
        known = [self._save(each.key, partial(as_seen, each, outcome)) for each in outcome.findings]
        rings_people = route.channel != "webhook"
        listed = split_for_digest([each for each in known if not self._is_quiet(each)])[1] if rings_people else []
        if listed:
            self._send(list_about(self._session, listed, at=outcome.at, wake=outcome.wake), is_listed=True)
        for finding in known:
            if finding not in listed:
                self._tell(finding)
        for gone in ended(self._state(), outcome):
            self._save(gone.key, partial(self._closed, gone))
        self._show_closed([each for each in self._state().findings.values() if each.is_unshown])
        if outcome.ok_text and not self._said and self._session.beat.visibility.show_ok:
            self._say_ok()
        return DeliveryResult(
            delivered=redact_route(route) if self._said else None,
            preview=self._said[0] if self._said else preview_of(outcome),
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
        elif self._is_quiet(finding):
            self._suppressed.append(finding.key)
            self._sender.show(finding)
        else:
            self._send(self._sender.say(finding.to_ring_anew()))

    def _is_quiet(self, finding: OpenFinding) -> bool:
        """Whether a finding is known well enough: acknowledged, snoozed, said a while ago, or not wanted."""
        if not self._session.beat.visibility.show_alerts or finding.acknowledged_by:
            return True
        at, window = self._outcome.at, self._session.beat.dedupe_window
        if finding.snoozed_until is not None:
            return finding.is_snoozed(at)  # one that is over rings again, window or not
        return finding.was_sent(destination(self._sender.route), at, window)

    def _send(self, alert: Alert, *, is_listed: bool = False) -> None:
        """Send an alert; a finding that has one of its own when it is put on a list goes on being shown there."""
        at = self._outcome.at

        def sent(now: OpenFinding, posted: Posted) -> OpenFinding:
            has_card = is_listed and now.posted is not None and not now.is_listed
            shown = now if has_card else now.standing_at(posted, is_listed=is_listed)
            until = now.snoozed_until if now.is_snoozed(at) else None
            return shown.evolve(sent_at=at, rung_at=None, snoozed_until=until)

        try:
            self._sender.send(alert, sent)
        except ProviderError as error:
            log.warning("alert not sent", extra={"action": "alert_unsent", "session": self._session.id}, exc_info=True)
            self._problem = error
            return
        self._told = self._told or bool(alert.findings)
        self._said.append(alert.text)

    def _closed(self, gone: OpenFinding, now: OpenFinding | None) -> OpenFinding:
        """Return a finding that is gone as it is closed; what a human said of it a moment ago stands."""
        if now is None or not now.is_remembered:
            return now or gone
        snoozed = now.snoozed_until if gone.removed is not None else None
        return now.evolve(
            resolved_at=gone.resolved_at,
            removed=gone.removed,
            snoozed_until=snoozed,
            stamps={},
            is_unshown=self._session.beat.visibility.show_alerts,
        )

    def _show_closed(self, closed: Sequence[OpenFinding]) -> None:
        """Show that findings are closed, all on one list at once; what cannot be shown is left to the next beat."""
        for is_listed, posted in dict.fromkeys((each.is_listed, each.posted) for each in closed):
            those = [each for each in closed if (each.is_listed, each.posted) == (is_listed, posted)]
            if is_listed and posted is not None and not self._sender.show_list(posted):
                continue
            for finding in those:
                if is_listed or self._sender.show(finding):
                    self._save(finding.key, partial(_shown, finding))

    def _say_ok(self) -> None:
        """Say that all is well, or how many alerts are open where it is not."""
        outcome, still = self._outcome, sum(each.is_open for each in self._state().findings.values())
        count = counted(still, "alert is", "alerts are")
        text = f"Nothing new in {self._session.name}; {count} still open." if still else outcome.ok_text
        self._told = still > 0
        self._send(self._sender.say(text).evolve(reasoning=outcome.reasoning, notes=outcome.notes))

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


def _shown(was: OpenFinding, now: OpenFinding | None) -> OpenFinding:
    return (now or was).evolve(is_unshown=False)
