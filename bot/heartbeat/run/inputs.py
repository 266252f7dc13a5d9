"""What a beat sees before anybody thinks: the playbook, the due tasks, what the free commands print, the inbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bot.domain.heartbeats.alerts import OpenFinding, finding_key
from bot.domain.heartbeats.allowed_commands import FLAGS_COMMAND
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.playbook import Playbook
from bot.domain.playbook_entries import PlaybookEntry, task_id
from bot.domain.tiers import Stamps, Tier, TierMove, due_tier, includes, suggested_moves
from bot.heartbeat.playbooks.playbook_file import Removals, playbook_of
from bot.heartbeat.run.beat_record import BeatStart, BeatView
from bot.heartbeat.run.probes import ProbeReport, ProbeResult, Probes
from bot.heartbeat.session_registry import Session, SessionMemory
from bot.heartbeat.sharing.peer_sessions import PeerSessions
from bot.ports import Clock


class InputCollector:
    """Looks around in a session's workspace."""

    def __init__(
        self, store: SessionMemory, probes: Probes, clock: Clock, removals: Removals, peers: PeerSessions
    ) -> None:
        self._store, self._probes, self._clock, self._removals, self._peers = store, probes, clock, removals, peers

    def collect(self, begun: BeatStart) -> BeatView:
        """Return what one beat is about; raises StoreError if the playbook cannot be read or created."""
        session, paid = begun.session, begun.paid
        playbook = playbook_of(session).read()
        state = self._known(session, playbook)
        tier = paid.tier if paid else due_tier(stamps_of(playbook, state), begun.started_at)
        due = (task for each in includes(tier) for task in playbook.tasks(each))
        tasks = tuple(task for task in due if paid is None or task.id in paid.due)
        report = self._probe(session, playbook, tasks)
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
            bare_tokens=state.bare_tokens,
        )

    def _probe(self, session: Session, playbook: Playbook, tasks: Sequence[PlaybookEntry]) -> ProbeReport:
        """Run the commands of tasks; code itself answers for the urgent flags that are up."""
        text = "\n".join(flag.text for flag in playbook.flags)
        flags = {FLAGS_COMMAND: ProbeResult(argv=FLAGS_COMMAND, output=text, exit_code=0)}
        return self._probes.run(session.cwd, tasks, session.beat.commands, at=self._clock.now(), ready=flags)

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
        if old.is_open and new.key not in findings:
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
