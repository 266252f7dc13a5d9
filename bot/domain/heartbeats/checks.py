"""The checks of a playbook: each command is one, and so is a task that names none. Pure.

A finding belongs to a check by its id, so it outlives a new title, another order and a move to another tier.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.domain.heartbeats.alerts import OpenFinding, finding_key
from bot.domain.heartbeats.allowed_commands import commands_in
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry, task_id

_OLD_NAMES: Final = ("failing", "no-answer")
"""How earlier versions called the finding that a command fails."""


def checks_of(task: PlaybookEntry) -> tuple[str, ...]:
    """Return the ids of a task's checks, its own first."""
    return tuple(task_id(" ".join(argv)) for argv in task.commands) or (task.id,)


def checks_of_lines(*lines: str) -> tuple[str, ...]:
    """Return the same of a task's lines.

    >>> checks_of_lines("Tree: `git status`") == checks_of_lines("Is it clean? `git status`")
    True
    """
    return tuple(task_id(" ".join(argv)) for argv in commands_in(lines)) or (task_id(lines[0]),)


def checks_in(playbook: Playbook) -> frozenset[str]:
    """Return the ids of all checks of a playbook."""
    return frozenset(check for _, task in playbook.all_tasks for check in checks_of(task))


def adopted(state: SessionState, playbook: Playbook) -> SessionState:
    """Return the state with the findings of earlier versions under the keys they have now; done once for a session.

    They went by the first command of their task, by their own, or by the text of the task.
    """
    if state.keyed_by_command:
        return state
    tasks = [task for _, task in playbook.all_tasks]
    commands = {task_id(command): command for task in tasks for command in map(" ".join, task.commands)}
    by_text = {task_id(task.text): task.id for task in tasks}
    findings = dict(state.findings)
    for old in state.findings.values():
        new = _adopted(old, commands, by_text)
        if old.is_remembered and new.key not in findings:
            findings[new.key] = findings.pop(old.key).evolve(key=new.key, task=new.task)
    return state.evolve(findings=findings, keyed_by_command=True)


def _adopted(old: OpenFinding, commands: Mapping[str, str], by_text: Mapping[str, str]) -> OpenFinding:
    session_id, name, task = old.key.partition("/")[0], old.name, by_text.get(old.task, old.task)
    kind, _, check = name.rpartition("-")
    if name in _OLD_NAMES:
        kind, check = name, task
    if kind in _OLD_NAMES and check in commands:
        return old.evolve(key=finding_key(session_id, check, "", commands[check]), task=check)
    return old.evolve(key=f"{session_id}/{task}/{name}", task=task)
