"""Sends and shows the alerts of one session over one surface; what was sent is on file once the surface confirmed it.

A click that comes while something is on its way is neither lost nor painted over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.domain.heartbeats.alerts import Alert, OpenFinding, Posted
from bot.domain.heartbeats.beats import Delivered, Wake
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.tiers import Tier
from bot.errors import ProviderError, Unavailable
from bot.heartbeat.alerts.notifications import alert_about, destination, is_private_route, list_about
from bot.heartbeat.sessions.session_registry import Session, SessionMemory
from bot.ports import Surface

log = logging.getLogger(__name__)

Note = Callable[[OpenFinding, Posted], OpenFinding]
"""Takes a finding as it stands once its alert was sent, and where that is; returns it with what is to be noted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertSender:
    """Speaks to `route` for a session at a moment; `is_owners`: that is where the session's owner is reached."""

    session: Session
    route: Delivered
    surface: Surface
    store: SessionMemory
    at: datetime
    wake: Wake = Wake.INTERVAL
    tier: Tier | None = None
    is_owners: bool = True

    def say(self, about: OpenFinding | str) -> Alert:
        """Return the alert of a finding or a text at this moment."""
        return alert_about(self.session, about, at=self.at, wake=self.wake, tier=self.tier)

    def send(self, alert: Alert, note: Note = lambda finding, _: finding) -> None:
        """Send an alert; each of its findings is stamped and noted by `note`, and a click that came meanwhile is shown.

        Raises:
            ProviderError: the surface did not confirm it; nothing was noted.
        """
        posted = self.surface.send(str(self.route.to), alert)
        to, noted = destination(self.route), list[OpenFinding]()

        def sent(state: SessionState) -> SessionState:
            now = [note(state.findings.get(each.key, each), posted) for each in alert.findings]
            noted[:] = [each.evolve(stamps={**each.stamps, to: self.at}) if each.is_open else each for each in now]
            is_place = self.is_owners and is_private_route(self.route)
            place = {"last_place": self.route, "last_owner": self.session.owner} if is_place else {}
            return state.with_findings(*noted).evolve(last_sent=self.at, **place)

        self.store.save(self.session.id, sent)
        for each in noted:
            if not each.waits(self.at):
                self.show(each)

    def show(self, finding: OpenFinding) -> bool:
        """Bring a finding's alert up to date, clicks that come meanwhile too; False: to be tried again.

        One that stands on a list is shown by `show_list`.
        """
        if finding.posted is None or finding.is_listed:
            return True
        is_shown = self._update(finding.posted, self.say(finding))
        now = self.store.load(self.session.id).findings.get(finding.key, finding)
        return self._update(finding.posted, self.say(now)) if is_shown and now != finding else is_shown

    def show_list(self, posted: Posted) -> bool:
        """Bring a list up to date; False: to be tried again."""
        place = (posted.place, posted.reference)
        known = self.store.load(self.session.id).findings.values()
        listed = [each for each in known if each.is_listed and (each.place, each.reference) == place]
        return self._update(posted, list_about(self.session, listed, at=self.at, wake=self.wake))

    def _update(self, posted: Posted, alert: Alert) -> bool:
        """Show an alert as it stands; one that never can be shown is no reason to fail. False: it can be, later."""
        try:
            self.surface.update(str(self.route.to), posted, alert)
        except ProviderError as error:
            extra = {"action": "alert_stale", "session": self.session.id}
            log.warning("alert not updated", extra=extra, exc_info=True)
            return not isinstance(error, Unavailable)
        return True
