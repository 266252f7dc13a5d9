"""Who works a question; and that without a key nothing of a model is even loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.storage.files.file_engine import FileStore, NoteFiles
from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.model_validator import ModelValidator
from bot.casework.checks.validation import CodeValidator
from bot.casework.investigate.code_findings import CodeFindings
from bot.casework.investigate.model_investigator import ModelInvestigator
from bot.composition.codebases import open_team_code
from bot.composition.investigators import CaseworkModels, InvestigationInputs
from bot.config.environment import read_environment
from bot.config.settings import Settings
from bot.errors import ConfigError
from tests.fakes import FakeClock, MemoryJournal, unchanged
from tests.gitrepo import make_repo


def hired(folder: Path, variables: dict[str, str], **settings: Any) -> CaseworkModels:
    repo = GitRepo(make_repo(folder / "code", {"a.py": "A = 1\n"}))
    given = Settings.model_validate({"codebase": str(repo.root), "ops_channel": "C0OPS", **settings})
    environment = read_environment({"TRIAGE_HOME": str(folder), **variables})
    return CaseworkModels(
        InvestigationInputs(
            settings=given,
            environment=environment,
            code=open_team_code(given, environment),
            storage=FileStore(folder),
            memory=WordNoteIndex(NoteFiles(folder / "memory"), MemoryJournal(), unchanged),
            clock=FakeClock(),
        )
    )


def test_without_a_key_the_offline_pair_works(tmp_path: Path) -> None:
    """And says so to the operator."""
    found = hired(tmp_path, {})
    assert isinstance(found.investigator, CodeFindings)
    assert found.investigator.across is None
    assert isinstance(found.validator, CodeValidator)
    assert found.described == "offline, no API key"


def test_with_a_key_two_models_work(tmp_path: Path) -> None:
    """The validator's is the investigator's unless it has its own."""
    found = hired(tmp_path, {"ANTHROPIC_API_KEY": "k"})
    assert isinstance(found.investigator, CodeFindings)
    assert isinstance(found.investigator.across, ModelInvestigator)
    assert isinstance(found.validator, ModelValidator)
    assert found.described == "claude-opus-5-5"


def test_the_validator_may_have_a_model_of_its_own(tmp_path: Path) -> None:
    """It is named."""
    found = hired(tmp_path, {"ANTHROPIC_API_KEY": "k"}, validator={"model": "claude-sonnet-5-5"})
    assert found.described == "claude-opus-5-5, checked by claude-sonnet-5-5"


def test_a_cloud_without_its_settings_is_refused_at_start(tmp_path: Path) -> None:
    """Not when the first question comes."""
    with pytest.raises(ConfigError, match="foundry"):
        hired(tmp_path, {}, provider="foundry")


def test_a_server_whose_token_is_missing_is_refused_at_start(tmp_path: Path) -> None:
    """Named by its key."""
    servers = {"logs": {"url": "https://x.io", "headers": {"Authorization": "Bearer ${LOKI_TOKEN}"}}}
    with pytest.raises(ConfigError, match=r"mcp_servers\.logs\.headers: LOKI_TOKEN is not set"):
        hired(tmp_path, {"ANTHROPIC_API_KEY": "k"}, mcp_servers=servers)
