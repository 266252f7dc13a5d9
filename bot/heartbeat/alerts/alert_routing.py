"""Who is told what a beat found, and what is not said again.

One alert stands for one finding: it is updated in place while the finding stays, sent again only after the
de-duplication window, and closed once. Of many new findings a few get an alert each and the rest one list; on a
webhook, where nobody is rung, each is posted. What was sent is on file once the surface confirmed it; a click that
comes meanwhile is neither lost nor painted over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from bot.domain.heartbeats.alerts import FLAGS, Alert, OpenFinding, Place, Posted, Removal, headline_of
from bot.domain.heartbeats.beats import Delivered, Finding, Wake
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.severity import SIGNS
from bot.domain.text.humanize import counted
from bot.domain.tiers import Tier
from bot.errors import ProviderError, StoreError, Unavailable, failure_kind
from bot.heartbeat.sessions.session_registry import Session, SessionMemory
from bot.ports import Clock, Surface

log = logging.getLogger(__name__)

UNDONE_WITHIN: Final = timedelta(days=1)
"""How long a removal of a check can be undone so that what was said of its finding still counts."""

ALERTS_AT_ONCE: Final = 5
"""How often one beat rings at most, the list included."""

LISTED: Final = 30
"""Lines of a list: so many fit a Telegram message."""


REASONING_CHARS = 1_500
NOTES, NOTE_CHARS = 10, 900
"""What is kept of the small print, so that a card can be drawn again as it was."""

SLACK_PLACES: Final = ("C", "D", "G")
SHOWN_TWICE: Final = 2
"""So often an alert is shown where a click comes while it is being shown."""

NOWHERE: Final = Delivered(mode="none", channel=None, to=None)

Note = Callable[[OpenFinding, Posted], OpenFinding]
"""Takes a finding as it stands once its alert was sent, and where that is; returns it with what is to be noted."""


def split_for_digest(ringing: Sequence[OpenFinding]) -> tuple[list[OpenFinding], list[OpenFinding]]:
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
    if finding.removed is not None:
        return "➖ not checked any more:"
    if not finding.is_open:
        return "➖ resolved:"
    return f"👀 <@{finding.acknowledged_by}> has it:" if finding.acknowledged_by else SIGNS[finding.severity]


def is_private_route(route: Delivered) -> bool:
    """Whether only the owner reads there: a DM, or a Telegram chat with one person (its id is positive).

    >>> is_private_route(Delivered(mode="explicit", channel="telegram", to="-1001"))
    False
    """
    to = route.to or ""
    if route.channel == "slack":
        return to[:1] in ("U", "W", "D", "S")  # of a group, each member is told in their direct messages
    return route.channel == "telegram" and to.isdigit()


def redact_route(route: Delivered) -> Delivered:
    """Return a route as it may be written down: the path of a webhook is a secret."""
    if route.channel != "webhook" or not route.to:
        return route
    address = urlsplit(route.to)
    return route.model_copy(update={"to": f"{address.scheme}://{address.netloc.rpartition('@')[2]}"})


def destination(route: Delivered) -> str:
    """Return what stamps of a route are kept under."""
    return f"{route.channel}:{redact_route(route).to}"


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatOutcome:
    """What a beat has to tell.

    `findings` is what it sees now; of the checks and finding keys in `checked` everything else that was open is
    gone. `standing` are the checks that are still made: what is open of any other is closed without a word that all is
    well (None: not known). `removals` says who took which check out; a finding whose key stands there is closed, too.
    `ok_text` is said where the session asks to hear that all is well.
    """

    findings: tuple[Finding, ...]
    checked: frozenset[str]
    at: datetime
    wake: Wake
    tier: Tier | None
    ok_text: str = ""
    reasoning: str | None = None
    notes: tuple[str, ...] = ()
    standing: frozenset[str] | None = None
    removals: Mapping[str, Removal] = field(default_factory=dict)
    is_file_gone: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class DeliveryResult:
    """What was said: `delivered` is None where nothing was; `problem` is why something could not be.

    `problem_kind` is the code of the problem (`failure_kind`); `is_refused`: only a person can mend it.
    """

    delivered: Delivered | None = None
    preview: str = ""
    suppressed: tuple[str, ...] = ()
    problem: str | None = None
    problem_kind: str = ""
    is_refused: bool = False
    says_ok: bool = False

    @property
    def silent(self) -> bool:
        """Whether nobody heard anything."""
        return self.delivered is None


def seen_and_ended(
    state: SessionState, outcome: BeatOutcome, *, is_unshown: bool
) -> tuple[list[OpenFinding], list[OpenFinding]]:
    """Return what a beat sees as it stands then, and what it closes: gone from a check that was made, or without it.

    What it closes forgets its stamps, and is `is_unshown`.
    """
    seen = [_as_seen(each, outcome, state.findings.get(each.key)) for each in outcome.findings]
    now, ended = {each.key for each in seen}, list[OpenFinding]()
    unknown = Removal(at=outcome.at, is_file_gone=outcome.is_file_gone)
    for each in state.findings.values():
        if not each.is_remembered or each.key in now:
            continue
        closed = each.evolve(stamps={}, is_unshown=is_unshown)
        if not outcome.checked.isdisjoint((each.task, each.key)):
            ended.append(closed.evolve(resolved_at=outcome.at, snoozed_until=None, removed=None))
        elif each.is_open and (why := outcome.removals.get(each.key)):
            ended.append(closed.evolve(removed=why))
        elif each.is_open and outcome.standing is not None and each.task not in outcome.standing:
            ended.append(closed.evolve(removed=outcome.removals.get(each.task, unknown)))
    return seen, ended


def _as_seen(found: Finding, outcome: BeatOutcome, known: OpenFinding | None) -> OpenFinding:
    """Return a finding as it stands now; one that was closed begins anew.

    One whose check was out of the playbook for a day at most goes on: whoever acknowledged or snoozed it has not taken
    that back; if nobody has, it rings. One that became more urgent is nobody's yet, and rings. Either waits anew, and
    is escalated anew. A beat with nothing to add leaves the small print of an earlier one.
    """
    at, severity = outcome.at, found.severity
    was_removed = known.removed if known else None
    is_long_gone = was_removed is not None and at - was_removed.at > UNDONE_WITHIN
    if known is not None and was_removed is not None:
        known = known.waiting_anew(max(at, known.snoozed_until or at)).evolve(first_at=at, escalated_at=None)
    if known is None or not known.is_remembered or is_long_gone:
        known = OpenFinding(key=found.key, task=found.task or "", severity=severity, text="", first_at=at, last_at=at)
    elif severity.rank < known.severity.rank:
        known = known.waiting_anew(at).evolve(severity=severity, acknowledged_by=None, snoozed_until=None, stamps={})
    notes = tuple(note[:NOTE_CHARS] for note in outcome.notes[:NOTES])
    return known.evolve(
        text=found.text,
        notes=notes or known.notes,
        reasoning=(outcome.reasoning or "")[:REASONING_CHARS] or known.reasoning,
        last_at=max(at, known.last_at),
        removed=None,
    )


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
    route: Delivered = NOWHERE
    wake: Wake = Wake.INTERVAL
    tier: Tier | None = None
    is_owners: bool = True

    @property
    def reaches_somebody(self) -> bool:
        """Whether there is anybody at the end of the route."""
        return bool(self.route.to) and self.route.channel in self.surfaces

    @property
    def rings_people(self) -> bool:
        """Whether each message rings somebody; a webhook's receiver rings by itself."""
        return self.reaches_somebody and self.route.channel != "webhook"

    def say(self, about: OpenFinding | str, **more: object) -> Alert:
        """Return the alert of a finding, or of a text that is about none, at this moment."""
        name, text = self.session.name, about if isinstance(about, str) else about.text
        alert = Alert(
            session_id=self.session.id, session_name=name, text=text, at=self.at, wake=self.wake, tier=self.tier
        )
        if isinstance(about, OpenFinding):
            more = {"finding": about, "reasoning": about.reasoning, "notes": about.notes}
        return alert.evolve(**more)

    def say_list(self, listed: Sequence[OpenFinding]) -> Alert:
        """Return the alert of a list of findings as they stand now."""
        return self.say(digest_text(self.session.id, listed), listed=tuple(listed))

    def post(self, alert: Alert) -> Posted:
        """Say an alert and return where it stands.

        Raises:
            ProviderError: nobody can be told, or the surface did not confirm it.
        """
        if not self.reaches_somebody:
            raise ProviderError(f"{self.session.id} has no owner who can be told: {alert.text}")
        return self.surfaces[str(self.route.channel)].send(str(self.route.to), alert)

    def send(self, alert: Alert, note: Note = lambda finding, _: finding) -> None:
        """Send an alert; each of its findings is stamped and noted by `note`, and a click that came meanwhile is shown.

        Raises:
            ProviderError: as `post`; nothing was noted.
        """
        posted, noted = self.post(alert), list[OpenFinding]()

        def sent(state: SessionState) -> SessionState:
            noted[:] = [self._stamped(note(state.findings.get(each.key, each), posted)) for each in alert.findings]
            is_place = self.is_owners and is_private_route(self.route)
            place = {"last_place": self.route, "last_owner": self.session.owner} if is_place else {}
            return state.with_findings(*noted).evolve(last_sent=self.at, **place)

        self.store.save(self.session.id, sent)
        for each in noted:
            if not each.waits(self.at):
                self.show(each)

    def _stamped(self, finding: OpenFinding) -> OpenFinding:
        """Return a finding as it was sent just now: its snooze is over, unless it was snoozed meanwhile."""
        until = finding.snoozed_until if finding.is_snoozed(self.at) else None
        stamps = {**finding.stamps, destination(self.route): self.at} if finding.is_open else finding.stamps
        return finding.evolve(stamps=stamps, snoozed_until=until)

    def show(self, finding: OpenFinding, clicked: Place | None = None) -> ProviderError | None:
        """Bring a finding's alert, or the list it is on, up to date wherever it stands; a click meanwhile is shown too.

        `clicked` is a card to show first. Returns why that, or the first place, is not up to date; what only time can
        mend stays `is_unshown`.
        """
        is_list, places = finding.is_listed and clicked is None, finding.posted.all if finding.posted else ()
        if clicked is not None:
            places = (clicked, *(() if finding.is_listed else places))
        shown, problem = dict[str, OpenFinding](), None
        for _ in range(SHOWN_TWICE):
            known = self.store.load(self.session.id).findings
            listed = {key: each for key, each in known.items() if each.is_listed and each.posted == finding.posted}
            now = listed if is_list else {finding.key: known.get(finding.key, finding)}
            if now == shown:
                break
            stands = list(now.values())
            problem, shown = self._update(places, self.say_list(stands) if is_list else self.say(stands[0])), now
        if any(each.is_unshown for each in shown.values()) and not isinstance(problem, Unavailable):
            self.store.save(self.session.id, lambda state: state.with_findings(*_shown(state, shown)))
        return problem

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


def _shown(state: SessionState, shown: Collection[str]) -> list[OpenFinding]:
    return [each.evolve(is_unshown=False) for key, each in state.findings.items() if key in shown]


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
            return NOWHERE
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
            route=other or self.route(session, self._store.load(session.id)) or NOWHERE,
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
            has_way = self.route(session, self._store.load(session.id)) is not None
            sender = self.sender(session, self._clock.now(), to="" if has_way else session.owner)
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
        self._said: list[str] = []
        self._has_news = False
        self._problem: ProviderError | None = None

    def notify(self) -> DeliveryResult:
        """Note what is seen and what is gone, say, update and close; returns what was said."""
        outcome, sender, suppressed = self._outcome, self._sender, list[str]()
        seen = self._look()
        loud = [each for each in seen if sender.reaches_somebody and self._is_loud(each)]
        listed = split_for_digest(loud)[1] if sender.rings_people else []
        if listed:
            self._send(sender.say_list(listed), is_listed=True)
        apart = {each.key for each in listed}
        alone = {each.key for each in loud} - apart
        for finding in seen:
            if finding.sent_at == outcome.at:  # said by this very beat, before a crash
                self._note(finding.text, is_news=True)
            elif finding.key in alone:
                self._send(sender.say(finding.to_ring_anew()))
            elif finding.key not in apart:
                suppressed.append(finding.key)
                if not finding.is_listed:
                    sender.show(finding)
        self._show_closed()
        if outcome.ok_text and not self._said and sender.reaches_somebody and sender.session.beat.visibility.show_ok:
            self._say_ok()
        unsaid = outcome.findings[0].text if outcome.findings else outcome.ok_text
        return DeliveryResult(
            delivered=redact_route(sender.route) if self._said else None,
            preview=self._said[0] if self._said else unsaid,
            suppressed=tuple(suppressed),
            says_ok=bool(self._said) and not self._has_news,
            problem=str(self._problem) if self._problem else None,
            problem_kind=failure_kind(self._problem) if self._problem else "",
            is_refused=self._problem is not None and not isinstance(self._problem, Unavailable),
        )

    def _look(self) -> list[OpenFinding]:
        """Note what the beat sees and closes; return what it sees."""
        outcome, seen = self._outcome, list[OpenFinding]()

        def look(state: SessionState) -> SessionState:
            seen[:], gone = seen_and_ended(state, outcome, is_unshown=self._sender.session.beat.visibility.show_alerts)
            return state.with_findings(*gone, *seen)

        self._sender.store.save(self._sender.session.id, look)
        return seen  # not read back: of very many findings not all are kept

    def _is_loud(self, finding: OpenFinding) -> bool:
        """Whether a finding rings: nobody has it, it is wanted, and was not said a while ago or its snooze is over."""
        beat, to = self._sender.session.beat, destination(self._sender.route)
        is_known = finding.snoozed_until is None and finding.was_sent(to, self._outcome.at, beat.dedupe_window)
        return beat.visibility.show_alerts and finding.waits(self._outcome.at) and not is_known

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
        else:
            self._note(alert.text, is_news=bool(alert.findings))

    def _note(self, text: str, *, is_news: bool) -> None:
        self._said.append(text)
        self._has_news |= is_news

    def _show_closed(self) -> None:
        """Show that findings are closed; while their surface is away, that is left to the next beat."""
        for key in [each.key for each in self._known().values() if each.is_unshown]:
            gone = self._known().get(key)  # others on its list may have been shown with it
            if gone and gone.is_unshown and isinstance(self._sender.show(gone), Unavailable):
                return

    def _say_ok(self) -> None:
        """Say that all is well, or how many alerts are open where it is not."""
        outcome, still = self._outcome, sum(each.is_open for each in self._known().values())
        count = counted(still, "alert is", "alerts are")
        text = f"Nothing new in {self._sender.session.name}; {count} still open." if still else outcome.ok_text
        self._has_news = still > 0
        self._send(self._sender.say(text, reasoning=outcome.reasoning, notes=outcome.notes))

    def _known(self) -> Mapping[str, OpenFinding]:
        return self._sender.store.load(self._sender.session.id).findings
