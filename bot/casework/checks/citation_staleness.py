"""Whether the lines that notes cite still stand at HEAD, wherever in their file.

Reads blobs of HEAD, writes nothing. The test is the one a draft meets before it is posted
(bot/domain/citations/citation_lines.py). The tree is listed once for each HEAD, and a file is read again only once it
has changed: thousands of citations cost next to nothing at most commits.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence

from bot.agent.git.git_repo import GitRepo, split_lines
from bot.agent.tools.snapshot import is_withheld
from bot.domain.citations.citation_lines import is_verbatim
from bot.domain.memory.notes import NoteCitation

MAX_KEPT = 50_000


def find_at_head(repo: GitRepo, commit: str, path: str, quote: str) -> bool:
    """Whether a quote stands in a file of a commit, wherever in it; raises ProviderError when git fails."""
    return not is_withheld(path) and is_verbatim(quote, repo.lines_at(commit, path) or ())


class CitationStaleness:
    """Answers for one codebase; safe to ask from any thread."""

    def __init__(self, repo: GitRepo) -> None:
        self._repo = repo
        self._lock = threading.Lock()
        self._head = ""
        self._blobs: dict[str, str] = {}
        self._known: dict[tuple[str, str], bool] = {}

    def changed(self, cites: Sequence[NoteCitation]) -> tuple[NoteCitation, ...]:
        """Return those citations whose quote no longer stands at HEAD.

        Raises:
            ProviderError: git cannot read the codebase.
            ConfigError: it has no commit.
        """
        if not cites:
            return ()
        blobs = self._blobs_at(self._repo.head())
        return tuple(
            cite for cite in cites if is_withheld(cite.path) or not self._stands(blobs.get(cite.path), cite.quote)
        )

    def _blobs_at(self, head: str) -> Mapping[str, str]:
        """Return the id of every file's content."""
        with self._lock:
            if head == self._head:
                return self._blobs
        blobs = {entry.path: entry.blob for entry in self._repo.tree(head)}
        with self._lock:
            self._head, self._blobs = head, blobs
        return blobs

    def _stands(self, blob: str | None, quote: str) -> bool:
        if blob is None:
            return False
        key = (blob, hashlib.sha256(quote.encode("utf-8", "replace")).hexdigest())
        with self._lock:
            if key in self._known:
                return self._known[key]
        _, content = next(iter(self._repo.blobs([blob])))
        stands = is_verbatim(quote, split_lines(content))
        with self._lock:
            self._known = self._known if len(self._known) < MAX_KEPT else {}
            self._known[key] = stands
        return stands
