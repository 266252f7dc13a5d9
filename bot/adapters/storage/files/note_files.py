"""Port NoteStore over memory/: kept notes, what becomes of them, and where retired ones go.

A note appears whole or not at all, none replaces another, and nothing is deleted: a retired note moves to
memory/retired/, which no search looks into. People may write and change notes here at any time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.atomic_write import create_file, make_folder, remove_file, replace_text, sync_folder
from bot.domain.memory.notes import RETIRED, KeptNote, NoteCitation, check_note_path, with_cites
from bot.errors import refusal, refused

log = logging.getLogger(__name__)

MAX_NOTE_BYTES: Final = 1_000_000

_Stamp = tuple[Path, int, int]


class NoteFiles:
    """The notes of one folder, read again when one of them changes; `folder` need not be there yet."""

    def __init__(self, memory: Path) -> None:
        self.folder = memory
        self._lock = threading.RLock()
        self._signature: list[_Stamp] | None = None
        self._notes: tuple[KeptNote, ...] = ()

    def all(self) -> Sequence[KeptNote]:
        """Return every note that is not retired, by name."""
        found = sorted(note_files(self.folder))
        with self._lock:
            if found != self._signature:
                self._notes = tuple(note for path, _, _ in found if (note := _read(path, self.folder)) is not None)
                self._signature = found
            return self._notes

    def create(self, name: str, text: str) -> str | None:
        """Keep a note under a name that was never taken and return its ref; None if it was, and nothing happens.

        Raises:
            StoreError: the disk refuses.
        """
        with self._lock:
            if self.find(name) is not None:
                return None
            with refused(f"cannot save the note {name}", "check the disk and the folder's owner"):
                make_folder(self.folder)
                return f"memory/{name}.md" if create_file(self.folder / f"{name}.md", text) else None

    def find(self, name: str) -> str | None:
        """Return the ref of the note of that name, retired ones too; None if there is none."""
        for place in (f"{name}.md", f"{RETIRED}/{name}.md"):
            path = self.folder / place
            if path.is_file() or path.is_symlink():
                return f"memory/{place}"
        return None

    def repin(self, ref: str, cites: Sequence[NoteCitation]) -> bool:
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
        with self._lock, refused(f"cannot retire {ref}", "check the disk and the folder's owner"):
            folder = self.folder / RETIRED
            folder.mkdir(exist_ok=True, mode=0o700)
            target = next(free for free in _names(folder, path.stem) if not (free.exists() or free.is_symlink()))
            path.rename(target)
            sync_folder(path.parent)
            sync_folder(folder)
        return f"memory/{RETIRED}/{target.name}"

    def put(self, ref: str, whole: str) -> None:
        """Write a note over what stands there; raises InputError for no ref and StoreError when the disk refuses."""
        path = self.folder / check_note_path(ref.removeprefix("memory/"))
        with self._lock:
            make_folder(path.parent)
            replace_text(path, whole)

    def remove(self, ref: str) -> None:
        """Delete a note; raises InputError for no ref and StoreError when the disk refuses."""
        with self._lock:
            remove_file(self.folder / check_note_path(ref.removeprefix("memory/")))

    def _path(self, ref: str) -> Path | None:
        """Return the file of a note that is on the shelf."""
        return next((self.folder / note.ref.removeprefix("memory/") for note in self.all() if note.ref == ref), None)


def _names(folder: Path, name: str) -> Iterator[Path]:
    yield folder / f"{name}.md"
    yield from (folder / f"{name}-{number}.md" for number in range(2, 100_000))


def note_files(memory: Path) -> Iterator[_Stamp]:
    """Yield the notes that are plain files below `memory`, and when they changed last.

    Links out of it are not followed, very large and half-written files not read; what goes meanwhile is passed over.
    """
    for path in memory.rglob("*.md"):
        if path.name.startswith(".") or RETIRED in path.relative_to(memory).parts[:-1]:
            continue
        try:
            stat = path.stat()
            is_ours = path.is_file() and path.resolve().is_relative_to(memory.resolve())
        except OSError:
            continue
        if is_ours and stat.st_size <= MAX_NOTE_BYTES:
            yield path, stat.st_mtime_ns, stat.st_size


def _read(path: Path, memory: Path) -> KeptNote | None:
    """Return a note; None where it went or cannot be read: the others are worth finding all the same."""
    try:
        whole = read_note(path)
    except OSError as error:
        log.warning("a note was not read: %s", error.strerror, extra={"action": "note_unread"})
        return None
    return KeptNote.read(f"memory/{path.relative_to(memory).as_posix()}", whole)


def read_note(path: Path) -> str:
    """Return the whole of a note; raises OSError."""
    return path.read_text(encoding="utf-8-sig", errors="replace")
