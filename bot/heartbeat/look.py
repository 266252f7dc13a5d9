"""What a beat sees before anybody thinks: the playbook, the due tasks, what the free commands print, the inbox."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from bot.domain.beats import Finding
from bot.domain.measured import Move, moves
from bot.domain.playbook import Playbook
from bot.domain.playbook_entries import Entry
from bot.domain.session import SessionState
from bot.domain.tiers import Stamps, Tier, due_tier, includes
from bot.heartbeat.commands import FLAGS_COMMAND
from bot.heartbeat.exchange import NONE, Exchange
from bot.heartbeat.outcome import Begun
from bot.heartbeat.playbook_file import playbook_of
from bot.heartbeat.probes import Probes
from bot.heartbeat.session import Session
from bot.heartbeat.verdict import FLAGS, MESSAGE, abandoned, flags_up
from bot.heartbeat.view import BeatView
from bot.ports import SessionStore

Around = Callable[[Session, Sequence[Entry], datetime], Exchange]
"""Says what a beat with these tasks due has to do with other sessions."""


class Look:
    """Looks around in a session's workspace."""

    def __init__(self, probes: Probes, store: SessionStore, around: Around = lambda *_: NONE) -> None:
        self._probes, self._store, self._around = probes, store, around

    def at(self, session: Session, state: SessionState, begun: Begun, cancel: threading.Event) -> BeatView:
        """Return what one beat is about; raises StoreError if the playbook cannot be read or created."""
        playbook, paid = playbook_of(session).read(), begun.paid
        tier = paid.tier if paid else due_tier(stamps_of(playbook, state), begun.started_at)
        due = (task for each in includes(tier) for task in playbook.tasks(each))
        tasks = tuple(task for task in due if paid is None or task.id in paid.due)
        flags = {FLAGS_COMMAND: "\n".join(flag.text for flag in playbook.flags)}
        report = self._probes.run(session.cwd, tasks, session.beat.commands, known=flags)
        return BeatView(
            session=session,
            run_id=begun.run_id,
            wake=begun.wake,
            tier=tier,
            started_at=begun.started_at,
            playbook=playbook,
            tasks=tasks,
            probes=report,
            changed=report.changed(state.probes),
            earlier=state.outputs,
            inbox=tuple(self._store.inbox(session.id)[: paid.inbox if paid else None]),
            open_findings=tuple(each for each in state.findings.values() if each.is_open),
            moves=_moves(state, playbook),
            edits=begun.edits,
            spent_usd=state.spent.usd if state.spent.day == f"{begun.started_at:%Y-%m-%d}" else 0.0,
            cancel=cancel,
            exchange=self._around(session, tasks, begun.started_at),
        )


def stamps_of(playbook: Playbook, state: SessionState) -> Stamps:
    """Return when each tier last succeeded: from the file, or from the state where the file keeps no times."""
    if playbook.has_timestamps:
        return playbook.stamps
    return Stamps(**{tier: state.stamps.get(tier) for tier in Tier})


def _moves(state: SessionState, playbook: Playbook) -> tuple[Move, ...]:
    """Return what was measured to stand in a wrong tier and still stands there."""
    standing = {(tier, task.id) for tier in Tier for task in playbook.tasks(tier)}
    return tuple(move for move in moves(state.measured) if (move.from_tier, move.task_id) in standing)


def is_the_one_looked_at(due: Collection[str], playbook: Playbook) -> bool:
    """Whether a playbook still holds any due task of the beat; one put in its place meanwhile was not looked at."""
    return not due or any(entry.id in due for entry in playbook.entries)


def is_unchanged(view: BeatView) -> bool:
    """Whether nobody has to think: code alone answers every due task, and all is as it was at the last good beat."""
    covered = all(view.probes.covers(task) for task in view.tasks)
    calm = not view.changed and not view.playbook.flags and not view.inbox
    return view.tier is not Tier.DAILY and covered and calm


def still_standing(view: BeatView) -> tuple[Finding, ...]:
    """Return the open findings a beat without news still vouches for.

    A message that was sent stands for itself, and so does what a task found that nobody does any more. A flag stands as
    long as the playbook says so.
    """
    once = {MESSAGE, *abandoned(view)}
    flags = flags_up(view)
    known = [each for each in view.open_findings if each.task not in once or each.sent_at is None]
    again = [
        Finding(key=each.key, text=each.text, task=each.task, severity=each.severity)
        for each in known
        if each.task != FLAGS
    ]
    return tuple({each.key: each for each in (*again, *flags)}.values())
