"""What `tiers …` does to a session's playbook, and answers: list, add, remove, move, what is due.

What a playbook says and changing it is for approvers and the session's owner; everybody may see what is due. A number
means what it meant in the list the same person saw last; `shown` remembers which list that was. Nothing is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.domain.answers import Answer, Linked, Part, Table, lines_of, sentence
from bot.domain.command_specs import CommandLine
from bot.domain.heartbeats.allowed_commands import Argv
from bot.domain.playbook import ListChanged, Playbook, add, list_digest, move_task, remove, task_of
from bot.domain.playbook_entries import PlaybookEntry, plain_text, task_of_line
from bot.domain.text.humanize import duration, near_ones, time_ago
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import Stamps, Tier, due_at, due_tier, includes
from bot.errors import InputError, StoreError
from bot.heartbeat.playbook_file import Removals, playbook_of, stamps_of
from bot.heartbeat.session_registry import (
    NO_SESSIONS,
    PLAYBOOK,
    Asker,
    Session,
    SessionMemory,
    SessionRegistry,
)
from bot.ports import Clock
from bot.ports.collections import SingleDocument

MAX_REMEMBERED: Final = 500
NO_TASKS_OF_YOURS: Final = "Only approvers and the session's owner may see and change its tasks."
HEADINGS: Final = {Tier.QUICK: "Quick, at every check", Tier.HOURLY: "Hourly", Tier.DAILY: "Daily"}
MAX_NAMED: Final = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskList:
    """What a playbook asks for, as of `at`."""

    session: Session
    at: datetime
    playbook: Playbook
    stamps: Stamps

    def refused(self, task: PlaybookEntry) -> tuple[Argv, ...]:
        """Return the commands of a task that triage.yml does not allow."""
        return self.session.refused_commands(task.text, *task.details)

    def heading(self, tier: Tier) -> str:
        """Return the line above a tier's tasks: whether it is due, and when it ran last.

        `Hourly · due in 40 min · last ran 20 min ago`
        """
        stamp, at = self.stamps.stamp_of(tier), due_at(self.stamps, tier, self.at)
        due = "due now" if at <= self.at else f"due in {duration(at - self.at)}"
        ran = "never ran" if stamp is None else f"last ran {time_ago(self.at, stamp)}"
        return f"{HEADINGS[tier]} · {due} · {ran}"

    def answer(self, *said: Part, undo: tuple[str, ...] = (), problem: str = "") -> Answer:
        """Return the list below what was done, and how that is undone; or `problem`, why nothing was done."""
        tasks = list(enumerate(self.playbook.all_tasks, 1))
        more = {number: f" (+{len(task.details)} lines)" if task.details else "" for number, task in tasks}
        rows = [(str(number), str(task.tier), Linked(one_line(task.text) + more[number])) for number, task in tasks]
        table = Table(head=("No.", "When", "Task"), rows=tuple(rows)) if rows else None
        parts = [Part(lines=lines_of(map(self.heading, Tier)), table=table)]
        if never := [f"{one_line(' '.join(argv))} (task {n})" for n, task in tasks for argv in self.refused(task)]:
            parts.append(Part(title="Not among the commands of triage.yml, so never run", lines=lines_of(never)))
        following = f"tiers {self.session.id} add hourly <task>"
        return Answer(parts=(*said, *parts), following=following, undo=undo, problem=problem, data=self.record())

    def due_answer(self) -> Answer:
        """Return which tier is due, and when the next one will be."""
        now = f"Due now in {self.session.id}: {' and '.join(includes(due_tier(self.stamps, self.at)))}."
        part = Part(title=now, lines=lines_of(map(self.heading, Tier)))
        return Answer(parts=(part,), following=f"tiers {self.session.id}", data=self.record())

    def record(self) -> dict[str, object]:
        """Return the list for programs."""
        due = due_tier(self.stamps, self.at)
        tiers = {tier: {"last": self.stamps.stamp_of(tier), "due": tier in includes(due)} for tier in Tier}
        tasks = [
            {
                "number": number,
                "tier": task.tier,
                "id": task.id,
                "text": one_line(task.text),
                "details": [one_line(line) for line in task.details],
                "last_ok": task.checked,
                "not_allowed": [list(argv) for argv in self.refused(task)],
            }
            for number, task in enumerate(self.playbook.all_tasks, 1)
        ]
        return {"session": self.session.id, "at": self.at, "due": due, "tiers": tiers, "tasks": tasks}


@dataclass(frozen=True, slots=True)
class TaskCommands:
    """Answers every verb of `tiers`."""

    sessions: SessionRegistry
    store: SessionMemory
    clock: Clock
    shown: SingleDocument
    removals: Removals

    def answer(self, line: CommandLine, by: Asker) -> Answer:
        """Do what a line says with a session's tasks, or list them.

        A number out of a list that changed does nothing: the answer's `problem` says so above the list as it is now.

        Raises:
            InputError: there is no such session, task or tier, or they may not.
            StoreError: the disk refuses it.
        """
        if not line.word(1):
            return which_answer([session.id for session in self.sessions.all()])
        session, verb = self.sessions.get(line.word(1)), line.word(2)
        if verb == "due":
            return self._list(session, self._playbook(session)).due_answer()
        by.require(NO_TASKS_OF_YOURS, session, next_step=f"What is due: /triage tiers {session.id} due")
        if not verb:
            return self._seen(session, self._playbook(session), by).answer()
        if verb == "add":
            return self._add(session, parse_tier(line.word(3), session.id), line.words_after(4), by)
        to = parse_tier(line.word(4), session.id) if verb == "move" else None
        number = parse_number(line.word(3), session.id)
        try:
            return self._edit(session, number, to, by)
        except ListChanged as changed:
            return self._seen(session, self._playbook(session), by).answer(problem=str(changed))

    def _add(self, session: Session, tier: Tier, text: str, by: Asker) -> Answer:
        """Add a task; raises InputError unless it is one line of plain text that the playbook does not hold."""
        said = plain_text(text)
        playbook_of(session).read()
        _, playbook = playbook_of(session).change(lambda now: add(now, tier, said))
        number = _number(playbook, tier, task_of_line(said).id)
        told = f"Added to the {tier} tasks of {session.id} as number {number}: {said}."
        return self._changed(session, playbook, by, told, ("remove", str(number)))

    def _edit(self, session: Session, number: int, to: Tier | None, by: Asker) -> Answer:
        """Move the task `by` saw as `number`, or remove it; raises ListChanged if that is another list by now."""
        self._playbook(session)
        shown = self.shown.read().get(_key(session, by))

        def edit(now: Playbook) -> Playbook:
            task = task_of(now, number, shown)
            return move_task(now, task, to) if to else remove(now, task)

        before, after = playbook_of(session).change(edit)
        self.removals.note_removals(session.id, before, after, by=by.id, at=self.clock.now())
        task = task_of(before, number, shown)
        if to is not None:
            there = _number(after, to, task.id)
            told = f"Moved from {task.tier} to {to} in {session.id}, now number {there}: {one_line(task.text)}."
            return self._changed(session, after, by, told, ("move", str(there), task.tier))
        comes_back = _is_plain(task.text)
        lost = (*(() if comes_back else (task.text,)), *task.details)
        told = f"Removed from the {task.tier} tasks of {session.id}: {one_line(task.text)}."
        told += " `add` cannot restore the lines shown here." if lost else ""
        undo = ("add", task.tier, task.text) if comes_back else ()
        return self._changed(session, after, by, told, undo, "\n".join(map(one_line, lost)))

    def _changed(
        self, session: Session, playbook: Playbook, by: Asker, told: str, undo: tuple[str, ...], lost: str = ""
    ) -> Answer:
        """Return what changed, how it is undone, what no command brings back, and the list as it is now."""
        words = ("tiers", session.id, *undo) if undo else ()
        return self._seen(session, playbook, by).answer(Part(lines=lines_of([told]), quoted=lost), undo=words)

    def _playbook(self, session: Session) -> Playbook:
        """Return the playbook; raises InputError where there is none yet."""
        if (playbook := playbook_of(session).peek()) is None:
            next_step = f"To create it: /triage tiers {session.id} add quick <task>"
            raise InputError(f"{session.id} has no {PLAYBOOK}; its first check creates one.", next_step=next_step)
        return playbook

    def _seen(self, session: Session, playbook: Playbook, by: Asker) -> TaskList:
        """Return the list and remember that `by` saw it; a disk that is full costs them the numbers, not the list."""
        with suppress(StoreError):
            self.shown.keep_newest({_key(session, by): list_digest(playbook)}, at_most=MAX_REMEMBERED)
        return self._list(session, playbook)

    def _list(self, session: Session, playbook: Playbook) -> TaskList:
        """Return the tasks as they stand; raises StoreError where the session's state cannot be read."""
        stamps = stamps_of(playbook, self.store.load(session.id))
        return TaskList(session=session, at=self.clock.now(), playbook=playbook, stamps=stamps)


def _number(playbook: Playbook, tier: Tier, task_id: str) -> int:
    """Return the number of a task in a tier; of the last one where several have its id."""
    return max(n for n, task in enumerate(playbook.all_tasks, 1) if (task.tier, task.id) == (tier, task_id))


def _is_plain(text: str) -> bool:
    """Whether a task could be added again just as it stood."""
    try:
        return plain_text(text) == text
    except InputError:
        return False


def _key(session: Session, by: Asker) -> str:
    return f"{session.id} {by.id}"


def which_answer(known: Sequence[str]) -> Answer:
    """Return the sessions of which one is to be named."""
    if not known:
        return sentence(NO_SESSIONS, data=[])
    more = f" and {len(known) - MAX_NAMED} more: `/triage heartbeat list`" if len(known) > MAX_NAMED else ""
    return sentence(f"Which session? {', '.join(known[:MAX_NAMED])}{more}", f"tiers {known[0]}", data=list(known))


def parse_tier(word: str, session_id: str) -> Tier:
    """Return the tier a word names; raises InputError, with the near ones, for any other word."""
    if word in tuple(Tier):
        return Tier(word)
    near = near_ones(word, Tier, most=1)
    hint = f"did you mean {near[0]}?" if near else "there are quick, hourly and daily"
    raise InputError(f"Name a tier; {hint}", next_step=f"The tasks: /triage tiers {session_id}")


def parse_number(word: str, session_id: str) -> int:
    """Return a task's number; raises InputError for any other word.

    >>> parse_number("#3", "shop")
    3
    """
    bare = word.removeprefix("#").removesuffix(".")
    if bare.isascii() and bare.isdigit() and len(bare) <= 6:
        return int(bare)
    raise InputError("Name a task by its number.", next_step=f"To see them: /triage tiers {session_id}")
