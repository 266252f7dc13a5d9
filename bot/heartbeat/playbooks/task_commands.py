"""What `tiers …` does to a session's playbook, and answers: list, add, remove, move, what is due.

What a playbook says and changing it is for approvers and the session's owner; everybody may see what is due. A number
means what it meant in the list the same person saw last; `shown` remembers which list that was. Nothing is escaped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.domain.answers import Answer, Part, lines_of, sentence
from bot.domain.commands.command_line import CommandLine
from bot.domain.heartbeats.allowed_commands import Argv
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import (
    ListChanged,
    NumberedTask,
    add,
    list_digest,
    move_task,
    numbered,
    remove,
    task_of,
)
from bot.domain.playbooks.playbook_entries import PlaybookEntry, id_of_task, plain_text
from bot.domain.text.did_you_mean import near_ones
from bot.domain.text.humanize import duration, time_ago
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import PERIODS, Stamps, Tier, due_tier, includes
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import Removals, playbook_of
from bot.heartbeat.run.inputs import stamps_of
from bot.heartbeat.schedule.session_rows import next_beat
from bot.heartbeat.sessions.session_registry import (
    NO_SESSIONS,
    PLAYBOOK,
    Asker,
    Owners,
    Session,
    SessionMemory,
    SessionRegistry,
)
from bot.ports import Clock
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

MAX_REMEMBERED: Final = 500
NO_TASKS_OF_YOURS: Final = "Only approvers and the session's owner may see and change its tasks."
HEADINGS: Final = {Tier.QUICK: "Quick, at every beat", Tier.HOURLY: "Hourly", Tier.DAILY: "Daily"}
MAX_NAMED: Final = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskList:
    """What a playbook asks for, as of `at`. `refused` are commands of a task that triage.yml does not allow.

    `beats` is the first slot inside the hours at which a tier is due; None while the session is off.
    """

    session: Session
    at: datetime
    tasks: tuple[NumberedTask, ...]
    due: Tier
    stamps: Stamps
    beats: Mapping[Tier, datetime | None]
    refused: Mapping[int, tuple[Argv, ...]]

    def heading(self, tier: Tier) -> str:
        """Return the line above a tier's tasks: whether it is due, with which beat, and when it ran last.

        `Hourly · due in 40 min, with the beat in 45 min · last ran 20 min ago`
        """
        stamp, beat = self.stamps.stamp_of(tier), self.beats[tier]
        is_due = tier in includes(self.due)
        due = "due now" if is_due else f"due in {duration(due_at(self.stamps, tier, self.at) - self.at)}"
        when = "but the session is off" if beat is None else f"with the beat in {duration(beat - self.at)}"
        ran = "never ran" if stamp is None else f"last ran {time_ago(self.at, stamp)}"
        return f"{HEADINGS[tier]} · {due}, {when} · {ran}"

    def answer(self, *said: Part, undo: tuple[str, ...] = (), problem: str = "") -> Answer:
        """Return the list below what was done, and how that is undone; or `problem`, why nothing was done."""
        parts = [Part(title=self.heading(tier), lines=lines_of(self._lines(tier) or ["no task"])) for tier in Tier]
        if never := [f"{one_line(' '.join(argv))} (task {n})" for n, found in self.refused.items() for argv in found]:
            parts.append(Part(title="Not among the commands of triage.yml, so never run", lines=lines_of(never)))
        following = f"tiers {self.session.id} add hourly <task>"
        return Answer(parts=(*said, *parts), following=following, undo=undo, problem=problem, data=self.record())

    def due_answer(self) -> Answer:
        """Return which tier is due, and when the next one will be."""
        now = f"Due now in {self.session.id}: {' and '.join(includes(self.due))}."
        part = Part(title=now, lines=lines_of(map(self.heading, Tier)))
        return Answer(parts=(part,), following=f"tiers {self.session.id}", data=self.record())

    def record(self) -> dict[str, object]:
        """Return the list for programs."""
        tiers = {
            tier: {
                "last": self.stamps.stamp_of(tier),
                "due": tier in includes(self.due),
                "next_beat": self.beats[tier],
            }
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
                "not_allowed": [list(argv) for argv in self.refused.get(one.number, ())],
            }
            for one in self.tasks
        ]
        return {"session": self.session.id, "at": self.at, "due": self.due, "tiers": tiers, "tasks": tasks}

    def _lines(self, tier: Tier) -> list[str]:
        """Return a line for each task of a tier; details are counted, not shown."""
        more = {one.number: f" (+{len(one.task.details)} lines)" for one in self.tasks if one.task.details}
        own = (one for one in self.tasks if one.tier is tier)
        return [f"{one.number}. {one_line(one.task.text)}{more.get(one.number, '')}" for one in own]


class TaskCommands:
    """Answers every verb of `tiers`."""

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        zones: Owners,
        clock: Clock,
        shown: SingleDocument,
        removals: Removals,
    ) -> None:
        self._sessions, self._store, self._zones, self._clock = sessions, store, zones, clock
        self._shown = shown
        self._removals = removals

    def answer(self, line: CommandLine, by: Asker) -> Answer:
        """Do what a line says with a session's tasks, or list them.

        A number out of a list that changed does nothing: the answer's `problem` says so above the list as it is now.

        Raises:
            InputError: there is no such session, task or tier, or they may not.
            StoreError: the disk refuses it.
        """
        if not line.word(1):
            return which_answer([session.id for session in self._sessions.all()])
        session, verb = self._sessions.get(line.word(1)), line.word(2)
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
            return self._remove(session, number, by) if to is None else self._move(session, number, to, by)
        except ListChanged as changed:
            return self._seen(session, self._playbook(session), by).answer(problem=str(changed))

    def _add(self, session: Session, tier: Tier, text: str, by: Asker) -> Answer:
        """Add a task; raises InputError unless it is one line of plain text that the playbook does not hold."""
        said = plain_text(text)
        playbook_of(session).read()
        _, playbook = playbook_of(session).change(lambda now: add(now, tier, said))
        found = next(one for one in numbered(playbook) if one.tier is tier and one.task.id == id_of_task(said))
        told = f"Added to the {tier} tasks of {session.id} as number {found.number}: {said}."
        return self._changed(session, playbook, by, told, ("remove", str(found.number)))

    def _remove(self, session: Session, number: int, by: Asker) -> Answer:
        """Remove the task `by` saw as `number`; raises ListChanged if that is another list by now."""
        playbook, one = self._change(session, number, by, remove)
        comes_back = _is_plain(one.task.text)
        lost = (*(() if comes_back else (one.task.text,)), *one.task.details)
        told = f"Removed from the {one.tier} tasks of {session.id}: {one_line(one.task.text)}."
        told += " `add` cannot restore the lines shown here." if lost else ""
        undo = ("add", one.tier, one.task.text) if comes_back else ()
        return self._changed(session, playbook, by, told, undo, "\n".join(map(one_line, lost)))

    def _move(self, session: Session, number: int, to: Tier, by: Asker) -> Answer:
        """Move the task `by` saw as `number`; raises ListChanged if that is another list by now."""
        playbook, one = self._change(session, number, by, lambda now, task: move_task(now, task, to))
        found = [other for other in numbered(playbook) if other.tier is to and other.task.id == one.task.id][-1]
        told = f"Moved from {one.tier} to {to} in {session.id}, now number {found.number}: {one_line(one.task.text)}."
        return self._changed(session, playbook, by, told, ("move", str(found.number), one.tier))

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
            raise InputError(f"{session.id} has no {PLAYBOOK}; its first beat creates one.", next_step=next_step)
        return playbook

    def _change(
        self, session: Session, number: int, by: Asker, edit: Callable[[Playbook, PlaybookEntry], Playbook]
    ) -> tuple[Playbook, NumberedTask]:
        """Edit the task `by` saw as `number`; return the playbook after it, and the task as it was."""
        self._playbook(session)
        shown = self._shown.read().get(_key(session, by))
        before, after = playbook_of(session).change(lambda now: edit(now, task_of(now, number, shown).task))
        self._removals.note_removals(session.id, before, after, by=by.id, at=self._clock.now())
        return after, task_of(before, number, shown)

    def _seen(self, session: Session, playbook: Playbook, by: Asker) -> TaskList:
        """Return the list and remember that `by` saw it; a disk that is full costs them the numbers, not the list."""
        try:
            self._shown.keep_newest({_key(session, by): list_digest(playbook)}, at_most=MAX_REMEMBERED)
        except StoreError:
            log.warning("a list that was shown is not remembered", extra={"action": "list_forgotten"}, exc_info=True)
        return self._list(session, playbook)

    def _list(self, session: Session, playbook: Playbook) -> TaskList:
        """Return the tasks as they stand; raises StoreError where the session's state cannot be read."""
        now, stamps = self._clock.now(), stamps_of(playbook, self._store.load(session.id))
        tasks, due, hours = numbered(playbook), due_tier(stamps, now), self._zones.hours(session)
        since = {
            tier: now if tier in includes(due) else due_at(stamps, tier, now) - timedelta(seconds=1) for tier in Tier
        }
        beats = {tier: next_beat(session, hours, at) if session.beat.enabled else None for tier, at in since.items()}
        refused = {one.number: session.refused_commands(one.task.text, *one.task.details) for one in tasks}
        return TaskList(session=session, at=now, tasks=tasks, due=due, stamps=stamps, beats=beats, refused=refused)


def _is_plain(text: str) -> bool:
    """Whether a task could be added again just as it stood."""
    try:
        return plain_text(text) == text
    except InputError:
        return False


def _key(session: Session, by: Asker) -> str:
    return f"{session.id} {by.id}"


def due_at(stamps: Stamps, tier: Tier, now: datetime) -> datetime:
    """Return from when on a tier is due by its stamp; `now` where nothing holds it back."""
    stamp = stamps.stamp_of(tier)
    return max(now, stamp + PERIODS[tier]) if stamp is not None and tier in PERIODS else now


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
