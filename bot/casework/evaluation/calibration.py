"""A team's own counts of what became of its drafts: written by `triage eval --calibrate`, read for every draft.

The document `calibration` of the team's data; where there is none, or too few drafts, the shipped counts stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from bot.agent.model_run import OnProgress
from bot.casework.evaluation.draft_history import DraftHistory
from bot.casework.evaluation.question_scores import QuestionScores
from bot.casework.investigate.assignment import Assignment, Investigation, Investigator
from bot.casework.investigate.offline_draft import MEDIUM_SHARE
from bot.domain.questions.approval_basis import OFFLINE, Basis, basis_of_thread
from bot.domain.questions.calibration import MODEL, Calibration, Decided, Measured, band_of_draft
from bot.domain.threads import Resolution
from bot.ports import Documents
from bot.ports.collections import CALIBRATION, SingleDocument, read_value


@dataclass(frozen=True, slots=True)
class CalibratedInvestigator:
    """Port Investigator: the draft of `investigator`, with what became of such drafts in this team.

    A draft without a model is of medium or low confidence by its team's tests, once there are enough, and never high.
    The confidence of a model's draft is its own.
    """

    investigator: Investigator
    documents: Documents

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return the draft; raises what the investigator raises, and StoreError where the counts cannot be read."""
        found = self.investigator.investigate(assignment, run_id=run_id, on_progress=on_progress)
        known = read_calibration(self.documents)
        is_search = found.investigator == OFFLINE
        if not found.ret.draft_reply.strip():
            return found
        record = known.record_for(found.ret, is_search=is_search)
        if record == found.ret.track_record:
            return found
        changes: dict[str, object] = {"track_record": record}
        if is_search and record is not None and record.is_own:
            changes["confidence"] = "medium" if record.expected >= MEDIUM_SHARE else "low"
        return replace(found, ret=found.ret.model_copy(update=changes))


def read_calibration(documents: Documents) -> Calibration:
    """Return the counts of a team, none where nothing was measured; raises StoreError."""
    return read_value(documents, CALIBRATION, Calibration) or Calibration()


def write_calibration(
    documents: Documents, scores: QuestionScores | None, history: DraftHistory, now: datetime, *, is_model: bool
) -> Calibration:
    """Store what was measured and return all that is known now; raises StoreError and changes nothing.

    The counts of people's decisions are new as a whole. Of the tests those of the same maker are: a measurement
    without a model leaves those of models, one without questions leaves all.
    """
    before = read_calibration(documents)
    tests = dict(before.tests)
    if scores is not None:
        kept = {band: one for band, one in tests.items() if band.startswith(MODEL) is not is_model}
        tests = {**kept, **tests_of(scores)}
    after = Calibration(measured_at=now, tests=tests, people=decisions_of(history))
    SingleDocument(documents, CALIBRATION).update(after.model_dump(mode="json"))
    return after


def tests_of(scores: QuestionScores) -> Mapping[str, Measured]:
    """Return how often drafts of each kind named a right file; one where nothing answers is wrong."""
    drafts = [
        (band_of_draft(one.run.found.ret, is_search=one.run.found.investigator == OFFLINE), one)
        for one in scores.answered
        if one.run is not None and one.has_draft
    ]
    return _tested((band, one.is_right and bool(one.question.files)) for band, one in drafts if band)


def _tested(marks: Iterable[tuple[str, bool]]) -> Mapping[str, Measured]:
    known = Counter(marks)
    bands = sorted({band for band, _ in known})
    return {band: Measured(right=known[band, True], drafts=known[band, True] + known[band, False]) for band in bands}


def decisions_of(history: DraftHistory) -> Mapping[str, Decided]:
    """Return what people did with drafts of each kind."""
    known: Counter[tuple[str, Resolution | None]] = Counter()
    for state in history.decided:
        assert state.investigator_return is not None
        band = band_of_draft(state.investigator_return, is_search=basis_of_thread(state) is Basis.SEARCH)
        known.update([(band, state.resolution)] if band else [])
    bands = sorted({band for band, _ in known})
    return {
        band: Decided(
            approved=known[band, Resolution.APPROVED],
            edited=known[band, Resolution.EDITED],
            drafts=sum(count for (name, _), count in known.items() if name == band),
        )
        for band in bands
    }
