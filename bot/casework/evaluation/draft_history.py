"""What people did with drafts: approved as they were, edited or dismissed, and how replies were voted on.

Reads closed threads and votes, writes nothing. Replies that no human approved are left out. A dismissal is no proof
that a draft was wrong: its reason is free text, which code does not judge.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from bot.casework.posting.feedback import read_feedback
from bot.domain.questions.approval_basis import Basis, basis_of_thread
from bot.domain.questions.calibration import Decided, band_of_draft
from bot.domain.threads import Resolution, ThreadState
from bot.ports import Store
from bot.ports.collections import THREADS, Collection

MAX_THREADS: Final = 2_000
"""Closed threads that are read, the newest first."""
_BY_PEOPLE: Final = (Resolution.APPROVED, Resolution.EDITED, Resolution.DISMISSED)
_NO_KIND: Final = "search"


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftHistory:
    """The decided drafts of one team: the counts of each kind, and the threads whose draft was approved word for word
    and not voted down, the newest first."""

    kinds: Mapping[str, Decided]
    approved: Sequence[ThreadState]


def read_history(store: Store) -> DraftHistory:
    """Return what people decided; a thread that cannot be read is left out. Raises StoreError."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for one in read_feedback(store):
        votes[one.thread_id].update(one.counts._asdict())
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    approved = []
    for state in _decided(store):
        assert state.investigator_return is not None
        is_search = basis_of_thread(state) is Basis.SEARCH
        given = votes[state.thread_id]
        kind = band_of_draft(state.investigator_return, is_search=is_search) or _NO_KIND
        counts[kind].update({"drafts": 1, str(state.resolution): 1, **given})
        if state.resolution is Resolution.APPROVED and given["helpful"] >= given["not_helpful"]:
            approved.append(state)
    kinds = {kind: Decided(**{name: found[name] for name in Decided.model_fields}) for kind, found in counts.items()}
    return DraftHistory(kinds=dict(sorted(kinds.items())), approved=approved)


def _decided(store: Store) -> Iterator[ThreadState]:
    threads = Collection(store.documents, THREADS)
    for archived in islice(store.documents.archived(THREADS.name), MAX_THREADS):
        state = threads.parse_archived(archived)
        ret = state.investigator_return if state and state.resolution in _BY_PEOPLE else None
        if state is not None and ret is not None and ret.draft_reply.strip():
            yield state
