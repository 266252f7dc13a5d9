"""A codebase that cannot be read is told of once, and so is its end."""

from __future__ import annotations

from bot.errors import CodebaseUnreadable
from bot.runtime.codebase_watch import CodebaseWatch


def test_damage_is_told_once_and_its_end_once() -> None:
    """However long it lasts; a second damage is news."""
    broken, said = [False], list[str]()

    def head() -> str:
        if broken[0]:
            raise CodebaseUnreadable("codebase: /src/shop is damaged")
        return "a" * 40

    watch = CodebaseWatch(head, say=said.append)
    for state in (False, True, True, False, False, True):
        broken[0] = state
        watch.tick()
    assert [("damaged" in line, "again" in line) for line in said] == [(True, False), (False, True), (True, False)]
