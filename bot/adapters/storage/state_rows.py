"""Files of run folders in chunks, each compressed by itself, so that memory use stays flat.

At most MAX_FILE_BYTES of each file are taken; links, pipes and half-written files are left out.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

CHUNK_BYTES: Final = 1024 * 1024
MAX_FILE_BYTES: Final = 64 * CHUNK_BYTES


def chunks(folder: Path) -> Iterator[tuple[str, int, bytes]]:
    """Yield the files of a folder: the name below it, the chunk's number, its bytes; raises OSError."""
    for path in run_files(folder):
        with path.open("rb") as file:
            for number in range(MAX_FILE_BYTES // CHUNK_BYTES):
                content = file.read(CHUNK_BYTES)
                if content or not number:  # an empty file is there, too
                    yield path.relative_to(folder).as_posix(), number, zlib.compress(content)


def run_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that are taken."""
    for path in sorted(folder.rglob("*")):
        if not path.is_symlink() and path.is_file() and not path.name.startswith(".tmp-"):
            yield path
