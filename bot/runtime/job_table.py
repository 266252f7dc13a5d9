"""The table of jobs: which handler does the work of which class, and the dispatch by class.

Every class that can be queued (WORK_CLASSES in bot/domain/jobs.py) has a row; without one the bot does not start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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

Handlers = Mapping[type[Work], Callable[[Any], object]]


def complete(handlers: Handlers) -> Handlers:
    """Return the handlers by the class of their work; raises TypeError where a class has none."""
    if missing := set(WORK_CLASSES.values()) - set(handlers):
        raise TypeError(f"no handler for {sorted(work.__name__ for work in missing)}")
    return handlers


def build_job_table(
    orchestrator: Orchestrator,
    alerts: AlertThreads,
    mentions: Mentions,
    rebuilding: ThreadRebuild,
    beats: BeatWorker,
    pages: PageThreads,
    ask: Callable[[AskInOps], None],
) -> Handlers:
    """Return the table of all jobs; `pages` hears each message of people before it is worked on."""

    def heard(handler: Callable[[Any], object]) -> Callable[[MessageWork], None]:
        def handle(work: MessageWork) -> None:
            pages.hear(work.event)
            handler(work)

        return handle

    return complete(
        {
            QuestionAsked: heard(orchestrator.take_question),
            FollowUpArrived: heard(orchestrator.take_follow_up),
            MessageEdited: orchestrator.note_edit,
            MessageDeleted: orchestrator.note_deletion,
            AlertArrived: alerts.take_alert,
            ContinueThread: orchestrator.continue_thread,
            MentionInstruction: heard(mentions.follow_instruction),
            AskInOps: ask,
            RebuildThread: rebuilding.rebuild_thread,
            RunBeat: beats.run_beat,
        }
    )
