"""What code alone finds for a question: how old the clones are, what no search looks into, where a stack trace leads.

Fetches clones; reads the indexes and git; writes nothing else. What was found stands in the investigator's return,
so that "nothing found" is not taken for "nowhere".
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from bot.agent.codebases import Codebase, Codebases
from bot.agent.model_run import OnProgress
from bot.casework.investigate.assignment import Assignment, Investigation, Investigator
from bot.casework.investigate.trace_places import find_suspects, trace_notes
from bot.errors import CodebaseUnreadable, NotCloned, TriageError
from bot.ports.clones import Clones

log = logging.getLogger(__name__)

NO_INDEX: Final = "nobody can tell which files, for the search index cannot be used"


@dataclass(frozen=True, slots=True)
class CodeFindings:
    """Port Investigator: what `investigator` found, with what code finds; `clones` keeps those of `cloned` fresh."""

    investigator: Investigator
    codebases: Codebases
    clones: Clones | None = None
    cloned: Collection[str] = ()

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return the draft; raises what the investigator raises, and CodebaseUnreadable where nothing can be read."""
        aged = self.clones.before_investigation(self.cloned) if self.clones else ()
        members = self.codebases.among(assignment.codebases)
        # before, so that what is indexed meanwhile does not count as searched
        gaps = [_gaps_of(one, may_fail=len(self.codebases) > 1) for one in members]
        said = "\n\n".join((assignment.question, *(one.text for one in assignment.human_context)))
        places, suspects = find_suspects(said, members)
        told = replace(assignment, trace_notes=trace_notes(places, suspects))
        found = self.investigator.investigate(told, run_id=run_id, on_progress=on_progress)
        known = {
            "aged_clones": aged or found.ret.aged_clones,
            "not_searched": "; ".join(words for words, _ in gaps if words) or None,
            "index_unfinished": any(unfinished for _, unfinished in gaps),
            "suspect_changes": suspects,
        }
        return replace(found, ret=found.ret.model_copy(update=known))


def _gaps_of(codebase: Codebase, *, may_fail: bool) -> tuple[str, bool]:
    """Return what of a codebase is not searched, and whether some of that is only not indexed yet."""
    try:
        gaps = codebase.index.refresh().gaps
        words, unfinished = gaps.words(), gaps.waiting > 0
    except TriageError as error:
        if isinstance(error, CodebaseUnreadable) and not may_fail:
            raise
        if isinstance(error, NotCloned):
            return f"{codebase.prefix} all, because it is not cloned yet", True
        log.warning("the index's gaps are not known", extra={"action": "gaps_unknown"}, exc_info=True)
        words, unfinished = NO_INDEX, False
    return f"{codebase.prefix} {words}" if words and codebase.prefix else words, unfinished
