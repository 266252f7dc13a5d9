"""What code alone finds for a question: how old the clones are, what no search looks into, where a stack trace leads.

Fetches clones and brings the indexes up to HEAD, once for a question; reads git; writes nothing else. What was found
stands in the investigator's return, so that "nothing found" is not taken for "nowhere".
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from bot.agent.codebases import Codebase, Codebases
from bot.agent.model_run import OnProgress
from bot.casework.investigate.assignment import Assignment, Investigation, Investigator
from bot.casework.investigate.trace_places import find_suspects, trace_notes
from bot.errors import CodebaseUnreadable, NotCloned, TriageError
from bot.ports.code import Clones

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
        looked = [(one, _refreshed(one, may_fail=len(self.codebases) > 1)) for one in members]
        said = "\n\n".join((assignment.question, *(one.text for one in assignment.human_context)))
        commits = [(one, index.commit) for one, index in looked if index.commit]
        places, suspects = find_suspects(said, commits)
        refreshed = tuple(one.id for one, _ in commits)
        told = replace(assignment, trace_notes=trace_notes(places, suspects), refreshed=refreshed)
        found = self.investigator.investigate(told, run_id=run_id, on_progress=on_progress)
        known = {
            "aged_clones": aged or found.ret.aged_clones,
            "not_searched": "; ".join(index.gaps for _, index in looked if index.gaps) or None,
            "index_unfinished": any(index.is_unfinished for _, index in looked),
            "suspect_changes": suspects,
        }
        return replace(found, ret=found.ret.model_copy(update=known))


class _RefreshedIndex(NamedTuple):
    """The commit an index is at (None: it cannot be used), and what it does not have; maybe only not yet."""

    commit: str | None
    gaps: str
    is_unfinished: bool = False


def _refreshed(codebase: Codebase, *, may_fail: bool) -> _RefreshedIndex:
    try:
        report = codebase.index.refresh()
    except TriageError as error:
        if isinstance(error, CodebaseUnreadable) and not may_fail:
            raise
        if isinstance(error, NotCloned):
            return _RefreshedIndex(None, f"{codebase.prefix} all, because it is not cloned yet", is_unfinished=True)
        log.warning("the index's gaps are not known", extra={"action": "gaps_unknown"}, exc_info=True)
        return _RefreshedIndex(None, _in_codebase(codebase, NO_INDEX))
    gaps = report.gaps
    return _RefreshedIndex(report.commit, _in_codebase(codebase, gaps.words()), is_unfinished=gaps.waiting > 0)


def _in_codebase(codebase: Codebase, words: str) -> str:
    return f"{codebase.prefix} {words}" if words and codebase.prefix else words
