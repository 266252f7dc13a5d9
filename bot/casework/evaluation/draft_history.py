"""What people did with drafts: approved as they were, edited or dismissed, and how replies were voted on.

Reads closed threads and votes, writes nothing. Replies that no human approved are left out. A dismissal is no proof
that a draft was wrong: its reason is free text, which code does not judge.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from bot.casework.posting.feedback import read_feedback
from bot.domain.questions.approval_basis import Basis, Decided, band_of_draft, basis_of_thread
from bot.domain.returns import InvestigatorReturn
from bot.domain.threads import Resolution, ThreadState
from bot.ports import Store
from bot.ports.collections import THREADS, Collection

MAX_THREADS: Final = 2_000
"""Closed threads that are read, the newest first."""
_BY_PEOPLE: Final = (Resolution.APPROVED, Resolution.EDITED, Resolution.DISMISSED)


def read_history(store: Store) -> Mapping[str, Decided]:
    """Return what people decided, by kind of draft; a thread that cannot be read is left out. Raises StoreError."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for one in read_feedback(store):
        votes[one.thread_id].update(one.counts._asdict())
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for state, ret in _decided(store):
        kind = band_of_draft(ret, is_search=basis_of_thread(state) is Basis.SEARCH) or "search"
        counts[kind].update({"drafts": 1, str(state.resolution): 1, **votes[state.thread_id]})
    return {kind: Decided(**{name: counts[kind][name] for name in Decided.model_fields}) for kind in sorted(counts)}


def _decided(store: Store) -> Iterator[tuple[ThreadState, InvestigatorReturn]]:
    threads = Collection(store.documents, THREADS)
    for archived in islice(store.documents.archived(THREADS.name), MAX_THREADS):
        state = threads.parse_archived(archived)
        ret = state.investigator_return if state and state.resolution in _BY_PEOPLE else None
        if state is not None and ret is not None and ret.draft_reply.strip():
            yield state, ret
