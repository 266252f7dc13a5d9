"""What a beat sees before anybody thinks: the playbook, the due tasks, what the free commands print, the inbox.

The commands of beats that wait run beside each other, so that one that hangs holds up no other session; a beat is taken
off the queue once its commands have run. A session has one beat at most in the queue, so its commands never run twice
at once here; each replica runs them, and the answers count for that beat alone.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from bot.domain.heartbeats.alerts import OpenFinding, finding_key
from bot.domain.heartbeats.allowed_commands import FLAGS_COMMAND, Argv
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.jobs import Job, JobKind
from bot.domain.playbook import Playbook, parse
from bot.domain.playbooks.playbook_entries import PlaybookEntry, task_id
from bot.domain.tiers import Stamps, Tier, TierMove, due_tier, includes, suggested_moves
from bot.heartbeat.playbooks.playbook_file import Removals, playbook_of
from bot.heartbeat.run.beat_record import BeatStart, BeatView
from bot.heartbeat.run.probes import ProbeReport, ProbeResult, Probes
from bot.heartbeat.sessions.session_registry import Session, SessionMemory, SessionRegistry
from bot.heartbeat.sharing.peer_sessions import PeerSessions
from bot.ports import Clock

log = logging.getLogger(__name__)
THREADS: Final = 8
"""How many sessions' commands run at once."""

MAX_AGE: Final = timedelta(minutes=10)
"""Answers that are older say nothing of now; the beat runs the commands itself."""

Answers = Mapping[Argv, ProbeResult]


class InputCollector:
    """Looks around in a session's workspace; `notify` is called whenever commands of a beat that waits have run."""

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        probes: Probes,
        clock: Clock,
        removals: Removals,
        peers: PeerSessions,
        *,
        notify: Callable[[], None] = lambda: None,
    ) -> None:
        self._sessions, self._store, self._probes, self._clock = sessions, store, probes, clock
        self._removals, self._peers = removals, peers
        self.commands = CommandPool(self._run_ahead, notify)

    def collect(self, begun: BeatStart) -> BeatView:
        """Return what one beat is about; raises StoreError if the playbook cannot be read or created."""
        session, paid = begun.session, begun.paid
        playbook = playbook_of(session).read()
        state, now, answers = self._known(session, playbook), self._clock.now(), self.commands.take_answers(session.id)
        ready = {argv: each for argv, each in answers.items() if each.at and now - each.at <= MAX_AGE}
        tier = paid.tier if paid else due_tier(stamps_of(playbook, state), begun.started_at)
        due = (task for each in includes(tier) for task in playbook.tasks(each))
        tasks = tuple(task for task in due if paid is None or task.id in paid.due)
        report = self._probe(session, playbook, tasks, ready)
        return BeatView(
            **vars(begun),
            tier=tier,
            playbook=playbook,
            tasks=tasks,
            probes=report,
            changed=report.changed(state.probes),
            earlier=state.probes,
            inbox=tuple(self._store.inbox(session.id)[: paid.inbox if paid else None]),
            open_findings=tuple(each for each in state.findings.values() if each.is_open),
            moves=_moves(state, playbook),
            spent_usd=state.spent.on(begun.started_at),
            exchange=self._peers.collect(session, tasks, begun.started_at),
            removals=self._removals.load(session.id),
            ahead_s=sum(result.seconds for result in ready.values()),
            bare_tokens=state.bare_tokens,
        )

    def _run_ahead(self, session_id: str) -> Answers:
        """Run the commands of the tasks due now and return their answers; changes nothing.

        Raises:
            InputError: there is no such session.
            StoreError: the playbook or the state cannot be read.
        """
        session = self._sessions.get(session_id)
        playbook = playbook_of(session).peek() or parse("")
        due = due_tier(stamps_of(playbook, self._store.load(session.id)), self._clock.now())
        tasks = [task for tier in includes(due) for task in playbook.tasks(tier)]
        results = self._probe(session, playbook, tasks, {}).results
        return {each.argv: each for each in results if each.exit_code is not None}

    def _probe(
        self, session: Session, playbook: Playbook, tasks: Sequence[PlaybookEntry], ready: Answers
    ) -> ProbeReport:
        """Run the commands of tasks that are not `ready`; code itself answers for the urgent flags that are up."""
        text = "\n".join(flag.text for flag in playbook.flags)
        flags = {FLAGS_COMMAND: ProbeResult(argv=FLAGS_COMMAND, output=text, exit_code=0)}
        now, allowed = self._clock.now(), session.beat.commands
        return self._probes.run(session.cwd, tasks, allowed, at=now, ready={**ready, **flags})

    def _known(self, session: Session, playbook: Playbook) -> SessionState:
        """Return what is remembered of the checks that stand in the playbook now, under the names they have now.

        Of a command that is named no more nothing is compared: put back, it is seen for the first time.
        """
        named = {" ".join(argv) for task in playbook.all_tasks for argv in task.commands}

        def change(now: SessionState) -> SessionState:
            return _carried_over(now, playbook).comparing(named).evolve(had_playbook=True, playbook_gone_told=False)

        return self._store.save(session.id, change)


def stamps_of(playbook: Playbook, state: SessionState) -> Stamps:
    """Return when each tier last succeeded: from the file, or from the state where the file keeps no times."""
    return playbook.stamps or Stamps(**{tier: state.stamps.get(tier) for tier in Tier})


def _moves(state: SessionState, playbook: Playbook) -> tuple[TierMove, ...]:
    """Return what was measured to stand in a wrong tier and still stands there."""
    standing = {(task.tier, task.id) for task in playbook.all_tasks}
    return tuple(move for move in suggested_moves(state.measured) if (move.from_tier, move.task_id) in standing)


_OLD_NAMES: Final = ("failing", "no-answer")
"""How earlier versions called the finding that a command fails."""


def _carried_over(state: SessionState, playbook: Playbook) -> SessionState:
    """Return the state with the findings of earlier versions under the keys they have now; done once for a session.

    They went by the first command of their task, by their own, or by the text of the task.
    """
    if state.keyed_by_command:
        return state
    commands = {task_id(command): command for task in playbook.all_tasks for command in map(" ".join, task.commands)}
    by_text = {task_id(task.text): task.id for task in playbook.all_tasks}
    findings = dict(state.findings)
    for old in state.findings.values():
        new = _with_its_key(old, commands, by_text)
        if old.is_remembered and new.key not in findings:
            findings[new.key] = findings.pop(old.key).evolve(key=new.key, task=new.task)
    return state.evolve(findings=findings, keyed_by_command=True)


def _with_its_key(old: OpenFinding, commands: Mapping[str, str], by_text: Mapping[str, str]) -> OpenFinding:
    session_id, name, task = old.key.partition("/")[0], old.name, by_text.get(old.task, old.task)
    kind, _, check = name.rpartition("-")
    if name in _OLD_NAMES:
        kind, check = name, task
    if kind in _OLD_NAMES and check in commands:
        return old.evolve(key=finding_key(session_id, check, "", commands[check]), task=check)
    return old.evolve(key=f"{session_id}/{task}/{name}", task=task)


@dataclass(slots=True)
class _Look:
    """The commands of one session's job; no answers: they are on their way."""

    job: str
    """The name of the job; one that was refused, or that another replica took, has left its answers here."""
    answers: Answers | None = None


class CommandPool:
    """`run` runs the due commands of a session; `notify` is called whenever some have run."""

    def __init__(self, run: Callable[[str], Answers], notify: Callable[[], None], *, threads: int = THREADS) -> None:
        self._run, self._notify, self._threads = run, notify, threads
        self._looks: dict[str, _Look] = {}
        self._lock, self._is_started = threading.Lock(), False
        self._asked: queue.SimpleQueue[tuple[str, _Look]] = queue.SimpleQueue()

    def is_ready(self, job: Job) -> bool:
        """Whether a job may be taken off the queue: a beat once its commands have run, which this begins."""
        if job.kind is not JobKind.HEARTBEAT:
            return True
        with self._lock:
            look = self._looks.get(job.key)
            if look is None or (look.job != job.name and look.answers is not None):
                look = self._looks[job.key] = _Look(job=job.name)
                self._start()
                self._asked.put((job.key, look))
            return look.answers is not None

    def take_answers(self, session_id: str) -> Answers:
        """Return what the commands of a session answered, once; nothing where they did not run."""
        with self._lock:
            look = self._looks.pop(session_id, None)
        return (look and look.answers) or {}

    def _start(self) -> None:
        if not self._is_started:
            self._is_started = True
            for number in range(self._threads):
                threading.Thread(target=self._work, name=f"commands-{number}", daemon=True).start()

    def _work(self) -> None:
        while True:
            session_id, look = self._asked.get()
            answers: Answers = {}
            try:
                answers = self._run(session_id)
            except Exception:  # the beat meets it again, and says so
                extra = {"action": "not_ahead", "session": session_id}
                log.warning("commands not run ahead", extra=extra, exc_info=True)
            look.answers = answers
            self._notify()
