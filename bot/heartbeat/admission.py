"""Gathers the facts and asks the gate: once at the tick, once more when the beat starts."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.beats import Delivered, Wake
from bot.domain.session import SessionState
from bot.errors import StoreError
from bot.heartbeat.gate import GateFacts, Refusal, refusal
from bot.heartbeat.playbook_file import playbook_of
from bot.heartbeat.session import Session
from bot.heartbeat.zones import Zones
from bot.ports import Clock, SessionStore

Route = Callable[[Session, SessionState], Delivered | None]


class Admission:
    """Says whether a session's beat may run now.

    `route` says where an alert would go; `halted` who has paused all of triage, None while nobody has.
    """

    def __init__(
        self,
        store: SessionStore,
        zones: Zones,
        clock: Clock,
        *,
        route: Route,
        halted: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._store, self._zones, self._clock = store, zones, clock
        self._halted = halted
        self._route = route

    def refusal(self, session: Session, wake: Wake, *, is_held: bool = False) -> Refusal | None:
        """Return why the beat may not run, or None; reads the playbook only if everything else allows the beat.

        `is_held` says that another beat of the session waits or runs; a beat that starts is not in its own way.
        """
        state = self._store.load(session.id)
        return refusal(
            GateFacts(
                session=session,
                state=state,
                wake=wake,
                now=self._clock.now(),
                hours=self._zones.hours(session),
                route=lambda: self._route(session, state),
                is_busy=is_held,
                is_tracked=playbook_of(session).is_tracked,
                playbook_is_empty=lambda: is_effectively_empty(session) and not has_findings(state),
                folder_is_there=session.cwd.is_dir,
                halted=self._halted(),
            )
        )


def has_findings(state: SessionState) -> bool:
    """Whether something is open, which a beat of an emptied playbook closes."""
    return any(each.is_open for each in state.findings.values())


def is_effectively_empty(session: Session) -> bool:
    """Whether the playbook is there and asks for nothing; one that is missing is made from the template by the beat.

    What cannot be read is not empty: the beat runs, and fails in plain sight.
    """
    try:
        playbook = playbook_of(session).peek()
    except StoreError:
        return False
    return playbook is not None and playbook.is_effectively_empty
