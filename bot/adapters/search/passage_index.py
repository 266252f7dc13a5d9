"""Passages of the codebase, found with SQLite's FTS5: one ranked list for one question.

Reads committed blobs, never the work tree; writes one database file that may be deleted at any time. Only blobs the
index has not seen are read, and only those whose path and size say a human wrote them.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from bot.adapters.search import index_queries as queries
from bot.adapters.search import passage_store as rows
from bot.adapters.search.index_build import IndexProcess, bring_up_to
from bot.adapters.search.passage_store import PassageStore
from bot.adapters.storage.files.atomic_write import Stamp
from bot.agent.git.git_history import GitHistory
from bot.agent.git.git_repo import GitRepo
from bot.domain.search.definitions import Definition
from bot.domain.search.passages import CommitHit, IndexGaps, IndexReport, Passage
from bot.domain.search.tokens import Ranked, WordCounts
from bot.ports import Progress

AGAIN_S = 60.0
"""How long what could not be read is left alone."""

WAIT_S = 60.0
"""How long a question waits for an index that is being built; then it is answered from what is there, and says so."""

AT_ONCE = 1_000
"""Up to as many changed files are indexed at once; more are left to the process beside, where there is one."""

POLL_S = 0.2

_T = TypeVar("_T")


class _Whole(NamedTuple):
    """What a refresh that left nothing to do found, and how the database was then."""

    report: IndexReport
    stamp: Stamp | None


class SqlitePassageIndex:
    """The passages of `repo` at its last indexed commit, in the file `database`; safe to use from any thread.

    A file that holds one of `secrets`, the process's own, is skipped.
    """

    def __init__(
        self,
        repo: GitRepo,
        database: Path,
        secrets: Collection[str] = (),
        *,
        beside: IndexProcess | None = None,
        at_once: int = AT_ONCE,
        wait_s: float = WAIT_S,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._repo, self._monotonic_s = repo, monotonic_s
        self._beside, self._at_once, self._wait_s = beside, at_once, wait_s
        self._retried_at_s = -AGAIN_S
        self._waits_until_s: dict[str, float] = {}
        self._secrets = secrets
        self._whole: _Whole | None = None
        self._store = PassageStore(database)

    def refresh(self, on_progress: Progress | None = None, *, waits: bool = True) -> IndexReport:
        """Bring the index up to HEAD; only blobs it has not seen are read, and once a minute those it could not read.

        While another process or thread builds the index this waits, but nobody waits for one commit longer than
        `wait_s` after the first to notice. The report's gaps then say how many files are not indexed yet.

        Args:
            on_progress: Called with (files done, files to do) after each batch; not at all when nothing changed.
            waits: Whether to wait for others at all.

        Raises:
            ConfigError: the repository has no commit.
            ProviderError: git cannot read it.
            StoreError: the database cannot be written.
        """
        started = time.perf_counter()
        commit = self._repo.head()
        if self._whole is not None and self._is_as_at(self._whole, commit):
            return replace(self._whole.report, read=0, seconds=time.perf_counter() - started)
        while (read := self._store.whole(lambda: self._bring_up_to(commit, on_progress))) is None:
            if not (waits and self._may_wait(commit)):
                break
            time.sleep(POLL_S)
        with self._store.open() as connection:
            files, gaps = rows.counts(connection), rows.gaps(connection)
        report = IndexReport(
            commit=commit,
            files=files.get("searched", 0),
            read=read or 0,
            skipped=sum(files.get(state, 0) for state in ("skipped", "oversized", "unreadable", "lfs")),
            seconds=time.perf_counter() - started,
            gaps=gaps,
        )
        self._whole = None if read is None else _Whole(report, self._store.stamp())
        return report

    def close(self) -> None:
        """End the process that builds the index, if there is one; what it has finished is kept."""
        if self._beside is not None:
            self._beside.close()

    def search(self, question: str, *, limit: int = 8, subject: str = "") -> list[Passage]:
        """Return the best passages at the indexed commit, best first; empty where there is nothing like it.

        The words of `subject` raise what holds them; they are the question where that has no telling words of its own.
        An index that is not finished, and that nobody else is building, is built first; raises what `refresh` raises.
        """
        return self._read_whole(
            lambda connection: self._shown(connection, queries.find(connection, question, subject, limit))
        )

    def word_counts(self, question: str, *, subject: str = "") -> WordCounts:
        """Return how common the words of a question are here; raises StoreError as `search` does."""
        return self._read(lambda connection: queries.count_words(connection, question or subject))

    def similar(self, text: str, *, limit: int) -> list[Passage]:
        """Return the passages that share the most telling words with a text, best first; raises as `search` does."""
        return self._read_whole(lambda connection: self._shown(connection, queries.similar(connection, text, limit)))

    def definitions(self, name: str) -> list[Definition]:
        """Return what defines a name, however it is capitalised, at most MAX_DEFINITIONS.

        Of an index that was never built nothing; raises StoreError as `search` does.
        """
        return self._read(lambda connection: queries.definitions(connection, name))

    def lines(self, path: str) -> list[str]:
        """Return the lines of a searched file as they may be shown; none of any other. Raises StoreError."""
        place = self._read(lambda connection: queries.file_at(connection, path))
        return self._lines([place]).get(path, []) if place else []

    def places_called(self, name: str) -> list[str]:
        """Return the files a name means, then the folders, which end in a slash; raises StoreError."""
        return self._read(lambda connection: queries.places_called(connection, name))

    def commits(self, words: str, *, limit: int = 10) -> list[CommitHit]:
        """Return the commits whose messages hold the words, best first, the newer of two alike.

        Raises:
            StoreError: as `search` does.
            ProviderError: git cannot read the messages.
        """
        scores = self._read(lambda connection: queries.commits(connection, words, limit))
        found = list(GitHistory(self._repo).commits_of(scores))
        return [
            CommitHit(
                sha=one.sha, author=one.author, authored_at=one.authored_at, message=message, score=scores[one.sha]
            )
            for one, message in zip(found, rows.shown_messages(found, self._secrets), strict=True)
        ]

    def near_names(self, name: str, *, limit: int = 3) -> list[str]:
        """Return names of the index one slip away, or two from a long name, nearest first; raises StoreError."""
        return self._read(lambda connection: queries.near_names(connection, name, limit))

    def names_holding(self, words: Sequence[str], *, limit: int = 20) -> list[str]:
        """Return the names of the index that hold some of the words, best first; raises StoreError."""
        return self._read(lambda connection: queries.names_holding(connection, words, limit))

    def _read_whole(self, query: Callable[[sqlite3.Connection], _T]) -> _T:
        """Read an index that is finished, or that somebody else is building."""
        found = self._read(lambda connection: None if rows.state(connection, "commit") is None else query(connection))
        if found is not None:
            return found
        self.refresh(waits=False)
        return self._read(query)

    def _read(self, query: Callable[[sqlite3.Connection], _T]) -> _T:
        def step() -> _T:
            with self._store.open() as connection:
                return query(connection)

        return self._store.whole(step)

    def _bring_up_to(self, commit: str, on_progress: Progress | None) -> int | None:
        """Return how many blobs were read, or None where somebody else is at it."""
        with self._store.open() as connection:
            gaps = rows.gaps(connection)
            is_current = rows.state(connection, "commit") == commit
        if is_current:
            if not self._tries_again(gaps):
                return 0
            self._retried_at_s = self._monotonic_s()
        if self._beside is not None and self._beside.is_running:
            return None  # whoever lists the files again keeps it waiting
        with self._store.building() as is_ours:
            if not is_ours:
                return None
            return bring_up_to(
                commit, self._repo, self._store, self._secrets, on_progress=on_progress, leaves=self._leaves
            )

    def _leaves(self, waiting: int) -> bool:
        """Whether so many files are left to the process beside, which goes on once nobody else is at it."""
        return self._beside is not None and waiting > self._at_once and self._beside.start()

    def _may_wait(self, commit: str) -> bool:
        """Whether whoever needs the index of a commit waits for it a little longer."""
        now_s = self._monotonic_s()
        if commit not in self._waits_until_s:
            self._waits_until_s = {commit: now_s + self._wait_s}
        return now_s < self._waits_until_s[commit]

    def _is_as_at(self, whole: _Whole, commit: str) -> bool:
        """Whether there is nothing to do since the index was found finished: no database is opened for that."""
        is_same = (whole.report.commit, whole.stamp) == (commit, self._store.stamp())
        return is_same and not self._tries_again(whole.report.gaps)

    def _tries_again(self, gaps: IndexGaps) -> bool:
        """Whether what could not be read is worth another look: somebody may have fetched or mended it."""
        is_due = self._monotonic_s() - self._retried_at_s >= AGAIN_S
        return is_due and bool(gaps.unreadable or gaps.lfs or gaps.history)

    def _shown(self, connection: sqlite3.Connection, ranked: Sequence[Ranked]) -> list[Passage]:
        """Return the passages with their lines; without those of files that git cannot read any more."""
        commit = rows.state(connection, "target") or ""
        found = [(one, queries.place(connection, one.passage)) for one in ranked]
        lines = self._lines([place for _, place in found]) if found else {}
        return [
            Passage(
                path=place.path,
                start=place.start,
                end=place.end,
                text="\n".join(lines[place.path][place.start - 1 : place.end]),
                commit=commit,
                score=one.score,
            )
            for one, place in found
            if len(lines.get(place.path, ())) >= place.end
        ]

    def _lines(self, places: Sequence[queries.Place]) -> dict[str, list[str]]:
        """Return the lines of each file as they may be shown; without files that git cannot read any more."""
        blobs = self._repo.readable_blobs(list(dict.fromkeys(place.blob for place in places)))
        return {
            place.path: rows.shown_lines(blobs[place.blob], place.changed, self._secrets)
            for place in places
            if place.blob in blobs
        }
