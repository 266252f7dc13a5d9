"""The real tools over a real repository, called as a model calls them."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.adapters.storage.files.file_engine import NoteFiles
from bot.agent.codebases import Codebases
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.tools.codebase_tools import investigator_tools
from bot.casework.checks.sources import stale_citations
from tests.fakes import MemoryJournal
from tests.gitrepo import git, make_repo

SECRET = "hG7$kq2Lz9pW"
"""A value that looks like a password; it must never be shown."""


class Toolbox:
    """Tools over the repository `code` below `base`, whose notes lie in `memory`."""

    def __init__(self, base: Path, files: dict[str, str | bytes], known_secrets: Collection[str] = ()) -> None:
        self.base = base
        self.code = make_repo(base / "code", files)
        self.memory = base / "memory"
        self.memory.mkdir()
        self.known_secrets = known_secrets
        self.renew()

    def renew(self) -> None:
        """Make the tools of a new run, at what is HEAD now."""
        repo = GitRepo(self.code)
        self.ledger = Ledger()
        self.head = git(self.code, "rev-parse", "HEAD")
        notes = WordNoteIndex(NoteFiles(self.memory), MemoryJournal(), partial(stale_citations, repo))
        index = SqlitePassageIndex(repo, self.base / "passages.db")
        code, kept = Codebases.named([("", repo, index)]), NoteFiles(self.memory)
        tools = investigator_tools(code, notes, kept, self.ledger, known_secrets=self.known_secrets)
        self.tools = {tool.name: tool for tool in tools}

    def __call__(self, tool: str, **arguments: Any) -> str:
        """Return what a tool answers; raises ValidationError or ToolProblem as it does to the loop."""
        chosen = self.tools[tool]
        assert chosen.arguments is not None
        return chosen.call(chosen.arguments.model_validate(arguments))
