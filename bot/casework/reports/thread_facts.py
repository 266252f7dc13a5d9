"""What reports need of a thread: a row of some 500 bytes instead of the whole record, made by `facts_of`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from bot.domain.questions.autonomy import has_what_it_takes, is_harmless
from bot.domain.returns import Check, Verdict
from bot.domain.text.sanitize import one_line
from bot.domain.threads import Resolution, Round, ThreadState, ThreadStatus

_CITATION: Final = re.compile(r"ref\[\d+\]\.(?:resolves|quote)")
_CLAIM: Final = re.compile(r"claim\[\d+\]")
_EVIDENCE: Final = re.compile(r"ref\[\d+\]\.|required_evidence$|grounded$")

TEXT_CHARS: Final = 80
"""Of a question and of the reason for a dismissal."""

Pair = tuple[Round, Round]
Span = tuple[datetime, datetime | None]
"""From when until when; None: it goes on."""


class LongRun(NamedTuple):
    """What is left of a thread's latest long investigation."""

    is_done: bool
    has_return: bool


class ThreadFacts(NamedTuple):
    """One thread as reports see it."""

    thread_id: str
    chat_id: str
    question: str
    permalink: str | None
    dismiss_reason: str
    status: ThreadStatus
    resolution: Resolution | None
    started_at: datetime
    closed_at: datetime | None
    approved_at: datetime | None
    decided_after_s: float | None
    """From the card that waits to the click that approved."""
    tokens: int | None
    verdicts: tuple[Verdict, ...]
    """Of all validated rounds."""
    first_verdicts: tuple[Verdict, ...]
    """Of the validated first rounds."""
    helped: bool | None
    """Whether the second round mended what the first was bounced for; None where there was no such pair."""
    fabricated: int
    """Citations found to be false."""
    checked_rounds: int
    false_passed: int
    """Rounds that passed with a false citation."""
    is_escalated: bool
    is_watchable: bool
    """Whether a long run left a line that shows it."""
    is_own: bool
    """Whether the draft was made for this thread."""
    posted_as: str | None
    draft_hash: str | None
    qualifies: bool
    """Whether the bot was mentioned and the first draft might have been sent without a human, at work."""
    is_risky: bool
    is_sent_back: bool
    """Whether there was another draft after the first one."""
    drafted_at: datetime | None
    """When the first draft waited."""
    escalated: tuple[Span, ...]
    long_run: LongRun | None = None


def facts_of(state: ThreadState, long_run: LongRun | None = None) -> ThreadFacts:
    """Return the row of a thread."""
    pair = _second_round(state.rounds)
    checked = [each for each in state.rounds if each.checks]
    false = [each for each in checked if fabrications([each])]
    qualifies = state.mentions_bot and has_what_it_takes(state)
    verdicts = [(each.round, verdict) for each in state.rounds if (verdict := verdict_of(each))]
    return ThreadFacts(
        thread_id=state.thread_id,
        chat_id=state.chat_id,
        question=one_line(state.question, TEXT_CHARS),
        permalink=state.permalink,
        dismiss_reason=one_line(state.dismiss_reason or "", TEXT_CHARS),
        status=state.status,
        resolution=state.resolution,
        started_at=state.started_at,
        closed_at=state.closed_at,
        approved_at=state.user_approved_at,
        decided_after_s=_decided_after_s(state),
        tokens=state.orchestrator_tokens,
        verdicts=tuple(verdict for _, verdict in verdicts),
        first_verdicts=tuple(verdict for number, verdict in verdicts if number == 1),
        helped=_is_better(pair) if pair else None,
        fabricated=fabrications(state.rounds),
        checked_rounds=len(checked),
        false_passed=sum(verdict_of(each) is Verdict.PASS for each in false),
        is_escalated=state.is_escalated,
        is_watchable=bool(state.escalation_tmux_session or state.escalation_transcript_path),
        is_own=is_own(state.investigator_task_id, state.thread_id),
        posted_as=state.posted_message_id,
        draft_hash=state.draft_hash,
        qualifies=qualifies,
        is_risky=qualifies and not is_harmless(state.rounds[0].investigator_return, state.rounds[0].validator_return),
        is_sent_back=len(state.rounds) > 1,
        drafted_at=next((step.at for step in state.status_history if step.to is ThreadStatus.PENDING_USER), None),
        escalated=tuple(_escalated(state)),
        long_run=long_run,
    )


def verdict_of(each: Round) -> Verdict | None:
    """Return what a round came to, None where it was not validated."""
    return each.validator_return.verdict if each.validator_return else None


def fabrications(rounds: Iterable[Round]) -> int:
    """Return how many citations were found to be false, each once."""
    return sum(len({check.name.partition(".")[0] for check in each.checks if _is_false(check)}) for each in rounds)


def _is_false(check: Check) -> bool:
    return check.ok is False and _CITATION.fullmatch(check.name) is not None


def _second_round(rounds: Iterable[Round]) -> Pair | None:
    """Return a bounced first round with the round that answered it and was checked."""
    by_number = {each.round: each for each in rounds}
    first, second = by_number.get(1), by_number.get(2)
    if first and second and second.checks and verdict_of(first) is Verdict.BOUNCE:
        return first, second
    return None


def _is_better(pair: Pair) -> bool:
    """Whether a second draft passes every check that the first one failed, and changed what was criticised."""
    first, second = pair
    failed, still = _failed(first), _failed(second)
    return not failed & still and _changed(first, second, failed)


def _failed(each: Round) -> set[str]:
    """Return the names of the failed checks; of claims there is one name, since another draft counts them anew."""
    return {_CLAIM.sub("claim", check.name) for check in each.checks if check.ok is False}


def _changed(first: Round, second: Round, failed: set[str]) -> bool:
    """Whether the criticised field differs; an objection of a model alone is about the draft as a whole."""
    before, after = first.investigator_return, second.investigator_return
    draft = before.draft_reply != after.draft_reply
    refs = before.evidence_refs != after.evidence_refs
    if failed and all(_EVIDENCE.match(name) for name in failed):
        return refs
    if any(name.startswith(("confidence", "risk_gate")) for name in failed):
        return draft or before.confidence != after.confidence
    return draft or refs


def is_own(task_id: str | None, thread_id: str) -> bool:
    """Whether a run was made for a thread; a run's id begins with its thread's."""
    return task_id is None or task_id.startswith(f"{thread_id}-")


def _decided_after_s(state: ThreadState) -> float | None:
    """Return how long an approved draft waited for its click."""
    clicked = state.user_approved_at
    if clicked is None:
        return None
    shown = [step.at for step in state.status_history if step.to is ThreadStatus.PENDING_USER and step.at <= clicked]
    return (clicked - shown[-1]).total_seconds() if shown else None


def _escalated(state: ThreadState) -> Iterable[Span]:
    """Yield from when until when the thread was escalated."""
    steps = state.status_history
    for number, step in enumerate(steps):
        if step.to is ThreadStatus.ESCALATED:
            yield step.at, steps[number + 1].at if number + 1 < len(steps) else None
