"""The team's own checks of a beat that failed or gave no answer, by their exit codes; what is said of them. Pure.

Each command of a task is a finding of its own, so that nobody who acknowledged one misses the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from bot.domain.heartbeats.alerts import FAILING, NO_ANSWER, OpenFinding, check_named, finding_key, name_in
from bot.domain.heartbeats.allowed_commands import commands_in
from bot.domain.heartbeats.checks import checks_of, identity_of
from bot.domain.playbooks.playbook_entries import PlaybookEntry, is_marked_urgent, task_id, unmarked
from bot.heartbeat.run.beat_view import BeatView
from bot.heartbeat.run.probes import ProbeResult

SHOWN_LINES: Final = 8
_OTHERS: Final = frozenset({"git", "gh", "glab", "triage"})
_LEAD: Final = re.compile(r"[\s|>*+-]{0,99}(?:\[[ xX]?\]\s{0,9})?")
"""What stands before the words of a line: the marks of a list, a quotation or a table."""


def is_own(result: ProbeResult) -> bool:
    """Whether a command is a check of the team's own."""
    return result.argv[0] not in _OTHERS


def says_no(result: ProbeResult) -> bool:
    """Whether a check of the team's own ran to its end and failed; what was killed or never started said nothing."""
    return is_own(result) and (result.exit_code or 0) > 0


def is_good(view: BeatView, task: PlaybookEntry) -> bool:
    """Whether all commands of a task were run and none failed; a task without one is the model's to judge."""
    if not view.probes.names_commands(task):
        return True
    return view.probes.covers(task) and all(result.problem is None for result in view.probes.results_for(task))


def failures(view: BeatView, task: PlaybookEntry) -> list[ProbeResult]:
    """Return the team's own checks of a task that failed or gave no answer."""
    return [result for result in view.probes.results_for(task) if is_own(result) and result.problem is not None]


def is_unreported(view: BeatView) -> bool:
    """Whether a due check fails and nothing is open that says so: that is news, however long it has failed."""
    return any(not reports_of(view, task, result) for task in view.tasks for result in failures(view, task))


def failure_id(result: ProbeResult) -> str:
    """Return the stable id of the finding that a check fails: each command of a task is a finding of its own."""
    return f"{FAILING if says_no(result) else NO_ANSWER}-{task_id(result.command)}"


def subject_of(task: PlaybookEntry, named: str | None) -> tuple[str, str | None]:
    """Return the check that a finding of a task with the id `named` is about, and its name in the finding's key."""
    kind, check = check_named(named or "")
    return (check, kind) if check in checks_of(task) else (identity_of(task), named)


def well_again(view: BeatView) -> Iterator[str]:
    """Yield the keys of what is known of the commands that are good now, whatever becomes of others of their task."""
    for result in view.probes.results:
        if is_own(result) and result.problem is None:
            check = task_id(result.command)
            yield from (finding_key(view.session.id, check, "", kind) for kind in (FAILING, NO_ANSWER))


def reports_of(view: BeatView, task: PlaybookEntry, result: ProbeResult) -> list[OpenFinding]:
    """Return what is open of a check that fails: the finding of its own, or one that a model named since it fails."""
    check, kind = subject_of(task, failure_id(result))
    own, is_old = finding_key(view.session.id, check, "", kind), result.command in view.failed_before
    known, checks = view.open_findings, checks_of(task)
    return [
        each
        for each in known
        if each.key == own or (is_old and each.task in checks and name_in(each.key) not in (FAILING, NO_ANSWER))
    ]


def needs_full_look(view: BeatView) -> bool:
    """Whether a check fails, or cannot be run any more, in a way that nobody may pass over without a full run."""
    return is_unreported(view) or any(is_own(result) and result.problem for result in view.changed)


def failure_text(task: PlaybookEntry, result: ProbeResult) -> str:
    """Return what an alert says of a check that failed: its exit code, or why it has none, and its last words."""
    said = [line for line in result.output.splitlines() if line.strip()][-SHOWN_LINES:]
    how = (
        f"`{result.command}` fails (exit code {result.exit_code})"
        if says_no(result)
        else f"no answer: {result.problem}"
    )
    return titled(task, f"{how}\n{listed(said)}".rstrip(), of=result)


def is_marked(view: BeatView, task: PlaybookEntry, finding: str) -> bool:
    """Whether a task begins with `!`, or below it the line of the command that a finding is about (else of any)."""
    about = subject_of(task, finding)
    failed = [result.argv for result in failures(view, task) if subject_of(task, failure_id(result)) == about]
    named = ((line, set(commands_in([line]))) for line in task.details)
    lines = [line for line, argvs in named if argvs and (not failed or argvs.intersection(failed))]
    return any(is_marked_urgent(_LEAD.sub("", line, count=1)) for line in [task.text, *lines])


def titled(task: PlaybookEntry, *texts: str, of: ProbeResult | None = None) -> str:
    """Return what was seen under the title of its task, which is what stands before the command.

    `of` is the command it was seen by: of a list below the task, or a table, its own line is named too.
    """
    lines = [task.text, *(line for line in task.details if of is not None and of.argv in commands_in([line]))]
    titles = dict.fromkeys(map(_title, lines[-1:] if task.text.startswith("|") else lines))
    return "\n\n".join(f"{', '.join(filter(None, titles))}: {text}" for text in texts)


def _title(line: str) -> str:
    said = unmarked(_LEAD.sub("", line, count=1))
    return said.partition("`")[0].rstrip(" :|") or said


def listed(lines: Sequence[str]) -> str:
    """Return the first lines as a list, and how many more there are."""
    shown = [f"- `{line.replace('`', chr(39))[:160]}`" for line in lines[:SHOWN_LINES]]
    rest = len(lines) - len(shown)
    return "\n".join([*shown, *([f"- … {rest} more"] if rest else [])])
