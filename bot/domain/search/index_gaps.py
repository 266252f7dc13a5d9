"""Which files of a commit no search looks into, though they might hold an answer. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.text.sanitize import one_line

PATH_CHARS: Final = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexGaps:
    """Paths from the top: what git cannot read, what Git LFS keeps elsewhere, and repositories of their own.

    `waiting` of `total` files are not in the index yet, because it is still being built.

    >>> IndexGaps(unreadable=("a.py", "b.py"), submodules=("lib",)).words()
    '2 files that git cannot read, such as a.py; 1 submodule, lib'
    """

    unreadable: tuple[str, ...] = ()
    lfs: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()
    waiting: int = 0
    total: int = 0

    def words(self) -> str:
        """Return what was not searched as one line; empty where nothing is missing."""
        kinds = (
            (self.unreadable, "file", " that git cannot read"),
            (self.lfs, "file", " whose text is in Git LFS only"),
            (self.submodules, "submodule", ""),
        )
        parts = [_counted(paths, what, why) for paths, what, why in kinds if paths]
        if self.waiting:
            parts.insert(0, f"{self.waiting:,} of {self.total:,} files, because the index is not finished")
        return "; ".join(parts)

    def progress(self) -> str:
        """Return how far the index is; empty where it is finished.

        >>> IndexGaps(waiting=38_000, total=50_000).progress(), IndexGaps(total=50_000).progress()
        ('12,000 of 50,000 files indexed', '')
        """
        return f"{self.total - self.waiting:,} of {self.total:,} files indexed" if self.waiting else ""


NO_GAPS: Final = IndexGaps()


def _counted(paths: Sequence[str], what: str, why: str) -> str:
    many = len(paths) > 1
    return f"{len(paths)} {what}{'s' * many}{why}, {'such as ' * many}{one_line(paths[0], PATH_CHARS)}"
