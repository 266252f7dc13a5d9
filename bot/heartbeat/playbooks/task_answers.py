"""What `tiers …` answers, the same in Slack and on the terminal. Who may is asked before.

A word that names no tier or task is refused with what to type instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.answers import Answer, Part, lines_of
from bot.domain.playbooks.playbook_edits import ListChanged
from bot.domain.text.did_you_mean import near_ones
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import Tier
from bot.errors import InputError
from bot.heartbeat.playbooks.task_commands import TaskAnswer, TaskCommands
from bot.heartbeat.playbooks.task_list import TaskList, due_lines, refused_lines, task_line, tier_heading


class TaskAnswers:
    """Answers every verb of `tiers`."""

    def __init__(self, tasks: TaskCommands) -> None:
        self._tasks = tasks

    def answer(self, session_id: str, verb: str, words: Sequence[str], text: str, by: str) -> Answer:
        """Do what a verb says with a session's tasks, or list them; `words` follow the verb, `text` its first word.

        A number out of a list that changed does nothing: the answer's `problem` says so above the list as it is now.

        Raises:
            InputError: there is no such session, task or tier.
            StoreError: the disk refuses it.
        """
        if not verb:
            return tasks_answer(self._tasks.listed(session_id, by))
        if verb == "due":
            return due_answer(self._tasks.list_tasks(session_id))
        first, second = [*words, "", ""][:2]
        if verb == "add":
            return change_answer(self._tasks.add(session_id, parse_tier(first, session_id), text, by))
        to, number = parse_tier(second, session_id) if verb == "move" else None, parse_number(first, session_id)
        try:
            if to is None:
                return change_answer(self._tasks.remove(session_id, number, by))
            return change_answer(self._tasks.move(session_id, number, to, by))
        except ListChanged as changed:
            return tasks_answer(self._tasks.listed(session_id, by), problem=str(changed))


def tasks_answer(seen: TaskList, *, problem: str = "") -> Answer:
    """Return the list."""
    shown = [
        Part(
            title=tier_heading(seen, tier),
            lines=lines_of([task_line(seen, one.number) for one in seen.in_tier(tier)] or ["no task"]),
        )
        for tier in Tier
    ]
    if refused := refused_lines(seen):
        shown.append(Part(title="Not among the commands of triage.yml, so never run", lines=lines_of(refused)))
    following = f"tiers {seen.session.id} add hourly <task>"
    return Answer(parts=tuple(shown), following=following, problem=problem, data=list_data(seen))


def change_answer(answer: TaskAnswer) -> Answer:
    """Return what changed and how to undo it, what was taken out, and the list as it is now."""
    listed = tasks_answer(answer.tasks)
    said = Part(lines=lines_of([answer.text]), quoted=answer.kept)
    return Answer(parts=(said, *listed.parts), undo=answer.undo, following=listed.following, data=listed.data)


def due_answer(seen: TaskList) -> Answer:
    """Return which tier is due, and when the next one will be."""
    first, *rest = due_lines(seen)
    part = Part(title=first, lines=lines_of(rest))
    return Answer(parts=(part,), following=f"tiers {seen.session.id}", data=list_data(seen))


def list_data(seen: TaskList) -> dict[str, object]:
    """Return the list for programs."""
    tiers = {
        tier: {"last": seen.stamps.stamp_of(tier), "due": seen.is_due(tier), "next_beat": seen.beats[tier]}
        for tier in Tier
    }
    tasks = [
        {
            "number": one.number,
            "tier": one.tier,
            "id": one.task.id,
            "text": one_line(one.task.text),
            "details": [one_line(line) for line in one.task.details],
            "last_ok": one.task.checked,
            "not_allowed": [list(argv) for argv in seen.refused.get(one.number, ())],
        }
        for one in seen.tasks
    ]
    return {"session": seen.session.id, "at": seen.at, "due": seen.due, "tiers": tiers, "tasks": tasks}


def parse_tier(word: str, session_id: str) -> Tier:
    """Return the tier a word names; raises InputError, with the near ones, for any other word."""
    if word.lower() in tuple(Tier):
        return Tier(word.lower())
    near = near_ones(word, Tier, most=1)
    hint = f"did you mean {near[0]}?" if near else "there are quick, hourly and daily"
    if not word:
        raise InputError("Name a tier:", next_step=f"/triage tiers {session_id} …; {hint}")
    raise InputError(f"{word[:40]!r} is not a tier; {hint}")


def parse_number(word: str, session_id: str) -> int:
    """Return a task's number; raises InputError for any other word.

    >>> parse_number("#3", "shop")
    3
    """
    bare = word.removeprefix("#").removesuffix(".")
    if bare.isascii() and bare.isdigit() and len(bare) <= 6:
        return int(bare)
    said = f"{word[:40]!r} is not a task's number" if word else "Which task? Name its number"
    raise InputError(f"{said};", next_step=f"to see them: /triage tiers {session_id}")
