"""The cheap look before the full run: a small model says none, handle or escalate, and any doubt escalates.

At most 3 turns and 120 s, no session prompt, no workspace set-up; its tools are the playbook's probes and its check and
note. `none` and `handle` count only with a receipt for every due task.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from bot.agent.model_run import RunCancelled, RunFailed, RunLimits
from bot.agent.specialist import ModelTask, Specialist
from bot.agent.tools.base import Tool
from bot.domain.heartbeats.allowed_commands import identity_of
from bot.domain.heartbeats.beats import Action, Receipt, missing_receipts
from bot.domain.prescreen import Decision, parse_decision
from bot.domain.returns import Usage
from bot.heartbeat.run.beat_prompt import build_sections
from bot.heartbeat.run.beat_view import BeatView
from bot.heartbeat.sessions.session_registry import Session

log = logging.getLogger(__name__)

LIMITS: Final = RunLimits(total_s=120.0, stall_s=60.0, max_turns=3, max_tokens=1_500)
RUBRIC: Final = "Decide about this beat. Answer with one JSON object and nothing else."

ToolsFor = Callable[[BeatView], Sequence[Tool]]


class PrescreenAnswer(BaseModel):
    """What the cheap model is asked for."""

    model_config = ConfigDict(extra="ignore")

    action: str
    reason: str = ""
    receipts: tuple[Receipt, ...] = ()


class _PrescreenReply(BaseModel):
    """The last words as they were written, for the parser that trusts nothing."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Screened:
    """The decision and what it cost."""

    decision: Decision
    usage: Usage
    error: str = ""
    """Why there is no answer, rather than one that escalates."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """Which limit of time ended its run, if one did."""

    @property
    def action(self) -> Action:
        """What to do with the beat."""
        return self.decision.action


class PrescreenStep:
    """Asks the session's `heartbeat_model`."""

    def __init__(self, specialist_for: Callable[[Session], Specialist], tools_for: ToolsFor) -> None:
        self._specialist_for, self._tools_for = specialist_for, tools_for

    def decide(self, view: BeatView) -> Screened:
        """Return the decision; whatever goes wrong is `escalate`.

        Raises:
            RunCancelled: the view's `cancel` was set.
        """
        brief = ModelTask(
            run_id=f"{view.run_id}-pre",
            rubric=RUBRIC,
            sections=tuple(build_sections(view, only_changed=True)),
            spent_usd=view.spent_usd,
            cancel=view.cancel,
        )
        specialist = self._specialist_for(view.session)
        try:
            result = specialist.run(brief, self._tools_for(view))
        except RunCancelled:
            raise
        except RunFailed as error:
            log.warning("[triage] pre-screen failed: %s", error, extra={"action": "prescreen_failed"})
            doubt = Decision(Action.ESCALATE, "no answer")
            return Screened(decision=doubt, usage=error.usage, error=str(error), limits=error.limits())
        assert isinstance(result.answer, _PrescreenReply)
        decision = escalated_for_doubt(parse_decision(result.answer.text), view, forced=result.convergence_forced)
        log.info("[triage] %s: %s", decision.action, decision.reason, extra={"action": "prescreened"})
        return Screened(decision=decision, usage=result.usage)


def escalated_for_doubt(decision: Decision, view: BeatView, *, forced: bool = False) -> Decision:
    """Return the decision, or `escalate` where it does not account for every due task or concerns a finding."""
    if decision.action is Action.ESCALATE:
        return decision
    if forced:
        return Decision(Action.ESCALATE, "doubt: the model had to be forced to answer")
    if missing_receipts([task.id for task in view.tasks], decision.receipts):
        return Decision(Action.ESCALATE, "doubt: a due task has no receipt")
    if any(receipt.status == "finding" for receipt in decision.receipts):
        return Decision(Action.ESCALATE, "a receipt reports a finding")
    if _touches_open_finding(view):
        return Decision(Action.ESCALATE, "what an open finding is about has changed; only a full run settles it")
    return decision


def _touches_open_finding(view: BeatView) -> bool:
    found = {finding.task for finding in view.open_findings}
    changed = set(view.changed)
    return any(
        identity_of(task) in found and changed.intersection(view.probes.results_for(task)) for task in view.tasks
    )


def parse_reply(text: str) -> BaseModel:
    """Return a model's last words unread."""
    return _PrescreenReply(text=text)
