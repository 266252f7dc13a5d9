"""Whether the lines that notes cite still stand at HEAD, wherever in their file.

Reads blobs of HEAD, writes nothing. The test is the one a draft meets before it is posted (bot/domain/citations.py).
Each file is read once for as long as HEAD stays where it is.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from bot.agent.git import GitRepo
from bot.domain.citations import stands_in
from bot.domain.note_facts import Cite

MAX_KEPT = 5_000


def stands_at(repo: GitRepo, commit: str, path: str, quote: str) -> bool:
    """Whether a quote stands in a file of a commit, wherever in it; raises ProviderError when git fails."""
    return stands_in(quote, repo.lines_at(commit, path) or ())


class Standing:
    """Answers for one codebase; safe to ask from any thread."""

    def __init__(self, repo: GitRepo) -> None:
        self._repo = repo
        self._lock = threading.Lock()
        self._head = ""
        self._known: dict[tuple[str, str], bool] = {}

    def changed(self, cites: Sequence[Cite]) -> tuple[Cite, ...]:
        """Return those citations whose quote no longer stands at HEAD.

        Raises:
            ProviderError: git cannot read the codebase.
            ConfigError: it has no commit.
        """
        if not cites:
            return ()
        head = self._repo.head()
        return tuple(cite for cite in cites if not self._stands(head, cite))

    def _stands(self, head: str, cite: Cite) -> bool:
        key = (cite.path, cite.quote)
        with self._lock:
            if head != self._head or len(self._known) >= MAX_KEPT:
                self._head, self._known = head, {}
            if key in self._known:
                return self._known[key]
        stands = stands_at(self._repo, head, cite.path, cite.quote)
        with self._lock:
            if head == self._head:
                self._known[key] = stands
        return stands
