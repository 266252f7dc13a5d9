"""Brings the passage indexes up to HEAD; that code cannot be searched the ops channel hears once, and once its end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from bot.casework.reports.code_standings import CodebaseStanding, IndexStanding
from bot.domain.search.passages import IndexReport
from bot.errors import DiskRefused, NotCloned, TriageError
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)


class IndexWatch:
    """Brings the indexes up to HEAD with what `refreshes` returns, by codebase, which must not wait for others.

    The only codebase of a process has no name: it is called the code.
    """

    def __init__(
        self,
        refreshes: Callable[[], Mapping[str, Callable[[], IndexReport]]],
        stored: SingleDocument,
        *,
        say: Callable[[str], None],
    ) -> None:
        self._refreshes, self._stored, self._say = refreshes, stored, say
        self._written: IndexStanding | None = None
        self._known: dict[str, CodebaseStanding] = {}
        self.is_whole = False
        """Whether the last look found every file of each HEAD indexed."""

    def tick(self) -> None:
        """Look once; raises StoreError where what is known cannot be written."""
        refreshes = self._refreshes()
        self._known = {name: known for name, known in self._known.items() if name in refreshes}
        whole = [self._look(name, refresh) for name, refresh in refreshes.items()]
        self.is_whole = all(whole)
        standing = IndexStanding.of(self._known)
        if self._known and standing != self._written:
            self._stored.update(standing.model_dump())
            self._written = standing

    def _look(self, name: str, refresh: Callable[[], IndexReport]) -> bool:
        """Look at one codebase; return whether every file of its HEAD is indexed."""
        try:
            report = refresh()
        except NotCloned:  # whoever clones it tells of it
            return False
        except TriageError as error:
            if isinstance(error, DiskRefused):
                log.warning("the index waits for the disk: %s", error, extra={"action": "index_waits"})
            else:
                self._note(name, CodebaseStanding(problem=str(error)))
            return False
        gaps = report.gaps
        self._note(
            name,
            CodebaseStanding(commit=report.commit, files=report.files, waiting=gaps.waiting, total=gaps.total),
        )
        return not gaps.waiting

    def _note(self, name: str, now: CodebaseStanding) -> None:
        before = self._known.get(name, CodebaseStanding()).problem
        what = f"The codebase {name}" if name else "The code"
        if now.problem is not None and before is None:
            then = (
                "Questions are answered from the other codebases until then, or wait."
                if name
                else "Questions wait until it can."
            )
            self._say(f"{what} cannot be searched: {now.problem}. {then}")
        elif now.problem is None and before is not None:
            self._say(f"{what} can be searched again. Waiting questions continue.")
        self._known[name] = now
