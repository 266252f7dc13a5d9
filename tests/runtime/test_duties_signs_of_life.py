"""A process notes itself among the replicas from start to stop."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from bot.errors import DatabaseAway
from bot.ports import Clock
from bot.ports.system import Replica, Role
from bot.release import program_version
from bot.runtime.duties import SignsOfLife
from tests.builders import NOW


class Noted:
    """Port Replicas, of which only the calls are kept; `is_down` refuses them."""

    def __init__(self) -> None:
        self.calls: list[object] = []
        self.is_down = False

    def beat(self, version: str, role: Role, clock_ahead: timedelta) -> None:
        self.calls.append((version, role, clock_ahead))

    def ahead(self, clock: Clock) -> timedelta:
        return clock.now() - NOW

    def leave(self) -> None:
        if self.is_down:
            raise DatabaseAway("down")
        self.calls.append("left")

    def list(self) -> Sequence[Replica]:
        return []


def test_it_is_there_at_once_and_gone_at_the_stop() -> None:
    """With its release, its role and its clock."""
    replicas = Noted()
    life = SignsOfLife(replicas, Role.EDGE, timedelta)
    life.start()
    assert replicas.calls == [(program_version(), Role.EDGE, timedelta())]
    life.stop()
    assert replicas.calls[-1] == "left"


def test_a_database_that_is_gone_keeps_no_process_from_its_stop() -> None:
    """The others see that it is silent."""
    replicas = Noted()
    life = SignsOfLife(replicas, Role.ALL, timedelta)
    life.start()
    replicas.is_down = True
    life.stop()


def test_one_process_alone_notes_nothing() -> None:
    """It has nobody to tell."""
    life = SignsOfLife(None, Role.ALL, timedelta)
    life.start()
    life.stop()
