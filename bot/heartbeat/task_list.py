"""A session's tasks as people see them: numbered across the tiers, what is due, what may not run. Only reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.playbook import Playbook
from bot.domain.playbook_numbers import Numbered, numbered
from bot.domain.tiers import PERIODS, Stamps, Tier, due_tier, includes
from bot.heartbeat.commands import Argv
from bot.heartbeat.look import stamps_of
from bot.heartbeat.overview import next_beat
from bot.heartbeat.refused_commands import not_allowed
from bot.heartbeat.session import Session
from bot.heartbeat.zones import Zones
from bot.ports import SessionStore


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskList:
    """What a playbook asks for, as of `at`. `refused` are commands of a task that triage.yml does not allow."""

    session: Session
    at: datetime
    tasks: tuple[Numbered, ...]
    due: Tier
    stamps: Stamps
    beats: Mapping[Tier, datetime | None]
    """The first slot inside the hours at which a tier is due; None while the session is off or too far off to tell."""
    refused: Mapping[int, tuple[Argv, ...]]

    def of(self, tier: Tier) -> tuple[Numbered, ...]:
        """Return one tier's tasks."""
        return tuple(one for one in self.tasks if one.tier is tier)

    def is_due(self, tier: Tier) -> bool:
        """Whether a beat that began now would do this tier."""
        return tier in includes(self.due)


def task_list(session: Session, playbook: Playbook, store: SessionStore, zones: Zones, now: datetime) -> TaskList:
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
            one.number: found for one in tasks if (found := not_allowed(session, one.task.text, *one.task.details))
        },
    )


def due_at(stamps: Stamps, tier: Tier, now: datetime) -> datetime:
    """Return from when on a tier is due by its stamp; `now` where nothing holds it back."""
    stamp = stamps.of(tier)
    return max(now, stamp + PERIODS[tier]) if stamp is not None and tier in PERIODS else now
