"""Saves the note that an investigation proposes, when a human asks for it, and keeps copies of other teams' notes.

Writes memory/ through the port, and `triage_file_path` in the thread's state. The copies, below memory/shared/<team>/,
are found and cited like the team's own and never edited; a copy is replaced when its original changed, and removed
when that was retired or is no longer shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.casework.thread_service import ThreadService
from bot.domain.memory.notes import CITES, SHARED, NoteKind, cites_of, note_text, safe_name
from bot.domain.secrets import find_secrets
from bot.domain.threads import ThreadState
from bot.errors import InputError
from bot.ports import NoteStore


def save_note(service: ThreadService, state: ThreadState, *, by: str) -> str:
    """Save the thread's proposed note in the name of `by`; returns what it is called, `memory/<name>.md`.

    Raises:
        InputError: there is none, it is saved already, or it must not be kept.
        StoreError: the disk refuses.
    """
    proposed = state.investigator_return.proposed_triage_file if state.investigator_return else None
    if proposed is None:
        raise InputError("This investigation proposes no note.")
    if state.triage_file_path:
        raise InputError(f"The note is saved already, as {state.triage_file_path}.")
    if kinds := find_secrets(f"{proposed.filename}\n{proposed.content}", service.known_secrets):
        raise InputError(f"The note contains what looks like a secret ({', '.join(kinds)}); nothing was saved.")
    head = note_head(service, state, NoteKind.NOTE, by=by, at=service.clock.now())
    return service.memory.add(safe_name(proposed.filename), note_text(proposed.content, head))


def note_head(
    service: ThreadService, state: ThreadState, kind: NoteKind, *, by: str, at: datetime, **more: Any
) -> dict[str, Any]:
    """Return what stands above the words of a note from a thread, the lines of code that its draft rests on last.

    A citation that no check has proved is none: its lines may never have stood there.
    """
    proved = [ref for ref, mark in state.citations if mark]
    return {
        "kind": kind,
        "saved_by": by,
        "saved_at": at.isoformat(timespec="seconds"),
        "thread": state.thread_id,
        "permalink": state.permalink,
        **more,
        CITES: [cite.model_dump() for cite in cites_of(proved, service.known_secrets)],
    }


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
