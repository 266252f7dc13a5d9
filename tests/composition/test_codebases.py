"""The codebases of the process while triage.yml is read again."""

from __future__ import annotations

from types import SimpleNamespace

from bot.composition.codebases import ProcessCode


class Clones:
    """Counts how often somebody would have fetched."""

    def __init__(self) -> None:
        self.ticks = 0

    def tick(self) -> None:
        self.ticks += 1

    def follow(self, given: object) -> None:
        """Nothing is kept."""


def test_no_clone_is_begun_before_the_teams_know_of_it() -> None:
    """One that failed at once would be told of while no team reads it, so to nobody, and never again."""
    clones = Clones()
    code = ProcessCode({}, lambda name, one: None, clones)
    with code.reopened(SimpleNamespace(all_codebases={})):
        code.fetch()
        assert clones.ticks == 0
    code.fetch()
    assert clones.ticks == 1
