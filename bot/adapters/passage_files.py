"""From a blob to what the index stores of it: its passages, or the note that nothing of it may be found.

Pure. A file is skipped for its path (secrets, generated), its size, or its content (binary, minified). Credentials are
blacked out before anything of a file is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.agent.git import TreeEntry, split_lines
from bot.agent.tools.redaction import redact_lines
from bot.domain.chunks import cut
from bot.domain.filekinds import is_indexed, is_prose
from bot.domain.tokens import extra_words

MAX_FILE_BYTES = 1_000_000
MAX_LINE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """Lines `start` to `end` of a file, the names they stand under, their text and its extra words."""

    start: int
    end: int
    names: str
    text: str
    parts: str


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file as it was read; `skipped` if nothing of it may be found."""

    path: str
    blob: str
    skipped: bool
    passages: Sequence[StoredPassage] = ()


def is_readable(entry: TreeEntry) -> bool:
    """Whether the blob of a file may be read at all, by its path and size."""
    return is_indexed(entry.path) and entry.size <= MAX_FILE_BYTES and not entry.is_missing


def is_pointer(content: bytes) -> bool:
    """Whether a file holds no content of its own, but says where Git LFS keeps it."""
    return content.startswith(b"version https://git-lfs.github.com/spec/")


def read_file(entry: TreeEntry, content: bytes | None) -> StoredFile:
    """Return the passages of one file, or the file as skipped: not read, binary, minified or kept in Git LFS."""
    lines = split_lines(content) if content and not is_pointer(content) else []
    if not lines or max(map(len, lines)) > MAX_LINE_CHARS:
        return StoredFile(entry.path, entry.blob, skipped=content != b"")
    lines = redact_lines(lines)
    chunks = cut(lines, prose=is_prose(entry.path))
    return StoredFile(entry.path, entry.blob, False, [_stored(lines, one.start, one.end, one.names) for one in chunks])


def _stored(lines: Sequence[str], start: int, end: int, names: Sequence[str]) -> StoredPassage:
    text = "\n".join(lines[start - 1 : end])
    named = " ".join(names)
    return StoredPassage(start, end, f"{named} {extra_words(named)}", text, extra_words(text))
