"""Notes that other teams share, as copies below memory/shared/<team>/: found and cited like one's own, never changed.

A copy is made anew when its original changed and goes when that was retired or is shared no more.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.memory.notes import SHARED
from bot.ports import NoteStore


def copy_shared_notes(notes: NoteStore, sharing: Mapping[str, NoteStore]) -> None:
    """Bring the copies among one team's notes up to what other teams share; `sharing` has their notes by team.

    Raises:
        StoreError: the disk refuses; the next call goes on.
    """
    wanted = {
        f"memory/{SHARED}/{team}/{note.ref.removeprefix('memory/')}": note.whole
        for team, others in sharing.items()
        for note in others.all()
        if not note.is_shared
    }
    copies = {note.ref: note.whole for note in notes.all() if note.is_shared}
    for ref in copies.keys() - wanted.keys():
        notes.remove(ref)
    for ref, whole in wanted.items():
        if copies.get(ref) != whole:
            notes.put(ref, whole)
