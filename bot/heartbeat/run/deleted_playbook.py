"""A beat whose HEARTBEAT.md was deleted: no new one is made, what was open is closed, the owner hears it once.

A folder that is gone as a whole is another matter: nobody decided on its checks, and the beat fails.
"""

from __future__ import annotations

from typing import Final

from bot.domain.heartbeats.beats import BeatResult, BeatStep
from bot.domain.heartbeats.session_state import OpenFinding, SessionState
from bot.errors import ProviderError, StoreError
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.alerts.notifications import BeatOutcome
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.run.beat_record import BeatEnd, BeatStart
from bot.heartbeat.sessions.session_registry import PLAYBOOK, Session
from bot.ports import SessionStore

SHOWN: Final = 5


def is_deleted(session: Session, state: SessionState) -> bool:
    """Whether a beat has read a playbook that is not there any more; one that cannot be read is there."""
    if not (state.had_playbook or state.last_good is not None) or not session.cwd.is_dir():
        return False
    try:
        return playbook_of(session).peek() is None
    except StoreError:
        return False


def ending_without(session: Session, begun: BeatStart, delivery: AlertRouter, store: SessionStore) -> BeatEnd:
    """Close what was open and tell the owner, once; return how the beat ends."""
    state = store.load(session.id)
    open_ = [each for each in state.findings.values() if each.is_open]
    outcome = BeatOutcome(
        findings=(),
        checked=frozenset(),
        standing=frozenset(),
        is_file_gone=True,
        at=begun.started_at,
        wake=begun.wake,
        tier=None,
    )
    delivery.deliver(session, outcome)
    detail = f"{PLAYBOOK} was deleted; to begin anew: /triage tiers {session.id} add quick <task>"
    if not state.playbook_gone_told:
        try:
            delivery.tell_owner(session, _notice(session, open_), at=begun.started_at)
        except ProviderError as error:
            return BeatEnd(result=BeatResult.FAILED, step=BeatStep.EMPTY, detail=detail, error=str(error))
        store.save(session.id, lambda now: now.evolve(playbook_gone_told=True))
    return BeatEnd(result=BeatResult.SKIPPED, step=BeatStep.EMPTY, detail=detail)


def _notice(session: Session, closed: list[OpenFinding]) -> str:
    lines = [f"- {each.text.splitlines()[0]}" for each in closed[:SHOWN] if each.text]
    count = f"{len(closed)} alert{'s' * (len(closed) != 1)}"
    said = [
        f"{PLAYBOOK} of {session.id} was deleted: none of its checks is made any more, and no new file was made.",
        f"Put the file back, or begin a new one: `/triage tiers {session.id} add quick <task>`.",
        *([f"Closed without being fixed, {count}; last result: failing", *lines] if closed else []),
    ]
    return "\n".join(said)
