"""What is counted of a set of questions: asked of the real investigator without a model."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from bot.adapters.process.clocks import SystemClock
from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.adapters.storage.files.file_engine import FileStore
from bot.agent.codebases import Codebases
from bot.agent.git.git_repo import GitRepo
from bot.agent.run_records import RunRecorder
from bot.casework.checks.sources import stale_citations
from bot.casework.checks.validation import CodeValidator
from bot.casework.evaluation.question_run import QuestionRunner
from bot.casework.evaluation.question_scores import Hits, ask_questions
from bot.casework.evaluation.question_set import KnownQuestion
from bot.casework.investigate.code_findings import CodeFindings
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
        investigator=CodeFindings(codebases, within=OfflineInvestigator.in_codebase),
        validator=CodeValidator(codebases, store.notes, runs, clock),
        runs=runs,
        memory=WordNoteIndex(store.notes, store.journal(REPLIES), partial(stale_citations, codebases)),
        clock=clock,
        home=tmp_path / "home",
    )


def test_right_files_and_honest_silence_are_counted(runner: QuestionRunner) -> None:
    """A wrong file is no hit."""
    asked = [
        KnownQuestion(ask=SESSIONS, files=("shop/sessions.py",)),
        KnownQuestion(ask=RETRIES, files=("README.md",)),
        KnownQuestion(ask="Who won the regatta?", files=()),
        KnownQuestion(ask=RETRIES, files=()),
    ]
    told: list[str] = []
    found = ask_questions(asked, runner, say=told.append)
    assert found.shares == {"cited": Hits(1, 2), "no_draft": Hits(1, 2), "passed": Hits(3, 3)}
    assert [one.is_right for one in found.answers] == [True, False, True, False]
    assert [one.question for one in found.right_drafts] == [SESSIONS]
    assert {one.cost_usd for one in found.answers} == {0.0}
    assert told == [f"question {number} of 4 …" for number in range(1, 5)]
