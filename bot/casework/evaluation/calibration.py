"""Counts what people did with a team's drafts, and stores the counts (`triage eval --calibrate`), which cards then
show.

Reads closed threads and votes. Replies that no human approved are left out. A dismissal does not count as wrong,
because its reason is free text. Writes the document `calibration` of the team; where there is none, or it has too few
drafts, the shipped counts apply.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Final

from bot.casework.posting.feedback import read_feedback
from bot.domain.questions.approval_basis import (
    MODEL,
    Basis,
    Calibration,
    Decided,
    Measured,
    band_of_draft,
    basis_of_thread,
)
from bot.domain.returns import InvestigatorReturn
from bot.domain.threads import Resolution, ThreadState
from bot.ports import Documents, Store
from bot.ports.collections import CALIBRATION, THREADS, Collection, SingleDocument, read_value

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


def write_calibration(
    documents: Documents,
    tests: Mapping[str, Measured] | None,
    people: Mapping[str, Decided],
    now: datetime,
    *,
    is_model: bool,
) -> Calibration:
    """Store what was measured and return all that is known now; raises StoreError and changes nothing.

    The counts of people's decisions are new as a whole. Of the tests those of the same maker are: a measurement
    without a model leaves those of models, one without questions (None) leaves all.
    """
    known = (read_value(documents, CALIBRATION, Calibration) or Calibration()).tests
    if tests is not None:
        kept = {kind: one for kind, one in known.items() if kind.startswith(MODEL) is not is_model}
        known = {**kept, **tests}
    after = Calibration(measured_at=now, tests=known, people=people)
    SingleDocument(documents, CALIBRATION).update(after.model_dump(mode="json"))
    return after
