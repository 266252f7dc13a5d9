"""The two steps of a beat that ask a model: the cheap pre-screen, and the full run with the session's model.

Both are told the due tasks and everything seen so far as delimited data. The pre-screen says none, handle or escalate,
and any doubt escalates: at most 3 turns and 120 s, no session prompt, no workspace set-up; its tools are the playbook's
probes and its check and note. `none` and `handle` count only with a receipt for every due task.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bot.agent.model_run import RunCancelled, RunFailed, RunLimits
from bot.agent.prompts.prompt_sections import PromptSection
from bot.agent.specialist import Specialist
from bot.agent.tools.base import Tool
from bot.domain.heartbeats.allowed_commands import checks_of
from bot.domain.heartbeats.beats import Action, BeatReport, Receipt, missing_receipts
from bot.domain.heartbeats.session_state import MessageKind
from bot.domain.playbooks.playbook_entries import PlaybookEntry
from bot.domain.prescreen import Decision, parse_decision
from bot.domain.returns import Usage
from bot.domain.sharing.suggestions import describe_suggestion
from bot.domain.tiers import TierMove
from bot.heartbeat.run.beat_view import BeatView, PeerData, tier_of
from bot.heartbeat.run.probes import ProbeResult
from bot.heartbeat.sessions.session_registry import Session

log = logging.getLogger(__name__)

OUTPUT_CHARS = 6_000
NOTES = 20

MESSAGE_CHARS: Final = 4_000
MAX_RECEIPTS: Final = 1_000

ToolsFor = Callable[[BeatView], Sequence[Tool]]

LIMITS: Final = RunLimits(total_s=120.0, stall_s=60.0, max_turns=3, max_tokens=1_500)
RUBRIC: Final = "Decide about this beat. Answer with one JSON object and nothing else."


def build_sections(view: BeatView, *, only_changed: bool) -> Iterator[PromptSection]:
    """Yield the beat's data, the due tasks first; a pre-screen sees only the outputs that changed."""
    yield PromptSection(
        name="due_tasks",
        text="\n".join(f"[{task.id}] {tier_of(task)}: {task.text}{_more(task.details)}" for task in view.tasks),
    )
    changed = {result.command for result in view.changed}
    for result in view.probes.results:
        if result.command in changed:
            yield PromptSection(name="probe_changed", text=_output(result), sender=result.command)
        elif not only_changed:
            yield PromptSection(name="probe_unchanged", text=_output(result), sender=result.command)
    if view.probes.refused:
        yield PromptSection(name="commands_not_allowed", text="\n".join(" ".join(argv) for argv in view.probes.refused))
    if view.probes.late:
        yield PromptSection(
            name="commands_no_time_was_left_for", text="\n".join(" ".join(argv) for argv in view.probes.late)
        )
    for message in view.inbox:
        if message.kind is MessageKind.SUGGESTION:  # what still waits of them stands below
            continue
        yield PromptSection(name="inbox", text=f"[{message.kind}] {message.text}", sender=message.from_)
    if not only_changed:
        yield from _exchange(view.exchange)
    if view.playbook.flags:
        yield PromptSection(name="urgent_flags", text="\n".join(map(_named, view.playbook.flags)))
    if view.playbook.notes and not only_changed:
        yield PromptSection(name="notes", text="\n".join(map(_named, view.playbook.notes[-NOTES:])))
    if view.open_findings:
        known = [f"[{each.name}] {each.text.splitlines()[0][:200]}" for each in view.open_findings if each.text]
        yield PromptSection(name="open_findings", text="\n".join(known))
    if view.moves and not only_changed:
        yield PromptSection(name="measured", text="\n".join(map(_proposal, view.moves)))
    if view.session.beat.prompt and not only_changed:
        yield PromptSection(name="team_wishes", text=view.session.beat.prompt)


def _exchange(exchange: PeerData) -> Iterator[PromptSection]:
    """Yield what the beat has to do with other sessions; task lines are theirs, and data like all the rest."""
    if exchange.offered:
        lines = [
            f"[{one.id}] {describe_suggestion(one)}: {one.task}\n    why: {one.reason}" for one in exchange.offered
        ]
        yield PromptSection(name="suggestions_for_you", text="\n".join(lines))
    if exchange.offers:
        lines = [f"[{one.id}] to {one.to}, {one.tier}: {one.task}\n    why: {one.reason}" for one in exchange.offers]
        yield PromptSection(name="suggestions_to_send", text="\n".join(lines))
    if exchange.silent:
        yield PromptSection(name="sessions_without_a_report", text="\n".join(exchange.silent))


def _output(result: ProbeResult) -> str:
    text = result.problem or result.output or "(printed nothing)"
    return text if len(text) <= OUTPUT_CHARS else text[:OUTPUT_CHARS] + "\n… (cut)"


def _named(entry: PlaybookEntry) -> str:
    return f"[{entry.id}] {entry.text}"


def _proposal(move: TierMove) -> str:
    return f"[{move.task_id}] {move.from_tier} -> {move.to_tier}: {move.why}"


def _more(details: tuple[str, ...]) -> str:
    return "".join(f"\n    {line}" for line in details)


class BeatAnswer(BaseModel):
    """What the model returns of a beat."""

    model_config = ConfigDict(extra="ignore")

    message: Annotated[str, AfterValidator(lambda text: text[:MESSAGE_CHARS])]
    receipts: Annotated[tuple[Receipt, ...], Field(max_length=MAX_RECEIPTS)]
    reasoning: Annotated[str, Field(max_length=1_500)] = ""


class ModelFullRun:
    """Port FullRun over a model; `specialist_for` returns it with the session's limits."""

    def __init__(self, specialist_for: Callable[[Session], Specialist], tools_for: ToolsFor) -> None:
        self._specialist_for, self._tools_for = specialist_for, tools_for

    def run(self, view: BeatView) -> BeatReport:
        """Return the report; raises as FullRun says."""
        said, tools = build_sections(view, only_changed=False), self._tools_for(view)
        result = self._specialist_for(view.session).run(
            view.run_id, rubric(view.session), said, tools, spent_usd=view.spent_usd, cancel=view.cancel
        )
        assert isinstance(result.answer, BeatAnswer)
        return BeatReport(
            message=result.answer.message,
            receipts=result.answer.receipts,
            usage=result.usage,
            tool_calls=result.tool_calls,
            reasoning=result.answer.reasoning or None,
        )


def rubric(session: Session) -> str:
    """Return what stays the same from beat to beat of a session."""
    role = "the master session, which looks after the others" if session.is_master else "a worker session"
    return (
        f"You keep watch over `{session.name}`, {role}. If nothing needs a human, the message is exactly "
        f"`{session.beat.ack_token}`."
    )


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
        said, tools = build_sections(view, only_changed=True), self._tools_for(view)
        try:
            result = self._specialist_for(view.session).run(
                f"{view.run_id}-pre", RUBRIC, said, tools, spent_usd=view.spent_usd, cancel=view.cancel
            )
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
    if any(receipt.result == "finding" for receipt in decision.receipts):
        return Decision(Action.ESCALATE, "a receipt reports a finding")
    if _touches_open_finding(view):
        return Decision(Action.ESCALATE, "what an open finding is about has changed; only a full run settles it")
    return decision


def _touches_open_finding(view: BeatView) -> bool:
    found = {finding.task for finding in view.open_findings}
    changed = set(view.changed)
    return any(
        not found.isdisjoint(checks_of(task)) and changed.intersection(view.probes.results_for(task))
        for task in view.tasks
    )


def parse_reply(text: str) -> BaseModel:
    """Return a model's last words unread."""
    return _PrescreenReply(text=text)
