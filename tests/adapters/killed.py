"""A process that fetches and may be killed meanwhile: `python -m tests.adapters.killed CLONE URL [BYTES]`.

No file may become larger than so many bytes.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from bot.adapters.clones import Clone, GitNetwork
from bot.errors import TriageError


def fetch(path: str, url: str) -> None:
    """Fetch `url` into the clone at `path`; exit code 1 with the reason where that fails."""
    try:
        Clone(Path(path), url, None, GitNetwork()).fetch()
    except TriageError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    clone, address, *limit = sys.argv[1:]
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit[0]),) * 2)
    fetch(clone, address)
