"""Why the last beat went as it did, read off its line alone."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest

from bot.domain.answers import Line
from bot.domain.heartbeats.beats import (
    Action,
    BeatResult,
    BeatStep,
    BeatUsage,
    Delivered,
    Envelope,
    Indicator,
    Wake,
    ending_text,
    indicator_of,
)
from bot.domain.tiers import Tier
from bot.heartbeat.session_registry import BeatLog
from bot.heartbeat.session_rows import (
    ENDED,
    GATE,
    beat_line,
    ending,
    found_lines,
    has_run,
    heading,
    steps_of_beat,
    without_findings,
)
from tests.fakes import MemoryJournal
from tests.heartbeat.clockwork import START
from tests.tables import each_row

FAILED_LOUD = "failed, alert sent"


def beat(result: BeatResult, **given: Any) -> Envelope:
    fields = {"ts": START, "session_id": "shop", "workspace_dir": "/src/shop", "reason": Wake.INTERVAL}
    return Envelope(**{**fields, "result": result, "indicator": indicator_of(result), **given})


def stopped(result: BeatResult, step: BeatStep, detail: str, **given: Any) -> Envelope:
    return beat(result, step=step, why=ending_text(step, detail), **given)


def ended(envelope: Envelope) -> str:
    *before, last = steps_of_beat(Envelope.model_validate(envelope.model_dump(mode="json")))
    assert (last.mark, last.name) == (ENDED, "End")
    assert all(step.mark is not ENDED for step in before)
    return last.text


@each_row("step", GATE)
def test_a_refused_beat_ends_at_the_gate_with_its_reason(step: BeatStep) -> None:
    """It passed nothing."""
    refused = stopped(BeatResult.SKIPPED, step, "because: of that")
    assert ended(refused) == f"{step}: because: of that"
    assert len(steps_of_beat(refused)) == 1


@each_row(
    "given, says",
    [
        ({"result": "ok-empty", "step": "probes", "why": "probes: nothing changed"}, "nothing new: nothing changed"),
        ({"result": "ok-empty", "prescreen": "none", "step": "pre-screen", "why": "pre-screen: no"}, "nothing new: no"),
        ({"result": "ok-token", "tier": "hourly", "why": "1 edit"}, "nothing new: 1 edit"),
        ({"result": "skipped", "step": "dedupe", "why": "dedupe: already sent"}, "nothing new to tell: already sent"),
        ({"result": "failed", "error": "refused: 401", "tier": "daily"}, "failed: refused: 401"),
        ({"result": "failed"}, "failed"),
        ({"result": "skipped", "step": "cancelled", "why": "cancelled"}, "cancelled"),
        ({"result": "skipped", "why": "in other words"}, "skipped: in other words"),
        (
            {"result": "sent", "delivered": Delivered(mode="explicit", channel="webhook", to="https://a.b/secret")},
            "alert sent: to webhook:https://a.b",
        ),
    ],
)
def test_a_beat_that_ran_ends_with_what_it_did_and_why(given: dict[str, Any], says: str) -> None:
    """Quiet, loud, cut off or broken."""
    rest = {name: value for name, value in given.items() if name != "result"}
    assert ended(beat(BeatResult(given["result"]), **{"indicator": Indicator.ALERT, **rest})) == says


def test_words_that_look_like_a_step_decide_nothing() -> None:
    """A model's reason is shown and read as what it is."""
    said = stopped(BeatResult.OK_EMPTY, BeatStep.PRESCREEN, "the pre-screen failed: no", prescreen=Action.NONE)
    assert ended(said) == "nothing new: the pre-screen failed: no"
    assert said.screen_error == ""


SLACK_DM = Delivered(mode="last", channel="slack", to="D0ANN")


@each_row(
    "given, says",
    [
        ({"result": "sent", "delivered": SLACK_DM, "indicator": "alert"}, "alert sent"),
        ({"result": "sent", "delivered": SLACK_DM, "indicator": "ok"}, "said that nothing is new"),
        ({"result": "sent", "delivered": SLACK_DM, "step": "ack", "indicator": "alert"}, "said that nothing is new"),
        ({"result": "sent", "delivered": SLACK_DM, "step": "probes", "indicator": "alert"}, "alert sent"),
        ({"result": "ok-token"}, "nothing new"),
        ({"result": "ok-empty"}, "nothing new"),
        ({"result": "ok-empty", "prescreen": "none", "step": "pre-screen"}, "nothing new"),
        ({"result": "ok-empty", "prescreen": "handle", "step": "pre-screen"}, "handled by the pre-screen"),
        ({"result": "ok-empty", "changes": ("git log", "df -h")}, "2 changes for the daily report"),
        ({"result": "skipped", "step": "dedupe", "why": "dedupe: already sent"}, "nothing new to tell"),
        ({"result": "skipped", "step": "delivery", "why": "delivery: only to the log"}, "told nobody"),
        ({"result": "skipped", "step": "cancelled", "why": "cancelled"}, "cancelled"),
        ({"result": "skipped", "step": "outside hours", "why": "outside hours: night"}, "outside hours"),
        ({"result": "failed", "error": "refused: 401"}, "failed"),
        ({"result": "failed", "error": "refused: 401", "silent": False, "delivered": SLACK_DM}, FAILED_LOUD),
    ],
)
def test_every_end_of_a_beat_in_words(given: dict[str, Any], says: str) -> None:
    """What happened; a line on disk says the same."""
    rest = {name: value for name, value in given.items() if name != "result"}
    known = beat(BeatResult(given["result"]), **{"indicator": Indicator.OK, **rest})
    assert ending(Envelope.model_validate(known.model_dump(mode="json"))) == says
    assert has_run(known) is (given.get("step") != "outside hours")


def shown(*lines: Line) -> list[str]:
    return [" ".join(filter(None, [line.mark, line.name, line.text])) for line in lines]


def test_the_way_of_a_beat_holds_what_its_steps_found_out() -> None:
    """The words of an alert, and what changed, are for those who may read them."""
    envelope = beat(
        BeatResult.SENT,
        tier=Tier.HOURLY,
        prescreen=Action.ESCALATE,
        tool_calls=1,
        usage=BeatUsage(input_tokens=5, output_tokens=2, cost_usd=0.0123),
        delivered=SLACK_DM,
        preview="CI is red\non main",
        duration_ms=2_140,
        trace_id="beat-1",
        indicator=Indicator.ALERT,
        changes=("git log: 2 lines",),
    )
    assert shown(*steps_of_beat(envelope), *found_lines(envelope)) == [
        "✓ Gate ok",
        "✓ Due hourly tasks",
        "✓ Pre-screen escalate",
        "✓ Full run 1 tool call, $0.0123",
        "■ End alert sent: to slack:D0ANN",
        "sent: CI is red\non main",
        "changed: git log: 2 lines",
    ]
    assert shown(*found_lines(beat(BeatResult.OK_EMPTY, preview="CI is red"))) == ["not sent: CI is red"]
    assert found_lines(without_findings(envelope)) == ()
    assert heading(envelope) == "2026-11-21 12:00 UTC, interval, 2 s, run beat-1"
    assert beat_line(envelope).text == "interval hourly · alert sent · CI is red on main"
    assert beat_line(without_findings(envelope)).text == "interval hourly · alert sent"


def test_a_repeat_shows_what_still_stands() -> None:
    """With the reason why nobody was told again."""
    repeat = stopped(BeatResult.SKIPPED, BeatStep.DEDUPE, "already sent", preview="CI is red", tier=Tier.QUICK)
    assert beat_line(repeat).text == "interval quick · nothing new to tell: already sent · CI is red"


def test_the_latest_beats_are_found_behind_any_number_of_others() -> None:
    """Newest first; lines that are no beats are passed over."""
    journal = MemoryJournal()
    log = BeatLog(journal)
    for number in range(8):
        log.append(beat(BeatResult.OK_TOKEN, ts=START + timedelta(minutes=number)))
    for _ in range(3_000):
        log.append(beat(BeatResult.SKIPPED, session_id="api", why="outside hours: " + "x" * 80))
    journal.append({"session_id": "shop", "result": "who knows"})
    assert [b.ts.minute for b in log.recent("shop", 3)] == [7, 6, 5]
    assert len(log.recent("shop", 100)) == 8
    assert log.recent("web", 3) == []
    assert set(log.latest(lambda b: b.result is not BeatResult.SKIPPED)) == {"shop"}


def test_the_log_has_a_line_for_each_beat_that_ran(caplog: pytest.LogCaptureFixture) -> None:
    """A refused slot is for whoever looks closer, and what was found is nobody's who reads logs."""
    caplog.set_level(logging.INFO)
    log = BeatLog(MemoryJournal())
    log.append(beat(BeatResult.SENT, preview="CI is red"))
    log.append(beat(BeatResult.SKIPPED, why="outside hours"))
    assert [record.getMessage() for record in caplog.records] == ["beat: sent"]


def test_a_pre_screen_that_fails_is_told_of_whatever_became_of_the_beat() -> None:
    """Each such beat costs a full run; the step says why."""
    error = "no price is known for x; add it to `pricing`"
    for step, detail in ((None, ""), (BeatStep.DEDUPE, "nothing new")):
        given = {"step": step, "screen_error": error, "why": ending_text(step, detail, error)}
        assert ended(beat(BeatResult.OK_TOKEN, **given)).endswith(f"the pre-screen failed: {error}")
