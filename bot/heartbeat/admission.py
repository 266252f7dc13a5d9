"""Gathers the facts and asks the gate: once at the tick, once more when the beat starts."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.beats import Delivered, Wake
from bot.domain.playbook import parse
from bot.domain.session import SessionState
from bot.heartbeat.gate import GateFacts, Refusal, refusal
from bot.heartbeat.playbook_file import MAX_BYTES
from bot.heartbeat.session import Session
from bot.heartbeat.zones import Zones
from bot.ports import Clock, SessionStore

Route = Callable[[Session, SessionState], Delivered | None]
IsBusy = Callable[[str], bool]


class Admission:
    """Says whether a session's beat may run now.

    `route` says where an alert would go; `is_busy` whether a conversation of the session is running.
    """

    def __init__(self, store: SessionStore, zones: Zones, clock: Clock, *, route: Route, is_busy: IsBusy) -> None:
        self._store, self._zones, self._clock = store, zones, clock
        self._route, self._is_busy = route, is_busy

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
                is_busy=lambda: is_held or self._is_busy(session.id),
                playbook_is_empty=lambda: is_effectively_empty(session),
            )
        )


def is_effectively_empty(session: Session) -> bool:
    """Whether the playbook is there and asks for nothing; one that is missing is made from the template by the beat."""
    path = session.playbook_path
    try:
        if not path.is_file():
            return False
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            return parse(file.read(MAX_BYTES)).is_effectively_empty
    except OSError:
        return False
