"""What the validator without a model is told about the team and its secrets reaches the checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.casework.investigate.run_records import RunRecorder
from bot.casework.validate.code_validator import CodeValidator
from bot.domain.threads import ThreadStatus
from tests.builders import a_return, in_status
from tests.fakes import FakeClock
from tests.gitrepo import make_repo

GERMAN = "Die Warteschlange wird von dem Worker gelesen und ist sicher, auch bei Fehlern und wenn es dunkel ist."
ENGLISH = "The queue is read by the worker, and it is safe when there is a failure or if it is dark."


def failures(folder: Path, question: str, *, secrets: frozenset[str] = frozenset(), **draft: Any) -> dict[str, str]:
    """Return the reasons of the checks of speech that fail."""
    repo, clock = make_repo(folder / "code", {"a.py": "LIMIT = 5\n"}), FakeClock()
    runs = RunRecorder(folder / "runs", clock)
    validator = CodeValidator(repo, folder / "memory", runs, clock, secrets=secrets, team_language="en")
    state = in_status(ThreadStatus.AWAITING_VALIDATION, question=question, investigator_return=a_return(**draft))
    checks = validator.validate(state, run_id="v1").checks
    return {check.name: check.reason for check in checks if check.ok is False and check.name in ("language", "secrets")}


@pytest.mark.parametrize(
    ("question", "draft", "language", "good"),
    [
        (ENGLISH, ENGLISH, "en", True),
        (ENGLISH, GERMAN, "de", False),
        (GERMAN, GERMAN, "de", True),
        (GERMAN, ENGLISH, "en", True),
        ("retries?", GERMAN, "de", True),
    ],
)
def test_a_question_in_the_teams_language_wants_an_answer_in_it(
    tmp_path: Path, question: str, draft: str, language: str, good: bool
) -> None:
    """A foreign question, or one too short to tell, may be answered as the investigator chose."""
    found = failures(tmp_path, question, draft=draft, draft_language=language)
    assert ("language" not in found) is good


def test_a_secret_of_the_process_is_found_in_a_draft(tmp_path: Path) -> None:
    """Its shape says nothing; the environment does."""
    draft = "The word is correct-horse-battery."
    assert "secrets" in failures(tmp_path, "?", draft=draft, secrets=frozenset({"correct-horse-battery"}))
