"""Which check a task is, however it is worded: the first command it names, else its text. Pure.

Findings are remembered under it, so that what people said of one (acknowledged, snoozed) outlives a new wording, a move
to another tier, and a task that was taken out and put back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.domain.heartbeats.finding_keys import rekeyed
from bot.domain.heartbeats.session_state import OpenFinding, SessionState
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry, task_id
from bot.domain.sharing.suggestions import is_same_task
from bot.domain.tiers import Tier
from bot.heartbeat.playbooks.allowed_commands import commands_in


def identity_of(task: PlaybookEntry) -> str:
    """Return the short id of a task's check.

    >>> from bot.domain.playbook import parse
    >>> tasks = parse("- Tree: `git status`\\n- Is the tree clean? `git status`\\n- The tree").tasks(Tier.QUICK)
    >>> identity_of(tasks[0]) == identity_of(tasks[1]), identity_of(tasks[0]) == identity_of(tasks[2])
    (True, False)
    """
    return identity_of_lines(task.text, *task.details)


def identity_of_lines(text: str, *details: str) -> str:
    """Return the same of a task's lines."""
    named = commands_in([text, *details])
    return task_id(" ".join(named[0]) if named else text)


def checks_in(playbook: Playbook) -> dict[str, PlaybookEntry]:
    """Return every task of a playbook by its identity; of two that make the same check, the first."""
    found: dict[str, PlaybookEntry] = {}
    for tier in Tier:
        for task in playbook.tasks(tier):
            found.setdefault(identity_of(task), task)
    return found


def adopted(state: SessionState, playbook: Playbook) -> SessionState:
    """Return the state with the findings of reworded tasks under the identity their task has now.

    So are those of older versions, which went by the task's text.
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
    held = {each.task for each in findings if each.is_open}
    for each in findings:
        if not each.is_remembered or each.task in checks:
            continue
        task = _same(each, checks, held)
        if task is None:
            continue
        key = rekeyed(each.key, identity_of(task))
        if key not in taken:
            taken.add(key)
            yield each.key, each.evolve(key=key, task=identity_of(task))


def _same(finding: OpenFinding, checks: dict[str, PlaybookEntry], held: set[str]) -> PlaybookEntry | None:
    """Return the task that is a finding's check in other words; one that has findings of its own is another check."""
    for identity, task in checks.items():
        if task.id == finding.task:
            return task
        if finding.check and identity not in held and is_same_task(task.text, finding.check):
            return task
    return None
