"""What an investigation works with, opened for one process without Slack."""

from __future__ import annotations

from bot.adapters.clock import SystemClock
from bot.adapters.memory_files import MemoryFiles
from bot.adapters.memory_index import MemoryNotes
from bot.adapters.ndjson_journal import NdjsonJournal
from bot.adapters.passage_index import CodePassages
from bot.agent.git import GitRepo
from bot.casework.standing import Standing
from bot.environment import Environment
from bot.settings import Settings
from bot.staffing import Sources


def open_sources(settings: Settings, environment: Environment, *, is_long: bool = False) -> Sources:
    """Return codebase, index, memory and clock; raises ConfigError where the codebase is no git checkout."""
    repo, home = GitRepo(settings.codebase), environment.home
    return Sources(
        settings=settings,
        environment=environment,
        repo=repo,
        index=CodePassages(repo, home / "index" / "passages.sqlite", environment.secrets()),
        memory=MemoryNotes(
            MemoryFiles(home / "memory"), NdjsonJournal(home / "replies.ndjson"), Standing(repo).changed
        ),
        clock=SystemClock(),
        is_long=is_long,
    )
