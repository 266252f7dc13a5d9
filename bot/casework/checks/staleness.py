"""Whether lines that were cited once still stand at HEAD, wherever in their file: of notes, and of drafts to be posted.

Reads blobs of HEAD, writes nothing. A file is read again only once it has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from bot.agent.git.git_repo import EntryKind, GitRepo
from bot.agent.git.repositories import Repositories
from bot.domain.citations.citation_lines import quoted_lines
from bot.domain.notes import NoteCitation, StaleCitations
from bot.domain.search.files import file_lines, is_secret_file
from bot.domain.secrets import redact_lines

MAX_KEPT = 10_000


def stands_at_head(repo: GitRepo, head: str, path: str, quote: str) -> bool:
    """Whether printed lines stand in a file of a commit as they are, or redacted as they were printed.

    Raises:
        ProviderError: git cannot read the file.
    """
    entry = None if is_secret_file(path) else repo.entry_at(head, path)
    return entry is not None and entry.kind is EntryKind.FILE and _stands(repo, entry.blob, quote)


@lru_cache(maxsize=MAX_KEPT)
def _stands(repo: GitRepo, blob: str, quote: str) -> bool:
    lines = file_lines(repo.blob(blob)) or []
    if quoted_lines(quote, lines) is not None:
        return True
    return "[redacted" in quote and quoted_lines(quote, redact_lines(lines)) is not None


def stale_citations(repos: Repositories, cites: Sequence[NoteCitation]) -> StaleCitations:
    """Return those citations whose lines do not stand at HEAD.

    One whose commit no codebase has is of a codebase that is gone, unless it names one that is there.

    Raises:
        ProviderError: git cannot read the codebase.
        ConfigError: it has no commit.
    """
    heads: dict[Path, str] = {}
    changed, gone = list[NoteCitation](), list[NoteCitation]()
    for cite in cites:
        repo, path = repos.locate(cite.path, cite.commit)
        if repo.root not in heads:
            heads[repo.root] = repo.head()
        if not stands_at_head(repo, heads[repo.root], path, cite.quote):
            is_gone = path == cite.path and repo.resolve(cite.commit) is None
            (gone if is_gone else changed).append(cite)
    return StaleCitations(tuple(changed), tuple(gone))
