"""Reads from the data directory what happened in a window, for reports; needs no running bot.

Only what is of the window is read: journals from their end, closed threads by the day they are filed under, and the
open threads. A record that cannot be read is counted and left out; a missing journal is an empty one.

What reports need of a thread: a row of some 500 bytes instead of the whole record, made by `facts_of`. Pure.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from bot.casework.reports.classifier_samples import Judgement
from bot.casework.reports.measures import Window, known_cost, read_feedback, recent_records, time_of, timed_records
from bot.domain.questions.autonomy import has_what_it_takes, is_harmless
from bot.domain.questions.feedback import Vote
from bot.domain.returns import Check, Verdict
from bot.domain.text.sanitize import one_line
from bot.domain.threads import QuestionType, Resolution, Round, ThreadState, ThreadStatus, hash_draft
from bot.intake.presence import read_presence
from bot.ports import Store
from bot.ports.collections import CLASSIFIED, JUDGEMENTS, REPLIES, SPEND, THREADS, Collection

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


_THREAD_RUN: Final = re.compile(r"(?!terminal\.)[\w-]+\.[\w-]+\.\d+\.\d+-(?!eval$)")
"""How the run of a thread is named; a beat's is not, nor one of `triage investigate` or of the former `triage eval`."""


class ReplyRecord(NamedTuple):
    """One line of replies.ndjson."""

    at: datetime
    thread_id: str
    chat_id: str
    reply_to: str
    posted_as: str
    text_hash: str
    """Of what was posted, as `hash_draft` makes it."""
    task_id: str | None

    @classmethod
    def read(cls, at: datetime, record: Mapping[str, Any]) -> ReplyRecord:
        """Return a record of the journal."""
        task = record.get("investigator_task_id")
        return cls(
            at=at,
            thread_id=str(record.get("thread_id")),
            chat_id=str(record.get("chat_id")),
            reply_to=str(record.get("reply_to_message_id")),
            posted_as=str(record.get("posted_message_id")),
            text_hash=hash_draft(str(record.get("reply_text"))),
            task_id=str(task) if task else None,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalHistory:
    """What is measured of a window; `recorded_since` is when the oldest message on record was written down."""

    window: Window
    heard: Sequence[bool] = ()
    """Of each message that was heard, whether it is actionable."""
    threads: Sequence[ThreadFacts] = ()
    """All that were open in the window, whenever they were opened."""
    replies: Sequence[ReplyRecord] = ()
    costs_usd: Sequence[float | None] = ()
    """Of each run that worked on a question; None where its price is unknown."""
    judged: Sequence[Judgement] = ()
    votes: Sequence[Vote] = ()
    """What people said last of posted replies."""
    recorded_since: datetime | None = None
    bot_started_at: datetime | None = None
    unreadable: int = 0

    @property
    def opened(self) -> list[ThreadFacts]:
        """The threads that were opened in the window."""
        return [each for each in self.threads if self.window.holds(each.started_at)]


class PastThreads:
    """The threads of one data directory, open and closed; safe in several threads.

    A closed thread never changes: its facts are kept in memory until a later call asks for a later time only.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._threads = store, Collection(store.documents, THREADS)
        self._closed: Mapping[str, ThreadFacts | None] = {}
        self._lock = threading.Lock()

    def since(self, moment: datetime) -> tuple[list[ThreadFacts], int]:
        """Return the open threads and those closed since then, and how many cannot be read. Raises StoreError."""
        with self._lock:
            filed = self._store.documents.archived(THREADS.name, since=moment)
            known = self._closed
            self._closed = {
                one.name: known[one.name] if one.name in known else self._facts(self._threads.parse_archived(one))
                for one in filed
            }
            found = [*self._closed.values(), *map(self._facts, self._threads.parsed().values())]
        readable = [facts for facts in found if facts is not None]
        return readable, len(found) - len(readable)

    def _facts(self, state: ThreadState | None) -> ThreadFacts | None:
        """Return the facts of a thread with what is left of its long run."""
        if state is None or not state.is_escalated:
            return None if state is None else facts_of(state)
        from bot.casework.long_run import EscalationFolder  # here: few windows have a long run

        folder = EscalationFolder(self._store.runs.fetch(f"escalations/{state.thread_id}"))
        if folder.launched_at() is None:
            return facts_of(state)
        return facts_of(state, LongRun(folder.is_done(), folder.returned() is not None))


def read_history(store: Store, threads: PastThreads, window: Window) -> JournalHistory:
    """Return what happened in a window; raises StoreError where the data directory cannot be read."""
    seen, (known, unreadable) = read_presence(store.documents), threads.since(window.start)
    judged = map(Judgement.read, recent_records(store, JUDGEMENTS, "at", window.start))
    return JournalHistory(
        window=window,
        heard=_heard(store, window),
        threads=known,
        replies=[
            ReplyRecord.read(at, record)
            for at, record in timed_records(store, REPLIES, "posted_at", window.start)
            if window.holds(at)
        ],
        costs_usd=[
            known_cost(record)
            for at, record in timed_records(store, SPEND, "at", window.start)
            if window.holds(at) and _THREAD_RUN.match(str(record.get("run_id")))
        ],
        votes=[vote for one in read_feedback(store) for vote in one.votes.values() if window.holds(vote.at)],
        judged=[one for one in judged if one is not None and window.holds(one.at)],
        recorded_since=_recorded_since(store),
        bot_started_at=seen.started_at if seen else None,
        unreadable=unreadable,
    )


def _heard(store: Store, window: Window) -> list[bool]:
    """Return each message once, also one that a crash had journaled twice."""
    found: dict[tuple[object, object], bool] = {}
    for _, record in timed_records(store, CLASSIFIED, "classified_at", window.start):
        at = time_of(record.get("create_time"))
        if at is not None and window.holds(at) and record.get("msg_type") not in ("edit", "delete"):
            place = record.get("chat_id"), record.get("message_id")
            found.setdefault(place, record.get("classification") == "actionable")
    return list(found.values())


def _recorded_since(store: Store) -> datetime | None:
    times = (time_of(record.get("classified_at")) for record in store.journal(CLASSIFIED).records())
    return next(filter(None, times), None)
