"""Values for tests, valid unless a test says otherwise."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.agent.ledger import Ledger
from bot.domain.events import Event, MessageType, Sender
from bot.domain.jobs import Job, JobKind, MessageWork, RebuildThread, RunBeat, Work
from bot.domain.returns import (
    CODE_CHECKS,
    Check,
    EvidenceKind,
    EvidenceRef,
    InvestigatorReturn,
    ValidatorReturn,
    Verdict,
)
from bot.domain.threads import PendingReason, Resolution, Round, ThreadState, ThreadStatus, Transition
from bot.intake.classifier.classification import Rules
from bot.intake.enqueue import MessageSorter

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
THREAD_ID = "T1.C1.1795165200.000100"
QUESTION_TS = "1795165200.000100"
REF = EvidenceRef(kind=EvidenceKind.FILE, ref="app/retry.py:10-12", commit="a" * 40, quote="limit = 5")


def asked(ledger: Ledger) -> list[str]:
    """Return the queries of a ledger that were answered."""
    return [entry.query for entry in ledger.answered()]


def a_return(draft: str = "The limit is 5, see `app/retry.py`.", **changes: Any) -> InvestigatorReturn:
    """Return a draft with one citation."""
    fields: dict[str, Any] = {
        "confidence": "medium",
        "confidence_reason": "One passage says so.",
        "summary_for_orchestrator": "Retries stop after 5.",
        "draft_reply": draft,
        "risk": "none",
        "touches": "none",
        "evidence_refs": (REF,),
    }
    return InvestigatorReturn(**{**fields, **changes})


def a_verdict(verdict: Verdict = Verdict.PASS, **changes: Any) -> ValidatorReturn:
    """Return a verdict of the code checks."""
    fields: dict[str, Any] = {"verdict": verdict, "validator_model": CODE_CHECKS, "validated_at": NOW}
    fields.update({"risk": "none", "touches": "none"})
    return ValidatorReturn(**{**fields, **changes})


def a_thread(**changes: Any) -> ThreadState:
    """Return a thread that has just been opened."""
    fields: dict[str, Any] = {
        "thread_id": THREAD_ID,
        "team_id": "T1",
        "chat_id": "C1",
        "original_message_id": QUESTION_TS,
        "original_sender_id": "U1",
        "question": "How often do we retry?",
        "started_at": NOW,
        "last_event_at": NOW,
    }
    return ThreadState(**{**fields, **changes})


def in_status(status: ThreadStatus, reason: PendingReason | None = None, **changes: Any) -> ThreadState:
    """Return a thread that stands in `status` for `reason`, with what such a thread really holds."""
    ret = a_return()
    step = Transition(at=NOW, from_=ThreadStatus.INVESTIGATING, to=status, why="as the test wants it")
    known: dict[str, Any] = {"status": status, "pending_reason": reason, "status_history": (step,)}
    if status not in (ThreadStatus.INVESTIGATING, ThreadStatus.ESCALATED):
        verdict = a_verdict(Verdict.BOUNCE if reason is PendingReason.DISAGREEMENT else Verdict.PASS)
        checks = (Check(name="resolves", ok=True, reason="the lines exist"),)
        known |= {
            "investigator_return": ret,
            "investigator_round": 1,
            "validator_return": verdict,
            "rounds": (Round(round=1, investigator_return=ret, checks=checks, validator_return=verdict),),
        }
    if reason in (PendingReason.APPROVAL, PendingReason.DISAGREEMENT):
        drafted = a_thread().with_draft(ret.draft_reply)
        known |= {"draft_pending": drafted.draft_pending, "draft_version": 1, "draft_hash": drafted.draft_hash}
    if status is ThreadStatus.CLOSED:
        known |= {"resolution": Resolution.DISMISSED, "closed_at": NOW}
    return a_thread(**{**known, **changes})


def an_event(content: str = "How often do we retry?", ts: str = QUESTION_TS, **changes: Any) -> Event:
    """Return a message in a watched channel."""
    fields: dict[str, Any] = {
        "team_id": "T1",
        "chat_id": "C1",
        "message_id": ts,
        "create_time": datetime.fromtimestamp(float(ts), UTC),
        "msg_type": MessageType.TEXT,
        "content": content,
        "sender": Sender(id="U1"),
    }
    return Event(**{**fields, **changes})


def some_work(key: str, kind: JobKind = JobKind.USER, *, number: int = 0) -> Work:
    """Return work for a thread or a session of this name; the number tells two pieces of work apart."""
    return RunBeat(session_id=key) if kind is JobKind.HEARTBEAT else RebuildThread(thread_id=key, file=f"{number}")


def a_sorter(**sessions: str) -> MessageSorter:
    """Return what makes jobs of messages, where the bot is U0BOT and the ops channel C0OPS."""
    return MessageSorter(
        rules=Rules(bot_id="U0BOT"), bot_user_id="U0BOT", ops_channel="C0OPS", session_names=lambda: sessions
    )


def event_of(job: Job) -> Event:
    """Return the message that a job is about."""
    assert isinstance(job.work, MessageWork)
    return job.work.event
