"""Port NoteStore over documents, for an engine that all replicas share: a note is a document, by its path.

A retired note keeps its path, so its name stays taken, and is shown below memory/retired/. What another replica wrote
is seen by the next call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from bot.domain.memory.notes import RETIRED, KeptNote, NoteCitation, StoredNote, check_note_path, with_cites
from bot.errors import InputError
from bot.ports import Documents
from bot.ports.collections import NOTES, Collection

_MEMORY: Final = "memory/"
_RETIRED: Final = f"{_MEMORY}{RETIRED}/"


class DocumentNotes:
    """The notes of one namespace."""

    def __init__(self, documents: Documents) -> None:
        self._notes = Collection(documents, NOTES)
        self._lock = threading.Lock()
        self._stored: dict[str, StoredNote] = {}
        self._kept: tuple[KeptNote, ...] = ()

    def all(self) -> Sequence[KeptNote]:
        """Return every note that is not retired, by name; raises StoreError."""
        with self._lock:
            if (stored := self._notes.by_id()) != self._stored:
                known = {note.ref: note for note in self._kept}
                on_shelf = [(f"{_MEMORY}{path}", note.whole) for path, note in stored.items() if not note.is_retired]
                self._kept = tuple(
                    old if (old := known.get(ref)) and old.whole == whole else KeptNote.read(ref, whole)
                    for ref, whole in on_shelf
                )
                self._stored = stored
            return self._kept

    def create(self, name: str, text: str) -> str | None:
        """Keep a note under a name that was never taken and return its ref, else None; raises StoreError."""
        path = f"{name}.md"
        return f"{_MEMORY}{path}" if self._notes.add(path, _stored(text)) else None

    def find(self, name: str) -> str | None:
        """Return the ref of the note of that name, retired ones too; None if there is none."""
        note = self._notes.find(f"{name}.md")
        return None if note is None else f"{_RETIRED if note.is_retired else _MEMORY}{name}.md"

    def repin(self, ref: str, cites: Sequence[NoteCitation]) -> bool:
        """Have a note cite other lines, its words untouched; False if it is not there any more."""
        return self._change(ref, lambda note: note.evolve(whole=with_cites(note.whole, cites)))

    def retire(self, ref: str) -> str | None:
        """Put a note where no search looks and return its new ref; None if it is not there any more."""
        is_done = self._change(ref, lambda note: note.evolve(is_retired=True))
        return f"{_RETIRED}{ref.removeprefix(_MEMORY)}" if is_done else None

    def put(self, ref: str, whole: str) -> None:
        """Write a note over what stands there; raises InputError for no ref."""
        is_retired, path = ref.startswith(_RETIRED), ref.removeprefix(_RETIRED).removeprefix(_MEMORY)
        stored = _stored(whole).evolve(is_retired=is_retired)
        if not self._notes.add(check_note_path(path), stored):
            self._notes.change(path, lambda _: stored)

    def remove(self, ref: str) -> None:
        """Delete a note; raises InputError for no ref."""
        self._notes.remove(check_note_path(ref.removeprefix(_MEMORY)))

    def _change(self, ref: str, change: Callable[[StoredNote], StoredNote]) -> bool:
        """Change a note that is on the shelf; False where it is not."""

        def changed(note: StoredNote) -> StoredNote:
            if note.is_retired:
                raise InputError(f"{ref} was retired")
            return change(note)

        with suppress(InputError):
            self._notes.change(ref.removeprefix(_MEMORY), changed)
            return True
        return False


def _stored(text: str) -> StoredNote:
    """Return a note as it is stored; halves of surrogate pairs become question marks, as they do in files."""
    return StoredNote(whole=text.encode("utf-8", "replace").decode())
