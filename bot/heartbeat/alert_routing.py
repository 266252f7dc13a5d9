"""Who is told what a beat found, and what is not said again.

One alert stands for one finding: it is updated in place while the finding stays, sent again only after the
de-duplication window, and closed once. Of many new findings a few get an alert each and the rest one list; on a
webhook, where nobody is rung, each is posted. What was sent is on file once the surface confirmed it; a click that
comes meanwhile is neither lost nor painted over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.domain.alerts import SIGNS
from bot.domain.heartbeats.alerts import (
    FLAGS,
    Alert,
    BeatOutcome,
    OpenFinding,
    Place,
    endings_to_say,
    headline_of,
)
from bot.domain.heartbeats.beats import Delivered
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.text.humanize import counted
from bot.errors import ProviderError, StoreError, Unavailable
from bot.heartbeat.session_registry import Session, SessionMemory
from bot.ports import Clock, Surface

log = logging.getLogger(__name__)

ALERTS_AT_ONCE: Final = 5
"""How often one beat rings at most, the list included."""

POSTED_AT_ONCE: Final = 50
"""How many findings one beat posts at most where nobody is rung; the next beat posts more."""

LISTED: Final = 30
"""Lines of a list: so many fit a Telegram message."""

SHOWN_TWICE: Final = 2
"""So often an alert is shown where a click comes while it is being shown."""

NOWHERE: Final = Delivered(mode="none", channel=None, to=None)


def split_for_digest(ringing: Iterable[OpenFinding]) -> tuple[list[OpenFinding], list[OpenFinding]]:
    """Return the findings with an alert of their own, the most urgent first, and those for the list: none, or two up.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 3, 1, tzinfo=UTC)
    >>> many = [OpenFinding(key=str(n), task="ci", text="red", first_at=at, last_at=at) for n in range(7)]
    >>> [len(part) for part in split_for_digest(many)], [len(part) for part in split_for_digest(many[:5])]
    ([4, 3], [5, 0])
    """
    ordered = sorted(ringing, key=lambda each: (each.severity.rank, each.task != FLAGS))
    if len(ordered) <= ALERTS_AT_ONCE:
        return ordered, []
    return ordered[: ALERTS_AT_ONCE - 1], ordered[ALERTS_AT_ONCE - 1 :]


def digest_text(session_id: str, listed: Sequence[OpenFinding]) -> str:
    """Return the list as Markdown: how many are left, a line for each, and where the rest can be read."""
    left = sum(each.is_open for each in listed)
    count = f"{len(listed)} findings" if left == len(listed) else f"{left} of {len(listed)} findings still open"
    said = (
        "Too many findings for separate alerts. This list is sent again like any alert; resolved ones are named here."
    )
    ordered = sorted(listed, key=lambda each: each.severity.rank)
    lines = [f"- {_sign(each)} {headline_of(each.text)}" for each in ordered[:LISTED]]
    if rest := len(listed[LISTED:]):
        lines.append(f"\n… and {rest} more: `/triage heartbeat why {session_id}` names the run that reported them.")
    return "\n".join([f"{count} on one list", said, "", *lines])


def _sign(finding: OpenFinding) -> str:
    if not finding.is_open:
        return "➖ not checked any more:" if finding.removed else "➖ resolved:"
    return f"👀 <@{finding.acknowledged_by}> has it:" if finding.acknowledged_by else SIGNS[finding.severity]


def surface_of(place: str) -> str:
    """Return the name of the surface that an alert stands on.

    >>> surface_of("D024BE91L"), surface_of("webhook"), surface_of("-1001")
    ('slack', 'webhook', 'telegram')
    """
    if place.startswith(("C", "D", "G")):
        return "slack"
    return "webhook" if place == "webhook" else "telegram"


def alert_of(session: Session, about: OpenFinding | Sequence[OpenFinding] | str, at: datetime) -> Alert:
    """Return the alert of a finding, of a list of them, or of a text that is about none, at a moment."""
    alert = Alert(session_id=session.id, session_name=session.name, text="", at=at)
    if isinstance(about, str):
        return alert.evolve(text=about)
    if isinstance(about, OpenFinding):
        return alert.evolve(text=about.text, finding=about, reasoning=about.reasoning, notes=about.notes)
    return alert.evolve(text=digest_text(session.id, about), listed=tuple(about))


@dataclass(frozen=True, kw_only=True, slots=True)
class DeliveryResult:
    """What was said: `delivered` is None where nothing was; `problem` is why something could not be."""

    delivered: Delivered | None = None
    preview: str = ""
    suppressed: tuple[str, ...] = ()
    problem: ProviderError | None = None
    says_ok: bool = False

    @property
    def silent(self) -> bool:
        """Whether nobody heard anything."""
        return self.delivered is None

    @property
    def is_refused(self) -> bool:
        """Whether something could not be said, and only a person can mend it."""
        return self.problem is not None and not isinstance(self.problem, Unavailable)


class AlertRouter:
    """Speaks to the owners of sessions over `surfaces` (by the names of the settings), and keeps alerts up to date.

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
            return NOWHERE
        channel, to = said.channel, said.to
        if said.mode == "last":
            channel, to = "slack", session.owner
            if last and last.channel != "slack" and last.channel in self._surfaces and state.last_owner == to:
                channel, to = last.channel, last.to
        return Delivered(mode=said.mode, channel=channel, to=to) if to and channel in self._surfaces else None

    def deliver(self, session: Session, outcome: BeatOutcome) -> DeliveryResult:
        """Say what is new, bring up to date what stands, close what is gone; the state is saved as it goes."""
        seen, state = self._look(session, outcome)
        route = self.route(session, state) or NOWHERE
        told, loud, quiet = list[OpenFinding](), list[OpenFinding](), list[OpenFinding]()
        for each in seen:
            if each.sent_at == outcome.at:  # said by this very beat, before a crash
                told.append(each)
            else:
                (loud if self._is_loud(session, each, route, outcome.at) else quiet).append(each)
        alone, listed = split_for_digest(loud) if route.rings_people else (loud[:POSTED_AT_ONCE], [])
        alerts = [alert_of(session, listed, outcome.at)] if listed else []
        alerts += [alert_of(session, each.to_ring_anew(), outcome.at) for each in alone]
        said, problem = self._send_each(session, alerts, route)
        said = [*(each.text for each in told), *said]
        for finding in quiet:
            if finding.places and not finding.is_listed:
                self.show(session, finding)
        self.show_unshown(session)
        says_ok, shows = False, session.beat.visibility
        if outcome.ok_text and route.to and shows.show_ok and not said and (shows.show_alerts or not seen):
            alert = self._calm(session, outcome)
            said, failed = self._send_each(session, [alert], route)
            says_ok, problem = bool(said) and alert.is_well, failed or problem
        unsaid = outcome.findings[0].text if outcome.findings else outcome.ok_text
        return DeliveryResult(
            delivered=route.redacted if said else None,
            preview=said[0] if said else unsaid,
            suppressed=tuple(each.key for each in quiet),
            says_ok=says_ok,
            problem=problem,
        )

    def send(self, session: Session, alert: Alert, route: Delivered, *, is_next: bool = False, **noted: object) -> None:
        """Send an alert; its findings are stamped and get what is `noted`. A click that came meanwhile is shown.

        `is_next`: it goes to somebody beside the owner, whose own alerts stand as they are.

        Raises:
            ProviderError: nobody can be told, or the surface did not confirm it; nothing was noted.
        """
        places, sent = self._post(session, alert, route), list[OpenFinding]()

        def note(state: SessionState) -> SessionState:
            stands = (state.findings.get(each.key, each) for each in alert.findings)
            if is_next:
                placed = [each.also_at(places) for each in stands]
            else:
                placed = [each.standing_at(places, is_listed=bool(alert.listed)) for each in stands]
            sent[:] = [each.stamped(route.destination, alert.at).evolve(**noted) for each in placed]
            is_place = route.is_private and not is_next
            last = {"last_place": route, "last_owner": session.owner} if is_place else {}
            return state.with_findings(*sent).evolve(last_sent=alert.at, **last)

        self._store.save(session.id, note)
        for each in sent:
            if not each.waits(alert.at):
                self.show(session, each)

    def show(self, session: Session, finding: OpenFinding, clicked: Place | None = None) -> ProviderError | None:
        """Bring a finding's alert, or the list it is on, up to date wherever it stands; a click meanwhile is shown too.

        `clicked` is a card to show first. Returns why that, or the first place, is not up to date; what only time can
        mend stays `is_unshown`, as does an end that somebody else is saying below the card.
        """
        is_list, places = finding.is_listed, finding.places
        if clicked is not None and not is_list:
            places = tuple(dict.fromkeys((clicked, *places)))
        shown, problem, claimed = list[OpenFinding](), None, frozenset[str]()
        for _ in range(SHOWN_TWICE):
            known = self._store.load(session.id).findings
            listed = [each for each in known.values() if each.is_listed and each.places == places]
            now = [
                each.evolve(closing_since=None) for each in (listed if is_list else [known.get(finding.key, finding)])
            ]
            if now == shown:
                break
            claimed = claimed or self._claim_endings(session, {each.key for each in now if each.is_ending_unsaid})
            shown, view = now, [each.evolve(is_unshown=each.key in claimed) for each in now]
            problem = self._update(session, places, alert_of(session, view if is_list else view[0], self._clock.now()))
        said = [each.key for each in shown if not each.is_ending_unsaid or each.key in claimed]
        if any(each.is_unshown for each in shown) and not isinstance(problem, Unavailable):
            self._store.save(session.id, lambda state: state.with_shown(said))
        return problem

    def _claim_endings(self, session: Session, keys: Collection[str]) -> frozenset[str]:
        """Claim, of these findings, the ends that nobody else is saying; a claim is on file before anything is said."""
        if not keys:
            return frozenset()
        claimed, at = set[str](), self._clock.now()

        def claim(state: SessionState) -> SessionState:
            mine = endings_to_say([each for key, each in state.findings.items() if key in keys], at)
            claimed.clear()
            claimed.update(each.key for each in mine)
            return state.with_findings(*(each.evolve(closing_since=at) for each in mine))

        self._store.save(session.id, claim)
        return frozenset(claimed)

    def tell_owner_or_ops(self, session: Session, text: str) -> None:
        """Say one line to the owner about the beats themselves, or to the ops channel where no owner can be told.

        Where the session's own way is not there, the owner is told in Slack; where its state cannot be read, nobody
        knows the way, and the ops channel is told.

        Raises:
            Unavailable: only time is missing; the owner is to be told later.
        """
        try:
            in_slack = Delivered(mode="explicit", channel="slack", to=session.owner)
            route = self.route(session, self._store.load(session.id)) or in_slack
            self._post(session, alert_of(session, text, self._clock.now()), route)
        except Unavailable:
            raise
        except (ProviderError, StoreError) as error:
            log.warning("an owner cannot be told: %s", error, extra={"action": "owner_untold", "session": session.id})
            self._say(text if session.id in text else f"{session.id}: {text}")

    def _look(self, session: Session, outcome: BeatOutcome) -> tuple[list[OpenFinding], SessionState]:
        """Note what the beat sees and closes; return what it sees, and the state."""
        seen = list[OpenFinding]()

        def look(state: SessionState) -> SessionState:
            seen[:] = outcome.seen(state.findings)
            return state.with_findings(*outcome.ended(state.findings), *seen)

        state = self._store.save(session.id, look)
        return seen, state  # not read back: of very many findings not all are kept

    def _is_loud(self, session: Session, finding: OpenFinding, route: Delivered, at: datetime) -> bool:
        """Whether a finding rings: nobody has it, it is wanted, and was not said a while ago or its snooze is over."""
        window = session.beat.dedupe_window
        is_known = finding.snoozed_until is None and finding.was_sent(route.destination, at, window)
        return bool(route.to) and session.beat.visibility.show_alerts and finding.waits(at) and not is_known

    def _send_each(
        self, session: Session, alerts: Iterable[Alert], route: Delivered
    ) -> tuple[list[str], ProviderError | None]:
        """Send alerts of a beat; return what was said, and why something was not."""
        said, problem = list[str](), None
        for alert in alerts:
            try:
                self.send(session, alert, route, sent_at=alert.at, rung_at=None)
            except ProviderError as error:
                log.warning("alert not sent", extra={"action": "alert_unsent", "session": session.id}, exc_info=True)
                problem = error
            else:
                said.append(alert.text)
        return said, problem

    def show_unshown(self, session: Session) -> None:
        """Show what cards do not say yet; while their surface is away, that is left to the next time."""
        unshown = [each for each in self._store.load(session.id).findings.values() if each.is_unshown and each.places]
        for one_of_card in {each.places: each for each in unshown}.values():
            if isinstance(self.show(session, one_of_card), Unavailable):
                return

    def _calm(self, session: Session, outcome: BeatOutcome) -> Alert:
        """Return the line that all is well, or how many alerts are open where it is not."""
        still = sum(each.is_open for each in self._store.load(session.id).findings.values())
        count = counted(still, "alert is", "alerts are")
        text = f"Nothing new in {session.name}; {count} still open." if still else outcome.ok_text
        alert = alert_of(session, text, outcome.at)
        return alert.evolve(is_well=not still, reasoning=outcome.reasoning, notes=outcome.notes)

    def _post(self, session: Session, alert: Alert, route: Delivered) -> Sequence[Place]:
        """Say an alert and return where it stands; raises ProviderError."""
        surface = self._surfaces.get(route.channel or "")
        if surface is None or not route.to:
            raise ProviderError(f"{session.id} has no owner who can be told: {alert.text}")
        return surface.send(route.to, alert)

    def _update(self, session: Session, places: Iterable[Place], alert: Alert) -> ProviderError | None:
        """Show an alert as it stands, over the surface of each place; returns why the first is not up to date."""
        deliver, problem = session.beat.deliver, None
        for number, (to, reference) in enumerate(places):
            surface = surface_of(to)
            is_gone = surface == "webhook" and deliver.channel != surface
            if is_gone or surface not in self._surfaces:
                continue
            at = (str(deliver.to) if surface == "webhook" else to, reference)
            try:
                self._surfaces[surface].update(at, alert)
            except ProviderError as error:
                extra = {"action": "alert_stale", "session": session.id}
                log.warning("alert not updated", extra=extra, exc_info=True)
                problem = problem if number else error
        return problem
