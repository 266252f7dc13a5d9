"""Says beside a draft which files the search could not look into, so that "nothing found" is not taken for "nowhere".

Reads the passage index after the investigation; a draft is never lost for it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Final

from bot.agent.model_run import OnProgress
from bot.casework.investigate.assignment import Assignment, Investigation, Investigator
from bot.errors import TriageError
from bot.ports import PassageIndex

log = logging.getLogger(__name__)

NO_INDEX: Final = "nobody can tell which files, for the search index cannot be used"


@dataclass(frozen=True, slots=True)
class GapNamingInvestigator:
    """Port Investigator: what `investigator` found, with the gaps of `index` in its return."""

    investigator: Investigator
    index: PassageIndex

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return the draft; raises what the investigator raises."""
        found = self.investigator.investigate(assignment, run_id=run_id, on_progress=on_progress)
        return replace(found, ret=found.ret.model_copy(update={"not_searched": self._gaps() or None}))

    def _gaps(self) -> str:
        try:
            return self.index.refresh().gaps.words()
        except TriageError:
            log.warning("the index's gaps are not known", extra={"action": "gaps_unknown"}, exc_info=True)
            return NO_INDEX
