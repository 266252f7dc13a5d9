"""Who is told what a beat found, and what is not said again.

One alert stands for one finding: it is updated in place while the finding stays, sent again only after the
de-duplication window, and closed once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from bot.domain.heartbeats.alerts import Alert
from bot.domain.heartbeats.beats import Delivered, Wake
from bot.domain.heartbeats.session_state import SessionState
from bot.errors import ProviderError, StoreError, Unavailable
from bot.heartbeat.alerts.notifications import BeatOutcome, DeliveryResult, as_seen, ended, preview_of
from bot.heartbeat.alerts.notifier import Notifier
from bot.heartbeat.sessions.owners import Owners, OwnerZones
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
        owners: Owners,
        zones: OwnerZones,
        clock: Clock,
        *,
        say: Callable[[str], None],
    ) -> None:
        self._surfaces, self._store, self._owners = surfaces, store, owners
        self._zones, self._clock, self._say = zones, clock, say
        self._elsewhere = surfaces.keys() - {"slack"}  # in Slack an owner is reached by their id, whoever was before

    def route(self, session: Session, state: SessionState) -> Delivered | None:
        """Return where the session's alerts go, or None if there is no way; mode `none` goes to the log alone."""
        said, owner = session.beat.deliver, self._owners.on_duty(session)
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
        owner = self._owners.on_duty(session)
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
        route = route or Delivered(mode="last", channel="slack", to=self._owners.on_duty(session))
        surface = self.surface(route)
        if surface is None or route.mode == "none":
            raise ProviderError(f"{session.id} has no owner who can be told: {text}")
        at, name = self._clock.now(), session.name
        alert = Alert(session_id=session.id, session_name=name, text=text, at=at, wake=Wake.INTERVAL)
        surface.send(str(route.to), alert)

    def _remember(self, session: Session, outcome: BeatOutcome) -> None:
        reasoned = session.beat.include_reasoning

        def note(state: SessionState) -> SessionState:
            known = state.findings
            found = (as_seen(known.get(each.key), each, outcome, reasoned=reasoned) for each in outcome.findings)
            return state.with_findings(*ended(state, outcome), *found)

        self._store.save(session.id, note)
