"""A runner of models in memory: plays scripted answers, calls tools on the way, keeps every request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.model_run import RunLimits, RunProgress, RunRequest, RunResult
from bot.agent.specialist import Budget, ModelAccess, Specialist
from bot.agent.tools.base import Tool
from bot.casework.checks.model_validator import OpenAddress, ValidatorAnswer
from bot.casework.investigate.model_investigator import InvestigatorAnswer
from bot.domain.returns import Usage
from tests.fakes import FakeClock, MemoryJournal

MODEL = "claude-opus-5-5"
COST = Usage(input_tokens=1_000, output_tokens=100, cost_usd=0.01)

Step = Mapping[str, Any] | BaseException | Callable[[RunRequest], Mapping[str, Any]]


class ScriptedRunner:
    """A runner whose steps are answers, errors, or functions from the request to an answer; the last one repeats."""

    def __init__(self, *script: Step, usage: Usage = COST) -> None:
        self.script, self.usage = list(script), usage
        self.requests: list[RunRequest] = []
        self.takes_images = True

    def run(self, request: RunRequest) -> RunResult:
        self.requests.append(request)
        if request.on_progress:
            request.on_progress(RunProgress(tool_calls=2, thinking="the limit <is> set"))
        step = self.script[min(len(self.requests), len(self.script)) - 1]
        if isinstance(step, BaseException):
            raise step
        said = step(request) if callable(step) else step
        shown = len(request.images) if self.takes_images else 0
        answer = request.answer.model_validate(said)
        return RunResult(answer=answer, usage=self.usage, turns=1, tool_calls=0, images_shown=shown)


def answered(**changes: Any) -> dict[str, Any]:
    """Return an investigator's answer as a model gives it: no commit anywhere."""
    good = {
        "evidence_refs": [{"kind": "file", "ref": "app/retry.py:3", "supports_claim": "It sets the limit."}],
        "claims": [claimed("Retries stop after 5, see `app/retry.py:3`.", 0)],
        "question_type": "technical_qa",
        "risk": "none",
        "touches": "none",
        "summary_for_orchestrator": "Retries stop after 5.",
        "question_language": "en",
        "draft_language": "en",
        "confidence_reason": "One line says so.",
        "confidence": "medium",
    }
    return {**good, **changes}


def claimed(text: str, *cites: int, kind: str = "fact") -> dict[str, Any]:
    """Return one sentence of a draft as a model gives it."""
    return {"text": text, "kind": kind, "cites": list(cites)}


def answered_as_of_old(**changes: Any) -> dict[str, Any]:
    """Return an answer in the shape of earlier releases: a draft in one piece, and quotes beside the addresses."""
    ref = {"kind": "file", "ref": "app/retry.py:3", "quote": "LIMIT = 5", "supports_claim": "It sets the limit."}
    old = {
        "confidence": "medium",
        "confidence_reason": "One line says so.",
        "summary_for_orchestrator": "Retries stop after 5.",
        "draft_reply": "Retries stop after 5.\n\nSee `app/retry.py:3`.",
        "evidence_refs": [ref],
    }
    return {**old, **changes}


def judged(**changes: Any) -> dict[str, Any]:
    """Return a validator's answer that keeps every rule."""
    good = {
        "verdict": "pass",
        "reasons": ["the line sets the limit"],
        "spot_check_ref": "app/retry.py:3",
        "spot_check_result": "supports",
        "schema_check": "ok",
        "confidence_language_match": "match",
        "language_check": "match",
        "scope_drift": "none",
        "cross_investigation_consistency": "no_overlap",
        "risk_gate_check": "passes",
        "risk": "none",
        "touches": "none",
        "tone_assessment": "matches",
    }
    return {**good, **changes}


def reading(path: str, *lines: tuple[int, int], answer: Mapping[str, Any]) -> Callable[[RunRequest], Mapping[str, Any]]:
    """Return a step that reads lines with the tool it was given, an investigator's or a validator's, then answers."""

    def step(request: RunRequest) -> Mapping[str, Any]:
        read_file = next(tool for tool in request.tools if tool.name == "read_file")
        for start, end in lines:
            if read_file.arguments is OpenAddress:
                read_file.call(OpenAddress(address=f"{path}:{start}-{end}"))
            else:
                read_file.call({"path": path, "start": start, "end": end})
        return answer

    return step


def plain_tools(repo: GitRepo, *names: str) -> Callable[[Ledger, Collection[str]], list[Tool]]:
    """Return a toolbox whose read_file reads HEAD into the ledger, and whose other tools say nothing."""

    def tools(ledger: Ledger, _: Collection[str]) -> list[Tool]:
        def read_file(given: Mapping[str, Any]) -> str:
            commit, path = repo.head(), given["path"]
            lines = (repo.lines_at(commit, path) or [])[given["start"] - 1 : given["end"]]
            ledger.record_read(path, given["start"], given["end"], commit=commit, text="\n".join(lines))
            return "\n".join(lines)

        others = [Tool(name=name, description=name, call=lambda _: "", schema={"type": "object"}) for name in names]
        return [Tool(name="read_file", description="reads", call=read_file, schema={"type": "object"}), *others]

    return tools


def a_specialist(runner: ScriptedRunner, folder: Path, *, validator: bool = False, **changes: Any) -> Specialist:
    """Return a specialist with no limit of money and a token that never changes."""
    fields: dict[str, Any] = {
        "access": ModelAccess(runner=runner, spending=Budget(MemoryJournal(), FakeClock()), runs=folder),
        "model": MODEL,
        "system": "You break it." if validator else "You look into it.",
        "answer": ValidatorAnswer if validator else InvestigatorAnswer,
        "limits": RunLimits(),
        "token": lambda: "7f3a9c",
    }
    return Specialist(**{**fields, **changes})
