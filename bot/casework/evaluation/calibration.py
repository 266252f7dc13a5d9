"""A team's own counts of what became of its drafts: written by `triage eval --calibrate`, read for every draft.

The document `calibration` of the team's data; where there is none, or too few drafts, the shipped counts stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from bot.agent.model_run import OnProgress
from bot.casework.investigate.assignment import Assignment, Investigation, Investigator
from bot.casework.investigate.offline_draft import MEDIUM_SHARE
from bot.domain.questions.approval_basis import MODEL, OFFLINE, Calibration, Decided, Measured
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
        known = read_calibration(self.documents)  # first: what cannot be read is to cost no model
        found = self.investigator.investigate(assignment, run_id=run_id, on_progress=on_progress)
        is_search = found.investigator == OFFLINE
        if not found.ret.draft_reply.strip():
            return found
        record = known.record_for(found.ret, is_search=is_search)
        changes: dict[str, object] = {"track_record": record}
        if is_search and record is not None and record.is_own:
            changes["confidence"] = "medium" if record.expected >= MEDIUM_SHARE else "low"
        return replace(found, ret=found.ret.model_copy(update=changes))


def read_calibration(documents: Documents) -> Calibration:
    """Return the counts of a team, none where nothing was measured; raises StoreError."""
    return read_value(documents, CALIBRATION, Calibration) or Calibration()


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
    known = read_calibration(documents).tests
    if tests is not None:
        kept = {kind: one for kind, one in known.items() if kind.startswith(MODEL) is not is_model}
        known = {**kept, **tests}
    after = Calibration(measured_at=now, tests=known, people=people)
    SingleDocument(documents, CALIBRATION).update(after.model_dump(mode="json"))
    return after
