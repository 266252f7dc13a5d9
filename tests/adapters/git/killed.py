"""A process that fetches and may be killed meanwhile; prints the first line of progress."""

from __future__ import annotations

import sys
from pathlib import Path

from bot.adapters.git.clones import Clone
from bot.adapters.git.network import GitNetwork
from bot.errors import TriageError


def fetch(path: str, url: str) -> None:
    """Fetch `url` into the clone at `path`; exit code 1 with the reason where that fails."""
    try:
        Clone(Path(path), url, None, GitNetwork()).fetch(lambda line: print(line, flush=True))
    except TriageError as error:
        sys.exit(str(error))
