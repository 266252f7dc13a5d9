"""The current status: open threads, open findings of heartbeats, and today's (UTC) counts and cost.

Read from the data directory alone, so that it also works beside a running bot. A session's state that cannot be read
is left out; the bot sets it aside and reports it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection as Names
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from bot.casework.pause import read_pause
from bot.casework.reports.code_standings import clone_lines, read_index_standing
from bot.casework.reports.measures import known_cost, measure_total, recent_records, time_of
from bot.domain.alerts import SIGNS, AlertState, Severity
from bot.domain.citations.links import sibling_message_link
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.paging import Paging
from bot.domain.questions.approval_basis import basis_of_thread, standing_words
from bot.domain.text.humanize import counted, time_ago
from bot.domain.text.sanitize import one_line
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus
from bot.domain.waits import WaitFor
from bot.intake.presence import describe_presence, read_presence
from bot.ports import Documents, Store
from bot.ports.collections import CLASSIFIED, EVENTS, REPLIES, SESSIONS, SPEND, THREADS, Collection
from bot.ports.system import Replica, Replicas

TEXT_CHARS: Final = 120

TAIL_BYTES = 256 * 1024
QUESTION_CHARS = 90
_WAITS: Mapping[str, str] = {
    PendingReason.DISAGREEMENT: "⚠ disagreement",
    PendingReason.CONTEXT: "needs context",
    PendingReason.FAILED: "failed",
    PendingReason.STOPPED: "stopped",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FindingLine:
    """One open finding in a list; who has it is a Slack user id, or None."""

    session_id: str
    text: str
    severity: Severity
    since: datetime
    acknowledged_by: str | None = None
    investigated_by: str | None = None
    snoozed_until: datetime | None = None
    """None also where the time is over."""


def read_open_findings(store: Store, now: datetime) -> tuple[FindingLine, ...]:
    """Return every open finding of every session: pages first, then the oldest. Raises StoreError."""
    found = [
        _line(name, each, now)
        for name, state in Collection(store.documents, SESSIONS).parsed().items()
        if state is not None
        for each in state.findings.values()
        if each.is_open
    ]
    return tuple(sorted(found, key=lambda line: (line.severity.rank, line.since)))


def count_findings(found: Sequence[FindingLine]) -> str:
    """Return how many are open, in words: `2 open findings (1 page)`."""
    pages = sum(line.severity is Severity.PAGE for line in found)
    paging = f" ({counted(pages, 'page')})" if pages else ""
    return f"{counted(len(found), 'open finding')}{paging}"


def sessions_in_words(found: Sequence[FindingLine], *, at_most: int) -> str:
    """Return which sessions have open findings, those with a page first and marked: `🚨 shop (2), docs (1)`."""
    counts = Counter(line.session_id for line in found)  # in the order of the findings: pages first
    paging = {line.session_id for line in found if line.severity is Severity.PAGE}
    named = [f"{SIGNS[Severity.PAGE]} {name}" if name in paging else name for name in counts]
    shown = [f"{name} ({count})" for name, count in zip(named, counts.values(), strict=True)][:at_most]
    left = len(counts) - len(shown)
    return ", ".join([*shown, *([f"{left} more"] if left else [])])


def _line(session_id: str, finding: OpenFinding, now: datetime) -> FindingLine:
    until = finding.snoozed_until
    return FindingLine(
        session_id=one_line(session_id, 60),
        text=one_line(finding.text, TEXT_CHARS),
        severity=finding.severity,
        since=finding.first_at,
        acknowledged_by=finding.acknowledged_by,
        investigated_by=finding.investigated_by,
        snoozed_until=until if until is not None and until > now else None,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadLine:
    """One open thread in a list; `watch` is the command that shows its long run, if one is under way."""

    thread_id: str
    chat_id: str
    permalink: str | None
    status: ThreadStatus
    question: str
    started_at: datetime
    reason: PendingReason | None = None
    """Why it waits for a human, where it does."""
    severity: Severity = Severity.ACT
    paging: Paging = field(default_factory=Paging)
    watch: str | None = None
    card: tuple[str, str] | None = None
    """Channel and ts of its card."""
    passed: str | None = None
    """How a draft that passed stands, in the words of its card."""
    answered_by: str | None = None
    """Which person has answered the asker in the thread, as far as code can tell."""
    waits_for: WaitFor | None = None
    """What its work was put off for."""
    twins: int = 0
    """In how many other threads the same was asked."""
    alert: AlertState | None = None
    """How its alert stands, if it is about one."""

    @property
    def standing(self) -> str:
        """How it stands, in the words of its card."""
        over = f", alert {self.alert}" if self.alert not in (None, AlertState.FIRING) else ""
        also = f", asked in {counted(self.twins, 'more thread')}" if self.twins else ""
        return self._own_standing() + over + also

    def _own_standing(self) -> str:
        if self.waits_for is not None:
            return f"waits for the {self.waits_for}"
        if not self.is_waiting:
            return self.status.replace("-", " ").removesuffix(" round 1")
        if self.reason is PendingReason.APPROVAL:
            return self.passed or "waits"
        return _WAITS.get(self.reason or "", "waits")

    @property
    def card_link(self) -> str | None:
        """The address of its card, if it has one and links can be made."""
        return sibling_message_link(self.permalink, *self.card) if self.card else None

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for a human."""
        return self.status is ThreadStatus.PENDING_USER


@dataclass(frozen=True, kw_only=True, slots=True)
class Overview:
    """Counts and open threads at one moment; `unreadable` names files set aside or not parsable.

    `connection` is one true line on whether the bot runs and hears Slack; `paused` says who stopped all work.
    """

    running: int
    waiting: int
    queued: int
    failed: int
    posted_today: int
    connection: str
    last_event_at: datetime | None
    last_event: str
    threads: tuple[ThreadLine, ...]
    unreadable: tuple[str, ...]
    paused: str | None = None
    codebases: tuple[str, ...] = ()
    """Where each of several codebases stands, a line each; none of an only one."""
    index: str = ""
    """How far the index of the code is, or why the code cannot be searched; empty where all is well."""
    clones: tuple[str, ...] = ()
    """How fresh the clones of codebases are, a line each where one cannot be fetched."""
    replicas: tuple[Replica, ...] = ()
    """The processes that share a database."""
    open_findings: tuple[FindingLine, ...] = ()
    """What heartbeats found that is still open: pages first, then the oldest."""

    @property
    def drafts(self) -> tuple[ThreadLine, ...]:
        """The threads that wait for a human."""
        return tuple(thread for thread in self.threads if thread.is_waiting)


def overview(
    store: Store, now: datetime, codebases: Names[str] | None = None, *, replicas: Replicas | None = None
) -> Overview:
    """Return how things stand in a data directory; a missing one is simply empty.

    Of the process's codebases only `codebases` are named; None: all.

    Raises:
        StoreError: something in it that is counted here cannot be read.
    """
    threads, unreadable = _threads(store.documents)
    last = _last_event_at(store)
    pause, jobs = read_pause(store.documents), store.job_counts()
    standing = read_index_standing(store.machine)
    if codebases is not None:
        standing = standing.among(codebases)
    return Overview(
        running=sum(not thread.is_waiting for thread in threads),
        waiting=sum(thread.is_waiting for thread in threads),
        queued=jobs.waiting,
        failed=jobs.failed,
        posted_today=len(_of_day(store, REPLIES, "posted_at", now)),
        connection=describe_presence(read_presence(store.machine), now, heard_at=last),
        last_event_at=last,
        last_event=f"Last message seen {time_ago(now, last)}" if last else "No message seen yet",
        threads=tuple(threads),
        unreadable=tuple(unreadable),
        paused=pause.words() if pause else None,
        index=standing.words(),
        codebases=standing.lines(),
        clones=clone_lines(store.machine, now, codebases),
        replicas=tuple(replicas.list()) if replicas is not None else (),
        open_findings=read_open_findings(store, now),
    )


def _threads(documents: Documents) -> tuple[list[ThreadLine], list[str]]:
    lines, unreadable = [], [damaged.name for damaged in documents.damaged(THREADS.name)]
    for thread_id, state in Collection(documents, THREADS).parsed().items():
        if state is None:
            unreadable.append(f"{thread_id}.json")
        elif state.is_open and state.twin_of is None:  # a twin is counted on the card of the first thread
            lines.append(thread_line(state))
    return sorted(lines, key=lambda line: (line.severity.rank, line.started_at)), sorted(unreadable)


def unreadable_words(name: str) -> str:
    """Return what to do about the file of a thread that cannot be read; the next start makes the thread anew."""
    if name.endswith(".corrupt"):
        return f"state/{name} was set aside, for it cannot be read; look at it, then remove it"
    return f"state/{name} cannot be read; leave it: the next start sets it aside and makes its thread anew"


def thread_line(state: ThreadState) -> ThreadLine:
    """Return what a list says of a thread."""
    return ThreadLine(
        thread_id=state.thread_id,
        chat_id=state.chat_id,
        permalink=state.permalink,
        status=state.status,
        reason=state.pending_reason,
        question=one_line(state.question, QUESTION_CHARS),
        started_at=state.started_at,
        severity=state.severity,
        paging=state.paging,
        watch=_watch(state),
        card=(state.card_channel, state.card_ts) if state.card_channel and state.card_ts else None,
        passed=_passed(state) if state.pending_reason is PendingReason.APPROVAL else None,
        answered_by=state.answered_by,
        waits_for=state.wait.what if state.wait and state.is_at_work else None,
        twins=len(state.shown_twins),
        alert=state.alert.state if state.alert else None,
    )


def _watch(state: ThreadState) -> str | None:
    if state.status is not ThreadStatus.ESCALATED or not state.escalation_transcript_path:
        return None
    from bot.domain.questions.rubrics import watch_line  # here: only a long run needs its tables

    return watch_line(state.escalation_tmux_session, state.escalation_transcript_path)


def _passed(state: ThreadState) -> str:
    """Return how a draft stands that passed: edited since, or what it rests on."""
    if state.has_edited_draft:
        return "edited by a human"
    return standing_words(basis_of_thread(state))


def tail(store: Store, name: str) -> list[dict[str, Any]]:
    """Return the readable records in the last `TAIL_BYTES` of a journal, oldest first; raises StoreError."""
    return list(store.journal(name).records(last_bytes=TAIL_BYTES))


def _last_event_at(store: Store) -> datetime | None:
    times = (time_of(record.get("create_time")) for record in store.journal(EVENTS).newest_first())
    return next(filter(None, times), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class DayCounts:
    """Counts since midnight UTC; `cost_usd` is None where a run did not say."""

    messages: int
    actionable: int
    model_runs: int
    cost_usd: float | None


def count_today(store: Store, now: datetime) -> DayCounts:
    """Return the day's counts; raises StoreError."""
    heard = _of_day(store, CLASSIFIED, "classified_at", now)
    spent = [known_cost(record) for record in _of_day(store, SPEND, "at", now)]
    return DayCounts(
        messages=len(heard),
        actionable=sum(record.get("classification") == "actionable" for record in heard),
        model_runs=len(spent),
        cost_usd=measure_total(spent),
    )


def _of_day(store: Store, name: str, key: str, now: datetime) -> list[dict[str, Any]]:
    """Return the records of the day of `now`, UTC."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    found = recent_records(store, name, key, midnight)
    return [record for record in found if str(record.get(key)).startswith(f"{midnight:%Y-%m-%d}")]
