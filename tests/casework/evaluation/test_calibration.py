"""What was measured is on file, and drafts made after that say so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bot.adapters.storage.files.file_engine import FileStore
from bot.agent.codebases import Codebases
from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.casework.evaluation.calibration import read_history, write_calibration
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.code_findings import CodeFindings
from bot.domain.questions.approval_basis import Decided
from bot.domain.questions.feedback import Feedback, Vote
from bot.domain.returns import InvestigatorReturn, TrackRecord, Usage
from bot.domain.threads import QuestionType, Resolution
from bot.ports import Store
from bot.ports.collections import FEEDBACK, Collection
from tests.builders import NOW, a_return
from tests.casework.four_weeks import live_four_weeks


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
