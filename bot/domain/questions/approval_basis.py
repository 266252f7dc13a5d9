"""What a draft that passed rests on: a search, code checks alone, or a second model; and how that is said. Pure.

A search without a model is no answer, and nothing that nobody but code has read is called checked by anybody else.
What became of a team's drafts of each kind (`band`): what one without a model rests on, or the confidence of a model's.
A card says so; below `ENOUGH` drafts a count says nothing of the next one, so what the shipped tests say stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Final

from pydantic import AwareDatetime, Field

from bot.domain.frozen_value import FrozenValue
from bot.domain.returns import CODE_CHECKS, EvidenceKind, EvidenceRef, InvestigatorReturn, TrackRecord, Usage
from bot.domain.text.humanize import counted
from bot.domain.threads import ThreadState

ENOUGH: Final = 20
"""Drafts; fewer prove little, and the words say so."""

MODEL: Final = "model_"
"""How the kinds of models' drafts begin; their confidence follows."""

OFFLINE: Final = "offline"
"""The investigator that uses no model."""

SEARCH_RESULT: Final = "Search result, not an answer"
SECOND_MODEL: Final = "✓ Checked by a second model"
CODE_ALONE: Final = "Checked by code alone, by no second model"


class Measured(FrozenValue):
    """How many drafts there were, and how many of them named a right file."""

    right: int = 0
    drafts: int = 0

    @property
    def share(self) -> float:
        """The share to expect of the next ones, by Laplace's rule of succession: few drafts prove little.

        >>> Measured(right=17, drafts=18).share
        0.9
        """
        return (self.right + 1) / (self.drafts + 2)


class Decided(FrozenValue):
    """How many drafts people decided on, what they did with them, and how they voted on the replies."""

    approved: int = 0
    edited: int = 0
    dismissed: int = 0
    drafts: int = 0
    helpful: int = 0
    not_helpful: int = 0


class Calibration(FrozenValue):
    """The counts of one team by kind of draft; `measured_at` is None where nothing was measured."""

    measured_at: AwareDatetime | None = None
    tests: Mapping[str, Measured] = Field(default_factory=dict)
    people: Mapping[str, Decided] = Field(default_factory=dict)

    def record_for(self, ret: InvestigatorReturn, *, is_search: bool) -> TrackRecord | None:
        """Return what a card should say of drafts like this one; None where there is nothing to say."""
        shipped, band = ret.track_record, band_of_draft(ret, is_search=is_search)
        if band is None:
            return shipped
        tested, decided = self.tests.get(band, Measured()), self.people.get(band, Decided())
        known = shipped or TrackRecord(band=band, right=0, drafts=0, expected=0.0)
        if tested.drafts >= ENOUGH:
            measured = {"right": tested.right, "drafts": tested.drafts, "expected": round(tested.share, 2)}
            known = known.model_copy(update={**measured, "is_own": True})
        if decided.drafts >= ENOUGH:
            counts = {"approved": decided.approved, "edited": decided.edited, "decided": decided.drafts}
            known = known.model_copy(update=counts)
        return known if known.drafts or known.decided else None


def band_of_draft(ret: InvestigatorReturn, *, is_search: bool) -> str | None:
    """Return the kind of a draft; None of one without a model for which nothing was measured."""
    if not is_search:
        return f"{MODEL}{ret.confidence}"
    return ret.track_record.band if ret.track_record else None


class Basis(StrEnum):
    """Who made and who judged a draft that passed."""

    SEARCH = "search"
    CODE = "code"
    MODEL = "model"


def basis_of(*, drafted_by: str | None, judged_by: str | None, usage: Usage | None) -> Basis:
    """Return what a draft rests on; a draft of an older record names nobody, and what it cost tells.

    >>> basis_of(drafted_by="offline", judged_by="code-checks", usage=Usage())
    <Basis.SEARCH: 'search'>
    """
    if judged_by not in (None, CODE_CHECKS):
        return Basis.MODEL
    if drafted_by is None:
        return Basis.SEARCH if usage is None or (not usage.tokens and usage.cost_usd == 0) else Basis.CODE
    return Basis.SEARCH if drafted_by == OFFLINE else Basis.CODE


def basis_of_thread(state: ThreadState) -> Basis:
    """Return what a thread's latest draft rests on."""
    judged_by = state.validator_return.validator_model if state.validator_return else None
    return basis_of(drafted_by=state.investigator, judged_by=judged_by, usage=state.usage)


def standing_words(basis: Basis) -> str:
    """Return in a few words how a draft that passed stands, for lists.

    >>> standing_words(Basis.SEARCH)
    'search result, not an answer'
    """
    said = {Basis.SEARCH: SEARCH_RESULT, Basis.CODE: "checked by code alone", Basis.MODEL: SECOND_MODEL}[basis]
    return said[:1].lower() + said[1:].replace("Checked", "checked")


def quotes_that_match(cited: Sequence[tuple[EvidenceRef, bool | None]]) -> str:
    """Return how many quotations were compared with the code and found there; of commits alone, how many git has.

    >>> one = EvidenceRef(kind=EvidenceKind.FILE, ref="a.py:1")
    >>> quotes_that_match([(one, True), (one, None)]), quotes_that_match([(one, False)])
    ('1 quote matches the code', 'no quote matches the code')
    >>> quotes_that_match([(EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref="6f1c2d3"), True)])
    '1 commit found in git'
    """
    commits = sum(mark is True for ref, mark in cited if ref.kind is EvidenceKind.GIT_COMMIT)
    if commits and all(ref.kind is not EvidenceKind.FILE for ref, _ in cited):
        return f"{counted(commits, 'commit')} found in git"
    count = sum(ref.kind is EvidenceKind.FILE and mark is True for ref, mark in cited)
    return f"{count or 'no'} quote{'s' * (count > 1)} match{'es' * (count < 2)} the code"


def passed_words(basis: Basis, *, judge: str, matches: str, read: Collection[str]) -> tuple[str, str]:
    """Return the badge of a draft that passed, and what follows it: who judged it, and what they read to do so.

    >>> passed_words(Basis.MODEL, judge="claude", matches="2 quotes match the code", read=["a.py:3-9"])
    ('✓ Checked by a second model', 'claude read a.py:3-9 · 2 quotes match the code')
    """
    if basis is Basis.MODEL:
        shown = f"{judge} read {', '.join(read)}" if read else f"{judge}, which opened no file"
        return SECOND_MODEL, f"{shown} · {matches}"
    return (SEARCH_RESULT if basis is Basis.SEARCH else CODE_ALONE), matches


def track_record_words(record: TrackRecord) -> str:
    """Return the counts in a sentence or two: what people of the team did first, then the tests and whose they were.

    >>> track_record_words(TrackRecord(band="question", right=117, drafts=132, expected=0.88))
    'In our tests 117 of 132 drafts like this one named a right file (9 of 10).'
    >>> track_record_words(TrackRecord(band="frame", right=6, drafts=6, expected=0.88))
    'In our tests 6 of 6 drafts like this one named a right file; so few tests prove little.'
    >>> decided = TrackRecord(band="model_high", right=0, drafts=0, expected=0, decided=31, approved=22, edited=6)
    >>> track_record_words(decided)
    'In your team 22 of 31 drafts like this one were approved as they were, 6 were edited.'
    """
    said = []
    if record.decided:
        said.append(
            f"In your team {record.approved} of {record.decided} drafts like this one were approved as they were,"
            f" {record.edited} were edited."
        )
    if record.drafts:
        said.append(_tests_words(record))
    return " ".join(said)


def _tests_words(record: TrackRecord) -> str:
    whose = "your team's" if record.is_own else "our"
    counts = f"In {whose} tests {record.right} of {record.drafts} drafts like this one named a right file"
    if record.drafts < ENOUGH:
        return f"{counts}; so few tests prove little."
    return f"{counts} ({round(10 * record.expected)} of 10)."
