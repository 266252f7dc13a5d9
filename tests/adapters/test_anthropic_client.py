"""Which client a provider gets, what it lacks, and that each one that can speaks to a server."""

from __future__ import annotations

import time
from typing import Any

import pytest

from bot.adapters.anthropic_client import make_client
from bot.adapters.clocks import SystemClock
from bot.agent.model_run import RunRequest
from bot.errors import ConfigError
from tests.agent.modelrun import FINAL, KEY, MODEL, Answer, playing
from tests.tables import each_row

GIVEN: dict[str, dict[str, Any]] = {
    "anthropic": {"api_key": KEY},
    "vertex": {"api_key": KEY, "region": "us", "project_id": "p"},
    "foundry": {"api_key": KEY},
}


@each_row("provider", GIVEN)
def test_a_run_goes_through_the_providers_own_client(provider: str) -> None:
    """Same loop, same answer; nothing is retried behind the loop's back."""
    from bot.agent.loop import AnthropicRunner

    with playing(FINAL) as server:
        client = make_client(provider, base_url=server.url, **GIVEN[provider])
        runner = AnthropicRunner(client, clock=SystemClock(), monotonic=time.monotonic)
        result = runner.run(RunRequest(model=MODEL, system="s", prompt="p", answer=Answer))
    assert client.max_retries == 0
    assert result.answer == Answer(text="done")


@each_row(
    "provider, given, told",
    [
        ("anthropic", {}, "ANTHROPIC_API_KEY"),
        ("anthropic", {"api_key": ""}, "ANTHROPIC_API_KEY"),
        ("vertex", {"api_key": KEY}, "CLOUD_ML_REGION"),
        ("foundry", {}, "ANTHROPIC_FOUNDRY_API_KEY"),
        ("foundry", {"api_key": KEY}, "base_url"),
        ("bedrock", {"api_key": KEY}, "anthropic.bedrock"),
        ("openai", {}, "none of anthropic, bedrock, vertex, foundry"),
    ],
)
def test_what_is_missing_is_named_and_the_key_is_not(provider: str, given: dict[str, str], told: str) -> None:
    """Before any question depends on it."""
    with pytest.raises(ConfigError, match=told) as caught:
        make_client(provider, **given)  # type: ignore[arg-type]
    assert KEY not in str(caught.value)


def test_a_client_shows_no_key() -> None:
    """Neither in its repr nor in that of a runner."""
    from bot.agent.loop import AnthropicRunner

    client = make_client("anthropic", api_key=KEY)
    assert KEY not in repr(client)
    assert KEY not in repr(AnthropicRunner(client, clock=SystemClock(), monotonic=time.monotonic))
