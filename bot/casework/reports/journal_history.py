"""What happened, read back from the data directory for whoever measures it; writes nothing, needs no running bot.

Journals are read once, record by record, and only what is measured is kept. A record that cannot be read is counted
and left out; a missing journal is an empty one.

What heartbeats.ndjson tells of beats, read back for briefs and pictures; writes nothing, needs no running bot.

The journal is the beats' own; here its lines are plain records, and one that cannot be read is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from bot.casework.escalate.escalation_folder import EscalationFolder
from bot.casework.reports.classifier_samples import Judgement
from bot.domain.threads import ThreadState
from bot.errors import ConfigError
from bot.intake.presence import read_presence
from bot.ports.ndjson_reader import read_records


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


def read_past(home: Path, since: datetime, *, last_bytes: int | None = None) -> JournalHistory:
    """Return what happened since then; `last_bytes` bounds how much of each journal is read.

    Raises:
        ConfigError: the data directory cannot be read.
    """
    try:
        return _read(home, since, last_bytes)
    except OSError as error:
        raise ConfigError(f"cannot read {home}: {error.strerror}; run this as the user who runs triage") from error


def _read(home: Path, since: datetime, last_bytes: int | None) -> JournalHistory:
    bad: list[str] = []
    heard = _Ears(since)
    for record in journal(home / "events-classified.ndjson", last_bytes):
        heard.take(record)
    threads = list(_threads(home, since, bad))
    seen = read_presence(home)
    return JournalHistory(
        heard=tuple(heard.kept.values()),
        threads=threads,
        replies=[reply for record in journal(home / "replies.ndjson", last_bytes) if (reply := _reply(record, since))],
        spent=read_spent(home, since, last_bytes=last_bytes),
        judged=[found for record in journal(home / "judgements.ndjson") if (found := Judgement.read(record))],
        long_runs=list(_long_runs(home / "escalations", since)),
        recorded_since=heard.oldest,
        bot_started_at=seen.started_at if seen else None,
        unreadable=len(bad),
    )


def read_spent(home: Path, since: datetime, *, last_bytes: int | None = None) -> list[SpendRecord]:
    """Return what model runs cost since then, oldest first, those of beats included. Raises OSError."""
    return [cost for record in journal(home / "spend.ndjson", last_bytes) if (cost := _spent(record, since))]


def journal(path: Path, last_bytes: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the records of a journal, oldest first; none where there is no such file. Raises OSError."""
    if path.parent.is_dir():
        yield from read_records(path, last_bytes=last_bytes)


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


def _threads(home: Path, since: datetime, bad: list[str]) -> Iterator[ThreadState]:
    """Yield the open threads and those closed in the months that matter."""
    months = [path for path in _entries(home / "closed") if path.name >= f"{since:%Y-%m}" and path.is_dir()]
    for path in _json_files([home / "state", *months]):
        try:
            yield ThreadState.model_validate(json.loads(path.read_bytes()))
        except FileNotFoundError:
            continue  # archived a moment ago
        except (ValueError, RecursionError, ValidationError):
            bad.append(path.name)


def _json_files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in _entries(folder) if path.suffix == ".json" and not path.name.startswith("."))


def _long_runs(folder: Path, since: datetime) -> Iterator[EscalationRecord]:
    for path in _entries(folder):
        found = EscalationFolder(path)
        launched = found.launched_at()
        if launched is not None and launched >= since:
            yield EscalationRecord(path.name, found.is_done(), found.returned() is not None)


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


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


def read_beats(home: Path, since: datetime, *, last_bytes: int | None = None) -> BeatHistory:
    """Return the beats since then, refused slots aside; `last_bytes` bounds how much is read. Raises OSError."""
    ran, oldest = [], None
    for record in journal(home / "heartbeats.ndjson", last_bytes):
        at = time_of(record.get("ts"))
        if at is None:
            continue
        oldest = at if oldest is None else min(at, oldest)
        if at >= since and record.get("result") != "skipped":
            ran.append(_beat(at, record))
    return BeatHistory(ran=ran, recorded_since=oldest)


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
