"""From a blob to what the index stores of it: the words of its passages, or the note that nothing of it may be found.

Pure. A file is skipped for its path (secrets, generated), its size, or its content (binary, minified). Credentials are
blacked out before anything of a file is stored or shown.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.agent.git.git_repo import TreeEntry, is_pointer, split_lines
from bot.domain.search.definitions import Defined, definitions_in
from bot.domain.search.file_kinds import is_indexed, is_prose
from bot.domain.search.passages import Chunk, split_into_chunks
from bot.domain.search.tokens import extra_words
from bot.domain.secrets import redact_lines

MAX_FILE_BYTES = 1_000_000
MAX_LINE_CHARS = 2_000
_SPAN = struct.Struct("<II")
SPAN_BYTES = _SPAN.size


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """Lines `start` to `end` of a file, the names they stand under, their text, its extra words."""

    start: int
    end: int
    names: str
    text: str
    parts: str


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file as it was read; `skipped` if nothing of it may be found, `is_clean` if it holds no credential."""

    path: str
    blob: str
    skipped: bool
    is_clean: bool = False
    passages: Sequence[StoredPassage] = ()
    defined: Sequence[Defined] = ()


def is_readable(entry: TreeEntry) -> bool:
    """Whether the blob of a file may be read at all, by its path and size."""
    return is_indexed(entry.path) and entry.size <= MAX_FILE_BYTES and not entry.is_missing


def shown_lines(content: bytes, *, is_clean: bool = False) -> list[str]:
    """Return the lines of a file as they may be shown; none of one that is binary, minified or kept in Git LFS.

    `is_clean` says that the content was looked through for credentials before, and none was found.
    """
    lines = _text_lines(content)
    return lines if is_clean else redact_lines(lines)


def _text_lines(content: bytes) -> list[str]:
    is_shown = content and len(content) <= MAX_FILE_BYTES and not is_pointer(content)
    lines = split_lines(content) if is_shown else []
    if not lines or max(map(len, lines)) > MAX_LINE_CHARS:
        return []
    return lines


def read_file(path: str, blob: str, content: bytes | None) -> StoredFile:
    """Return the passages of one file, or the file as skipped; `content` is None where it was not read."""
    found = _text_lines(content) if content else []
    if not found:
        return StoredFile(path, blob, skipped=content != b"")
    lines = redact_lines(found)
    chunks = split_into_chunks(lines, prose=is_prose(path))
    passages = [_stored(lines, one) for one in chunks]
    return StoredFile(path, blob, False, lines == found, passages, definitions_in(path, lines))


def _stored(lines: Sequence[str], chunk: Chunk) -> StoredPassage:
    text = "\n".join(lines[chunk.start - 1 : chunk.end])
    named = " ".join(chunk.names)
    return StoredPassage(chunk.start, chunk.end, f"{named} {extra_words(named)}", text, extra_words(text))


def pack_spans(passages: Sequence[StoredPassage]) -> bytes:
    """Return the lines of a file's passages as bytes.

    >>> unpack_spans(pack_spans([StoredPassage(1, 9, "", "", ""), StoredPassage(11, 40, "", "", "")]))
    [(1, 9), (11, 40)]
    """
    return b"".join(_SPAN.pack(one.start, one.end) for one in passages)


def unpack_spans(packed: bytes) -> list[tuple[int, int]]:
    """Return first and last line of each passage of a file."""
    return [(start, end) for start, end in _SPAN.iter_unpack(packed)]


def holds_any(content: bytes, secrets: Collection[bytes]) -> bool:
    """Whether a file holds one of the process's own secrets."""
    return any(secret in content for secret in secrets)
