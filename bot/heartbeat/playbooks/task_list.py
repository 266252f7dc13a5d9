"""A session's tasks as people see them, the same in Slack and on the terminal. Only reads; nothing is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.heartbeats.allowed_commands import Argv
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import NumberedTask, numbered
from bot.domain.text.humanize import duration, time_ago
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import PERIODS, Stamps, Tier, due_tier, includes
from bot.heartbeat.run.inputs import stamps_of
from bot.heartbeat.schedule.session_rows import next_beat
from bot.heartbeat.sessions.session_registry import Owners, Session, SessionMemory

HEADINGS = {Tier.QUICK: "Quick, at every beat", Tier.HOURLY: "Hourly", Tier.DAILY: "Daily"}


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskList:
    """What a playbook asks for, as of `at`. `refused` are commands of a task that triage.yml does not allow."""

    session: Session
    at: datetime
    tasks: tuple[NumberedTask, ...]
    due: Tier
    stamps: Stamps
    beats: Mapping[Tier, datetime | None]
    """The first slot inside the hours at which a tier is due; None while the session is off or too far off to tell."""
    refused: Mapping[int, tuple[Argv, ...]]

    def in_tier(self, tier: Tier) -> tuple[NumberedTask, ...]:
        """Return one tier's tasks."""
        return tuple(one for one in self.tasks if one.tier is tier)

    def is_due(self, tier: Tier) -> bool:
        """Whether a beat that began now would do this tier."""
        return tier in includes(self.due)


def task_list(session: Session, playbook: Playbook, store: SessionMemory, zones: Owners, now: datetime) -> TaskList:
    """Return the tasks of a playbook as they stand; raises StoreError where the session's state cannot be read."""
    stamps, tasks = stamps_of(playbook, store.load(session.id)), numbered(playbook)
    due, hours = due_tier(stamps, now), zones.hours(session)

    def beat_of(tier: Tier) -> datetime | None:
        since = now if tier in includes(due) else due_at(stamps, tier, now) - timedelta(seconds=1)
        return next_beat(session, hours, since) if session.beat.enabled else None

    return TaskList(
        session=session,
        at=now,
        tasks=tasks,
        due=due,
        stamps=stamps,
        beats={tier: beat_of(tier) for tier in Tier},
        refused={
            one.number: found for one in tasks if (found := session.refused_commands(one.task.text, *one.task.details))
        },
    )


def due_at(stamps: Stamps, tier: Tier, now: datetime) -> datetime:
    """Return from when on a tier is due by its stamp; `now` where nothing holds it back."""
    stamp = stamps.stamp_of(tier)
    return max(now, stamp + PERIODS[tier]) if stamp is not None and tier in PERIODS else now


def tier_heading(seen: TaskList, tier: Tier) -> str:
    """Return the line above a tier's tasks: whether it is due, with which beat, and when it ran last.

    `Hourly · due in 40 min, with the beat in 45 min · last ran 20 min ago`
    """
    stamp, beat = seen.stamps.stamp_of(tier), seen.beats[tier]
    due = "due now" if seen.is_due(tier) else f"due in {duration(due_at(seen.stamps, tier, seen.at) - seen.at)}"
    off = "no beat is scheduled" if seen.session.beat.enabled else "but the session is off"
    when = f"with the beat in {duration(beat - seen.at)}" if beat is not None else off
    ran = f"last ran {time_ago(seen.at, stamp)}" if stamp is not None else "never ran"
    return f"{HEADINGS[tier]} · {due}, {when} · {ran}"


def task_line(seen: TaskList, number: int) -> str:
    """Return a task with its number; details are counted, not shown."""
    one = seen.tasks[number - 1]
    more = f" (+{len(one.task.details)} lines)" if one.task.details else ""
    return f"{one.number}. {one_line(one.task.text)}{more}"


def refused_lines(seen: TaskList) -> list[str]:
    """Return the commands that run in no beat because triage.yml does not allow them, with the tasks that name them."""
    return [f"{one_line(' '.join(argv))} (task {number})" for number, found in seen.refused.items() for argv in found]
