"""What happened in a week of some team, as records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.reports.classifier_samples import Judgement
from bot.casework.reports.journal_history import JournalHistory, LongRun, PastThreads, ReplyRecord, facts_of
from bot.casework.reports.measures import Window
from bot.casework.reports.metrics_report import MetricsReport, read_metrics
from bot.domain.returns import Check, Verdict
from bot.domain.threads import Resolution, Round, ThreadState, ThreadStatus, Transition, hash_draft
from tests.builders import NOW, a_return, a_thread, a_verdict

HOUR = timedelta(hours=1)
WEEK = Window.last(7, NOW)
GOOD = Check(name="ref[0].quote", ok=True, reason="the quote stands there")
BACKED = Check(name="claim[0]", ok=True, reason="its lines hold every word of it")
FALSE = Check(name="ref[0].quote", ok=False, reason="the quote is not there")
TONE = Check(name="tone", ok=False, reason="hedging")


def history(
    *,
    threads: Iterable[ThreadState] = (),
    runs: Mapping[str, LongRun] | None = None,
    **known: Any,
) -> JournalHistory:
    """Return what happened in a week; `runs` has what is left of long runs, by thread."""
    facts = [facts_of(one, (runs or {}).get(one.thread_id)) for one in threads]
    return JournalHistory(window=WEEK, threads=facts, **known)


def metrics_of(home: Path, now: datetime = NOW, *, days: float = 7) -> MetricsReport:
    """Return the report of a data directory, as a process that has just started reads it."""
    store = FileStore(home)
    return read_metrics(store, PastThreads(store), Window.last(days, now), baseline_reply_s=None)


def a_round(
    number: int = 1, verdict: Verdict | None = Verdict.PASS, checks: tuple[Check, ...] = (GOOD, BACKED), **changes: Any
) -> Round:
    judged = a_verdict(verdict) if verdict else None
    return Round(round=number, investigator_return=a_return(**changes), checks=checks, validator_return=judged)


def thread(number: int, *rounds: Round, **changes: Any) -> ThreadState:
    """Return thread `number`, opened an hour after the one before it, two days ago."""
    ts = f"{1_700_000_000 + number}.000100"
    at = NOW - timedelta(days=2) + number * HOUR
    known: dict[str, Any] = {
        "thread_id": f"T1.C1.{ts}",
        "original_message_id": ts,
        "started_at": at,
        "last_event_at": at,
        "rounds": rounds,
        "orchestrator_tokens": 1_000 + number,
    }
    return a_thread(**{**known, **changes})


def decided(number: int, resolution: Resolution, *rounds: Round, waited_s: float = 60, **changes: Any) -> ThreadState:
    """Return a thread that somebody decided `waited_s` after its card was ready."""
    one = thread(number, *rounds)
    shown = one.started_at + timedelta(minutes=1)
    clicked = shown + timedelta(seconds=waited_s)
    steps = (
        Transition(at=shown, from_=ThreadStatus.AWAITING_VALIDATION, to=ThreadStatus.PENDING_USER, why="validated"),
    )
    known: dict[str, Any] = {"status": ThreadStatus.CLOSED, "status_history": steps, "closed_at": clicked}
    approved = {"user_approved_at": clicked} if resolution is not Resolution.DISMISSED else {}
    return one.model_copy(update={**known, **approved, "resolution": resolution, **changes})


def reply(number: int, *, after_s: float = 90, **changes: Any) -> ReplyRecord:
    """Return the reply to thread `number`, which took `after_s`."""
    ts = f"{1_700_000_000 + number}.000100"
    at = NOW - timedelta(days=1)
    known = ReplyRecord(
        at=at,
        thread_id=f"T1.C1.{ts}",
        chat_id="C1",
        reply_to=f"{at.timestamp() - after_s:.6f}",
        posted_as=f"{1_800_000_000 + number}.000100",
        text_hash=hash_draft("The limit is 5."),
        task_id=f"T1.C1.{ts}-20261118T090000Z-r1",
    )
    return known._replace(**changes)


def judgement(number: int, *, right: bool = True) -> Judgement:
    known = {"at": NOW - HOUR, "by": "ana", "chat_id": "C1", "message_id": str(number), "classification": "ambient"}
    return Judgement(**known, right=right)
