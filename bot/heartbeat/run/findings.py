"""What a beat found, read from fields: exit codes, receipts, urgent flags. Pure.

A command that fails is one finding under its own id, whatever it prints and whoever calls it well; a model's words may
lead it. Silence is earned: a message is suppressed only if it says that all is well, every due task has a receipt, no
task found anything, no command failed and no urgent flag is up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.domain.ack import read_ack
from bot.domain.alerts import Severity, highest
from bot.domain.heartbeats.alerts import (
    ASSIGNMENTS,
    FLAGS,
    MESSAGE,
    RECEIPTS,
    BeatOutcome,
    Removal,
    finding_key,
    fingerprint,
)
from bot.domain.heartbeats.allowed_commands import Argv, commands_in
from bot.domain.heartbeats.beats import BeatReport, BeatResult, BeatStep, Finding, Receipt, Reported
from bot.domain.heartbeats.session_state import MessageKind
from bot.domain.playbook import Playbook
from bot.domain.playbook_entries import PlaybookEntry, is_marked_urgent, task_id, unmarked
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import Tier, includes
from bot.heartbeat.run.beat_record import BeatView, counted_edits, described_edits, removals_in
from bot.heartbeat.run.probes import ProbeResult

SHOWN_LINES: Final = 8
LINE_CHARS: Final = 160
NAMED_TASKS: Final = 5
ASSIGNED_CHARS: Final = 300
NO_MODEL: Final = "No model was used: code read the exit codes of the commands in HEARTBEAT.md."
BARE_TOKENS: Final = 3
"""So many full runs in a row without a report are an alert."""

_LEAD: Final = re.compile(r"[\s|>*+-]{0,99}(?:\[[ xX]?\]\s{0,9})?")
"""What stands before the words of a line: the marks of a list, a quotation or a table."""


def is_well(result: ProbeResult) -> bool:
    """Whether a command ran to its end and exited 0."""
    return result.exit_code == 0 and result.problem is None


def command_key(view: BeatView, argv: Argv) -> str:
    """Return the key of the finding that a command fails."""
    command = " ".join(argv)
    return finding_key(view.session.id, task_id(command), "", command)


def failed_commands(view: BeatView) -> list[tuple[PlaybookEntry, Finding]]:
    """Return the commands that fail or gave no answer, task by task, and the finding that each one is.

    One that two tasks name is there twice. The first line of a finding's text says the task, the command and how it
    fails, the others what it printed last.
    """
    failed = {result.argv: result for result in view.probes.results if result.problem is not None}
    return [
        (task, _failure(view, task, failed[argv]))
        for task in (view.tasks if failed else ())
        for argv in task.commands
        if argv in failed
    ]


def is_unreported(view: BeatView) -> bool:
    """Whether a due command fails and nothing is open that says so: that is news, however long it has failed."""
    return not {found.key for _, found in failed_commands(view)} <= {each.key for each in view.open_findings}


def needs_full_run(view: BeatView) -> bool:
    """Whether no cheap model may pass over it: a command fails anew, or what an open finding is about has changed."""
    found = {each.task for each in view.open_findings}
    tasks = [task for task in view.tasks if not found.isdisjoint({task.id, *task.checks})]
    about = [result for task in tasks for result in view.probes.results_for(task)]
    return is_unreported(view) or any(result.problem or result in about for result in view.changed)


def is_unchanged(view: BeatView) -> bool:
    """Whether nobody has to think: code alone answers every due task, and all is as it was at the last good beat."""
    covered = all(view.probes.covers(task) for task in view.tasks)
    calm = not view.changed and not view.playbook.flags and not view.inbox and not is_unreported(view)
    return (view.tier is not Tier.DAILY or not view.tasks) and covered and calm


def seen_by_code(view: BeatView, told: Mapping[str, Receipt] | None = None) -> list[Finding]:
    """Return what stands whatever a model says: commands that fail, and urgent flags.

    `told` are receipts that speak of these commands, by the key of the finding; their words and severity lead. What an
    earlier beat's model said of a failure that is still the same goes on leading it.
    """
    known, told = {each.key: each.text for each in view.open_findings}, told or {}
    failed = [_led(found, known.get(found.key, ""), told.get(found.key)) for _, found in failed_commands(view)]
    return [*_each_once(failed), *(_of_flag(view, flag) for flag in view.playbook.flags)]


def well_commands(view: BeatView) -> set[str]:
    """Return the keys of what is closed because its command is good, whoever looks and whatever else fails."""
    return {command_key(view, result.argv) for result in view.probes.results if is_well(result)}


def standing(playbook: Playbook) -> frozenset[str]:
    """Return what a finding may belong to: the checks of a playbook, and what is no task."""
    return playbook.checks | {FLAGS, MESSAGE, RECEIPTS, ASSIGNMENTS}


def refusals(view: BeatView) -> dict[str, Removal]:
    """Return why the findings of commands are closed that are not allowed any more, by the finding's key."""
    refused = Removal(at=view.started_at, what="its command was taken off `commands`")
    return {command_key(view, argv): refused for argv in view.probes.refused}


def still_standing(view: BeatView) -> list[Finding]:
    """Return what a beat without news vouches for: what code sees now, and what was found before and not settled.

    A message or an assignment that was sent stands for itself; what a check found that is not made any more is closed.
    """
    now = seen_by_code(view)
    settled = well_commands(view) | {each.key for each in now} | refusals(view).keys()
    kept = standing(view.playbook) - {FLAGS}
    known = [
        each
        for each in view.open_findings
        if each.key not in settled and each.task in kept
        if each.task not in (MESSAGE, ASSIGNMENTS) or each.sent_at is None
    ]
    return [*known, *now]


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement(BeatOutcome):
    """What a beat amounts to: what there is to tell, and how it ends.

    `done` says of each due task whether it went well; None: not every one was looked at, so its tier is not stamped.
    `is_bare`: the run ended in the token instead of a report. `quiet` is how the beat ends if nothing is sent, `step`
    where and `detail` why, if no report says so. `beside_ok` is what was said beside that all is well.
    """

    done: Mapping[str, bool] | None = None
    quiet: BeatResult = BeatResult.OK_EMPTY
    step: BeatStep | None = None
    detail: str = ""
    beside_ok: str = ""
    is_bare: bool = False


def judged(view: BeatView, findings: Iterable[Finding], checked: Iterable[str], **said: Any) -> Judgement:
    """Return what a beat amounts to that found this, looked at the `checked`, and has this to say."""
    return Judgement(
        findings=tuple(findings),
        checked=frozenset(checked),
        standing=standing(view.playbook),
        removals={**view.removals, **removals_in(view.edits, view.started_at), **refusals(view)},
        at=view.started_at,
        tier=view.tier,
        **said,
    )


def judge_quiet(view: BeatView, step: BeatStep, why: str) -> Judgement:
    """Judge a beat in which nothing is new: what still stands and is due to be said again is said."""
    findings = still_standing(view)
    return judged(
        view,
        findings,
        {FLAGS, *well_commands(view)},
        done=boxes(view, findings),
        step=step,
        detail="; ".join(filter(None, [why, counted_edits(view.edits)])),
        ok_text=f"Nothing new in {view.session.name}.",
    )


def judge_failure(view: BeatView, error: Exception) -> Judgement:
    """Judge a beat whose run failed: what code sees rings and closes all the same; nothing is stamped."""
    return judged(view, seen_by_code(view), well_commands(view), notes=(f"No model looked at this: {error}",))


def judge_report(view: BeatView, report: BeatReport) -> Judgement:
    """Read a report against the tasks that were due and what code saw."""
    token, limit, message = view.session.beat.ack_token, view.session.beat.ack_max_chars, report.message.strip()
    if report.status is None:
        ack = read_ack(message, token=token, max_chars=limit)
        said, is_alert = ack.text, ack.kind == "alert"
    else:
        said = "" if message == token else message
        is_alert = report.status == "attention" or len(said) > limit
    is_bare = report.status is None and not report.receipts and not is_alert
    missing = unanswered(view.tasks, report.receipts)
    findings = _found(view, report.receipts)
    if missing and (not is_bare or view.bare_tokens + 1 >= BARE_TOKENS):
        findings.append(_unreceipted(view, missing))
    if is_alert and _stands_alone(view, report, said, findings):
        text = said or "The heartbeat asks for attention and does not say why."
        findings.append(_finding(view, MESSAGE, text))
    is_note = is_alert and all(found.text != said for found in findings)
    checked = {*_settled(view, report.receipts), *well_commands(view), FLAGS}
    if not missing:
        checked.add(RECEIPTS)
        if not is_alert and all(receipt.result != "skipped" for receipt in report.receipts):
            checked |= _said_before(view)
    return judged(
        view,
        findings,
        checked,
        done=None if missing or is_bare else boxes(view, findings, report.receipts),
        quiet=BeatResult.OK_TOKEN if message else BeatResult.OK_EMPTY,
        ok_text=said or f"OK: no problem found in {view.session.name}.",
        beside_ok="" if is_alert else said,
        notes=tuple(filter(None, [said if is_note else "", *report.notes, described_edits(view.edits)])),
        reasoning=report.reasoning if view.session.beat.include_reasoning else None,
        is_bare=is_bare,
    )


def _said_before(view: BeatView) -> set[str]:
    """Return the keys of what earlier messages said, in beats that looked at no more than this one."""
    said = (each for each in view.open_findings if each.task == MESSAGE)
    return {each.key for each in said if (each.tier or Tier.DAILY) in includes(view.tier)}


def _stands_alone(view: BeatView, report: BeatReport, said: str, findings: Sequence[Finding]) -> bool:
    """Whether a message that wants a reader has nothing to go with: no finding of its run, and nothing that is new.

    What code sees failing beat after beat may be acknowledged or told already, and would keep the message with it.
    """
    known = {each.key for each in view.open_findings}
    is_reported = any(receipt.result == "finding" for receipt in report.receipts)
    is_new = is_reported or any(found.key not in known for found in findings)
    return not findings or (bool(said) and not is_new)


def unanswered(tasks: Iterable[PlaybookEntry], receipts: Iterable[Receipt]) -> list[PlaybookEntry]:
    """Return the due tasks that have no receipt; a beat succeeded only if there are none."""
    have = {receipt.task for receipt in receipts}
    return [task for task in tasks if task.id not in have]


def boxes(view: BeatView, findings: Iterable[Finding], receipts: Iterable[Receipt] = ()) -> dict[str, bool]:
    """Return which due tasks went well: none of their checks found anything and no receipt says that one did not."""
    found = {each.task for each in findings}
    found |= {receipt.task for receipt in receipts if receipt.result != "ok"}
    return {task.id: found.isdisjoint({task.id, *task.checks}) for task in view.tasks}


def _failure(view: BeatView, task: PlaybookEntry, result: ProbeResult) -> Finding:
    line = _line_of(task, result.argv)
    printed = [each.replace("`", "'")[:LINE_CHARS] for each in result.output.splitlines() if each.strip()]
    return Finding(
        key=command_key(view, result.argv),
        task=task_id(result.command),
        text="\n".join([f"{_title(task, line)}: {_how(result)}", *(f"- `{each}`" for each in printed[-SHOWN_LINES:])]),
        severity=_severity(view, task.text, _LEAD.sub("", line, count=1)),
    )


def _how(result: ProbeResult) -> str:
    """Return how a command fails."""
    if (result.exit_code or 0) > 0:
        return f"`{result.command}` fails (exit code {result.exit_code})"
    return f"no answer: {result.problem}"


def _line_of(task: PlaybookEntry, argv: Argv) -> str:
    """Return the line that names a command: of a list below the task, or a table, its own."""
    return next((line for line in (task.text, *task.details) if argv in commands_in([line])), task.text)


def _title(task: PlaybookEntry, line: str) -> str:
    """Return what a task and the line of its command are called: the words before the command."""
    lines = [line] if task.text.startswith("|") else [task.text, line]
    words = [unmarked(_LEAD.sub("", each, count=1)) for each in lines]
    titles = [said.partition("`")[0].rstrip(" :|") or said for said in words]
    return ", ".join(dict.fromkeys(filter(None, titles)))


def _severity(view: BeatView, *lines: str) -> Severity:
    """Return the severity of what is found by a task or a command whose line this is; `!` before it makes it a page."""
    return Severity.PAGE if any(map(is_marked_urgent, lines)) else view.session.beat.severity


def _led(failure: Finding, known: str, told: Receipt | None) -> Finding:
    """Return a failure below a model's words: those of a receipt, else the known ones if it fails as it did."""
    headline, text, said = failure.text.partition("\n")[0], failure.text, _words(told) if told else ""
    if said in text:
        before, same, _ = known.partition(headline)
        text = before + text if same and before.endswith("\n") else text
    else:
        text = said if text in said else f"{said}\n\n{text}"
    severity = told.finding.severity if told and told.finding else None
    return failure.evolve(text=text, severity=severity or failure.severity)


def _of_flag(view: BeatView, flag: PlaybookEntry) -> Finding:
    severity = highest([Severity.ACT, _severity(view, flag.text)])
    key = finding_key(view.session.id, FLAGS, flag.text)
    return Finding(key=key, task=FLAGS, text=f"Urgent flag: {unmarked(flag.text)}", severity=severity)


def _found(view: BeatView, receipts: Iterable[Receipt]) -> list[Finding]:
    """Return what the receipts report and what code saw, each once.

    A receipt that names a failing command of its task, or is the only finding of a task of which one command fails, is
    the finding of that command; without a finding of its own it adds nothing. A receipt of no due task counts too, for
    a model that mistook an id saw something.
    """
    failing = dict[str, set[str]]()
    for task, failure in failed_commands(view):
        failing.setdefault(task.id, set()).add(failure.key)
    found = [each for each in receipts if each.result == "finding" and (each.finding or each.task not in failing)]
    counts = Counter(receipt.task for receipt in found)
    tasks = {task.id: task for task in (*view.playbook.all_tasks, *view.tasks)}
    told, others = dict[str, Receipt](), list[Finding]()
    for receipt in found:
        keys = failing.get(receipt.task, set())
        is_alone = len(keys) == counts[receipt.task] == 1
        if named := keys if is_alone else {key for key in keys if key.endswith(f"/{_name(receipt)}")}:
            told[next(iter(named))] = receipt
        else:
            others.append(_of_receipt(view, receipt, tasks.get(receipt.task)))
    return _each_once([*others, *seen_by_code(view, told)])


def _name(receipt: Receipt) -> str:
    return finding_key("", "", receipt.evidence, receipt.key).rpartition("/")[2]


def _words(receipt: Receipt) -> str:
    return ((receipt.finding and receipt.finding.text) or receipt.evidence).strip()


def _of_receipt(view: BeatView, receipt: Receipt, task: PlaybookEntry | None) -> Finding:
    about = receipt.task if task or receipt.task == ASSIGNMENTS else MESSAGE
    text = _words(receipt) or (task.text if task else f"{receipt.task}: {receipt.key or 'a finding'}")
    severity = receipt.finding.severity if receipt.finding else None
    return _finding(view, about, text, receipt.key, severity or _severity(view, task.text if task else ""))


def _finding(
    view: BeatView, about: str, text: str, name: str | None = None, severity: Severity | None = None
) -> Finding:
    key = finding_key(view.session.id, about, text, name)
    return Finding(key=key, task=about, text=text, severity=severity or view.session.beat.severity)


def _unreceipted(view: BeatView, missing: list[PlaybookEntry]) -> Finding:
    names = "; ".join(task.text for task in missing[:NAMED_TASKS])
    count = counted(len(missing), "due task")
    text = f"The heartbeat reported no result for {count}, so do not rely on it: {names}"
    return _finding(view, RECEIPTS, text, RECEIPTS)


def _settled(view: BeatView, receipts: Iterable[Receipt]) -> set[str]:
    """Return the checks whose findings are over unless reported again: looked at, and all their commands good.

    A command that could not be run, was not allowed or failed proves nothing, whatever a receipt says.
    """
    answered = {result.argv for result in view.probes.results if is_well(result)}
    looked = {receipt.task for receipt in receipts if receipt.result != "skipped"}
    good, doubtful = set[str](), set[str]()
    for task in view.tasks:
        if task.id in looked and answered.issuperset(task.commands):
            good.update(task.checks)
        else:
            doubtful.add(task.id)
    return good - doubtful


def _each_once(findings: Iterable[Finding]) -> list[Finding]:
    """Return each finding once, as the most urgent of those that say it."""
    once: dict[str, Finding] = {}
    for each in findings:
        first = once.setdefault(each.key, each)
        if each.severity.rank < first.severity.rank:
            once[each.key] = each
    return list(once.values())


def report_by_code(view: BeatView) -> BeatReport:
    """Return what there is to report without a model: exit codes decide, and what is new of good commands is named.

    Every due task has a receipt: `finding` where a command fails, `ok` where all were answered, `skipped` where only a
    model could tell.
    """
    return BeatReport(
        message=view.session.beat.ack_token,
        status="ok",
        receipts=(*(_receipt(view, task) for task in view.tasks), *_undone(view)),
        usage=None,
        notes=(NO_MODEL,),
        changes=tuple(_changes(view)),
    )


def _receipt(view: BeatView, task: PlaybookEntry) -> Receipt:
    """Return what code says of a task; that its command fails is a finding in any case, so the receipt has none."""
    if task.id in view.exchange.receipts:
        return view.exchange.receipts[task.id]
    if failed := [_how(result) for result in view.probes.results_for(task) if result.problem is not None]:
        return Receipt(task=task.id, result="finding", evidence="; ".join(failed))
    if not task.commands:
        return Receipt(task=task.id, result="skipped", evidence="this needs a model; there is no API key")
    commands = ", ".join(map(" ".join, task.commands))
    return Receipt(task=task.id, result="ok" if view.probes.covers(task) else "skipped", evidence=commands)


def _undone(view: BeatView) -> Iterator[Receipt]:
    """Yield the assignments as one finding: only a model can work on them, and only a person can close it."""
    given = [message for message in view.inbox if message.kind is MessageKind.ASSIGNMENT]
    if given:
        lines = "\n".join(f"- {message.from_}: {one_line(message.text, ASSIGNED_CHARS)}" for message in given)
        text = f"{counted(len(given), 'assignment')} not handled: no model is configured\n{lines}"
        found = Reported(key=fingerprint(text), text=text)
        yield Receipt(task=ASSIGNMENTS, result="finding", evidence=text, finding=found)


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
