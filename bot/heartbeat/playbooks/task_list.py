"""A session's tasks as people see them, numbered, and when each tier is due. Only reads; nothing is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.domain.answers import Answer, Part, lines_of, sentence
from bot.domain.heartbeats.allowed_commands import Argv
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import NumberedTask, numbered
from bot.domain.text.did_you_mean import near_ones
from bot.domain.text.humanize import duration, time_ago
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import PERIODS, Stamps, Tier, due_tier, includes
from bot.errors import InputError
from bot.heartbeat.run.inputs import stamps_of
from bot.heartbeat.schedule.session_rows import NO_SESSIONS, next_beat
from bot.heartbeat.sessions.session_registry import Owners, Session, SessionMemory

HEADINGS: Final = {Tier.QUICK: "Quick, at every beat", Tier.HOURLY: "Hourly", Tier.DAILY: "Daily"}
MAX_NAMED: Final = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskList:
    """What a playbook asks for, as of `at`. `refused` are commands of a task that triage.yml does not allow.

    `beats` is the first slot inside the hours at which a tier is due; None while the session is off.
    """

    session: Session
    at: datetime
    tasks: tuple[NumberedTask, ...]
    due: Tier
    stamps: Stamps
    beats: Mapping[Tier, datetime | None]
    refused: Mapping[int, tuple[Argv, ...]]

    def heading(self, tier: Tier) -> str:
        """Return the line above a tier's tasks: whether it is due, with which beat, and when it ran last.

        `Hourly · due in 40 min, with the beat in 45 min · last ran 20 min ago`
        """
        stamp, beat = self.stamps.stamp_of(tier), self.beats[tier]
        is_due = tier in includes(self.due)
        due = "due now" if is_due else f"due in {duration(due_at(self.stamps, tier, self.at) - self.at)}"
        when = "but the session is off" if beat is None else f"with the beat in {duration(beat - self.at)}"
        ran = "never ran" if stamp is None else f"last ran {time_ago(self.at, stamp)}"
        return f"{HEADINGS[tier]} · {due}, {when} · {ran}"

    def answer(self, *said: Part, undo: tuple[str, ...] = (), problem: str = "") -> Answer:
        """Return the list below what was done, and how that is undone; or `problem`, why nothing was done."""
        parts = [Part(title=self.heading(tier), lines=lines_of(self._lines(tier) or ["no task"])) for tier in Tier]
        if never := [f"{one_line(' '.join(argv))} (task {n})" for n, found in self.refused.items() for argv in found]:
            parts.append(Part(title="Not among the commands of triage.yml, so never run", lines=lines_of(never)))
        following = f"tiers {self.session.id} add hourly <task>"
        return Answer(parts=(*said, *parts), following=following, undo=undo, problem=problem, data=self.record())

    def due_answer(self) -> Answer:
        """Return which tier is due, and when the next one will be."""
        now = f"Due now in {self.session.id}: {' and '.join(includes(self.due))}."
        part = Part(title=now, lines=lines_of(map(self.heading, Tier)))
        return Answer(parts=(part,), following=f"tiers {self.session.id}", data=self.record())

    def record(self) -> dict[str, object]:
        """Return the list for programs."""
        tiers = {
            tier: {
                "last": self.stamps.stamp_of(tier),
                "due": tier in includes(self.due),
                "next_beat": self.beats[tier],
            }
            for tier in Tier
        }
        tasks = [
            {
                "number": one.number,
                "tier": one.tier,
                "id": one.task.id,
                "text": one_line(one.task.text),
                "details": [one_line(line) for line in one.task.details],
                "last_ok": one.task.checked,
                "not_allowed": [list(argv) for argv in self.refused.get(one.number, ())],
            }
            for one in self.tasks
        ]
        return {"session": self.session.id, "at": self.at, "due": self.due, "tiers": tiers, "tasks": tasks}

    def _lines(self, tier: Tier) -> list[str]:
        """Return a line for each task of a tier; details are counted, not shown."""
        more = {one.number: f" (+{len(one.task.details)} lines)" for one in self.tasks if one.task.details}
        own = (one for one in self.tasks if one.tier is tier)
        return [f"{one.number}. {one_line(one.task.text)}{more.get(one.number, '')}" for one in own]


def task_list(session: Session, playbook: Playbook, store: SessionMemory, zones: Owners, now: datetime) -> TaskList:
    """Return the tasks of a playbook as they stand; raises StoreError where the session's state cannot be read."""
    stamps, tasks = stamps_of(playbook, store.load(session.id)), numbered(playbook)
    due, hours = due_tier(stamps, now), zones.hours(session)
    since = {tier: now if tier in includes(due) else due_at(stamps, tier, now) - timedelta(seconds=1) for tier in Tier}
    beats = {tier: next_beat(session, hours, at) if session.beat.enabled else None for tier, at in since.items()}
    refused = {one.number: session.refused_commands(one.task.text, *one.task.details) for one in tasks}
    return TaskList(session=session, at=now, tasks=tasks, due=due, stamps=stamps, beats=beats, refused=refused)


def due_at(stamps: Stamps, tier: Tier, now: datetime) -> datetime:
    """Return from when on a tier is due by its stamp; `now` where nothing holds it back."""
    stamp = stamps.stamp_of(tier)
    return max(now, stamp + PERIODS[tier]) if stamp is not None and tier in PERIODS else now


def which_answer(known: Sequence[str]) -> Answer:
    """Return the sessions of which one is to be named."""
    if not known:
        return sentence(NO_SESSIONS, data=[])
    more = f" and {len(known) - MAX_NAMED} more: `/triage heartbeat list`" if len(known) > MAX_NAMED else ""
    return sentence(f"Which session? {', '.join(known[:MAX_NAMED])}{more}", f"tiers {known[0]}", data=list(known))


def parse_tier(word: str, session_id: str) -> Tier:
    """Return the tier a word names; raises InputError, with the near ones, for any other word."""
    if word in tuple(Tier):
        return Tier(word)
    near = near_ones(word, Tier, most=1)
    hint = f"did you mean {near[0]}?" if near else "there are quick, hourly and daily"
    if not word:
        raise InputError("Name a tier:", next_step=f"/triage tiers {session_id} …; {hint}")
    raise InputError(f"{word[:40]!r} is not a tier; {hint}")


def parse_number(word: str, session_id: str) -> int:
    """Return a task's number; raises InputError for any other word.

    >>> parse_number("#3", "shop")
    3
    """
    bare = word.removeprefix("#").removesuffix(".")
    if bare.isascii() and bare.isdigit() and len(bare) <= 6:
        return int(bare)
    said = f"{word[:40]!r} is not a task's number" if word else "Which task? Name its number"
    raise InputError(f"{said};", next_step=f"to see them: /triage tiers {session_id}")
