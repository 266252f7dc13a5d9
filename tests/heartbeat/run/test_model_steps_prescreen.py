"""The cheap look: sure or not, and whatever goes wrong is doubt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.agent.model_run import RunCancelled, RunFailed, RunRequest, RunResult, RunStopped, RunTimedOut
from bot.agent.tools.base import Tool
from bot.domain.heartbeats.beats import Action
from bot.heartbeat.run.beat_record import BeatView
from bot.heartbeat.run.model_steps import LIMITS, LastWords, PrescreenAnswer, Screened, prescreen
from tests.casework.runner import COST, ScriptedRunner, a_specialist
from tests.heartbeat.builders import a_view
from tests.tables import each_row


class Sayer(ScriptedRunner):
    """A runner whose steps are the model's last words, or errors."""

    def __init__(self, *words: str | BaseException, forced: bool = False) -> None:
        super().__init__()
        self.words, self.forced = list(words), forced

    def run(self, request: RunRequest) -> RunResult:
        self.requests.append(request)
        word = self.words.pop(0)
        if isinstance(word, BaseException):
            raise word
        assert request.read is not None
        answer = request.read(word)
        return RunResult(answer=answer, usage=self.usage, turns=1, tool_calls=0, convergence_forced=self.forced)


def decided(view: BeatView, folder: Path, *words: str | BaseException, forced: bool = False) -> tuple[Screened, Sayer]:
    runner = Sayer(*words, forced=forced)
    specialist = a_specialist(runner, folder, answer=PrescreenAnswer, limits=LIMITS)
    tool = Tool(name="note", description="x", call=lambda _: "", schema={"type": "object"})
    return prescreen(view, replace(specialist, read=LastWords), [tool], {"hunter2hunter2"}), runner


def words(view: BeatView, action: str, **more: Any) -> str:
    receipts = [{"task": task.id, "result": "ok", **more} for task in view.tasks]
    return json.dumps({"action": action, "reason": "quiet", "receipts": receipts})


@each_row("action", ["none", "handle", "escalate"])
def test_what_it_says_is_what_is_done(tmp_path: Path, action: str) -> None:
    """With its reason, and what it cost."""
    view = a_view(tmp_path)
    screened, _ = decided(view, tmp_path, words(view, action))
    assert (screened.action, screened.reason, screened.usage) == (Action(action), "quiet", COST)


def test_its_reason_holds_no_credential(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It goes into the record, which other people and programs read, and into the log."""
    said = words(view := a_view(tmp_path), "none").replace("quiet", "hunter2\\u0068unter2 is still valid")
    screened, _ = decided(view, tmp_path, said)
    assert "redacted" in screened.reason
    assert "hunter2" not in screened.reason + caplog.text


@each_row(
    "said",
    [
        "",
        "All quiet, I think.",
        '{"action": "none", "reason": "no receipts"}',
        '{"action": "none"',
        '{"action": "sleep"}',
        '{"action": ["none"]}',
        '{"outer": {"action": "none"}}',
    ],
)
def test_anything_else_is_doubt(tmp_path: Path, said: str) -> None:
    """Escalated, with a reason that says what was wrong."""
    screened, _ = decided(a_view(tmp_path), tmp_path, said)
    assert screened.action is Action.ESCALATE
    assert screened.reason


def test_a_finding_in_a_receipt_is_not_for_a_cheap_model_to_settle(tmp_path: Path) -> None:
    """Nor is a task without a receipt, nor an answer it had to be pushed to."""
    view = a_view(tmp_path)
    assert decided(view, tmp_path, words(view, "none", result="finding"))[0].action is Action.ESCALATE
    one = json.dumps({"action": "none", "receipts": [{"task": view.tasks[0].id, "result": "ok"}]})
    assert decided(view, tmp_path, one)[0].reason == "doubt: a due task has no receipt"
    assert decided(view, tmp_path, words(view, "none"), forced=True)[0].action is Action.ESCALATE


@each_row(
    "error",
    [
        RunFailed("the provider is away", usage=COST),
        RunCancelled("cancelled", usage=COST),
        RunTimedOut("silent for 60 s", usage=COST, timeout_kind="stall", timeout_s=120.0, stall_s=60.0),
        RunTimedOut("over 120 s", usage=COST, timeout_kind="total", timeout_s=120.0, stall_s=60.0),
    ],
)
def test_a_failure_is_doubt_and_is_paid_for(tmp_path: Path, error: RunFailed, caplog: pytest.LogCaptureFixture) -> None:
    """The log's line carries its mark."""
    screened, _ = decided(a_view(tmp_path), tmp_path, error)
    assert (screened.action, screened.usage, screened.error) == (Action.ESCALATE, COST, str(error))
    assert any(record.message.startswith("[triage] ") for record in caplog.records)


def test_a_process_that_stops_is_no_doubt(tmp_path: Path) -> None:
    """It is raised, and no full run follows."""
    with pytest.raises(RunStopped):
        decided(a_view(tmp_path), tmp_path, RunStopped("stopping", usage=COST))


def test_it_is_small(tmp_path: Path) -> None:
    """Three turns, two minutes, no team's wishes, a folder of its own; it may be cancelled."""
    view = a_view(tmp_path)
    _, runner = decided(view, tmp_path, words(view, "none"))
    [request] = runner.requests
    assert (request.limits.max_turns, request.limits.total_s) == (3, 120.0)
    assert request.folder.name == "beat-shop-1-pre"
    assert request.cancel is view.cancel
    assert [tool.name for tool in request.tools] == ["note"]
    assert all(task.id in request.prompt for task in view.tasks)
