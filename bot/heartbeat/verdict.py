"""What a report amounts to: all is well, something to tell, or a beat that cannot be trusted. Pure.

Silence is earned: a message is suppressed only if it is an acknowledgement, every due task has a receipt, no task found
anything and no urgent flag is up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.ack import Ack, read_ack
from bot.domain.beats import Finding, Receipt
from bot.domain.dedupe import finding_key
from bot.domain.playbook_entries import Entry, unmarked
from bot.domain.tiers import Tier
from bot.heartbeat.remarks import remarks
from bot.heartbeat.severity import severity_of, severity_of_flag
from bot.heartbeat.view import BeatReport, BeatView

FLAGS = "flags"
MESSAGE = "message"
EVENT = "event-"
"""Begins the id of what happened once, as against a state that lasts: no later beat can find it gone."""
RECEIPTS = "receipts"


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A report read by code: what it says, what is wrong with it, which tasks it vouches for."""

    ack: Ack
    findings: tuple[Finding, ...]
    checked: frozenset[str]
    missing: tuple[Entry, ...]

    @property
    def is_good(self) -> bool:
        """Whether every due task has a receipt, so that its tier may be stamped."""
        return not self.missing

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing to tell."""
        return not self.findings and self.ack.kind != "alert"


def judge(view: BeatView, report: BeatReport) -> Judged:
    """Read a report against the tasks that were due."""
    ack = read_ack(report.message, token=view.session.beat.ack_token, max_chars=view.session.beat.ack_max_chars)
    due = {task.id: task for task in view.tasks}
    receipts = [receipt for receipt in report.receipts if receipt.task in due]  # a task may have found two things
    have = {receipt.task for receipt in receipts}
    missing = tuple(task for task in view.tasks if task.id not in have)
    findings = [*_found(view, report.receipts), *flags_up(view)]
    if missing:
        findings.append(_unreceipted(view.session.id, missing))
    if ack.kind == "alert" and not findings:
        findings.append(_said(view, ack.text))
    checked = {receipt.task for receipt in receipts if receipt.status != "skipped"}
    return Judged(
        ack=ack,
        findings=tuple(findings),
        checked=frozenset({*checked, FLAGS, *_vouched(view, complete=not missing)}),
        missing=missing,
    )


def boxes_of(report: BeatReport) -> dict[str, bool]:
    """Return which tasks went well: those all of whose receipts say so."""
    bad = {receipt.task for receipt in report.receipts if receipt.status != "ok"}
    return {receipt.task: receipt.task not in bad for receipt in report.receipts}


def _vouched(view: BeatView, *, complete: bool) -> tuple[str, ...]:
    """Return what a complete beat settles besides its tasks; only a daily one looked at all there is."""
    if not complete:
        return ()
    return (RECEIPTS, MESSAGE, *abandoned(view)) if view.tier is Tier.DAILY else (RECEIPTS,)


def abandoned(view: BeatView) -> frozenset[str]:
    """Return the tasks of open findings that stand in the playbook no more, so that no receipt ever settles them."""
    kept = {task.id for tier in Tier for task in view.playbook.tasks(tier)}
    return frozenset(each.task for each in view.open_findings) - kept - {FLAGS, MESSAGE, RECEIPTS}


def notes(view: BeatView, report: BeatReport, judged: Judged) -> tuple[str, ...]:
    """Return remarks about the beat: what its message says beside the findings, and what remarks.py has to say."""
    from_findings = any(found.text == judged.ack.text for found in judged.findings)
    said = (judged.ack.text,) if judged.ack.kind == "alert" and judged.ack.text and not from_findings else ()
    return (*said, *report.notes, *remarks(view))


def flags_up(view: BeatView) -> list[Finding]:
    """Return the urgent flags as findings; a flag that is taken down is a finding that is gone."""
    return [
        Finding(
            key=finding_key(view.session.id, FLAGS, flag.text),
            task=FLAGS,
            text=f"Urgent flag: {unmarked(flag.text)}",
            severity=severity_of_flag(view, flag.text),
        )
        for flag in view.playbook.flags
    ]


def _found(view: BeatView, receipts: Iterable[Receipt]) -> list[Finding]:
    """Return what the receipts report; those of no due task too, for a model that mistook an id saw something."""
    kept = [task for tier in Tier for task in view.playbook.tasks(tier)]
    known = {task.id: task for task in (*kept, *view.tasks)}
    return [_finding(view, receipt, known.get(receipt.task)) for receipt in receipts if receipt.status == "finding"]


def _finding(view: BeatView, receipt: Receipt, task: Entry | None) -> Finding:
    """Return what one receipt reports; `task` is the playbook's, None where it names none."""
    is_event = (receipt.finding or "").startswith(EVENT)
    said = receipt.evidence.strip() or (task.text if task else f"{receipt.task}: {receipt.finding or 'a finding'}")
    about = task.id if task else MESSAGE
    return Finding(
        key=finding_key(view.session.id, about, receipt.evidence, receipt.finding),
        task=MESSAGE if is_event else about,
        text=said,
        severity=severity_of(view, said, task, is_event=is_event),
    )


def _said(view: BeatView, text: str) -> Finding:
    key = finding_key(view.session.id, MESSAGE, text)
    return Finding(key=key, task=MESSAGE, text=text, severity=severity_of(view, text, None))


def _unreceipted(session_id: str, missing: tuple[Entry, ...]) -> Finding:
    names = "; ".join(task.text for task in missing[:5])
    text = (
        f"The beat gave no receipt for {len(missing)} due task{'s' * (len(missing) > 1)}, so it proves nothing: {names}"
    )
    return Finding(key=finding_key(session_id, RECEIPTS, RECEIPTS), task=RECEIPTS, text=text)
