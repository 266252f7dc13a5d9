"""Whether lines that were cited once still stand at HEAD, wherever in their file: of notes, and of drafts to be posted.

Reads blobs of HEAD, writes nothing. The tree is listed once for each HEAD, and a file is read again only once it has
changed: thousands of citations cost next to nothing at most commits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.agent.git.git_repo import GitRepo, split_lines
from bot.agent.git.repositories import Repositories
from bot.domain.citations.citation_lines import quoted_lines
from bot.domain.notes import NoteCitation, StaleCitations
from bot.domain.search.files import is_secret_file
from bot.domain.secrets import redact_lines

MAX_KEPT = 50_000


def stands_in(quote: str, lines: Sequence[str]) -> bool:
    """Whether printed lines stand in a file as they are, or redacted as they were printed."""
    if quoted_lines(quote, lines) is not None:
        return True
    return "[redacted" in quote and quoted_lines(quote, redact_lines(lines)) is not None


def stands_at_head(repo: GitRepo, commit: str, path: str, quote: str) -> bool:
    """Whether printed lines stand in a file of a commit, wherever in it; raises ProviderError when git fails."""
    return not is_secret_file(path) and stands_in(quote, repo.lines_at(commit, path) or ())


class CitationStaleness:
    """Answers for the codebases of one team; safe to ask from any thread."""

    def __init__(self, repos: Repositories) -> None:
        self._repos = repos
        self._blobs: dict[Path, tuple[str, Mapping[str, str]]] = {}
        self._known: dict[tuple[str, str], bool] = {}

    def stale(self, cites: Sequence[NoteCitation]) -> StaleCitations:
        """Return those citations whose lines do not stand at HEAD.

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
        """Whether a citation stands; `trees` has the files of each HEAD that was looked up for this call."""
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
        known_at, blobs = self._blobs.get(repo.root, ("", {}))
        if head != known_at:
            blobs = {entry.path: entry.blob for entry in repo.tree(head)}
            self._blobs[repo.root] = head, blobs
        return blobs

    def _stands(self, repo: GitRepo, blob: str, quote: str) -> bool:
        known = self._known.get((blob, quote))
        if known is not None:
            return known
        _, content = next(iter(repo.blobs([blob])))
        stands = stands_in(quote, split_lines(content))
        if len(self._known) >= MAX_KEPT:
            self._known = {}
        self._known[blob, quote] = stands
        return stands
