"""The table of jobs: which handler does the work of which class, and the dispatch by class.

Every class that can be queued (WORK_CLASSES in bot/domain/jobs.py) has a row; without one the bot does not start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from bot.casework.alerts import AlertThreads
from bot.casework.mentions import Mentions
from bot.casework.orchestrator import Orchestrator
from bot.casework.recovery.thread_rebuild import ThreadRebuild
from bot.domain.jobs import (
    WORK_CLASSES,
    AlertArrived,
    AskInOps,
    ContinueThread,
    FollowUpArrived,
    MentionInstruction,
    MessageDeleted,
    MessageEdited,
    MessageWork,
    QuestionAsked,
    RebuildThread,
    RunBeat,
    Work,
)
from bot.heartbeat.alerts.pages import PageThreads
from bot.heartbeat.run.beat_worker import BeatWorker

W = TypeVar("W", bound=Work)
M = TypeVar("M", bound=MessageWork)
Handler = Callable[[Any], object]
Row = tuple[type[Work], Handler]


def row(work: type[W], handler: Callable[[W], object]) -> Row:
    """Return a row of the table; the handler takes this class."""
    return work, handler


class JobTable:
    """Handlers by the class of their work; raises TypeError where a class has none."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._handlers = dict(rows)
        if missing := set(WORK_CLASSES.values()) - set(self._handlers):
            raise TypeError(f"no handler for {sorted(work.__name__ for work in missing)}")

    def handler_of(self, work: Work) -> Handler:
        """Return the handler of the work's class."""
        return self._handlers[type(work)]


def build_job_table(
    orchestrator: Orchestrator,
    alerts: AlertThreads,
    mentions: Mentions,
    rebuilding: ThreadRebuild,
    beats: BeatWorker,
    pages: PageThreads,
    ask: Callable[[AskInOps], None],
) -> JobTable:
    """Return the table of all jobs; `pages` hears each message of people before it is worked on."""

    def heard(handler: Callable[[M], object]) -> Callable[[M], None]:
        def handle(work: M) -> None:
            pages.hear(work.event)
            handler(work)

        return handle

    return JobTable(
        (
            row(QuestionAsked, heard(orchestrator.take_question)),
            row(FollowUpArrived, heard(orchestrator.take_follow_up)),
            row(MessageEdited, orchestrator.note_edit),
            row(MessageDeleted, orchestrator.note_deletion),
            row(AlertArrived, alerts.take_alert),
            row(ContinueThread, orchestrator.continue_thread),
            row(MentionInstruction, heard(mentions.follow_instruction)),
            row(AskInOps, ask),
            row(RebuildThread, rebuilding.rebuild_thread),
            row(RunBeat, beats.run_beat),
        )
    )
