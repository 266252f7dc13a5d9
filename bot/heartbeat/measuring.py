"""What a good beat measured of its due tasks, added to what the session's state remembers of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.measured import Measurement, TaskHistory, remembered
from bot.domain.playbook_entries import Entry
from bot.domain.tiers import Tier
from bot.heartbeat.view import BeatReport, BeatView


def measured_after(
    history: Mapping[str, TaskHistory], view: BeatView, report: BeatReport | None
) -> dict[str, TaskHistory]:
    """Return the history with one beat more; a beat without a report looked, but says nothing of findings."""
    found = {receipt.task: receipt.status == "finding" for receipt in report.receipts} if report else {}
    skipped = {receipt.task for receipt in report.receipts if receipt.status == "skipped"} if report else set()
    seen = (
        Measurement(
            task_id=task.id,
            text=task.text,
            tier=tier_of(task),
            seconds=_seconds(view, task),
            found=None if task.id in skipped else found.get(task.id),
        )
        for task in view.tasks
    )
    standing = {task.id for tier in Tier for task in view.playbook.tasks(tier)}
    return remembered(history, seen, on=view.started_at.date(), standing=standing)


def tier_of(task: Entry) -> Tier:
    """Return the tier a task stands in; one of a playbook without tiers is quick."""
    return Tier(task.section.value) if task.section.value in list(Tier) else Tier.QUICK


def _seconds(view: BeatView, task: Entry) -> float | None:
    results = view.probes.of(task)
    return round(sum(result.seconds for result in results), 3) if results else None
