"""The validator that needs no model: the team's language and secrets, and the asker's words, reach its checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.adapters.storage.files.file_engine import FileRunFolders, NoteFiles
from bot.agent.git.git_repo import GitRepo
from bot.agent.run_records import RunRecorder
from bot.casework.checks.validation import CodeValidator
from bot.domain.threads import ThreadStatus
from tests.builders import a_return, in_status
from tests.fakes import FakeClock
from tests.gitrepo import make_repo


def failures(folder: Path, question: str, *, secrets: frozenset[str] = frozenset(), **draft: Any) -> dict[str, str]:
    """Return the reasons of the checks of speech that fail."""
    repo, clock = make_repo(folder / "code", {"a.py": "LIMIT = 5\n"}), FakeClock()
    runs = RunRecorder(FileRunFolders(folder), clock)
    validator = CodeValidator(
        GitRepo(repo), NoteFiles(folder / "memory"), runs, clock, secrets=secrets, team_language="en"
    )
    state = in_status(ThreadStatus.AWAITING_VALIDATION, question=question, investigator_return=a_return(**draft))
    checks = validator.validate(state, run_id="v1").checks
    return {check.name: check.reason for check in checks if check.ok is False and check.name in ("language", "secrets")}


def test_a_draft_may_be_in_the_teams_language(tmp_path: Path) -> None:
    """Or in the question's; in no third one."""
    assert "language" not in failures(tmp_path / "a", "?", question_language="de", draft_language="en")
    assert "language" not in failures(tmp_path / "b", "?", question_language="de", draft_language="de")
    assert "language" in failures(tmp_path / "c", "?", question_language="de", draft_language="fr")


def test_a_secret_of_the_process_is_found_in_a_draft(tmp_path: Path) -> None:
    """Its shape says nothing; the environment does."""
    draft = "The word is correct-horse-battery."
    assert "secrets" in failures(tmp_path, "?", draft=draft, secrets=frozenset({"correct-horse-battery"}))
