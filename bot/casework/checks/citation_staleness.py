"""Whether the lines that notes cite still stand at HEAD, wherever in their file.

Reads blobs of HEAD, writes nothing. The test is the one a draft meets before it is posted
(bot/domain/citations/citation_lines.py). The tree is listed once for each HEAD, and a file is read again only once it
has changed: thousands of citations cost next to nothing at most commits.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.agent.git.git_repo import GitRepo, split_lines
from bot.agent.git.repositories import Repositories
from bot.domain.citations.citation_lines import is_verbatim
from bot.domain.notes import NoteCitation, StaleCitations
from bot.domain.search.files import is_secret_file

MAX_KEPT = 50_000


def find_at_head(repo: GitRepo, commit: str, path: str, quote: str) -> bool:
    """Whether a quote stands in a file of a commit, wherever in it; raises ProviderError when git fails."""
    return not is_secret_file(path) and is_verbatim(quote, repo.lines_at(commit, path) or ())


class CitationStaleness:
    """Answers for the codebases of one team; safe to ask from any thread."""

    def __init__(self, repos: Repositories) -> None:
        self._repos = repos
        self._lock = threading.Lock()
        self._blobs: dict[Path, tuple[str, dict[str, str]]] = {}
        self._known: dict[tuple[str, str], bool] = {}

    def stale(self, cites: Sequence[NoteCitation]) -> StaleCitations:
        """Return those citations whose quote does not stand at HEAD.

        One whose commit no codebase has is of a codebase that is gone, unless it names one that is there.

        Raises:
            ProviderError: git cannot read the codebase.
            ConfigError: it has no commit.
        """
        trees: dict[Path, Mapping[str, str]] = {}
        stale = [cite for cite in cites if not self._is_there(cite, trees)]
        gone = [cite for cite in stale if self._is_unconfigured(cite)]
        return StaleCitations(tuple(cite for cite in stale if cite not in gone), tuple(gone))

    def _is_there(self, cite: NoteCitation, trees: dict[Path, Mapping[str, str]]) -> bool:
        """Whether a quote stands; `trees` has the files of each HEAD that was looked up for this call."""
        repo, path = self._repos.locate(cite.path, cite.commit)
        if repo.root not in trees:
            trees[repo.root] = self._blobs_at(repo, repo.head())
        blob = None if is_secret_file(path) else trees[repo.root].get(path)
        return blob is not None and self._stands(repo, blob, cite.quote)

    def _is_unconfigured(self, cite: NoteCitation) -> bool:
        repo, path = self._repos.locate(cite.path, cite.commit)
        return path == cite.path and repo.resolve(cite.commit) is None

    def _blobs_at(self, repo: GitRepo, head: str) -> Mapping[str, str]:
        """Return the id of every file's content."""
        with self._lock:
            known_at, blobs = self._blobs.get(repo.root, ("", {}))
            if head == known_at:
                return blobs
        blobs = {entry.path: entry.blob for entry in repo.tree(head)}
        with self._lock:
            self._blobs[repo.root] = head, blobs
        return blobs

    def _stands(self, repo: GitRepo, blob: str, quote: str) -> bool:
        key = (blob, hashlib.sha256(quote.encode("utf-8", "replace")).hexdigest())
        with self._lock:
            if key in self._known:
                return self._known[key]
        _, content = next(iter(repo.blobs([blob])))
        stands = is_verbatim(quote, split_lines(content))
        with self._lock:
            self._known = self._known if len(self._known) < MAX_KEPT else {}
            self._known[key] = stands
        return stands
