"""CPU time of one message in milliseconds with open threads: `message_cost.py HOME OPEN` fills HOME and prints JSON.

The watcher, the queue, the orchestrator and the ticks are the real ones over the real files; chat, investigator and
validator are the fakes of the tests. Run in the root of the checkout to be measured.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path.cwd()))

from blocks.cards.draft_actions import click_of
from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.casework.waiting_drafts import DraftReminders
from bot.domain.threads import PendingReason, ThreadStatus
from bot.intake.normalise import Identity
from bot.intake.watcher import MessageLog, Watcher
from bot.ports.collections import CLASSIFIED, EVENTS
from bot.ports.threads import Threads
from tests.builders import in_status
from tests.casework.office import ANN, BEN, SORTER, Office

CHAT = "C0123ABCD"
AMBIENT = 400
QUESTIONS = 40
ROUNDS = 20
TICKS_A_MINUTE = {"pages": 1, "waiting": 1, "tidy": 1, "catch_up": 60, "long runs": 12}
"""How often bot/app.py calls each in a minute."""


class _Bot(Office):
    """The office of the tests over the files of a data directory."""

    def _furnish(self) -> None:
        files = FileStore(self.folder)
        self.store, self.jobs = Threads(files.documents), SpoolQueue(self.folder / "queue", self.clock)
        self.acknowledged = self.cards_shown = files.documents
        super()._furnish()
        self.watcher = Watcher(
            self.settings,
            Identity(team_id="T1", user_id="U0BOT", bot_id="B0BOT"),
            sorter=SORTER,
            journals=MessageLog(files.journal(EVENTS), files.journal(CLASSIFIED)),
            threads=self.store,
            jobs=self.jobs,
            clock=self.clock,
            on_follow_up=self.orchestrator.note_follow_up,
        )
        self.waiting = DraftReminders(self.service, files.journal("reminders"), lambda *_: None)


def _said(text: str, ts: str) -> dict[str, object]:
    event = {"type": "message", "channel": CHAT, "user": ANN, "text": text, "ts": ts, "event_ts": ts, "team": "T1"}
    return {"type": "event_callback", "team_id": "T1", "event_id": f"Ev{ts}", "event": event}


def _ambient(bot: _Bot, base: float) -> float:
    start = time.process_time()
    for number in range(AMBIENT):
        assert bot.watcher.receive(_said(f"deploying build {number} to staging now", f"{base + number:.6f}"))
    bot.watcher.settle()
    return (time.process_time() - start) * 1000 / AMBIENT


def _question(bot: _Bot, ts: str) -> float:
    """Return what a question cost until its draft waits; it is dismissed after that, which is not counted."""
    start = time.process_time()
    assert bot.watcher.force_enqueue(_said("how are session cookies signed in this release?", ts)) == "queued"
    bot.watcher.settle()
    bot.work()
    took = time.process_time() - start
    state = bot.store.get(f"T1.{CHAT}.{ts}")
    assert state is not None
    assert state.draft_pending
    bot.decisions.dismiss(click_of(state), by=BEN, reason=None)
    return took * 1000


def _each(call: Callable[[], object]) -> float:
    call()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times) * 1000


def _fill(home: Path, open_threads: int) -> None:
    """Let so many drafts wait, each of its own question."""
    store = Threads(FileStore(home).documents)
    for number in range(open_threads):
        ts = f"1700000000.{number:06d}"
        question, long = f"how does part {number} of release {number % 7} retry?", "what an answer must hold " * 20
        state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, original_message_id=ts, rubric=long)
        changes = {"thread_id": f"T1.C1.{ts}", "question": question, "card_channel": "C0OPS", "card_ts": ts}
        store.put(state.model_copy(update=changes))


def main(home: Path, open_threads: int) -> None:
    """Measure with so many open threads and print a JSON object."""
    _fill(home, open_threads)
    bot = _Bot(home, watched_chats=[{"chat_id": CHAT}], remind_after=None, expire_after=None)
    base = bot.clock.now().timestamp()
    questions = [_question(bot, f"{base + 5_000 + number:.6f}") for number in range(QUESTIONS)]
    ticks = {
        "pages": bot.pages.tick,
        "waiting": bot.waiting.tick,
        "tidy": bot.service.cards.tidy,
        "catch_up": bot.service.cards.catch_up,
        "long runs": bot.watch.poll,
    }
    costs = {name: _each(tick) for name, tick in ticks.items()}
    minute = sum(costs[name] * times for name, times in TICKS_A_MINUTE.items())
    found = {"ambient": _ambient(bot, base), "question": statistics.median(questions[1:]), "a minute's ticks": minute}
    print(json.dumps(found | {f"tick {name}": cost for name, cost in costs.items()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
