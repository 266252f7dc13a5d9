"""What a long run may see of the environment, and what it gets to know of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.casework.investigate.assignment import Assignment
from bot.casework.long_run import EscalationFolder, EscalationRequest, harness_environment, run_environment
from bot.config.environment import Environment, read_environment
from bot.config.settings import Settings
from bot.domain.threads import QuestionType

VARIABLES = {
    "PATH": "/usr/bin",
    "HOME": "/home/t",
    "HTTPS_PROXY": "http://proxy:3128",
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
    "SLACK_SIGNING_SECRET": "s",
    "ANTHROPIC_API_KEY": "key",
    "ANTHROPIC_BASE_URL": "http://localhost:1",
    "AWS_SECRET_ACCESS_KEY": "aws",
    "LOKI_TOKEN": "loki",
    "TICKET_TOKEN": "ticket",
    "GITHUB_TOKEN": "github",
    "TRIAGE_HOME": "/data",
    "TRIAGE_DATABASE_URL": "postgresql://triage@localhost/triage",
    "PGPASSFILE": "/run/secrets/pgpass",
    "LD_PRELOAD": "/tmp/evil.so",
    "PYTHONPATH": "/tmp/evil",
}
SERVERS = {
    "logs": {"url": "https://mcp.example.com", "headers": {"Authorization": "Bearer ${LOKI_TOKEN}"}},
    "tickets": {"command": ["tickets"], "env": ["TICKET_TOKEN"]},
}


def given(folder: Path, **more: Any) -> tuple[Environment, Settings]:
    settings = Settings.model_validate({"codebase": str(folder), "ops_channel": "C0OPS", **more})
    return read_environment(VARIABLES), settings


def test_a_run_sees_what_its_model_and_its_servers_need(tmp_path: Path) -> None:
    """Notes and budget may be in a database; and nothing of the chat's, another cloud's, or the loader's."""
    assert set(run_environment(*given(tmp_path, mcp_servers=SERVERS))) == {
        *("PATH", "HOME", "HTTPS_PROXY", "TRIAGE_HOME", "TRIAGE_DATABASE_URL", "PGPASSFILE"),
        *("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "LOKI_TOKEN", "TICKET_TOKEN"),
    }


def test_a_harness_sees_no_token_of_a_server(tmp_path: Path) -> None:
    """It does not speak to them."""
    names = set(harness_environment(*given(tmp_path, mcp_servers=SERVERS)))
    assert names == {"PATH", "HOME", "HTTPS_PROXY", "TRIAGE_HOME", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"}


def test_a_cloud_brings_its_credentials(tmp_path: Path) -> None:
    """Only where it serves the models."""
    assert run_environment(*given(tmp_path, provider="bedrock"))["AWS_SECRET_ACCESS_KEY"] == "aws"


def test_a_server_that_names_a_token_of_the_chat_does_not_get_it(tmp_path: Path) -> None:
    """A long run has no business in the chat, whatever the settings say."""
    servers = {"x": {"command": ["x"], "env": ["SLACK_BOT_TOKEN"]}}
    assert "SLACK_BOT_TOKEN" not in run_environment(*given(tmp_path, mcp_servers=servers))


EVERYTHING: dict[str, Any] = {
    "remind_after": "3h",
    "expire_after": None,
    "keep_runs_for": "30d",
    "brief": {"morning": "08:30", "evening": "17:00"},
    "working_hours": {"start": "09:00", "end": "17:30"},
    "pages": {"again_after": "5m", "then": "S0ONCALL"},
    "autonomy": "shadow",
    "watcher": {"backfill_max": "2h"},
    "heartbeat": {
        "every": "2h",
        "dedupe_window": "1d",
        "active_hours": {"start": "06:00", "timezone": "Europe/Berlin"},
    },
    "sessions": {"shop": {"cwd": "/", "owner": "S0ONCALL"}},
    "pricing": {"a-model": {"input": 1, "output": 2, "cache_read": 0.1}},
    "mcp_servers": SERVERS,
}


def test_a_run_reads_every_setting_as_it_was_written(tmp_path: Path) -> None:
    """Durations and times of day among them; of none the run says that its request cannot be read."""
    (tmp_path / "code").mkdir()
    _, settings = given(tmp_path / "code", **EVERYTHING)
    assignment = Assignment(question="Why?", question_type=QuestionType.OTHER, rubric="R", round=1)
    request = EscalationRequest(run_id="r1", assignment=assignment, settings=settings, spend_usd=None)
    folder = EscalationFolder(tmp_path / "escalations" / "t1")
    folder.open(request)
    (tmp_path / "code").rmdir()  # which whoever reads the code will say
    assert folder.request() == request
