"""What a long run may see of the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.casework.escalate.long_run import harness_environment, run_environment
from bot.config.environment import Environment, read_environment
from bot.config.settings import Settings

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
        *("PATH", "HOME", "HTTPS_PROXY", "TRIAGE_HOME", "TRIAGE_DATABASE_URL"),
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
