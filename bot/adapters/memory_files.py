"""Port NoteShelf over memory/: kept notes, what becomes of them, and where retired ones go.

A note appears whole or not at all, none replaces another, and nothing is deleted: a retired note moves to
memory/retired/, which no search looks into. People may write and change notes here at any time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bot.adapters.files import create_file, make_folder, replace_text, sync_folder
from bot.domain.note_facts import RETIRED, Cite, NoteFacts, with_cites
from bot.domain.notes import KeptNote, note_words
from bot.errors import refusal

MAX_NOTE_BYTES: Final = 1_000_000
MAX_SAME_NAME: Final = 100
TITLE_CHARS: Final = 120

_Signature = tuple[tuple[Path, int, int], ...]


class MemoryFiles:
    """The notes of one folder, read again when one of them changes."""

    def __init__(self, memory: Path) -> None:
        self._memory = memory
        self._lock = threading.RLock()
        self._signature: _Signature | None = None
        self._notes: tuple[KeptNote, ...] = ()

    def all(self) -> Sequence[KeptNote]:
        """Return every note that is not retired, by name."""
        files = sorted(_note_files(self._memory))
        signature = tuple((path, stat.st_mtime_ns, stat.st_size) for path, stat in ((p, p.stat()) for p in files))
        with self._lock:
            if signature != self._signature:
                self._notes = tuple(_read(path, self._memory) for path in files)
                self._signature = signature
            return self._notes

    def create(self, name: str, text: str) -> str | None:
        """Keep a note under a name that was never taken and return its ref; None if it was, and nothing happens.

        Raises:
            StoreError: the disk refuses.
        """
        with self._lock:
            if self.find(name) is not None:
                return None
            try:
                make_folder(self._memory)
                return f"memory/{name}.md" if create_file(self._memory / f"{name}.md", text) else None
            except OSError as error:
                raise refusal(f"cannot save the note {name}", error, "check the disk and the folder's owner") from error

    def find(self, name: str) -> str | None:
        """Return the ref of the note of that name, retired ones too; None if there is none."""
        for place in (f"{name}.md", f"{RETIRED}/{name}.md"):
            path = self._memory / place
            if path.is_file() or path.is_symlink():
                return f"memory/{place}"
        return None

    def repin(self, ref: str, cites: Sequence[Cite]) -> bool:
        """Have a note cite other lines, its words untouched; False if it is not there any more.

        Raises:
            StoreError: the disk refuses.
        """
        path = self._path(ref)
        if path is None:
            return False
        with self._lock:
            try:
                text = path.read_text(encoding="utf-8")
                replace_text(path, with_cites(text, cites))
            except (OSError, UnicodeError) as error:
                reason = error if isinstance(error, OSError) else OSError(None, "it is no UTF-8")
                raise refusal(f"cannot rewrite {ref}", reason, "mend it by hand") from error
        return True

    def retire(self, ref: str) -> str | None:
        """Move a note to memory/retired/ and return its new ref; None if it is not there any more.

        Raises:
            StoreError: the disk refuses.
        """
        path = self._path(ref)
        if path is None:
            return None
        with self._lock:
            try:
                folder = make_folder(self._memory / RETIRED)
                target = next(free for free in _names(folder, path.stem) if not (free.exists() or free.is_symlink()))
                path.rename(target)
                sync_folder(path.parent)
                sync_folder(folder)
            except OSError as error:
                raise refusal(f"cannot retire {ref}", error, "check the disk and the folder's owner") from error
        return f"memory/{RETIRED}/{target.name}"

    def _path(self, ref: str) -> Path | None:
        """Return the file of a note that is on the shelf."""
        return next((self._memory / note.ref.removeprefix("memory/") for note in self.all() if note.ref == ref), None)


def _names(folder: Path, name: str) -> Iterator[Path]:
    yield folder / f"{name}.md"
    yield from (folder / f"{name}-{number}.md" for number in range(2, 100_000))


def _note_files(memory: Path) -> Iterator[Path]:
    """Yield the notes that are plain files below `memory`; links are not followed, very large files not read."""
    for path in memory.rglob("*.md"):
        if RETIRED in path.relative_to(memory).parts[:-1]:
            continue
        if path.is_file() and path.resolve().is_relative_to(memory.resolve()) and path.stat().st_size <= MAX_NOTE_BYTES:
            yield path


def _read(path: Path, memory: Path) -> KeptNote:
    whole = path.read_text(encoding="utf-8", errors="replace")
    text = note_words(whole)
    heading = re.search(r"^#+ +(.+)$", text, re.M)
    title = heading[1].strip() if heading else path.stem.replace("-", " ").replace("_", " ")
    ref = f"memory/{path.relative_to(memory).as_posix()}"
    return KeptNote(ref=ref, title=title[:TITLE_CHARS], text=text, facts=NoteFacts.read(whole))
