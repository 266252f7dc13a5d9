"""Notes as they are kept: what stands in memory/, or in a database under the same paths. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Self

from bot.domain.frozen_value import FrozenValue
from bot.domain.memory.notes import SHARED, NoteHeader, note_words
from bot.errors import InputError

TITLE_CHARS: Final = 120
_HEADING: Final = re.compile(r"^#+ +(.+)$", re.MULTILINE)


class StoredNote(FrozenValue):
    """A note as a database holds it, by its path below memory/; it keeps its path when it is retired."""

    whole: str
    is_retired: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptNote:
    """A note of memory/: `ref` is `memory/<file>.md`, `text` its words without the facts above them, `whole` both."""

    ref: str
    title: str
    text: str
    facts: NoteHeader
    whole: str

    @classmethod
    def read(cls, ref: str, whole: str) -> Self:
        """Return the note of this text; without a heading its name is its title."""
        text = note_words(whole)
        heading = _HEADING.search(text)
        title = heading[1].strip() if heading else PurePosixPath(ref).stem.replace("-", " ").replace("_", " ")
        return cls(ref=ref, title=title[:TITLE_CHARS], text=text, facts=NoteHeader.read(whole), whole=whole)

    @property
    def is_shared(self) -> bool:
        """Whether it is the copy of another team's note, who alone looks after it."""
        return self.ref.startswith(f"memory/{SHARED}/")


def check_note_path(path: str) -> str:
    """Return a note's path below memory/, safe as a file's; raises InputError for any other text.

    >>> check_note_path("shared/payments/retries.md")
    'shared/payments/retries.md'
    """
    parts = path.split("/")
    if not path.endswith(".md") or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise InputError(f"{path[:60]!r} is no note's path; one looks like retries.md")
    return path
