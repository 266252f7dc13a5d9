"""Fetches the clones that an investigation will read, and has its draft say which of them could not be fetched."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from bot.agent.model_run import OnProgress
from bot.casework.investigate.assignment import Assignment, Investigation, Investigator
from bot.ports.clones import Clones


@dataclass(frozen=True, slots=True)
class FreshInvestigator:
    """Port Investigator: what `investigator` found in clones that were fetched before, with those that were not."""

    investigator: Investigator
    clones: Clones
    codebases: Collection[str]

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return the draft; raises what the investigator raises."""
        aged = self.clones.before_investigation(self.codebases)
        found = self.investigator.investigate(assignment, run_id=run_id, on_progress=on_progress)
        return replace(found, ret=found.ret.model_copy(update={"aged_clones": aged})) if aged else found
