"""What cannot be reached by running the old version for minutes, written with its own store.

Runs with the version at 8154d7ff only; see make.py.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.casework.evaluation.calibration import read_history, write_calibration
from bot.casework.reports.classifier_samples import Judgement
from bot.domain.questions.autonomy_record import AutoReply
from bot.ports.collections import AUTO_REPLIES, HANDED_OVER, REVIEWS, Collection, SingleDocument

KEPT_LINES: Final = 12
"""Lines that stay in the live journal of events; the others are in the rotated one."""

SENT_WEEK: Final = "2026-11-16"


def write_the_rest(home: Path) -> None:
    """Write judgements, counts of drafts, an automatic reply, and rotate the journals of events."""
    team = home / "teams" / "payments"
    now, store = datetime.now(UTC), FileStore(team)
    write_calibration(store.documents, None, read_history(store), now, is_model=False)
    classified = list(NdjsonJournal(team / "events-classified.ndjson").records())
    for record in classified[:2]:
        NdjsonJournal(team / "judgements.ndjson").append(_judged(record, now).model_dump(mode="json"))
    Collection(FileDocuments(team), AUTO_REPLIES).add("0011223344556677", _sent(classified[0], now))
    NdjsonJournal(team / "reminders.ndjson").append(_reminded(FileDocuments(team), now))
    SingleDocument(store.documents, REVIEWS).update(
        {"sent": SENT_WEEK, "meant": SENT_WEEK, "meant_at": now.isoformat()}
    )
    SingleDocument(FileDocuments(home), HANDED_OVER).update({"to": "payments"})
    for name in ("events", "events-classified"):
        rotate(team / f"{name}.ndjson")


def _judged(record: dict[str, Any], now: datetime) -> Judgement:
    place = {"chat_id": record["chat_id"], "message_id": record["message_id"]}
    return Judgement(at=now, by="ana", classification=record["classification"], right=True, **place)


def _sent(record: dict[str, Any], now: datetime) -> AutoReply:
    return AutoReply(
        id="0011223344556677",
        thread_id=f"{record['team_id']}.{record['chat_id']}.{record['message_id']}",
        chat_id=record["chat_id"],
        message_id=record["message_id"],
        question=record["content"],
        reply="It is signed in `shop/sessions.py`.",
        at=now - timedelta(days=3),
        posted_message_id=record["message_id"],
    )


def _reminded(documents: FileDocuments, now: datetime) -> dict[str, Any]:
    thread = documents.list("threads")[0]
    return {"thread_id": thread.id, "draft_version": (thread.value or {})["draft_version"], "at": now.isoformat()}


def rotate(path: Path) -> None:
    """Have the journal rotate by itself: written anew with a limit that only its last lines are above."""
    lines = list(NdjsonJournal(path).records())
    sizes = [len(line) for line in path.read_bytes().splitlines(keepends=True)]
    size = max(sum(sizes[:-KEPT_LINES]), sum(sizes[-KEPT_LINES:]))
    path.unlink()
    journal = NdjsonJournal(path, rotate_bytes=size)
    for line in lines:
        journal.append(line)
