"""The beat without a model: exit codes decide, and what good commands print anew is a line of the daily report.

Every due task gets a receipt: `finding` where a command fails, `ok` where all were answered, `skipped` where only a
model could tell. It says in every report that no model looked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bot.domain.heartbeats.alerts import ASSIGNMENTS, fingerprint
from bot.domain.heartbeats.beats import BeatReport, Finding, Receipt, Reported
from bot.domain.heartbeats.session_state import MessageKind
from bot.domain.playbooks.playbook_entries import PlaybookEntry
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.heartbeat.run.beat_view import BeatView
from bot.heartbeat.run.findings import LINE_CHARS, command_key, failed_commands, is_well

NO_MODEL: Final = "No model was used: code read the exit codes of the commands in HEARTBEAT.md."
TEXT_CHARS: Final = 300


class OfflineFullRun:
    """Port FullRun by code alone."""

    def run(self, view: BeatView) -> BeatReport:
        """Return receipts for each due task, and what is new of commands that are good."""
        failed: dict[str, list[Finding]] = {}
        for task, failure in failed_commands(view):
            failed.setdefault(task.id, []).append(failure)
        receipts = [receipt for task in view.tasks for receipt in _receipts(view, task, failed.get(task.id, []))]
        return BeatReport(
            message=view.session.beat.ack_token,
            status="ok",
            receipts=(*receipts, *_undone(view)),
            usage=None,
            notes=(NO_MODEL,),
            changes=tuple(_changes(view)),
        )


def _receipts(view: BeatView, task: PlaybookEntry, failed: list[Finding]) -> list[Receipt]:
    if task.id in view.exchange.receipts:
        return [view.exchange.receipts[task.id]]
    if failed:
        return [_finding(task.id, each.text, each.key.rpartition("/")[2]) for each in failed]
    if not view.probes.names_commands(task):
        return [Receipt(task=task.id, result="skipped", evidence="this needs a model; there is no API key")]
    commands = ", ".join(sorted(map(" ".join, view.probes.commands_of(task))))
    return [Receipt(task=task.id, result="ok" if view.probes.covers(task) else "skipped", evidence=commands)]


def _finding(task: str, text: str, key: str) -> Receipt:
    return Receipt(task=task, result="finding", evidence=text, finding=Reported(key=key, text=text))


def _undone(view: BeatView) -> Iterator[Receipt]:
    """Yield the assignments as one finding: only a model can work on them, and only a person can close it."""
    given = [message for message in view.inbox if message.kind is MessageKind.ASSIGNMENT]
    if given:
        lines = "\n".join(f"- {message.from_}: {one_line(message.text, TEXT_CHARS)}" for message in given)
        text = f"{counted(len(given), 'assignment')} not handled: no model is configured\n{lines}"
        yield _finding(ASSIGNMENTS, text, fingerprint(text))


def _changes(view: BeatView) -> Iterator[str]:
    """Yield a line for each good command that prints something else than at the last good beat.

    That a command which failed is good again is told by its alert.
    """
    closing = {each.key for each in view.open_findings}
    for result in view.changed:
        if is_well(result) and result.command in view.earlier and command_key(view, result.argv) not in closing:
            first, *more = [line for line in result.output.splitlines() if line.strip()] or ["(nothing)"]
            rest = f" (+{counted(len(more), 'line')})" if more else ""
            yield f"`{result.command}` printed something else: {one_line(first, LINE_CHARS)}{rest}"
