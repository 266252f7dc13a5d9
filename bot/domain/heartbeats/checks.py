"""Which check a task is, and under which one what was found of it is remembered. Pure.

What a failed command finds is remembered under that command, any other finding under the first one of its task, else
under the task's text: what people said of one outlives a new wording, another order, a move to another tier, and a task
that was taken out and put back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from bot.domain.heartbeats.alerts import OpenFinding, check_named, name_in, rekeyed
from bot.domain.heartbeats.allowed_commands import commands_in
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry, task_id
from bot.domain.sharing.suggestions import is_same_task


def identity_of(task: PlaybookEntry) -> str:
    """Return the short id of a task's check.

    >>> from bot.domain.playbook import parse
    >>> from bot.domain.tiers import Tier
    >>> tasks = parse("- Tree: `git status`\\n- Is the tree clean? `git status`\\n- The tree").tasks(Tier.QUICK)
    >>> identity_of(tasks[0]) == identity_of(tasks[1]), identity_of(tasks[0]) == identity_of(tasks[2])
    (True, False)
    """
    return next(iter(checks_of(task)))


def checks_of(task: PlaybookEntry) -> dict[str, str]:
    """Return the checks of a task, its own first: the id of each command it names, with the line that names it.

    One without commands is itself a check.
    """
    return checks_of_lines(task.text, *task.details)


def checks_of_lines(text: str, *details: str) -> dict[str, str]:
    """Return the same of a task's lines."""
    found: dict[str, str] = {}
    for line in (text, *details):
        for argv in commands_in([line]):
            found.setdefault(task_id(" ".join(argv)), line)
    return found or {task_id(text): text}


def checks_in(playbook: Playbook) -> dict[str, str]:
    """Return every check of a playbook as `checks_of` does; of two lines that name the same, the first."""
    found: dict[str, str] = {}
    for _, task in playbook.all_tasks:
        for check, line in checks_of(task).items():
            found.setdefault(check, line)
    return found


def adopted(state: SessionState, playbook: Playbook) -> SessionState:
    """Return the state with the findings of reworded tasks under the check their task is now.

    So are those of older versions, which went by the task's text, or of a failed command by the first of its task.
    """
    moved = dict(_moved(list(state.findings.values()), playbook))
    if not moved:
        return state
    findings = {key: each for key, each in state.findings.items() if key not in moved}
    sent = state.sent
    for old, new in moved.items():
        findings[new.key] = new
        sent = sent.renamed(old, new.key)
    return state.evolve(findings=findings, sent=sent)


def _moved(findings: Sequence[OpenFinding], playbook: Playbook) -> Iterator[tuple[str, OpenFinding]]:
    """Yield the old key of each finding that goes under another one now, and the finding under it."""
    checks, taken = checks_in(playbook), {each.key for each in findings}
    by_text = {task.id: identity_of(task) for _, task in playbook.all_tasks}
    held = {each.task for each in findings if each.is_open}
    for each in findings:
        if not each.is_remembered:
            continue
        kind, check = check_named(name_in(each.key))
        if check not in checks:
            kind, check = "", each.task if each.task in checks else by_text.get(each.task) or _same(each, checks, held)
        key = rekeyed(each.key, check or each.task, kind)
        if key not in taken:
            taken.add(key)
            yield each.key, each.evolve(key=key, task=check)


def _same(finding: OpenFinding, checks: Mapping[str, str], held: Collection[str]) -> str:
    """Return a finding's check in other words, or nothing; one that has findings of its own is another check."""
    same = (check for check, line in checks.items() if check not in held and is_same_task(line, finding.check))
    return next(same, "") if finding.check else ""
