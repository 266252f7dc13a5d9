"""Runs the commands of beats that wait, beside each other, so that one that hangs holds up no other session.

A beat is taken off the queue once its commands have run; only what follows (models, alerts) happens one beat at a time.
A session has one beat at most in the queue, so its commands never run twice at once.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from bot.domain.heartbeats.checks import Argv
from bot.domain.jobs import Job, JobKind
from bot.errors import TriageError
from bot.heartbeat.run.probes import ProbeResult

log = logging.getLogger(__name__)

THREADS: Final = 8
"""How many sessions' commands run at once."""
MAX_AGE_S: Final = 600.0
"""Answers that are older say nothing of now; the beat runs the commands itself."""

Answers = Mapping[Argv, ProbeResult]


@dataclass(slots=True)
class _Look:
    """The commands of one session: on their way while `done_at` is None, in seconds of the monotonic clock."""

    answers: Answers
    done_at: float | None = None


class CommandPool:
    """`run` runs the due commands of a session; `notify` is called whenever some have run."""

    def __init__(
        self,
        run: Callable[[str], Answers],
        notify: Callable[[], None],
        *,
        threads: int = THREADS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run, self._notify, self._monotonic = run, notify, monotonic
        self._threads, self._started = threads, False
        self._looks: dict[str, _Look] = {}
        self._lock = threading.Lock()
        self._asked: queue.SimpleQueue[tuple[str, _Look]] = queue.SimpleQueue()

    def is_ready(self, job: Job) -> bool:
        """Whether a job may be taken off the queue: a beat once its commands have run, which this begins."""
        if job.kind is not JobKind.HEARTBEAT:
            return True
        with self._lock:
            look = self._looks.get(job.key)
            if look is None:
                look = self._looks[job.key] = _Look(answers={})
                self._start()
                self._asked.put((job.key, look))
            return look.done_at is not None

    def take_answers(self, session_id: str) -> Answers:
        """Return what the commands of a session answered, once; nothing where they did not run, or long ago."""
        with self._lock:
            look = self._looks.pop(session_id, None)
        if look is None or look.done_at is None or self._monotonic() - look.done_at > MAX_AGE_S:
            return {}
        return look.answers

    def _start(self) -> None:
        if not self._started:
            self._started = True
            for number in range(self._threads):
                threading.Thread(target=self._work, name=f"commands-{number}", daemon=True).start()

    def _work(self) -> None:
        while True:
            session_id, look = self._asked.get()
            try:
                look.answers = self._run(session_id)
            except TriageError:  # the beat meets it again, and says so
                log.info("commands not run ahead", extra={"action": "not_ahead", "session": session_id}, exc_info=True)
            except Exception:
                log.exception("commands not run ahead", extra={"action": "not_ahead", "session": session_id})
            look.done_at = self._monotonic()
            self._notify()
