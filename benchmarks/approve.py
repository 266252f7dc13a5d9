"""One approve transition with 100 and with 100,000 closed threads in the archive; target: ratio at most 1.2.

What is timed is what the disk sees of a click: claim, posted id, reply log, close, archive. The chat is not there.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.casework.posting.reply_proof import reply_record
from bot.domain.threads import PendingReason, PostIntent, Resolution, ThreadState, ThreadStatus
from bot.ports import Journal
from bot.ports.threads import Threads

APPROVALS = 200
SIZES = (100, 100_000)
TARGET = 1.2
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def waiting(number: int) -> ThreadState:
    """Return a thread whose draft waits for a click."""
    state = ThreadState(
        thread_id=f"T0BENCH.C0HELP.1767603600.{number:06d}",
        team_id="T0BENCH",
        chat_id="C0HELP",
        original_message_id=f"1767603600.{number:06d}",
        original_sender_id="U0CHLOE",
        question="how are session cookies signed?",
        started_at=START,
        last_event_at=START,
    )
    state = state.transition(ThreadStatus.AWAITING_VALIDATION, at=START, why="draft of round 1")
    return state.with_draft("They are signed in `sessions.py:300-320`. " * 20).transition(
        ThreadStatus.PENDING_USER, at=START, why="validated", reason=PendingReason.APPROVAL
    )


def _fill_archive(home: Path, count: int) -> None:
    closed = waiting(0).close(Resolution.APPROVED, at=START, why="approved by <@U0ANA>")
    text = closed.model_dump_json()
    for number in range(count):
        at = START - timedelta(hours=number % 8760)
        folder = home / "closed" / f"{at:%Y-%m}"
        if number < 8760:
            folder.mkdir(parents=True, exist_ok=True)
        (folder / f"T0BENCH.C0OLD.1700000000.{number:06d}.{at:%Y-%m-%dT%H:%M:%SZ}.json").write_text(text)


def approve(store: Threads, replies: Journal, state: ThreadState) -> float:
    """Return how long it took to approve a waiting thread, in milliseconds."""
    start = time.perf_counter()
    intent = PostIntent(at=START, draft_hash=state.draft_hash or "")
    state = store.put(state.evolve(post_intent=intent, approved_by="U0ANA", user_approved_at=START))
    state = store.put(state.evolve(posted_message_id="1767603700.000001"))
    replies.append(reply_record(state, at=START))
    store.put(state.close(Resolution.APPROVED, at=START, why="approved by <@U0ANA>"))
    store.archive(state.thread_id)
    return (time.perf_counter() - start) * 1000


def main() -> int:
    """Print the median time for each archive size, measured in turns, and return 0 if the ratio meets its target."""
    with tempfile.TemporaryDirectory() as folder:
        places = {}
        for size in SIZES:
            home = Path(folder) / str(size)
            _fill_archive(home, size)
            places[size] = (Threads(FileDocuments(home)), NdjsonJournal(home / "replies.ndjson"))
        os.sync()  # what filling the archive left to write must not be paid for by an approval
        times: dict[int, list[float]] = {size: [] for size in SIZES}
        for number in range(1, APPROVALS + 1):
            for size, (store, replies) in places.items():
                times[size].append(approve(store, replies, store.put(waiting(number))))
    medians = {size: statistics.median(values) for size, values in times.items()}
    for size, value in medians.items():
        print(f"{size:>7,} closed threads: {value:6.2f} ms an approval")
    ratio = medians[SIZES[1]] / medians[SIZES[0]]
    print(f"ratio {ratio:.2f} (target at most {TARGET})")
    return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
