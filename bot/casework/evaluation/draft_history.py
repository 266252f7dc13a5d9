"""What people did with drafts: approved as they were, edited or dismissed, and how replies were voted on.

Reads closed threads and votes, writes nothing. Replies that no human approved are left out. A dismissal is no proof
that a draft was wrong: its reason is free text, which code does not judge.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from bot.casework.evaluation.question_scores import CalibrationError, Forecast
from bot.casework.posting.feedback import read_feedback
from bot.domain.questions.approval_basis import Basis, basis_of_thread
from bot.domain.questions.feedback import NO_VOTES, Votes
from bot.domain.threads import Resolution, ThreadState
from bot.ports import Store
from bot.ports.collections import THREADS, Collection

MAX_THREADS: Final = 2_000
"""Closed threads that are read, the newest first."""


class DraftGroup(NamedTuple):
    """Drafts of one confidence, made by a model or by a search."""

    is_search: bool
    confidence: str


class Decisions(NamedTuple):
    """What people did with the drafts of a group, and how they voted on the replies."""

    approved: int = 0
    edited: int = 0
    dismissed: int = 0
    helpful: int = 0
    not_helpful: int = 0

    @property
    def drafts(self) -> int:
        """How many drafts somebody decided on."""
        return self.approved + self.edited + self.dismissed


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftHistory:
    """The decided drafts of one team; `decided` has their threads, the newest first."""

    decided: Sequence[ThreadState]
    votes: Mapping[str, Votes]
    """By thread."""

    @property
    def groups(self) -> Mapping[DraftGroup, Decisions]:
        """The counts of each group."""
        found: dict[DraftGroup, Decisions] = defaultdict(Decisions)
        for state in self.decided:
            group = group_of(state)
            found[group] = _plus(found[group], state, self.votes.get(state.thread_id, NO_VOTES))
        return dict(sorted(found.items()))

    @property
    def calibration(self) -> CalibrationError:
        """How far what the card said is from what people took: approved or edited, and not voted down."""
        known = [(state, state.investigator_return) for state in self.decided]
        marked = [(ret.track_record, self._is_taken(state)) for state, ret in known if ret is not None]
        return CalibrationError.of(
            [said for record, mark in marked for said in Forecast.of_card(record, is_right=mark)]
        )

    @property
    def approved(self) -> list[ThreadState]:
        """The threads whose draft was approved word for word, and not voted down."""
        return [one for one in self.decided if one.resolution is Resolution.APPROVED and self._is_taken(one)]

    def _is_taken(self, state: ThreadState) -> bool:
        votes = self.votes.get(state.thread_id, NO_VOTES)
        return state.resolution is not Resolution.DISMISSED and votes.helpful >= votes.not_helpful


def group_of(state: ThreadState) -> DraftGroup:
    """Return the group of a thread's draft, which must have one."""
    assert state.investigator_return is not None
    return DraftGroup(basis_of_thread(state) is Basis.SEARCH, state.investigator_return.confidence)


def _plus(known: Decisions, state: ThreadState, votes: Votes) -> Decisions:
    return Decisions(
        known.approved + (state.resolution is Resolution.APPROVED),
        known.edited + (state.resolution is Resolution.EDITED),
        known.dismissed + (state.resolution is Resolution.DISMISSED),
        known.helpful + votes.helpful,
        known.not_helpful + votes.not_helpful,
    )


def read_history(store: Store) -> DraftHistory:
    """Return what people decided; a thread that cannot be read is left out. Raises StoreError."""
    votes: dict[str, Votes] = {}
    for one in read_feedback(store):
        before = votes.get(one.thread_id, NO_VOTES)
        votes[one.thread_id] = Votes(before.helpful + one.counts.helpful, before.not_helpful + one.counts.not_helpful)
    return DraftHistory(decided=list(_decided(store)), votes=votes)


def _decided(store: Store) -> Iterator[ThreadState]:
    threads = Collection(store.documents, THREADS)
    by_people = {Resolution.APPROVED, Resolution.EDITED, Resolution.DISMISSED}
    for archived in islice(store.documents.archived(THREADS.name), MAX_THREADS):
        state = threads.parse_archived(archived)
        if state is None or state.resolution not in by_people or state.investigator_return is None:
            continue
        if state.investigator_return.draft_reply.strip():
            yield state
