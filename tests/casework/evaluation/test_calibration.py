"""What was measured is on file, and drafts made after that say so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import FileStore
from bot.agent.codebases import Codebases
from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.casework.evaluation.calibration import read_history, write_calibration
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.code_findings import CodeFindings
from bot.domain.questions.approval_basis import Calibration, Decided, Measured
from bot.domain.questions.feedback import Feedback, Vote
from bot.domain.returns import InvestigatorReturn, TrackRecord, Usage
from bot.domain.threads import QuestionType, Resolution
from bot.errors import StoreError
from bot.ports import Store
from bot.ports.collections import CALIBRATION, FEEDBACK, Collection, read_value
from tests.builders import NOW, a_return
from tests.casework.four_weeks import live_four_weeks
from tests.tables import each_row

RECORD = TrackRecord(band="question", right=115, drafts=130, expected=0.88)


@dataclass
class Found:
    """Port Investigator that has one draft."""

    ret: InvestigatorReturn
    by: str = "offline"
    asked: int = 0

    def investigate(self, _: Assignment, *, run_id: str, on_progress: OnProgress | None = None) -> Investigation:
        self.asked += 1
        return Investigation(ret=self.ret, ledger=Ledger(), usage=Usage(), investigator=self.by)


def drafted(store: FileStore, found: Found) -> InvestigatorReturn:
    asked = Assignment(question="?", question_type=QuestionType.OTHER, rubric="", round=1)
    return CodeFindings(found, Codebases(()), store.documents).investigate(asked, run_id="r").ret


@each_row("right, confidence", [(30, "medium"), (15, "low")])
def test_a_search_is_as_sure_as_the_team_s_tests(tmp_path: Path, right: int, confidence: str) -> None:
    """Never surer than medium; without enough tests it keeps what it had."""
    store, search = FileStore(tmp_path), Found(a_return(confidence="low", track_record=RECORD))
    assert drafted(store, search) == search.ret
    write_calibration(store.documents, {"question": Measured(right=5, drafts=5)}, {}, NOW, is_model=False)
    assert drafted(store, search) == search.ret
    write_calibration(store.documents, {"question": Measured(right=right, drafts=30)}, {}, NOW, is_model=False)
    ret = drafted(store, search)
    assert ret.track_record is not None
    assert (ret.track_record.right, ret.track_record.drafts, ret.track_record.is_own) == (right, 30, True)
    assert ret.confidence == confidence


def test_a_model_keeps_its_confidence(tmp_path: Path) -> None:
    """Its card says what people did with such drafts; drafts of another confidence, and no draft, say nothing."""
    store = FileStore(tmp_path)
    live_four_weeks(store, NOW, {0: Resolution.EDITED, 1: Resolution.DISMISSED}, drafts=24, investigator="m")
    write_calibration(store.documents, None, read_history(store), NOW, is_model=True)
    ret = drafted(store, Found(a_return(confidence="high"), by="m"))
    assert ret.confidence == "high"
    assert ret.track_record == TrackRecord(
        band="model_high", right=0, drafts=0, expected=0.0, decided=24, approved=22, edited=1
    )
    assert drafted(store, Found(a_return(confidence="medium"), by="m")).track_record is None
    assert drafted(store, Found(a_return("", confidence="high"), by="m")).track_record is None


def test_what_cannot_be_read_costs_no_model(tmp_path: Path) -> None:
    """A later version's counts are refused before anybody investigates; damaged ones are none."""
    store, model = FileStore(tmp_path), Found(a_return(confidence="high"), by="m")
    (tmp_path / "calibration.json").write_text('{"version": 1, "tests": {"question": 3}}', "utf-8")
    assert drafted(store, model).track_record is None
    (tmp_path / "calibration.json").write_text('{"version": 2, "schema_version": 99}', "utf-8")
    with pytest.raises(StoreError):
        drafted(store, model)
    assert model.asked == 1


def test_a_measurement_leaves_what_it_did_not_measure(tmp_path: Path) -> None:
    """One without questions keeps all tests, one without a model those of models; decisions are always today's."""
    store = FileStore(tmp_path)
    searched, modelled = Measured(right=2, drafts=3), Measured(right=4, drafts=4)
    write_calibration(store.documents, {"question": searched}, {}, NOW, is_model=False)
    write_calibration(store.documents, {"model_high": modelled}, {}, NOW, is_model=True)
    live_four_weeks(store, NOW, drafts=1, investigator="m")
    write_calibration(store.documents, None, read_history(store), NOW, is_model=False)
    known = read_value(store.documents, CALIBRATION, Calibration)
    assert known.tests == {"question": searched, "model_high": modelled}
    assert known.people == {"model_high": Decided(approved=1, drafts=1)}
    assert known.measured_at == NOW


def vote(store: Store, thread_id: str, *helpful: bool) -> None:
    votes = {f"U{number}": Vote(is_helpful=one, at=NOW) for number, one in enumerate(helpful)}
    name = f"{abs(hash(thread_id)) % 16**16:016x}"
    Collection(store.documents, FEEDBACK).add(name, Feedback(id=name, thread_id=thread_id, votes=votes))


def test_decisions_are_counted_by_kind(tmp_path: Path) -> None:
    """Automatic replies and threads that ended otherwise are nobody's decision; drafts of models stand apart."""
    store = FileStore(tmp_path)
    endings = {1: Resolution.EDITED, 2: Resolution.DISMISSED, 3: Resolution.AUTO, 4: Resolution.EXPIRED}
    closed = live_four_weeks(store, NOW, endings, drafts=8, investigator="claude")
    live_four_weeks(
        store,
        NOW - timedelta(days=60),
        drafts=2,
        investigator="offline",
        investigator_return=a_return(confidence="low"),
    )
    vote(store, closed[0].thread_id, True, False, False)
    assert read_history(store) == {
        "model_high": Decided(approved=4, edited=1, dismissed=1, drafts=6, helpful=1, not_helpful=2),
        "search": Decided(approved=2, drafts=2),
    }


def test_an_empty_home_has_no_history(tmp_path: Path) -> None:
    """And none is written."""
    assert read_history(FileStore(tmp_path / "home")) == {}
