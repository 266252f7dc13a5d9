"""What a beat found: its commands' exit codes and its report's receipts, read by code. Pure.

A check of the team's own that exits with an error is failing, whoever calls it well. Silence is earned: a message is
suppressed only if it is an acknowledgement, every due task has a receipt, no task found anything and no urgent flag is
up. How urgent a finding is, the most urgent sign decides: a task marked `!`, words of an outage, a command that fails.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from bot.domain.ack import Ack, read_ack
from bot.domain.heartbeats.alerts import (
    ASSIGNMENTS,
    EVENT,
    FAILING,
    FLAGS,
    MESSAGE,
    NO_ANSWER,
    RECEIPTS,
    OpenFinding,
    finding_key,
    name_in,
)
from bot.domain.heartbeats.allowed_commands import DEFAULT_COMMANDS, not_run_notice
from bot.domain.heartbeats.beats import BeatReport, Finding, Receipt
from bot.domain.heartbeats.checks import checks_in, checks_of, identity_of
from bot.domain.heartbeats.session_state import MessageKind
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry, is_marked_urgent, unmarked
from bot.domain.severity import MAX_READ_CHARS, Severity, highest, severity_of_words
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import Tier
from bot.heartbeat.run.beat_view import BeatView, EditKind
from bot.heartbeat.run.failed_checks import (
    failure_id,
    failure_text,
    failures,
    is_good,
    is_marked,
    reports_of,
    subject_of,
    well_again,
)
from bot.heartbeat.run.probes import ProbeResult
from bot.intake.classifier.classification import is_alarm
from bot.intake.classifier.rules import Rules

_CODE: Final = re.compile(r"`[^`\n]{0,400}`")
_FOREIGN: Final = ("git", "gh", "glab")
"""What these print are titles and names, whose words say nothing of how things stand."""

_shipped = cache(Rules)
SHOWN: Final = 5


def severity_of(view: BeatView, text: str, task: PlaybookEntry | None, named: str | None = None) -> Severity:
    """Return the severity of a finding of `task` (None: of none of the playbook) with the id `named`.

    The most urgent sign counts.
    """
    return highest(_signs(view, text[:MAX_READ_CHARS], task, named or ""))


def severity_of_flag(view: BeatView, text: str) -> Severity:
    """Return the severity of an urgent flag: somebody is to act, at least."""
    signs = [Severity.PAGE] if is_marked_urgent(text) else []
    return highest([Severity.ACT, *signs, *_signs(view, text[:MAX_READ_CHARS], None)])


def _signs(view: BeatView, text: str, task: PlaybookEntry | None, named: str = "") -> list[Severity]:
    failing = [result for result in view.probes.results_for(task) if result.exit_code] if task else []
    has_failed_check = any(result.argv[0] not in _FOREIGN for result in failing)
    said = text.replace("`", " ") if has_failed_check else _CODE.sub(" ", text)
    pages = (task is not None and is_marked(view, task, named)) or is_alarm(said, _shipped())
    default = view.session.beat.severity
    return [
        *([Severity.PAGE] if pages else []),
        *([Severity.ACT] if failing else []),
        severity_of_words(said),
        Severity.KNOW if named.startswith(EVENT) and default is not Severity.PAGE else default,
    ]


def remarks(view: BeatView) -> Iterator[str]:
    """Yield the remarks of one beat, at most a handful of each kind."""
    changed = view.edits.described()
    if changed:
        yield changed
    added = [
        argv
        for edit in view.edits.made
        if edit.what is EditKind.ADD_TASK
        for argv in view.session.refused_commands(edit.text)
    ]
    refused = list(dict.fromkeys([*view.probes.refused, *added]))[:SHOWN]
    yield from map(not_run_notice, refused)
    if refused and view.session.beat.commands == DEFAULT_COMMANDS:
        yield "a list of `commands` in triage.yml replaces the built-in one; see docs/heartbeats.md"
    if late := view.probes.late:
        first = " ".join(late[0])
        yield f"no time was left for {counted(len(late), 'command')} of HEARTBEAT.md, from `{first}` on"
    for move in view.moves[:SHOWN]:
        yield f"“{one_line(move.text, 80)}” {move.why}: move it to {move.to_tier}?"


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatJudgement:
    """A report read by code: what it says, what is wrong with it, which tasks it vouches for."""

    ack: Ack
    findings: tuple[Finding, ...]
    checked: frozenset[str]
    missing: tuple[PlaybookEntry, ...]

    @property
    def is_good(self) -> bool:
        """Whether every due task has a receipt, so that its tier may be stamped."""
        return not self.missing

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing to tell."""
        return not self.findings and self.ack.kind != "alert"


def judge_report(view: BeatView, report: BeatReport) -> BeatJudgement:
    """Read a report against the tasks that were due."""
    ack = read_ack(report.message, token=view.session.beat.ack_token, max_chars=view.session.beat.ack_max_chars)
    due = {task.id: task for task in view.tasks}
    receipts = [receipt for receipt in report.receipts if receipt.task in due]  # a task may have found two things
    have = {receipt.task for receipt in receipts}
    missing = tuple(task for task in view.tasks if task.id not in have)
    found, known = _found(view, report.receipts), {each.key for each in view.open_findings}
    news = {each.task for each in found if each.key not in known and name_in(each.key) not in (FAILING, NO_ANSWER)}
    findings = _each_once([*found, *seen_by_code(view, news), *_undone(view, report)])
    if missing:
        findings.append(_unreceipted(view, missing))
    if ack.kind == "alert" and not findings:
        findings.append(_new(view, MESSAGE, ack.text))
    checked = _checked(view, {receipt.task for receipt in receipts if receipt.result != "skipped"})
    return BeatJudgement(
        ack=ack,
        findings=tuple(findings),
        checked=frozenset({*checked, *well_again(view), FLAGS, *_vouched(view, complete=not missing)}),
        missing=missing,
    )


def boxes_of(view: BeatView, report: BeatReport) -> dict[str, bool]:
    """Return which tasks went well: those all of whose receipts say so and none of whose checks failed."""
    bad = {receipt.task for receipt in report.receipts if receipt.result != "ok"}
    bad |= {task.id for task in view.tasks if failures(view, task)}
    return {receipt.task: receipt.task not in bad for receipt in report.receipts}


def _vouched(view: BeatView, *, complete: bool) -> tuple[str, ...]:
    """Return what a complete beat settles besides its tasks; only a daily one looked at all there is."""
    if not complete:
        return ()
    return (RECEIPTS, MESSAGE) if view.tier is Tier.DAILY else (RECEIPTS,)


def _checked(view: BeatView, vouched: set[str]) -> set[str]:
    """Return the checks a beat may call well again: vouched for in each task that makes them, run, and good.

    A check that could not be run, was not allowed or failed proves nothing, whatever a receipt says.
    """
    good, open_ = set[str](), set[str]()
    for task in view.tasks:
        if task.id in vouched and is_good(view, task):
            good.update(checks_of(task))
        else:
            open_.add(identity_of(task))
    return good - open_


def standing(playbook: Playbook) -> frozenset[str]:
    """Return what a finding may belong to: the checks of a playbook, and what is no task."""
    return frozenset({*checks_in(playbook), FLAGS, MESSAGE, RECEIPTS, ASSIGNMENTS})


def notes(view: BeatView, report: BeatReport, judged: BeatJudgement) -> tuple[str, ...]:
    """Return remarks about the beat: what its message says beside the findings, and what `remarks` has to say."""
    from_findings = any(found.text == judged.ack.text for found in judged.findings)
    said = (judged.ack.text,) if judged.ack.kind == "alert" and judged.ack.text and not from_findings else ()
    return (*said, *report.notes, *remarks(view))


def open_flags(view: BeatView) -> list[Finding]:
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


def _new(view: BeatView, about: str, text: str) -> Finding:
    """Return a finding of a beat that is of no task; it goes by its text."""
    key = finding_key(view.session.id, about, text)
    return Finding(key=key, task=about, text=text, severity=severity_of(view, text, None))


def _failure(view: BeatView, task: PlaybookEntry, result: ProbeResult) -> Finding:
    """Return the finding that one check of a task fails; it goes by the command."""
    named, text = failure_id(result), failure_text(task, result)
    check, kind = subject_of(task, named)
    return Finding(
        key=finding_key(view.session.id, check, "", kind),
        task=check,
        check=checks_of(task)[check],
        text=text,
        severity=severity_of(view, text, task, named),
    )


def _found(view: BeatView, receipts: Iterable[Receipt]) -> list[Finding]:
    """Return what the receipts report; those of no due task too, for a model that mistook an id saw something."""
    known = {task.id: task for task in (*(task for _, task in view.playbook.all_tasks), *view.tasks)}
    found = [receipt for receipt in receipts if receipt.result == "finding"]
    named = {(receipt.task, receipt.key) for receipt in found}
    return [_finding(view, receipt, known.get(receipt.task), named) for receipt in found]


def _each_once(findings: Iterable[Finding]) -> list[Finding]:
    """Return each finding once, as the most urgent of those that say it: two tasks may make one check."""
    once: dict[str, Finding] = {}
    for each in findings:
        first = once.setdefault(each.key, each)
        if each.severity.rank < first.severity.rank:
            once[each.key] = each
    return list(once.values())


def seen_by_code(view: BeatView, said: Collection[str | None] = ()) -> list[Finding]:
    """Return what stands whatever a model says: urgent flags, and what fails of the checks that are not in `said`.

    Of a check that a model has reported under another name, that finding stands.
    """
    found: dict[str, Finding] = {}
    for task in view.tasks:
        for result in failures(view, task) if identity_of(task) not in said else ():
            new = _failure(view, task, result)
            known = [again(each) for each in reports_of(view, task, result) if each.key != new.key]
            for each in known or [new]:
                found.setdefault(each.key, each)
    return [*found.values(), *open_flags(view)]


def _undone(view: BeatView, report: BeatReport) -> Iterator[Finding]:
    """Yield the assignments of a beat without a model as one finding: only a model can work on them."""
    given = [message for message in view.inbox if message.kind is MessageKind.ASSIGNMENT]
    if not given or report.usage is not None:
        return
    lines = "\n".join(f"- {message.from_}: {one_line(message.text, 300)}" for message in given)
    count = counted(len(given), "assignment")
    text = f"{count} not handled: no model is configured\n{lines}"
    yield _new(view, ASSIGNMENTS, text)


def again(known: OpenFinding) -> Finding:
    """Return an open finding as one that still stands."""
    return Finding(key=known.key, text=known.text, task=known.task, check=known.check, severity=known.severity)


def _finding(
    view: BeatView, receipt: Receipt, task: PlaybookEntry | None, named: Collection[tuple[str, str | None]]
) -> Finding:
    """Return what one receipt reports; `task` is the playbook's, None where it names none.

    Checks of the task that fail are named in it whatever a model calls them: two lazy sentences are two findings. A
    check that has a receipt of its own (`named`: task and finding of each) is not.
    """
    is_event = (receipt.key or "").startswith(EVENT)
    said = receipt.evidence.strip() or (task.text if task else f"{receipt.task}: {receipt.key or 'a finding'}")
    about, name = subject_of(task, receipt.key) if task else (MESSAGE, receipt.key)
    if task is not None and not is_event and name not in (FAILING, NO_ANSWER):
        alone = [each for each in failures(view, task) if (task.id, failure_id(each)) not in named]
        unnamed = [each for each in alone if each.command not in said]
        said = "\n\n".join([said, *(failure_text(task, each) for each in unnamed)])
    return Finding(
        key=finding_key(view.session.id, about, receipt.evidence, name),
        task=MESSAGE if is_event else about,
        check=(task.text if name == receipt.key else checks_of(task)[about]) if task else "",
        text=said,
        severity=severity_of(view, said, task, receipt.key),
    )


def _unreceipted(view: BeatView, missing: tuple[PlaybookEntry, ...]) -> Finding:
    names = "; ".join(task.text for task in missing[:5])
    count = counted(len(missing), "due task")
    text = f"The heartbeat reported no result for {count}, so do not rely on it: {names}"
    return Finding(key=finding_key(view.session.id, RECEIPTS, RECEIPTS), task=RECEIPTS, text=text)
