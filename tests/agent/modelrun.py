"""Runs against a scripted model: short limits, one harmless tool, everything that was asked and answered at hand.

The SDK is loaded with the first run: it takes a second of the processor, and not every process of a suite needs it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest
from pydantic import BaseModel

from bot.adapters.clocks import SystemClock
from bot.agent.model_run import RunFailed, RunLimits, RunProgress, RunRequest, RunResult
from bot.agent.tools.base import Tool
from tests.model_server import ModelServer, Turn
from tests.model_server.script import Call, Script, single

if TYPE_CHECKING:
    from bot.agent.loop import AnthropicRunner

KEY = "test-key-123"
MODEL = "claude-opus-5-5"
FINAL = Turn(
    answer={"text": "done"},
    usage={
        "input_tokens": 10,
        "output_tokens": 5,
        **dict.fromkeys(("cache_read_input_tokens", "cache_creation_input_tokens"), 0),
    },
)


class Answer(BaseModel):
    """What the runs of these tests are asked for."""

    text: str


class Query(BaseModel):
    """The arguments of `look`."""

    query: str


def look(query: str = "retry limit", **turn: Any) -> Turn:
    """Return a turn that calls the tool `look`."""
    return Turn(calls=(Call(name="look", input={"query": query}),), **turn)


@dataclass
class Bench:
    """One runner on one server; `calls` are the queries that the tool really got."""

    server: ModelServer
    runner: AnthropicRunner
    calls: list[str] = field(default_factory=list)

    def request(self, *, tool: Callable[[Query], str] | None = None, **changes: Any) -> RunRequest:
        """Return a request with limits of some minutes, changed as told (`limits` as a mapping)."""
        limits = RunLimits(**{"total_s": 500.0, "stall_s": 100.0, **changes.pop("limits", {})})
        tools = (Tool(name="look", description="Looks.", call=tool or self._look, arguments=Query),)
        given: dict[str, Any] = {"model": MODEL, "system": "You test.", "prompt": "why?", "answer": Answer}
        return RunRequest(**{**given, "tools": tools, "limits": limits, **changes})

    def run(self, **changes: Any) -> RunResult:
        """Make one run."""
        return self.runner.run(self.request(**changes))

    def fail(self, kind: type[RunFailed] = RunFailed, **changes: Any) -> Any:
        """Make a run that must fail and return its error, which is exactly of this kind."""
        with pytest.raises(RunFailed) as caught:
            self.run(**changes)
        assert type(caught.value) is kind, f"{type(caught.value).__name__}: {caught.value}"
        return caught.value

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The bodies of the requests that the server got."""
        return [entry["body"] for entry in self.server.requests]

    def _look(self, arguments: Query) -> str:
        self.calls.append(arguments.query)
        return f"src/app.py:7: found {arguments.query}"


def bench(server: ModelServer, **options: Any) -> Bench:
    """Return a bench on a running server."""
    from anthropic import Anthropic

    from bot.agent.loop import AnthropicRunner

    client = Anthropic(api_key=KEY, base_url=server.url, max_retries=0)
    given: dict[str, Any] = {"clock": SystemClock(), "monotonic": time.monotonic, **options}
    return Bench(server, AnthropicRunner(client, **given))


PATIENCE_S: Final = (0.5, 5.0, 30.0)


def patiently(attempt: Callable[[float], None]) -> None:
    """Make an attempt with a short limit of time; where a busy machine was too slow for it, with a longer one."""
    for limit_s in PATIENCE_S[:-1]:
        with contextlib.suppress(RunFailed, AssertionError, pytest.fail.Exception):
            attempt(limit_s)
            return
    attempt(PATIENCE_S[-1])


def playing(*turns: Turn) -> ModelServer:
    """Return a server, not yet started, that plays these turns."""
    return ModelServer(single(*turns))


__all__ = [
    "FINAL",
    "KEY",
    "MODEL",
    "Answer",
    "Bench",
    "Query",
    "RunProgress",
    "Script",
    "bench",
    "look",
    "patiently",
    "playing",
]
