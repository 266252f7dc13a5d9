"""Passages of the codebase, found with SQLite's FTS5: one ranked list for one question.

Reads committed blobs, never the work tree; writes one database file that may be deleted at any time. Only blobs the
index has not seen are read, and only those whose path and size say a human wrote them.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from bot.adapters.search import passage_store as rows
from bot.adapters.search.passage_store import Damaged, PassageStore, is_readable, read_file
from bot.agent.git.git_repo import GitRepo, TreeEntry, is_pointer
from bot.domain.search.definitions import Definition
from bot.domain.search.file_kinds import may_hold_text
from bot.domain.search.index_gaps import IndexGaps
from bot.domain.search.passages import IndexReport, Passage
from bot.domain.search.ranking import Match, Ranked, rank, rarity
from bot.domain.search.tokens import Term, helping_terms, question_terms
from bot.errors import StoreError

MAX_TERMS = 40
BATCH_FILES = 250
AGAIN_S = 60.0
"""How long what could not be read is left alone."""

Progress = Callable[[int, int], None]
Begin = Callable[[sqlite3.Connection], None]
_T = TypeVar("_T")


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
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._repo, self._monotonic_s = repo, monotonic_s
        self._retried_at_s: float | None = None
        self._secrets = [secret.encode() for secret in secrets]
        self._store = PassageStore(database)
        self._lock = threading.Lock()

    def refresh(self, on_progress: Progress | None = None) -> IndexReport:
        """Bring the index up to HEAD; only blobs it has not seen are read, and once a minute those it could not read.

        Args:
            on_progress: Called with (files done, files to do) after each batch; not at all when nothing changed.

        Raises:
            ConfigError: the repository has no commit.
            ProviderError: git cannot read it.
            StoreError: the database cannot be written.
        """
        started = time.perf_counter()
        commit = self._repo.head()
        with self._lock:
            read = self._whole(lambda: self._bring_up_to(commit, on_progress or _silent))
        with self._store.open() as connection:
            (files, skipped), gaps = rows.counts(connection), rows.gaps(connection)
        seconds = time.perf_counter() - started
        return IndexReport(commit=commit, files=files, read=read, skipped=skipped, seconds=seconds, gaps=gaps)

    def search(self, question: str, *, limit: int = 8, subject: str = "") -> list[Passage]:
        """Return the best passages at the indexed commit, best first; empty when none covers enough of the question.

        The words of `subject` raise what holds them; they are the question where that has no telling words of its own.

        An index that was never built, or whose building was cut off, is built first; raises what `refresh` raises.
        """
        own = question_terms(question)
        terms = (*own, *helping_terms(subject)) if own else question_terms(subject)
        found = self._whole(lambda: self._find(terms, question, limit))
        if found is None:
            self.refresh()
            found = self._whole(lambda: self._find(terms, question, limit))
        return found or []

    def definitions(self, name: str) -> list[Definition]:
        """Return what defines a name, however it is capitalised, at most MAX_DEFINITIONS.

        Of an index that was never built nothing; raises StoreError as `search` does.
        """
        return self._read(lambda connection: rows.definitions(connection, name))

    def places_called(self, name: str) -> list[str]:
        """Return the files a name means, then the folders, which end in a slash; raises StoreError."""
        return self._read(lambda connection: rows.places_called(connection, name))

    def _read(self, query: Callable[[sqlite3.Connection], _T]) -> _T:
        def step() -> _T:
            with self._store.open() as connection:
                return query(connection)

        return self._whole(step)

    def _whole(self, step: Callable[[], _T]) -> _T:
        """Return what `step` returns; a damaged database is deleted and the step taken once more."""
        try:
            return step()
        except Damaged:
            self._store.delete()
        try:
            return step()
        except Damaged as error:
            raise StoreError(
                "index: the database is damaged again right after it was rebuilt; check the disk"
            ) from error

    def _bring_up_to(self, commit: str, on_progress: Progress) -> int:
        with self._store.open() as connection:
            before = rows.gaps(connection)
            unread = {*before.unreadable, *before.lfs}
            if rows.commit_of(connection) == commit and not (unread and self._may_try_again()):
                return 0
            known = rows.blobs(connection)
        listed = [entry for entry in self._repo.tree(commit) if entry.path.isprintable()]
        tree = {entry.path: entry for entry in listed if not entry.is_missing}
        missing = tuple(one.path for one in listed if one.is_missing and may_hold_text(one.path))
        submodules = tuple(path for path in self._repo.submodules(commit) if path.isprintable())
        gaps = IndexGaps(unreadable=missing, submodules=submodules)
        changed = [one for one in tree.values() if one.path in unread or known.get(one.path) != one.blob]
        gone = [path for path in known if path in unread or path not in tree]
        read = 0
        for start in range(0, max(1, len(changed)), BATCH_FILES):
            batch = changed[start : start + BATCH_FILES]
            is_last = start + BATCH_FILES >= len(changed)
            begin = None if start else partial(rows.begin, gone=gone, gaps=gaps)
            read += self._store_batch(batch, begin, commit if is_last else None)
            on_progress(start + len(batch), len(changed))
        return read

    def _may_try_again(self) -> bool:
        """Whether what could not be read is worth another look: somebody may have fetched or mended it."""
        now_s, last_s = self._monotonic_s(), self._retried_at_s
        if last_s is not None and now_s - last_s < AGAIN_S:
            return False
        self._retried_at_s = now_s
        return True

    def _store_batch(self, batch: Sequence[TreeEntry], begin: Begin | None, commit: str | None) -> int:
        """Store a batch in one transaction, what comes before the first one in it; returns how many blobs were read."""
        wanted = dict.fromkeys(entry for entry in batch if is_readable(entry))
        blobs = self._repo.readable_blobs(list(dict.fromkeys(entry.blob for entry in wanted)))
        contents = {blob: None if self._is_secret(content) else content for blob, content in blobs.items()}
        files = [read_file(entry, contents.get(entry.blob) if entry in wanted else None) for entry in batch]
        textual = [entry for entry in wanted if may_hold_text(entry.path)]
        unread = IndexGaps(
            unreadable=tuple(one.path for one in textual if one.blob not in blobs),
            lfs=tuple(one.path for one in textual if is_pointer(blobs.get(one.blob, b""))),
        )
        with self._store.open() as connection:
            rows.set_commit(connection, commit)
            if begin is not None:
                begin(connection)
            for file in files:
                rows.put_file(connection, file)
            rows.add_gaps(connection, unread)
        return len(contents)

    def _is_secret(self, content: bytes) -> bool:
        return any(secret in content for secret in self._secrets)

    def _find(self, terms: Sequence[Term], question: str, limit: int) -> list[Passage] | None:
        with self._store.open() as connection:
            commit = rows.commit_of(connection)
            if commit is None:
                return None
            total = rows.count_passages(connection)
            matches = _matches(connection, terms, total)
            paths = rows.paths(connection, {passage for match in matches for passage in match.scores})
            ranked = rank(matches, paths, total=total, question=question, limit=limit)
            return [_passage(connection, one, commit) for one in ranked]


def _silent(_done: int, _total: int) -> None:
    """Report nothing."""


def _matches(connection: sqlite3.Connection, terms: Sequence[Term], total: int) -> list[Match]:
    """Return where each of the most telling terms occurs; words that occur nowhere stay, as not covered."""
    found = {term: rows.count_matches(connection, term.words) for term in terms}
    telling = sorted(terms, key=lambda term: -term.weight * rarity(found[term], total) * bool(found[term]))
    kept = frozenset(telling[:MAX_TERMS])
    return [
        Match(term, rows.match(connection, term.words) if found[term] else {})
        for term in terms
        if term in kept or (not found[term] and term.about)
    ]


def _passage(connection: sqlite3.Connection, ranked: Ranked, commit: str) -> Passage:
    path, start, end, text = rows.place(connection, ranked.passage)
    return Passage(path=path, start=start, end=end, text=text, commit=commit, score=ranked.score)
