"""Jobs: what is to be done, one class for each kind of work, and the job that carries it through the queue.

bot/intake/enqueue.py decides the class of a message; bot/runtime/worker_pool.py names the handler of each class. The
file name of a job carries the priority (user work before heartbeats, oldest first inside each), so that a listing of
the folder is the queue and needs no file opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Final

from pydantic import AwareDatetime

from bot.domain.events import Event, thread_key
from bot.domain.frozen_value import FrozenValue
from bot.domain.heartbeats.beats import Wake
from bot.domain.mention_instructions import Instruction

KEY_CHARS: Final = 16
"""Of the digest of a fingerprint, in the key of a job."""

MAX_ATTEMPTS: Final = 3
SUSPECT_DEATHS: Final = 2
"""After so many deaths of the process a job runs alone."""

DEADLY_DEATHS: Final = 3
"""After so many deaths while it ran alone a job is not run any more; whoever asked for it is told."""


class JobKind(StrEnum):
    """Who asked for the work; the value begins the file name."""

    USER = "user"
    HEARTBEAT = "heartbeat"


class Work(FrozenValue):
    """What a job asks for."""

    kind: ClassVar[JobKind] = JobKind.USER

    @property
    def key(self) -> str:
        """The thread or session for which no two jobs may run at once."""
        raise NotImplementedError

    @property
    def job_id(self) -> str | None:
        """The id that its job must have; None: the queue numbers it."""
        return None


class MessageWork(Work):
    """Something about one chat message."""

    event: Event

    @property
    def key(self) -> str:
        """The id of the message's thread."""
        return thread_key(self.event)


class FollowUpArrived(MessageWork):
    """A message that means something to an open thread only; where none is open it is forgotten.

    `is_ack`: it is nobody's answer, whoever it names.
    """

    is_ack: bool = False


class QuestionAsked(FollowUpArrived):
    """A message that deserves a thread of its own; in a thread that is open it is a follow-up.

    `is_alarm`: it pages. `question` is the message that a mention points to, where it is not the message itself: what
    is asked, and by whom. `codebases` has the ids of those it is about; none: those of its channel.
    """

    is_alarm: bool = False
    question: Event | None = None
    codebases: tuple[str, ...] = ()


class MentionInstruction(QuestionAsked):
    """A mention that is nothing but an instruction, or that may stand under a card in the ops channel."""

    instruction: Instruction


class MessageEdited(MessageWork):
    """The words of a message changed."""


class MessageDeleted(MessageWork):
    """A message is gone."""


class AlertArrived(MessageWork):
    """An alert tool wrote, or changed, a message about an alert: `event.alert`."""

    @property
    def key(self) -> str:
        """The alert's: two messages about one alert are never handled at once, whatever threads they stand in."""
        fingerprint = self.event.alert.fingerprint if self.event.alert else ""
        digest = hashlib.sha256(fingerprint.encode("utf-8", "replace")).hexdigest()[:KEY_CHARS]
        return f"{self.event.team_id}.alert.{digest}"


class AskInOps(Work):
    """Ask a question of a button or a command in the ops channel, once for each `mark`, however often it is tried.

    `by` is who asks, a Slack user id; `codebases` as of QuestionAsked.
    """

    mark: str
    question: str
    by: str
    at: AwareDatetime
    codebases: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The mark of what is posted."""
        return self.mark


class ContinueThread(Work):
    """Carry an open thread as far as it goes without a human."""

    thread_id: str

    @property
    def key(self) -> str:
        """The thread's id."""
        return self.thread_id


class RebuildThread(ContinueThread):
    """Open a thread again whose record could not be read; `file` is what the record was set aside as."""

    file: str
    is_new: bool = True
    """Whether it was set aside just now, and nobody has been told."""


class RunBeat(Work):
    """Carry out one beat of a session; `slot` is the time it is due, None for one that somebody asked for."""

    kind: ClassVar[JobKind] = JobKind.HEARTBEAT

    session_id: str
    slot: AwareDatetime | None = None
    wake: Wake = Wake.ON_DEMAND

    @property
    def key(self) -> str:
        """The session's id."""
        return self.session_id

    @property
    def job_id(self) -> str:
        """The session's id, too."""
        return self.session_id


WORK_CLASSES: Final[Mapping[str, type[Work]]] = MappingProxyType(
    {
        "question-asked": QuestionAsked,
        "follow-up-arrived": FollowUpArrived,
        "message-edited": MessageEdited,
        "message-deleted": MessageDeleted,
        "alert-arrived": AlertArrived,
        "ask-in-ops": AskInOps,
        "mention-instruction": MentionInstruction,
        "continue-thread": ContinueThread,
        "rebuild-thread": RebuildThread,
        "run-beat": RunBeat,
    }
)
"""Every class that can be queued, by its name on disk; a name never changes its meaning."""

FORMER_CLASSES: Final[Mapping[str, type[Work]]] = MappingProxyType({"playbook-requested": QuestionAsked})
"""Classes of earlier releases that may still be queued, by their names on disk, and what they are read as."""


class Job(FrozenValue):
    """One piece of work in the queue.

    `key` names the thread or session for which no two jobs may run at once; `attempts` counts the claims so far that
    ended in an error, and the one under way; `deaths` how often the process died while it ran, `deaths_alone` how often
    while nothing else ran.
    """

    kind: JobKind
    job_id: str
    epoch_ms: int
    key: str
    work: Work
    attempts: int = 0
    failures: tuple[str, ...] = ()
    deaths: int = 0
    deaths_alone: int = 0

    @property
    def runs_alone(self) -> bool:
        """Whether nothing else may run beside it, so that another death tells which job it was."""
        return self.deaths >= SUSPECT_DEATHS

    @property
    def is_deadly(self) -> bool:
        """Whether it is not to be run any more: the process died each time it ran, with nothing beside it."""
        return self.deaths_alone >= DEADLY_DEATHS

    @property
    def has_failed(self) -> bool:
        """Whether it is not to be claimed any more: too many errors, or not even giving it up went well."""
        return self.attempts >= MAX_ATTEMPTS or self.deaths_alone > DEADLY_DEATHS

    def died(self, *, alone: bool) -> Job:
        """Return the job as the next start takes it up: a death is no failed attempt.

        >>> work = ContinueThread(thread_id="T1.C1.2")
        >>> job = Job(kind=work.kind, job_id="1", epoch_ms=1, key=work.key, work=work, attempts=1)
        >>> (job.died(alone=True).attempts, job.died(alone=True).deaths_alone, job.died(alone=False).deaths_alone)
        (0, 1, 0)
        """
        counted = {"deaths": self.deaths + 1, "deaths_alone": self.deaths_alone + alone}
        return self.model_copy(update={"attempts": max(0, self.attempts - 1), **counted})

    @property
    def name(self) -> str:
        """The job's file name, for example `user_1700000000000_000001.json`."""
        return f"{self.kind}_{self.epoch_ms}_{self.job_id}.json"


def queue_order(name: str) -> tuple[int, int, str]:
    """Return the sort key of a job's file name: priority, then age, then id.

    >>> sorted(["heartbeat_1_a.json", "user_20_a.json", "user_3_b.json"], key=queue_order)
    ['user_3_b.json', 'user_20_a.json', 'heartbeat_1_a.json']
    """
    kind, epoch_ms, rest = name.split("_", 2)
    return (0 if kind == JobKind.USER else 1, int(epoch_ms), rest)
