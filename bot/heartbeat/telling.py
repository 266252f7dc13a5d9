"""One outcome on its way over one surface: what is new is said, what stands is brought up to date, what is gone closed.

What was sent is remembered only when the surface confirmed it; everything is saved as it goes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from bot.domain.alerts import Alert, Posted
from bot.domain.beats import Delivered, Finding, Wake
from bot.domain.session import OpenFinding, SessionState, is_still_silent
from bot.domain.tiers import Tier
from bot.errors import ProviderError
from bot.heartbeat.findings import LONGEST_SNOOZE
from bot.heartbeat.places import is_private, public
from bot.heartbeat.session import Session
from bot.ports import SessionStore, Surface

log = logging.getLogger(__name__)

PREVIEW_CHARS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What a beat has to tell.

    `findings` is what it sees now; of the tasks in `checked` everything else that was open is gone. `ok_text` is said
    where the session asks to hear that all is well.
    """

    findings: tuple[Finding, ...]
    checked: frozenset[str]
    at: datetime
    wake: Wake
    tier: Tier | None
    ok_text: str = ""
    reasoning: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What was said: `delivered` is None where nothing was; `problem` is why something could not be."""

    delivered: Delivered | None = None
    preview: str = ""
    suppressed: tuple[str, ...] = ()
    problem: str | None = None
    says_ok: bool = False

    @property
    def silent(self) -> bool:
        """Whether nobody heard anything."""
        return self.delivered is None


class Telling:
    """One outcome on its way over one surface."""

    def __init__(
        self, session: Session, outcome: Outcome, route: Delivered, surface: Surface, store: SessionStore
    ) -> None:
        self._session, self._outcome, self._route = session, outcome, route
        self._surface, self._store = surface, store
        self._said: list[str] = []
        self._told = False
        self._suppressed: list[str] = []
        self._problem: str | None = None

    def carry_out(self) -> Sent:
        """Say, update and close; returns what was said."""
        for found in self._outcome.findings:
            self._tell(found)
        for gone in self._gone():
            self._close(gone)
        if self._outcome.ok_text and not self._said and self._session.beat.visibility.show_ok:
            self._say_ok()
        delivered = public(self._route) if self._said else None
        return Sent(
            delivered=delivered,
            preview=self._said[0][:PREVIEW_CHARS] if self._said else preview_of(self._outcome),
            suppressed=tuple(self._suppressed),
            says_ok=bool(self._said) and not self._told,
            problem=self._problem,
        )

    def _tell(self, found: Finding) -> None:
        finding = self._save(found.key, lambda known: seen(known, found, self._outcome.at))
        if self._is_quiet(finding):
            self._suppressed.append(found.key)
            self._update(finding)
            return
        posted = self._send(self._alert(finding.evolve(snoozed_until=None)))
        if posted is not None:
            self._told = True
            self._confirm(finding, posted)

    def _confirm(self, finding: OpenFinding, posted: Posted) -> None:
        """Remember a send that the surface confirmed; what a human clicked meanwhile stands."""
        at, window = self._outcome.at, self._session.beat.dedupe_window
        where = {"place": posted.place, "reference": posted.reference, "sent_at": at, "snoozed_until": None}

        def note(state: SessionState) -> SessionState:
            now = state.findings.get(finding.key, finding).evolve(**where)
            stamps = state.sent.pruned(at, window)
            if now.is_open:
                stamps = stamps.stamped(finding.key, finding.text, self._destination(), at)
            last = self._route if is_private(self._route) else state.last_place
            return state.with_findings(now).evolve(
                sent=stamps, last_sent=at, last_place=last, last_owner=self._session.owner
            )

        self._store.save(self._session.id, note)

    def _is_quiet(self, finding: OpenFinding) -> bool:
        """Whether a finding is known well enough: acknowledged, snoozed, said a while ago, or not wanted."""
        if not self._session.beat.visibility.show_alerts or finding.acknowledged_by:
            return True
        at = self._outcome.at
        if finding.snoozed_until is not None:
            # one that is over rings again, window or not
            return is_still_silent(finding.snoozed_until, at, LONGEST_SNOOZE)
        stamps, window = self._store.load(self._session.id).sent, self._session.beat.dedupe_window
        return stamps.is_repeat(finding.key, finding.text, self._destination(), at, window)

    def _destination(self) -> str:
        return f"{self._route.channel}:{public(self._route).to}"

    def _save(self, key: str, change: Callable[[OpenFinding | None], OpenFinding]) -> OpenFinding:
        """Change what is on file of a finding, as it stands at that moment; return how it stands then."""
        changed: list[OpenFinding] = []

        def note(state: SessionState) -> SessionState:
            changed[:] = [change(state.findings.get(key))]
            return state.with_findings(*changed)

        self._store.save(self._session.id, note)
        return changed[0]  # not read back: of very many findings not all are kept

    def _gone(self) -> Iterable[OpenFinding]:
        """Return what was open in the tasks that were checked and is not seen any more."""
        now = {found.key for found in self._outcome.findings}
        known = self._store.load(self._session.id).findings.values()
        return [each for each in known if each.is_open and each.task in self._outcome.checked and each.key not in now]

    def _close(self, finding: OpenFinding) -> None:
        """Close a finding that is gone, once; should it come back, that is news whatever the window says."""
        ended = {"resolved_at": self._outcome.at, "snoozed_until": None}
        closed = self._save(finding.key, lambda now: now.evolve(**ended) if now and now.is_open else now or finding)
        if closed.fixed_by:
            return  # said so by a human a moment ago
        self._store.save(self._session.id, lambda now: now.evolve(sent=now.sent.without(closed.key, closed.text)))
        if closed.reference is not None and self._session.beat.visibility.show_alerts:
            self._update(closed)

    def _say_ok(self) -> None:
        self._send(self._alert(None, text=self._outcome.ok_text))

    def _alert(self, finding: OpenFinding | None, *, text: str = "") -> Alert:
        reasoning = self._outcome.reasoning if self._session.beat.include_reasoning else None
        return Alert(
            session_id=self._session.id,
            session_name=self._session.name,
            text=finding.text if finding else text,
            finding=finding,
            reasoning=reasoning,
            notes=self._outcome.notes,
            at=self._outcome.at,
            wake=self._outcome.wake,
            tier=self._outcome.tier,
        )

    def _send(self, alert: Alert) -> Posted | None:
        try:
            posted = self._surface.send(str(self._route.to), alert)
        except ProviderError as error:
            log.warning("alert not sent", extra={"action": "alert_unsent", "session": self._session.id}, exc_info=True)
            self._problem = str(error)
            return None
        self._said.append(alert.text)
        return posted

    def _update(self, finding: OpenFinding) -> None:
        """Bring an alert that stands up to date; one that cannot be is no reason to fail."""
        if finding.place is None or finding.reference is None:
            return
        try:
            self._surface.update(str(self._route.to), Posted(finding.place, finding.reference), self._alert(finding))
            self._show_a_click_meanwhile(finding)
        except ProviderError:
            log.warning(
                "alert not updated", extra={"action": "alert_stale", "session": self._session.id}, exc_info=True
            )

    def _show_a_click_meanwhile(self, shown: OpenFinding) -> None:
        """Show a click again that came between our look and our update, which has painted it over."""
        now = self._store.load(self._session.id).findings.get(shown.key, shown)
        if now != shown and shown.is_open:
            self._surface.update(str(self._route.to), Posted(str(shown.place), str(shown.reference)), self._alert(now))


def seen(known: OpenFinding | None, found: Finding, at: datetime) -> OpenFinding:
    """Return a finding as it stands now; one that was closed begins anew."""
    if known is None or not known.is_open:
        return OpenFinding(key=found.key, task=found.task or "", text=found.text, first_at=at, last_at=at)
    return known.evolve(text=found.text, last_at=max(at, known.last_at))


def preview_of(outcome: Outcome) -> str:
    """Return the words a record shows of an outcome nobody was told."""
    return (outcome.findings[0].text if outcome.findings else outcome.ok_text)[:PREVIEW_CHARS]
