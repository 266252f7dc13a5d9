"""Fetches the clones of codebases in the background, and reports one that cannot be fetched.

Each is fetched every `refresh`, and before an investigation that would read an older one. The state of each is stored
for other readers. The ops channel hears once that a clone fails and why, and once that it works again; until then its
last good commit is read.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from bot.adapters.clones import Clone, GitNetwork, clone_path
from bot.agent.git.git_repo import GitRepo
from bot.casework.reports.code_standings import CLONE_STANDINGS, CloneStanding
from bot.config.codebase_settings import CodebaseSettings
from bot.domain.returns import AgedClone
from bot.errors import TriageError
from bot.ports import Clock, Documents
from bot.ports.collections import Collection as Stored

log = logging.getLogger(__name__)

WAIT_S: Final = 30.0
"""How long an investigation waits for a fetch; then it reads what is there, and says so."""

RETRY: Final = timedelta(minutes=1)
"""How long a failed fetch is not tried again for a question."""

FIRST_THREADS: Final = 2
FETCH_THREADS: Final = 4


@dataclass(slots=True)
class _Kept:
    """A clone, how often it is fetched, when that was last begun, and the fetch under way."""

    clone: Clone
    refresh: timedelta
    tried_at: datetime | None = None
    fetch: Future[None] | None = None


class CloneService:
    """Port Clones: the clones of one process, by codebase, in `folder`; `say` tells of one of them.

    Codebases that `settings` give by path are none of its business. What is known of one that they no longer name is
    forgotten, but its folder stays, since answers cite its commits. Raises StoreError (at construction).
    """

    def __init__(
        self,
        settings: Mapping[str, CodebaseSettings],
        folder: Path,
        network: GitNetwork,
        documents: Documents,
        clock: Clock,
        *,
        say: Callable[[str, str], None],
        wait_s: float = WAIT_S,
    ) -> None:
        self._network, self._clock, self._say, self._wait_s = network, clock, say, wait_s
        self._folder = folder
        self._named: tuple[str, ...] = ()
        # also of those that are named no more: a fetch or a question under way may still ask
        self._kept: dict[str, _Kept] = {}
        self._stored = Stored(documents, CLONE_STANDINGS)
        self._first = ThreadPoolExecutor(FIRST_THREADS, thread_name_prefix="clone")
        self._again = ThreadPoolExecutor(FETCH_THREADS, thread_name_prefix="fetch")
        self._lock = threading.Lock()
        self._is_closed = False
        self.follow(settings)

    def follow(self, settings: Mapping[str, CodebaseSettings]) -> None:
        """Keep the clones of other codebases from now on; raises StoreError, ProviderError."""
        for codebase, one in settings.items():
            if one.url is None:
                continue
            clone = Clone(clone_path(self._folder, codebase), one.url, one.branch, self._network)
            kept = self._kept.setdefault(codebase, _Kept(clone, one.refresh))
            kept.refresh = one.refresh
            if kept.clone.address != clone.address:
                kept.clone, kept.tried_at = clone, None
                clone.prepare()  # also where a file was refused, and its address goes back to what was read
        self._named = tuple(codebase for codebase, one in settings.items() if one.url is not None)
        for gone in self._stored.by_id().keys() - set(self._named):
            self._stored.change(gone, lambda _: CloneStanding())

    def open(self, codebase: str) -> GitRepo:
        """Return the repository of a codebase, which may hold nothing yet; raises StoreError, ProviderError."""
        clone = self._kept[codebase].clone
        clone.prepare()
        return GitRepo(clone.path, may_be_damaged=True)

    def tick(self) -> Sequence[Future[None]]:
        """Begin to fetch what is older than it may be, and return these fetches; raises StoreError."""
        now, due = self._clock.now(), []
        for codebase in self._named:
            kept = self._kept[codebase]
            tried_at = kept.tried_at or self._standing(codebase).fetched_at
            if tried_at is None or now - tried_at >= kept.refresh:
                due.append(self._start(codebase))
        return [fetch for fetch in due if fetch is not None]

    def before_investigation(self, codebases: Collection[str] | None = None) -> tuple[AgedClone, ...]:
        """Fetch those of `codebases` (None: all) that are older than they may be; return those that still are.

        Waits for `wait_s` at most, and not for a first clone. Raises StoreError.
        """
        named = [codebase for codebase in self._named if codebases is None or codebase in codebases]
        began_at = self._clock.now()
        late = [codebase for codebase in named if self._is_late(codebase, began_at)]
        wait(filter(None, [self._once_more(codebase, began_at) for codebase in late]), self._wait_s)
        return tuple(filter(None, (self._aged(codebase, began_at) for codebase in late)))

    def close(self) -> None:
        """End what is under way, and begin no more; what was fetched stays as it is."""
        self._is_closed = True
        self._network.close()
        for threads in (self._first, self._again):
            threads.shutdown(cancel_futures=True)

    def _standing(self, codebase: str) -> CloneStanding:
        """Return how a clone stands; one of another address, or that is not there any more, was never fetched."""
        stored, clone = self._stored.get(codebase), self._kept[codebase].clone
        if stored.address != clone.address:
            return CloneStanding(address=clone.address)
        return stored if clone.has_branch else stored.evolve(fetched_at=None)

    def _is_late(self, codebase: str, now: datetime) -> bool:
        fetched_at = self._standing(codebase).fetched_at
        return fetched_at is not None and now - fetched_at >= self._kept[codebase].refresh

    def _once_more(self, codebase: str, now: datetime) -> Future[None] | None:
        """Return the fetch to wait for; None where one failed just now."""
        kept = self._kept[codebase]
        fetch, tried_at = kept.fetch, kept.tried_at
        if fetch is None and tried_at is not None and now - tried_at < min(RETRY, kept.refresh):
            return None
        return fetch or self._start(codebase)

    def _aged(self, codebase: str, now: datetime) -> AgedClone | None:
        standing = self._standing(codebase)
        if standing.fetched_at is None or not self._is_late(codebase, now):
            return None
        failed = standing.problem is not None
        return AgedClone(codebase=codebase, fetched_at=standing.fetched_at, read_at=now, failed=failed)

    def _start(self, codebase: str) -> Future[None] | None:
        """Begin a fetch unless one is under way; None where it is too late for any."""
        is_first = self._standing(codebase).fetched_at is None
        kept = self._kept[codebase]
        with self._lock:
            if kept.fetch is None:
                kept.tried_at = self._clock.now()
                with suppress(RuntimeError):  # closed meanwhile
                    kept.fetch = (self._first if is_first else self._again).submit(self._run, codebase)
            return kept.fetch

    def _run(self, codebase: str) -> None:
        try:
            self._fetch(codebase)
        except TriageError as error:
            log.warning("%s: %s", codebase, error, extra={"action": "clone_unrecorded"})
        except Exception:
            log.exception("a fetch stumbled", extra={"action": "fetch_stumbled", "codebase": codebase})
        finally:
            with self._lock:
                self._kept[codebase].fetch = None

    def _fetch(self, codebase: str) -> None:
        before, began_at = self._standing(codebase), self._clock.now()
        clone = self._kept[codebase].clone
        if before.fetched_at is None:
            self._write(codebase, before)  # for who asks meanwhile
        try:
            clone.fetch()
        except TriageError as error:
            self._failed(codebase, before, str(error))
        else:
            self._write(codebase, CloneStanding(address=before.address, fetched_at=began_at))
            if before.problem is not None:
                self._say(codebase, f"{codebase} can be {'fetched again' if before.fetched_at else 'cloned now'}.")
            elif before.fetched_at is None:
                log.info("%s is cloned", codebase, extra={"action": "cloned", "codebase": codebase})
            clone.repack()

    def _failed(self, codebase: str, before: CloneStanding, why: str) -> None:
        if self._is_closed or codebase not in self._named:
            return
        log.warning("%s was not fetched: %s", codebase, why, extra={"action": "fetch_failed", "codebase": codebase})
        self._write(codebase, before.evolve(problem=why))
        if before.problem is not None:
            return
        clone = self._kept[codebase].clone
        advice = f"As the user who runs triage, try `{clone.command_to_try}`"
        if before.fetched_at is None:
            line = f"{codebase} cannot be cloned: {why}. Until it can, nothing of it is read. {advice}."
        else:
            line = (
                f"{codebase} cannot be fetched: {why}. Until it can, its last good commit is read. {advice}; "
                f"if that works, remove {clone.path}: it is cloned anew."
            )
        self._say(codebase, line)

    def _write(self, codebase: str, standing: CloneStanding) -> None:
        if codebase in self._named:
            self._stored.change(codebase, lambda _: standing)
