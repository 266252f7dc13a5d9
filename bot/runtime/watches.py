"""Brings the passage indexes up to HEAD; that code cannot be searched the ops channel hears once, and once its end.

Knows whether the disk and the database take what is to be kept: says once that one does not, and once that it does.

They are tried every few seconds by a small write. Nothing here stops other work from being tried: each part waits for
itself, and what it logs of an error of theirs comes to `Outage.filter` instead of the log. Of a database that replicas
share one of them tells people, the others only the log: the one with the duties tells at once; another looks after a
while whether that stands in the ops channel, and tells where it does not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from bot.casework.reports.code_standings import CodebaseStanding, IndexStanding
from bot.domain.search.passages import IndexReport
from bot.domain.text.humanize import duration
from bot.errors import DatabaseAway, DiskRefused, NotCloned, StoreError, TriageError
from bot.ports import Clock
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


LEAST_BYTES: Final = 256 * 1024
ENOUGH_BYTES: Final = 1024 * 1024
"""What must be free once something was refused: a few bytes would only be refused again."""

OTHERS_TELL: Final = timedelta(seconds=30)
"""How long the replica with the duties has to tell."""

_WAITING: Final = (
    "Questions wait and no reply can be approved until that is mended; nothing that was acknowledged is lost. Work "
    "then continues by itself."
)


class Outage:
    """One outage at a time, from the first thing refused to the first write that is taken.

    `probe` wants so many bytes of room and raises StoreError; `on_back` is told since when something may not have been
    kept. `tell` tells people what the log has; `is_ours` is whether this process has the duties, as far as it knows
    without the database, and `stands` whether a text was said in the ops channel since a time.
    """

    def __init__(
        self,
        probe: Callable[[int], None],
        clock: Clock,
        *,
        tell: Callable[[str], None],
        on_back: Callable[[datetime], None],
        is_ours: Callable[[], bool],
        stands: Callable[[str, datetime], bool],
    ) -> None:
        self._probe, self._clock, self._tell, self._on_back = probe, clock, tell, on_back
        self._is_ours, self._stands = is_ours, stands
        self._well_at = clock.now()
        self._met: StoreError | None = None
        self._is_said, self._said_at = False, self._well_at
        self._tells: bool | None = None  # people, not only the log; None: it is not known who does
        self._last = (self._well_at, self._well_at)
        self._passed = ""

    def is_told(self, since: datetime | None) -> bool:
        """Whether what was not heard from then on is told of as an outage, that lasts or was the last one."""
        began, ended = (self._well_at, since) if self._is_said else self._last
        return since is not None and ended is not None and began <= since <= ended

    def filter(self, record: logging.LogRecord) -> bool:
        """Let a log handler leave out what is about an error of the disk or the database: it is told here, once."""
        error = _error_in(record)
        self._met = self._met or error
        return error is None

    def tick(self) -> None:
        """Try them once."""
        now = self._clock.now()
        try:
            self._probe(LEAST_BYTES if self._met is None else ENOUGH_BYTES)
            if self._is_said:
                self._on_back(self._well_at)
        except StoreError as error:
            self._met = error
            if not self._is_said:
                self._is_said, self._said_at, self._tells = True, now, None
                log.warning(_words(error), extra={"action": "outage_began"})
            if self._tells is None:
                self._tells = self._is_teller(error, now)
                if self._tells:
                    self._tell(_words(error))
            return
        well_at, self._well_at = self._well_at, now
        met, self._met = self._met, None
        if self._is_said and met is not None:
            self._is_said, self._last = False, (well_at, now)
            words = _words_of_end(met, now - well_at)
            log.warning(words, extra={"action": "outage_ended"})
            if self._is_untold(well_at) if self._tells is None else self._tells:
                self._tell(words)
        elif met is not None and str(met) != self._passed:
            self._passed = str(met)
            log.warning("%s; the next try was taken", str(met), extra={"action": "refused_once"})

    def _is_teller(self, error: StoreError, now: datetime) -> bool | None:
        """Return whether this process tells people; None: that is seen later."""
        if not isinstance(error, DatabaseAway) or self._is_ours():
            return True
        return self._is_untold(self._well_at) if now - self._said_at >= OTHERS_TELL else None

    def _is_untold(self, well_at: datetime) -> bool:
        return not self._stands(_WAITING, well_at - OTHERS_TELL)


def _error_in(record: logging.LogRecord) -> StoreError | None:
    """Return the error of the disk or the database that a record carries, among its arguments or as its traceback."""
    arguments = record.args if isinstance(record.args, tuple) else ()
    errors = (*arguments, record.exc_info[1] if record.exc_info else None)
    return next((error for error in errors if isinstance(error, DiskRefused | DatabaseAway)), None)


def _words(error: StoreError) -> str:
    said = str(error)
    is_database = isinstance(error, DatabaseAway)
    what = f"{said[:1].upper()}{said[1:]}" if is_database else f"The disk does not accept writes: {said}"
    return f"{what}. {_WAITING}"


def _words_of_end(error: StoreError, away: timedelta) -> str:
    what = "The database can be used" if isinstance(error, DatabaseAway) else "The disk accepts writes"
    return f"{what} again, after {duration(away)}. Waiting work continues."
