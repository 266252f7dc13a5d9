"""What a beat has to tell, which of it rings, and where alerts go. Pure.

Of many findings at once a few ring for themselves; the rest stand on one list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from bot.domain.heartbeats.alerts import FLAGS, Alert, OpenFinding, Removal, headline_of
from bot.domain.heartbeats.beats import Delivered, Finding, Wake
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.severity import SIGNS, highest
from bot.domain.tiers import Tier
from bot.heartbeat.sessions.session_registry import Session

ALERTS_AT_ONCE: Final = 5
"""How often one beat rings at most, the list included."""

UNDONE_WITHIN: Final = timedelta(days=1)
"""How long a removal of a check can be undone so that what was said of its finding still counts."""

LISTED: Final = 30
"""Lines of a list: so many fit a Telegram message."""


REASONING_CHARS = 1_500
NOTES, NOTE_CHARS = 10, 900
"""What is kept of the small print, so that a card can be drawn again as it was."""


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
    well (None: not known). `removals` says who took which check out. `ok_text` is said where the session asks to hear
    that all is well.
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


def as_seen(found: Finding, outcome: BeatOutcome, known: OpenFinding | None) -> OpenFinding:
    """Return a finding as it stands now; one that was closed begins anew.

    One whose check was out of the playbook for a day at most goes on: whoever acknowledged or snoozed it has not taken
    that back; if nobody has, it rings. One that became more urgent is nobody's yet, and rings. Either waits anew, and
    is escalated anew. A beat with nothing to add leaves the small print of an earlier one.
    """
    at = outcome.at
    seen = {"text": found.text, **_small_print(outcome)}
    was_removed = known.removed if known else None
    is_long_gone = was_removed is not None and at - was_removed.at > UNDONE_WITHIN
    if known is None or not known.is_remembered or is_long_gone:
        first = OpenFinding(
            key=found.key, task=found.task or "", severity=found.severity, text="", first_at=at, last_at=at
        )
        return first.evolve(**seen)
    severity = highest([known.severity, found.severity])  # other words make it no less urgent
    if was_removed is not None:
        known = known.waiting_anew(max(at, known.snoozed_until or at)).evolve(first_at=at, escalated_at=None)
    if severity is not known.severity:
        known = known.waiting_anew(at).evolve(acknowledged_by=None, snoozed_until=None, stamps={})
    return known.evolve(severity=severity, last_at=max(at, known.last_at), removed=None, **seen)


def ended(state: SessionState, outcome: BeatOutcome) -> Iterator[OpenFinding]:
    """Yield what a beat closes, as it stands then: gone from a check that was made, or without its check."""
    now = {found.key for found in outcome.findings}
    for each in state.findings.values():
        if not each.is_remembered or each.key in now:
            continue
        if each.task in outcome.checked or each.key in outcome.checked:
            yield each.evolve(resolved_at=outcome.at, snoozed_until=None, removed=None, stamps={})
        elif each.is_open and outcome.standing is not None and each.task not in outcome.standing:
            yield each.evolve(removed=_removal(each, outcome), stamps={})


def _removal(finding: OpenFinding, outcome: BeatOutcome) -> Removal:
    if outcome.is_file_gone:
        return Removal(at=outcome.at, is_file_gone=True)
    known = outcome.removals.get(finding.task)
    return Removal(at=outcome.at, by=known.by if known else "")


def _small_print(outcome: BeatOutcome) -> dict[str, Any]:
    notes = tuple(note[:NOTE_CHARS] for note in outcome.notes[:NOTES])
    print_ = {"notes": notes, "reasoning": (outcome.reasoning or "")[:REASONING_CHARS]}
    return {name: said for name, said in print_.items() if said}


def preview_of(outcome: BeatOutcome) -> str:
    """Return the words a record shows of an outcome nobody was told."""
    return outcome.findings[0].text if outcome.findings else outcome.ok_text


def alert_about(
    session: Session, about: OpenFinding | str, *, at: datetime, wake: Wake, tier: Tier | None = None
) -> Alert:
    """Return the alert of a finding as it stands now, or of a text that is about no finding of its own."""
    said: dict[str, Any] = {"text": about}
    if isinstance(about, OpenFinding):
        said = {"text": about.text, "finding": about, "reasoning": about.reasoning, "notes": about.notes}
    return Alert(session_id=session.id, session_name=session.name, at=at, wake=wake, tier=tier, **said)


def list_about(session: Session, listed: Sequence[OpenFinding], *, at: datetime, wake: Wake) -> Alert:
    """Return the alert of a list of findings as they stand now."""
    return alert_about(session, digest_text(session.id, listed), at=at, wake=wake).evolve(listed=tuple(listed))


def question_about(session_name: str, text: str) -> str:
    """Return the question an alert becomes in the ops channel.

    >>> question_about("Shop", "Main is red. ")
    'A heartbeat of Shop reports: Main is red.\\n\\nWhat is the cause, and what should be done?'
    """
    return f"A heartbeat of {session_name} reports: {text.strip()}\n\nWhat is the cause, and what should be done?"
