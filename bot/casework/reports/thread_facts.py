"""What reports need of a thread: a row of some 500 bytes instead of the whole record, made by `facts_of`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from bot.domain.questions.autonomy import has_what_it_takes, is_harmless
from bot.domain.returns import Check, Verdict
from bot.domain.text.sanitize import one_line
from bot.domain.threads import QuestionType, Resolution, Round, ThreadState, ThreadStatus

_CITATION: Final = re.compile(r"ref\[\d+\]\.(?:resolves|quote)")
_CLAIM: Final = re.compile(r"claim\[\d+\]")
_EVIDENCE: Final = re.compile(r"ref\[\d+\]\.|required_evidence$|grounded$")

TEXT_CHARS: Final = 80
"""Of a question and of the reason for a dismissal."""

Span = tuple[datetime, datetime | None]
"""From when until when; None: it goes on."""


class LongRun(NamedTuple):
    """What is left of a thread's latest long investigation."""

    is_done: bool
    has_return: bool


class RoundFacts(NamedTuple):
    """One round; `false_refs` is None where code checked nothing, else how many citations it found to be false."""

    number: int
    verdict: Verdict | None
    false_refs: int | None


class ThreadFacts(NamedTuple):
    """One thread as reports see it."""

    thread_id: str
    question: str
    question_type: QuestionType
    permalink: str | None
    dismiss_reason: str
    status: ThreadStatus
    resolution: Resolution | None
    started_at: datetime
    drafted_at: datetime | None
    """When the first draft waited."""
    closed_at: datetime | None
    decided_after_s: float | None
    """From the card that waits to the click that approved."""
    tokens: int | None
    rounds: tuple[RoundFacts, ...]
    helped: bool | None
    """Whether the second round mended what the first was bounced for; None where there was no such pair."""
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
    """Whether a model said in any round that the draft risks or touches something."""
    escalated: tuple[Span, ...]
    long_run: LongRun | None = None

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict of each validated round."""
        return [each.verdict for each in self.rounds if each.verdict is not None]


def facts_of(state: ThreadState, long_run: LongRun | None = None) -> ThreadFacts:
    """Return the row of a thread."""
    shown = [step.at for step in state.status_history if step.to is ThreadStatus.PENDING_USER]
    return ThreadFacts(
        thread_id=state.thread_id,
        question=one_line(state.question, TEXT_CHARS),
        question_type=state.question_type,
        permalink=state.permalink,
        dismiss_reason=one_line(state.dismiss_reason or "", TEXT_CHARS),
        status=state.status,
        resolution=state.resolution,
        started_at=state.started_at,
        drafted_at=shown[0] if shown else None,
        closed_at=state.closed_at,
        decided_after_s=_decided_after_s(state.user_approved_at, shown),
        tokens=state.orchestrator_tokens,
        rounds=tuple(RoundFacts(each.round, _verdict_of(each), _false_refs(each.checks)) for each in state.rounds),
        helped=_second_round_helped(state.rounds),
        is_escalated=state.is_escalated,
        is_watchable=bool(state.escalation_tmux_session or state.escalation_transcript_path),
        is_own=is_own(state.investigator_task_id, state.thread_id),
        posted_as=state.posted_message_id,
        draft_hash=state.draft_hash,
        qualifies=state.mentions_bot and has_what_it_takes(state),
        is_risky=not all(is_harmless(each.investigator_return, each.validator_return) for each in state.rounds),
        escalated=tuple(_escalated(state)),
        long_run=long_run,
    )


def is_own(task_id: str | None, thread_id: str) -> bool:
    """Whether a run was made for a thread; a run's id begins with its thread's."""
    return task_id is None or task_id.startswith(f"{thread_id}-")


def _verdict_of(each: Round) -> Verdict | None:
    return each.validator_return.verdict if each.validator_return else None


def _false_refs(checks: Iterable[Check]) -> int | None:
    """Return how many citations were found to be false, each once; None where nothing was checked."""
    known = list(checks)
    false = {each.name.partition(".")[0] for each in known if each.ok is False and _CITATION.fullmatch(each.name)}
    return len(false) if known else None


def _second_round_helped(rounds: Iterable[Round]) -> bool | None:
    """Whether a checked second draft passes every check that the bounced first failed, and changed what was criticised.

    None where there is no such pair.
    """
    by_number = {each.round: each for each in rounds}
    first, second = by_number.get(1), by_number.get(2)
    if first is None or second is None or not second.checks or _verdict_of(first) is not Verdict.BOUNCE:
        return None
    failed = _failed(first)
    return not failed & _failed(second) and _changed(first, second, failed)


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


def _decided_after_s(clicked: datetime | None, shown: Iterable[datetime]) -> float | None:
    """Return how long an approved draft waited for its click."""
    if clicked is None:
        return None
    latest = max((at for at in shown if at <= clicked), default=None)
    return (clicked - latest).total_seconds() if latest is not None else None


def _escalated(state: ThreadState) -> Iterable[Span]:
    """Yield from when until when the thread was escalated."""
    steps = state.status_history
    for number, step in enumerate(steps):
        if step.to is ThreadStatus.ESCALATED:
            yield step.at, steps[number + 1].at if number + 1 < len(steps) else None
