"""What happened, read back from the data directory for whoever measures it; writes nothing, needs no running bot.

Journals are read once, record by record, and only what is measured is kept. A record that cannot be read is counted
and left out; a missing journal is an empty one.

What heartbeats.ndjson tells of beats, read back for briefs and pictures; writes nothing, needs no running bot.

The journal is the beats' own; here its lines are plain records, and one that cannot be read is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from bot.casework.escalate.escalation_folder import EscalationFolder
from bot.casework.reports.classifier_samples import Judgement
from bot.domain.threads import ThreadState
from bot.errors import refusal
from bot.intake.presence import read_presence
from bot.ports import Documents, Store
from bot.ports.collections import CLASSIFIED, HEARTBEATS, JUDGEMENTS, REPLIES, SPEND, THREADS, Collection

ESCALATIONS: Final = "escalations"


class EventRecord(NamedTuple):
    """One message and what the rules made of it."""

    at: datetime
    chat_id: str
    message_id: str
    classification: str
    is_bot_mention: bool


class ReplyRecord(NamedTuple):
    """One line of replies.ndjson."""

    at: datetime
    thread_id: str
    chat_id: str
    reply_to: str
    posted_as: str
    text: str
    task_id: str | None


class SpendRecord(NamedTuple):
    """What one model run cost; None where its price is unknown."""

    at: datetime
    run_id: str
    cost_usd: float | None


class EscalationRecord(NamedTuple):
    """What is left of a thread's latest long investigation."""

    thread_id: str
    is_done: bool
    has_return: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalHistory:
    """Everything that is measured; `recorded_since` is the time of the oldest message on record."""

    heard: Sequence[EventRecord] = ()
    threads: Sequence[ThreadState] = ()
    replies: Sequence[ReplyRecord] = ()
    spent: Sequence[SpendRecord] = ()
    judged: Sequence[Judgement] = ()
    long_runs: Sequence[EscalationRecord] = ()
    recorded_since: datetime | None = None
    bot_started_at: datetime | None = None
    unreadable: int = 0


def read_past(store: Store, since: datetime, *, last_bytes: int | None = None) -> JournalHistory:
    """Return what happened since then; `last_bytes` bounds how much of each journal is read.

    Raises:
        StoreError: the data directory cannot be read.
    """
    heard = _Ears(since)
    for record in store.journal(CLASSIFIED).records(last_bytes=last_bytes):
        heard.take(record)
    threads, bad = _threads(store.documents, since)
    seen, replies = read_presence(store.documents), store.journal(REPLIES).records(last_bytes=last_bytes)
    judgements = store.journal(JUDGEMENTS).records()
    return JournalHistory(
        heard=tuple(heard.kept.values()),
        threads=threads,
        replies=[reply for record in replies if (reply := _reply(record, since))],
        spent=read_spent(store, since),
        judged=[found for record in judgements if (found := Judgement.read(record))],
        long_runs=list(_long_runs(store.files / ESCALATIONS, since)),
        recorded_since=heard.oldest,
        bot_started_at=seen.started_at if seen else None,
        unreadable=bad,
    )


def read_spent(store: Store, since: datetime) -> list[SpendRecord]:
    """Return what model runs cost since then, oldest first, those of beats included. Raises StoreError."""
    return [cost for record in recent_records(store, SPEND, "at", since) if (cost := _spent(record, since))]


OLD_IN_A_ROW: Final = 200
"""So many records that are too old end the way back: one alone may come from a clock that was set back."""


def recent_records(store: Store, name: str, key: str, since: datetime) -> list[dict[str, Any]]:
    """Return the records of a journal whose time, under `key`, is not before a moment, oldest first.

    The journal is read from its end until `OLD_IN_A_ROW` records are older. Raises StoreError.
    """
    found: list[dict[str, Any]] = []
    older = 0
    for record in store.journal(name).newest_first():
        at = time_of(record.get(key))
        is_wanted = at is not None and at >= since
        older = 0 if is_wanted else older + 1
        if is_wanted:
            found.append(record)
        elif older == OLD_IN_A_ROW:
            break
    return found[::-1]


def time_of(text: object) -> datetime | None:
    """Return an aware time, or None for what is none."""
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return at if at.tzinfo is not None else None


class _Ears:
    """Messages since a time, each once: after a crash the same one may stand in the journal twice."""

    def __init__(self, since: datetime) -> None:
        self._since = since
        self.oldest: datetime | None = None
        self.kept: dict[tuple[str, str], EventRecord] = {}

    def take(self, record: dict[str, Any]) -> None:
        at = time_of(record.get("create_time"))
        if at is None:
            return
        self.oldest = at if self.oldest is None else min(at, self.oldest)
        if at < self._since or record.get("msg_type") in ("edit", "delete"):
            return
        where, which = str(record.get("chat_id")), str(record.get("message_id"))
        said = str(record.get("classification"))
        self.kept[where, which] = EventRecord(at, where, which, said, record.get("is_bot_mention") is True)


def _reply(record: dict[str, Any], since: datetime) -> ReplyRecord | None:
    at = time_of(record.get("posted_at"))
    if at is None or at < since:
        return None
    return ReplyRecord(
        at=at,
        thread_id=str(record.get("thread_id")),
        chat_id=str(record.get("chat_id")),
        reply_to=str(record.get("reply_to_message_id")),
        posted_as=str(record.get("posted_message_id")),
        text=str(record.get("reply_text")),
        task_id=str(task) if (task := record.get("investigator_task_id")) else None,
    )


def _spent(record: dict[str, Any], since: datetime) -> SpendRecord | None:
    at, cost = time_of(record.get("at")), record.get("cost_usd")
    if at is None or at < since:
        return None
    return SpendRecord(at, str(record.get("run_id")), float(cost) if isinstance(cost, int | float) else None)


def _threads(documents: Documents, since: datetime) -> tuple[list[ThreadState], int]:
    """Return the open threads and those closed in the months that matter, and how many cannot be read."""
    threads, closed = Collection(documents, THREADS), documents.archived(THREADS.name)
    recent = [one for one in closed if f"{one.at:%Y-%m}" >= f"{since:%Y-%m}"]
    read = [*documents.list(THREADS.name), *(documents.read_archived(THREADS.name, one) for one in recent)]
    states = [threads.parse(document) for document in read if document is not None]
    known = [state for state in states if state is not None]
    return known, len(states) - len(known)


def _long_runs(folder: Path, since: datetime) -> Iterator[EscalationRecord]:
    try:
        runs = sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise refusal(f"cannot read {folder}", error, "run this as the user who runs triage") from error
    for path in runs:
        found = EscalationFolder(path)
        launched = found.launched_at()
        if launched is not None and launched >= since:
            yield EscalationRecord(path.name, found.is_done(), found.returned() is not None)


class BeatSummary(NamedTuple):
    """One beat that ran; `told` is the beginning of what its owner was told, `beside_ok` of what nobody was."""

    at: datetime
    session_id: str
    told: str
    is_alert: bool
    is_failed: bool
    beside_ok: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatHistory:
    """The beats since a time, oldest first; `recorded_since` is the time of the oldest line, whatever it is about."""

    ran: Sequence[BeatSummary] = ()
    recorded_since: datetime | None = None


def read_beats(store: Store, since: datetime, *, last_bytes: int | None = None) -> BeatHistory:
    """Return the beats since then, refused slots aside; `last_bytes` bounds how much is read. Raises StoreError."""
    ran, oldest = [], None
    for record in store.journal(HEARTBEATS).records(last_bytes=last_bytes):
        at = time_of(record.get("ts"))
        if at is None:
            continue
        oldest = at if oldest is None else min(at, oldest)
        if at >= since and record.get("result") != "skipped":
            ran.append(_beat(at, record))
    return BeatHistory(ran=ran, recorded_since=oldest)


def recent_beats(store: Store, since: datetime) -> list[BeatSummary]:
    """Return the beats since then, refused slots aside, oldest first; raises StoreError."""
    records = [one for one in recent_records(store, HEARTBEATS, "ts", since) if one.get("result") != "skipped"]
    return [_beat(at, record) for record in records if (at := time_of(record.get("ts"))) is not None]


def _beat(at: datetime, record: dict[str, Any]) -> BeatSummary:
    result = record.get("result")
    return BeatSummary(
        at=at,
        session_id=str(record.get("session_id") or ""),
        told=str(record.get("preview") or ""),
        is_alert=result == "sent" and record.get("indicator") == "alert",
        is_failed=result == "failed",
        beside_ok=str(record.get("beside_ok") or ""),
    )
