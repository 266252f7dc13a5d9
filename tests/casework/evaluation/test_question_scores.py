"""What is counted of a set of questions: asked of the real investigator without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.process.clocks import SystemClock
from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.adapters.storage.files.file_engine import FileStore
from bot.agent.codebases import Codebases
from bot.agent.git.git_repo import GitRepo
from bot.agent.run_records import RunRecorder
from bot.casework.checks.citation_staleness import CitationStaleness
from bot.casework.checks.validation import CodeValidator
from bot.casework.evaluation.question_run import QuestionRunner
from bot.casework.evaluation.question_scores import CalibrationError, Forecast, Hits, ask_questions
from bot.casework.evaluation.question_set import KnownQuestion
from bot.casework.investigate.code_findings import OneCodebaseInvestigator
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.ports.collections import REPLIES
from tests.gitrepo import make_repo
from tests.journeys.shop import RETRIES, SESSIONS, SHOP


@pytest.fixture
def runner(tmp_path: Path) -> QuestionRunner:
    """Search and code checks over the shop."""
    repo, store, clock = GitRepo(make_repo(tmp_path / "shop", SHOP)), FileStore(tmp_path / "home"), SystemClock()
    codebases = Codebases.named([("", repo, SqlitePassageIndex(repo, tmp_path / "index.sqlite"))])
    runs = RunRecorder(store.runs, clock)
    return QuestionRunner(
        investigator=OneCodebaseInvestigator(codebases, OfflineInvestigator.in_codebase),
        validator=CodeValidator(codebases, store.notes, runs, clock),
        runs=runs,
        memory=WordNoteIndex(store.notes, store.journal(REPLIES), CitationStaleness(codebases).stale),
        clock=clock,
        home=tmp_path / "home",
    )


def test_right_files_and_honest_silence_are_counted(runner: QuestionRunner) -> None:
    """A wrong file is no hit; a draft where nothing answers is an error of the card's promise, too."""
    asked = [
        KnownQuestion(ask=SESSIONS, files=("shop/sessions.py",)),
        KnownQuestion(ask=RETRIES, files=("README.md",)),
        KnownQuestion(ask="Who won the regatta?", files=()),
        KnownQuestion(ask=RETRIES, files=()),
    ]
    told: list[str] = []
    found = ask_questions(asked, runner, say=told.append, max_rounds=2)
    assert (found.cited, found.first, found.no_draft, found.passed) == (Hits(1, 2), Hits(1, 2), Hits(1, 2), Hits(3, 3))
    assert [one.is_right for one in found.answered] == [True, False, True, False]
    assert [one.question.ask for one in found.right_drafts] == [SESSIONS]
    assert found.calibration.drafts == 3
    assert (found.rounds, found.cost_usd) == (1.0, 0.0)
    assert told == [f"question {number} of 4 …" for number in range(1, 5)]


def test_nothing_asked_has_no_share(runner: QuestionRunner) -> None:
    """Rather than none of none."""
    found = ask_questions([], runner, say=print, max_rounds=1)
    assert found.cited.share is None
    assert (found.rounds, found.median_s, found.calibration) == (None, None, CalibrationError(None, 0))


def test_a_calibration_error_is_zero_where_promises_come_true() -> None:
    """And as large as the gap where all are wrong; groups do not make up for each other."""
    true = [Forecast(0.5, True), Forecast(0.5, False)]
    assert CalibrationError.of(true) == CalibrationError(0.0, 2)
    assert CalibrationError.of([Forecast(1.0, False)] * 3) == CalibrationError(1.0, 3)
    assert CalibrationError.of([Forecast(0.95, False), Forecast(0.05, True)]).value == 0.95
