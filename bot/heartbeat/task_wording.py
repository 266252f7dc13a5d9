"""Tasks and tiers in plain words, the same in Slack and on the terminal. Pure; nothing here is escaped."""

from __future__ import annotations

from bot.domain.distance import ago, span
from bot.domain.hidden import without_hidden
from bot.domain.moments import utc_text
from bot.domain.tiers import PERIODS, Tier, includes
from bot.heartbeat.task_list import TaskList

HEADINGS = {Tier.QUICK: "Quick, at every beat", Tier.HOURLY: "Hourly", Tier.DAILY: "Daily"}


def tier_heading(seen: TaskList, tier: Tier) -> str:
    """Return the line above a tier's tasks: whether it is due, and when it ran last.

    `Hourly · not due, in 40 min · last ran 20 min ago`
    """
    stamp = seen.stamps.of(tier)
    ran = f"last ran {ago(seen.at, stamp)}" if stamp is not None else "never ran"
    due = "due now" if seen.is_due(tier) else _due_in(seen, tier)
    return " · ".join([HEADINGS[tier], due, ran])


def task_line(seen: TaskList, number: int) -> str:
    """Return a task with its number; details are counted, not shown."""
    one = seen.tasks[number - 1]
    more = f" (+{len(one.task.details)} lines)" if one.task.details else ""
    return f"{one.number}. {flat(one.task.text)}{more}"


def refused_lines(seen: TaskList) -> list[str]:
    """Return the commands that run in no beat because triage.yml does not allow them, with the tasks that name them."""
    return [f"{flat(' '.join(argv))} (task {number})" for number, found in seen.refused.items() for argv in found]


def due_lines(seen: TaskList) -> list[str]:
    """Return which tier is due, and when each one's turn is next."""
    now = " and ".join(includes(seen.due))
    lines = [f"Due now in {seen.session.id}: {now}."]
    for tier in Tier:
        beat = seen.beats[tier]
        when = f"with the beat in {span(beat - seen.at)} ({utc_text(beat)})" if beat is not None else _no_beat(seen)
        due = "due now" if seen.is_due(tier) else _due_in(seen, tier)
        lines.append(f"{tier}: {due}, {when}")
    return lines


def flat(text: str) -> str:
    """Return foreign words on one line, without what a terminal would obey."""
    return " ".join(without_hidden(text)[0].split())


def _due_in(seen: TaskList, tier: Tier) -> str:
    stamp = seen.stamps.of(tier)
    return f"due in {span(stamp + PERIODS[tier] - seen.at)}" if stamp is not None else "due now"


def _no_beat(seen: TaskList) -> str:
    return "no beat in sight" if seen.session.beat.enabled else "but the session is off"
