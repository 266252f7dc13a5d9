"""What a tick costs with many sessions, and how that grows.

    python benchmarks/heartbeat_scheduler.py [sessions]

A tick at which nothing is due; the mean of ticks five seconds apart, at which some sessions are (queued, claimed and
done by the real spool and the real state files); and the longest tick after a night away, when all are due at once.
Growth is the cost of a quiet tick over that with a quarter of the sessions; linear would be 4.
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
from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.config.heartbeat_settings import SessionSettings
from bot.domain.heartbeats.beats import Delivered
from bot.heartbeat.scheduler import LOOKS_PER_TICK, Admission, Scheduler
from bot.heartbeat.session_registry import BeatLog, Owners, SessionMemory, SessionRegistry, WakeBox
from bot.ports.collections import OVERRIDES, Collection

SESSIONS = 10_000
TARGET_S = 0.1
MAX_GROWTH = 6.0
TICK = timedelta(seconds=5)
EVERY = timedelta(minutes=30)
SAMPLE = 60
"""Ticks of the interval that are carried out; the rest would be like them."""


class Clock:
    """A clock that is moved."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 21, 9, tzinfo=UTC)

    def now(self) -> datetime:
        """Return the time it was moved to."""
        return self.at


class Works:
    """A scheduler over real files for so many sessions, each seen once."""

    def __init__(self, home: Path, sessions: int) -> None:
        self.clock = Clock()
        hours = {"start": "00:00", "end": "24:00", "timezone": "UTC"}
        beat = {"every": "30m", "active_hours": hours}
        shop = SessionSettings.model_validate({"cwd": home, "owner": "U0ANN", "heartbeat": beat})
        self.store = SessionMemory(FileStore(home), on_damage=print)
        self.jobs = SpoolQueue(home / "queue", self.clock)
        zones = Owners(None, self.clock, local="UTC")
        dm = Delivered(mode="last", channel="slack", to="D0ANN")
        self.scheduler = Scheduler(
            SessionRegistry({f"s{n}": shop for n in range(sessions)}, Collection(FileDocuments(home), OVERRIDES)),
            self.store,
            self.jobs,
            Admission(zones, route=lambda *_: dm),
            BeatLog(NdjsonJournal(home / "heartbeats.ndjson")),
            WakeBox(FileDocuments(home)),
            self.clock,
        )
        for _ in range(1 + sessions // LOOKS_PER_TICK):
            self.tick()

    def tick(self, later: timedelta = timedelta()) -> float:
        """Move the clock, tick, and return how long that took, in seconds."""
        self.clock.at += later
        started = time.perf_counter()
        self.scheduler.tick()
        return time.perf_counter() - started

    def work_off(self) -> int:
        """Run what is queued, as quickly as beats can end."""
        count = 0
        while job := self.jobs.claim():
            self.scheduler.wakes.take(job.key)
            self.store.save(job.key, lambda state: state.evolve(last_run=self.clock.at))
            self.jobs.done(job)
            count += 1
        return count


def _quiet_tick_s(works: Works) -> float:
    return min(works.tick() for _ in range(100))


def main(argv: tuple[str, ...] = ()) -> int:
    """Print the figures; return 0 if a quiet tick meets its target and grows about linearly."""
    sessions = int(argv[0]) if argv else SESSIONS
    fsync, os.fsync = os.fsync, lambda _: None  # the disk is not what is measured, and 10,000 first states are many
    try:
        with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as large:
            quarter, works = Works(Path(small), sessions // 4), Works(Path(large), sessions)
            base, quiet = _quiet_tick_s(quarter), _quiet_tick_s(works)
            busy, beats = [], 0
            for _ in range(SAMPLE):
                busy.append(works.tick(TICK))
                beats += works.work_off()
            night = max(works.tick(timedelta(hours=12)), *(works.tick(TICK) for _ in range(4)))
    finally:
        os.fsync = fsync
    growth = quiet / base
    print(f"{sessions:,} sessions, nothing due: {quiet * 1000:.1f} ms a tick, {growth:.1f}x that of {sessions // 4:,}")
    print(f"ticks 5 s apart, {beats / SAMPLE:.0f} beats due at each: {statistics.mean(busy) * 1000:.1f} ms")
    print(f"after a night away, every session due at once: {night * 1000:.0f} ms the longest tick")
    print(f"target: under {TARGET_S * 1000:.0f} ms with nothing due, growth at most {MAX_GROWTH:.0f}x")
    return 0 if quiet < TARGET_S and growth <= MAX_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))
