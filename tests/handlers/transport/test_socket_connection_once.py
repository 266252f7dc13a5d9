"""What people did is carried out once, however many connections bring it."""

from __future__ import annotations

import threading

from handlers.transport.socket_connection import REMEMBERED, Deduplicator
from tests.tables import each_row


@each_row("kind", ["interactive", "slash_commands"])
def test_the_second_delivery_is_not_new(kind: str) -> None:
    """By trigger id, whatever its envelope; else by the envelope."""
    once = Deduplicator()
    assert once.is_new(kind, "e1", {"trigger_id": "t1"})
    assert not once.is_new(kind, "e2", {"trigger_id": "t1"})
    assert once.is_new(kind, "e3", {"trigger_id": "t2"})
    assert once.is_new(kind, "e4", {})
    assert not once.is_new(kind, "e4", None)


def test_events_may_come_again() -> None:
    """One that could not be stored has to; the watcher knows the others."""
    once = Deduplicator()
    assert once.is_new("events_api", "e1", {})
    assert once.is_new("events_api", "e1", {})


def test_of_many_at_once_one_is_first() -> None:
    """Whatever the threads."""
    once, barrier, firsts = Deduplicator(), threading.Barrier(8), []

    def deliver() -> None:
        barrier.wait()
        firsts.append(once.is_new("interactive", "e", {"trigger_id": "t"}))

    threads = [threading.Thread(target=deliver) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert firsts.count(True) == 1


def test_its_memory_is_bounded() -> None:
    """The oldest is forgotten first."""
    once = Deduplicator()
    for number in range(REMEMBERED + 1):
        once.is_new("interactive", str(number), {})
    assert once.is_new("interactive", "0", {})
    assert not once.is_new("interactive", str(REMEMBERED), {})
