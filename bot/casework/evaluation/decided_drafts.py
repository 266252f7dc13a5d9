"""Counts what people did with a team's drafts, by kind, for `triage eval`.

Reads closed threads and votes. Replies that no human approved are left out. A dismissal does not count as wrong,
because its reason is free text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from bot.casework.posting.feedback import read_feedback
from bot.domain.frozen_value import FrozenValue
from bot.domain.questions.approval_basis import Basis, basis_of_thread
from bot.domain.returns import InvestigatorReturn
from bot.domain.threads import Resolution, ThreadState
from bot.ports import Store
from bot.ports.collections import THREADS, Collection

ENOUGH: Final = 20
"""Drafts; fewer prove little, and the words say so."""

MAX_THREADS: Final = 2_000
"""Closed threads that are read, the newest first."""

_BY_PEOPLE: Final = (Resolution.APPROVED, Resolution.EDITED, Resolution.DISMISSED)


class Decided(FrozenValue):
    """How many drafts people decided on, what they did with them, and how they voted on the replies."""

    approved: int = 0
    edited: int = 0
    dismissed: int = 0
    drafts: int = 0
    helpful: int = 0
    not_helpful: int = 0


def kind_of_draft(ret: InvestigatorReturn, *, is_search: bool) -> str:
    """Return the kind of a draft: a search without a model, or a model's draft by its confidence."""
    return "search" if is_search else f"model_{ret.confidence}"


def read_history(store: Store) -> Mapping[str, Decided]:
    """Return what people decided, by kind of draft; a thread that cannot be read is left out. Raises StoreError."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for one in read_feedback(store):
        votes[one.thread_id].update(one.counts._asdict())
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for state, ret in _decided(store):
        kind = kind_of_draft(ret, is_search=basis_of_thread(state) is Basis.SEARCH)
        counts[kind].update({"drafts": 1, str(state.resolution): 1, **votes[state.thread_id]})
    return {kind: Decided(**{name: counts[kind][name] for name in Decided.model_fields}) for kind in sorted(counts)}


def _decided(store: Store) -> Iterator[tuple[ThreadState, InvestigatorReturn]]:
    threads = Collection(store.documents, THREADS)
    for archived in islice(store.documents.archived(THREADS.name), MAX_THREADS):
        state = threads.parse_archived(archived)
        ret = state.investigator_return if state and state.resolution in _BY_PEOPLE else None
        if state is not None and ret is not None and ret.draft_reply.strip():
            yield state, ret
