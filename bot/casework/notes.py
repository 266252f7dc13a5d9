"""Notes in memory/: what a human read in a dialogue and saved there, and nothing else.

The dialogue shows the whole text; what is submitted is kept, with who saved it and the lines of code that it names,
each proved as it is saved. Copies of other teams' notes stand below memory/shared/<team>/: they are found and cited
like the team's own and never edited; a copy is replaced when its original changed, and removed when that was retired
or is no longer shared.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from bot.agent.git.repositories import Repositories
from bot.casework.checks.addresses import resolve
from bot.casework.checks.sources import Missing, Sources
from bot.casework.thread_service import ThreadService
from bot.domain.notes import (
    CITES,
    MAX_NOTE_CHARS,
    SHARED,
    NoteCitation,
    NoteSource,
    addresses_in,
    note_text,
    offered_words,
    safe_name,
    title_of,
    visible_words,
)
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.secrets import find_secrets, redact
from bot.domain.text.sanitize import check_whole, one_line
from bot.domain.threads import ThreadState
from bot.errors import Conflict, InputError
from bot.ports import NoteStore

TITLE_CHARS: Final = 100
GONE: Final = "This thread is no longer stored."


class Proved(NamedTuple):
    """The lines that a note's addresses name, and what is wrong with those that name none."""

    cites: Sequence[NoteCitation] = ()
    problems: Sequence[str] = ()


Prove = Callable[[str], Proved]
"""Looks up the addresses in a note's words; raises ProviderError or ConfigError where the code cannot be read."""


class Notes:
    """Offers and saves notes; raises InputError with a text for whoever clicked."""

    def __init__(self, service: ThreadService, prove: Prove) -> None:
        self._service, self._prove = service, prove
        self._saving = threading.Lock()

    def proposed(self, thread_id: str) -> str:
        """Return the note that a thread's investigation proposes, whole, with the addresses of its draft."""
        state = self._thread(thread_id)
        proposed = state.investigator_return.proposed_triage_file if state.investigator_return else None
        if proposed is None:
            raise InputError("This investigation proposes no note.")
        self._require_unsaved(state)
        return self.offered(f"{proposed.content.rstrip()}{_sources(state, proposed.content)}")

    def of_thread(self, thread_id: str) -> str:
        """Return a note of a question and what was answered to it, or why it was dismissed."""
        state = self._thread(thread_id)
        answer = state.dismiss_reason or state.draft_pending or ""
        sources = "" if state.dismiss_reason else _sources(state, answer)
        return self.offered(f"# {one_line(state.question, TITLE_CHARS)}\n\n{answer.rstrip()}{sources}")

    def offered(self, text: str) -> str:
        """Return a text as the dialogue shows it, without secrets."""
        return offered_words(redact(text, self._service.known_secrets))

    def check_words(self, words: str) -> str:
        """Return the words that would be kept; raises InputError for what must not be, from the words alone."""
        kept = visible_words(check_whole(words))
        if not kept:
            raise InputError("This is empty; write what the next investigation should know.")
        if len(kept) > MAX_NOTE_CHARS:
            raise InputError(f"This has {len(kept):,} characters; at most {MAX_NOTE_CHARS:,} are kept.")
        if kinds := find_secrets(kept, self._service.known_secrets):
            raise InputError(f"This contains what looks like a secret ({', '.join(kinds)}); take it out.")
        return kept

    def save(self, source: NoteSource, words: str, *, by: str, is_proposal: bool = False) -> str:
        """Keep these words in the name of `by`, in a note of their own; returns what was done.

        Raises:
            Conflict: the thread's proposal was saved meanwhile.
            InputError: the words must not be kept.
            StoreError: the disk refuses; nothing was kept.
        """
        kept, proved = self.check_words(words), self._prove(words)
        with self._saving:  # the file comes before the state, so a second submit would make a second one
            state = self._thread(source.thread_id) if source.thread_id else None
            if is_proposal and state is not None:
                self._require_unsaved(state)
            head = self._head(source, state, proved, by)
            ref = self._service.memory.add(safe_name(title_of(kept, kept.split("\n")[0])), note_text(kept, head))
            if state is not None and state.is_open:
                self._service.store.amend(state.thread_id, lambda now: _with_note(now, ref))
        if state is not None and state.is_open:
            self._service.cards.show_card(state.thread_id)
        return _said(ref, proved)

    def _thread(self, thread_id: str) -> ThreadState:
        state = self._service.store.latest(thread_id)
        if state is None:
            raise InputError(GONE)
        return state

    def _require_unsaved(self, state: ThreadState) -> None:
        if state.triage_file_path:
            raise Conflict(f"Somebody saved this note already, as {state.triage_file_path}.")

    def _head(self, source: NoteSource, state: ThreadState | None, proved: Proved, by: str) -> Mapping[str, object]:
        return {
            "saved_by": by,
            "saved_at": self._service.clock.now().isoformat(timespec="seconds"),
            "thread": source.thread_id,
            "permalink": state.permalink if state else None,
            "message": f"{source.chat_id}/{source.message_id}" if source.message_id else None,
            CITES: [cite.model_dump() for cite in proved.cites],
        }


def _with_note(now: ThreadState, ref: str) -> ThreadState | None:
    return now.evolve(triage_file_path=ref) if now.is_open and not now.triage_file_path else None


def _sources(state: ThreadState, words: str) -> str:
    """Return the proved addresses of a thread's draft that a text does not name yet."""
    named = addresses_in(words)
    refs = [ref.ref for ref, mark in state.citations if mark and ref.kind is EvidenceKind.FILE]
    lines = [f"- {ref}" for ref in dict.fromkeys(refs) if ref not in named]
    return "\n\nSources:\n" + "\n".join(lines) if lines else ""


def _said(ref: str, proved: Proved) -> str:
    cited = f" It rests on {', '.join(cite.ref for cite in proved.cites)}." if proved.cites else ""
    return " ".join([f"Saved as {ref}.{cited}", *(f"Not proved: {problem}." for problem in proved.problems)])


def address_prover(repos: Repositories, known_secrets: Collection[str] = ()) -> Prove:
    """Return what looks up the addresses of notes at HEAD."""

    def prove(words: str) -> Proved:
        sources = Sources(repos, known_secrets=known_secrets)
        found = [_lines_at(address, sources) for address in addresses_in(words)]
        cites = [one for one in found if isinstance(one, NoteCitation)]
        return Proved(cites, [one for one in found if isinstance(one, str)])

    return prove


def _lines_at(address: str, sources: Sources) -> NoteCitation | str:
    """Return the lines at an address of HEAD, or why there are none."""
    path, _, lines = address.rpartition(":")
    head = sources.repo.locate(path).repo.head()
    found = resolve(EvidenceRef(kind=EvidenceKind.FILE, ref=address, commit=head), sources)
    if isinstance(found, Missing):
        return found.why
    quote = "\n".join(found.lines)
    if find_secrets(quote, sources.known_secrets) or not quote.strip():
        return f"{address}: these lines are empty, or may hold a secret"
    return NoteCitation(path=path, lines=lines, commit=head, quote=quote)


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
