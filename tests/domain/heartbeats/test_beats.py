"""The shapes other programs read, and the tables behind them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from pydantic import ValidationError

from bot.domain.heartbeats.beats import (
    BeatResult,
    BeatUsage,
    Delivered,
    Envelope,
    Indicator,
    Wake,
    indicator_of,
    strongest,
)
from bot.domain.returns import Usage
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def envelope(**changes: Any) -> Envelope:
    """The least that every beat leaves."""
    return Envelope(
        **{
            "ts": NOON,
            "session_id": "api",
            "workspace_dir": "/src/api",
            "reason": Wake.INTERVAL,
            "result": BeatResult.SKIPPED,
            "indicator": Indicator.NONE,
            **changes,
        }
    )


def test_an_envelope_has_exactly_the_fields_of_the_contract() -> None:
    """In its order; what is unknown is null."""
    assert json.loads(envelope(why="paused").model_dump_json()) == {
        "ts": "2026-03-01T12:00:00Z",
        "session_id": "api",
        "workspace_dir": "/src/api",
        "reason": "interval",
        "result": "skipped",
        "indicator": "none",
        "delivered": None,
        "preview": "",
        "duration_ms": 0,
        "tool_calls": 0,
        "trace_id": None,
        "silent": True,
        "error": None,
        "why": "paused",
        "tier": None,
        "prescreen": None,
        "usage": {"input_tokens": None, "output_tokens": None, "cost_usd": None, "triage_usage": None},
    }


def test_an_envelope_is_read_back_equal_and_refuses_what_it_does_not_know() -> None:
    """A naive time, an unknown field, an unknown result."""
    sent = envelope(
        result=BeatResult.SENT,
        delivered=Delivered(mode="last", channel="slack", to="D1"),
        usage=BeatUsage.from_runs(Usage(input_tokens=5, cost_usd=0.1), Usage()),
    )
    assert Envelope.model_validate_json(sent.model_dump_json()) == sent
    for wrong in ({"ts": datetime(2026, 3, 1)}, {"shiny": 1}, {"result": "fine"}, {"duration_ms": -1}):
        with pytest.raises(ValidationError):
            envelope(**wrong)


@each_row("chars, kept", [(200, 200), (201, 200), (9999, 200)])
def test_a_preview_is_cut_to_two_hundred_characters(chars: int, kept: int) -> None:
    """An ellipsis says so."""
    preview = envelope(preview="x" * chars).preview
    assert len(preview) == kept
    assert preview.endswith("…") == (chars > 200)


def test_usage_has_one_shape_whichever_runs_there_were() -> None:
    """Null where no model ran; the pre-screen is counted apart; what came from the cache was read too."""
    run = Usage(input_tokens=5, cache_read_tokens=10, cache_write_tokens=1, output_tokens=2, cost_usd=None)
    shown = {"input_tokens": 16, "output_tokens": 2, "cost_usd": None}
    nothing = {"input_tokens": None, "output_tokens": None, "cost_usd": None}
    assert BeatUsage.from_runs(None).model_dump() == {**nothing, "triage_usage": None}
    assert BeatUsage.from_runs(None, run).model_dump() == {**nothing, "triage_usage": shown}
    assert BeatUsage.from_runs(run).model_dump() == {**shown, "triage_usage": None}


@each_row(
    "result, calm, troubled",
    [
        ("sent", "ok", "alert"),
        ("ok-token", "ok", "alert"),
        ("ok-empty", "ok", "alert"),
        ("skipped", "none", "none"),
        ("failed", "error", "error"),
    ],
)
def test_each_result_shows_as_the_contract_says(result: str, calm: str, troubled: str) -> None:
    """Of a beat that ran, nothing is green while a finding is open."""
    assert indicator_of(BeatResult(result)) == calm
    assert indicator_of(BeatResult(result), has_open=True) == troubled


def test_a_persons_wake_is_the_strongest_and_the_clocks_the_weakest() -> None:
    """Whatever the order they came in."""
    order = [Wake.INTERVAL, Wake.AUTOMATION, Wake.ASSIGNMENT, Wake.ON_DEMAND]
    for weaker, stronger in pairwise(order):
        assert strongest([weaker, stronger]) is strongest([stronger, weaker]) is stronger
