"""The two steps of a beat that ask a model: the cheap pre-screen, and the full run with the session's model.

Both are told the due tasks and everything seen so far as delimited data. The pre-screen says none, handle or escalate,
and any doubt escalates: at most 3 turns and 120 s, no session prompt, no workspace set-up; its tools are the playbook's
probes and its check and note. `none` and `handle` count only with a receipt for every due task. The full run ends by a
call of `finish_beat`; the text of one that does not is its message, without receipts and without a status. A call that
could not be taken is text, too, and wants somebody.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel

from bot.agent.model_run import RunFailed, RunLimits, RunStopped
from bot.agent.prompts import PromptSection
from bot.agent.specialist import Specialist
from bot.agent.tools.base import Arguments, Tool
from bot.domain.ack import without_thoughts
from bot.domain.heartbeats.beats import Action, BeatReport, Receipt
from bot.domain.heartbeats.session_state import MessageKind
from bot.domain.playbook_entries import PlaybookEntry
from bot.domain.prescreen import Decision, parse_decision
from bot.domain.returns import Usage
from bot.domain.secrets import redact, redact_values
from bot.heartbeat.run.beat_record import BeatView, PeerData
from bot.heartbeat.run.findings import unanswered
from bot.heartbeat.run.probes import ProbeResult
from bot.heartbeat.session_registry import Session

log = logging.getLogger(__name__)

OUTPUT_CHARS: Final = 6_000
NOTES: Final = 20
MESSAGE_CHARS: Final = 4_000
MAX_RECEIPTS: Final = 1_000

LIMITS: Final = RunLimits(total_s=120.0, stall_s=60.0, max_turns=3, max_tokens=1_500)
RUBRIC: Final = "Decide about this beat. Answer with one JSON object and nothing else."


def build_sections(view: BeatView, *, only_changed: bool) -> Iterator[PromptSection]:
    """Yield the beat's data, the due tasks first; a pre-screen sees only the outputs that changed."""
    tasks = ("\n    ".join([f"[{task.id}] {task.tier}: {task.text}", *task.details]) for task in view.tasks)
    yield from _listed("due_tasks", tasks)
    for result in view.probes.results:
        is_new = result in view.changed
        if is_new or not only_changed:
            name = "probe_changed" if is_new else "probe_unchanged"
            yield PromptSection(name=name, text=_output(result), sender=result.command)
    yield from _listed("commands_not_allowed", map(" ".join, view.probes.refused))
    for message in view.inbox:
        if message.kind is not MessageKind.SUGGESTION:  # those that still wait are `suggestions_for_you`
            yield PromptSection(name="inbox", text=f"[{message.kind}] {message.text}", sender=message.from_)
    yield from _listed("urgent_flags", map(_named, view.playbook.flags))
    known = (f"[{each.name}] {each.text.splitlines()[0][:200]}" for each in view.open_findings if each.text)
    yield from _listed("open_findings", known)
    if not only_changed:
        yield from _exchange(view.exchange)
        yield from _listed("notes", map(_named, view.playbook.notes[-NOTES:]))
        moves = (f"[{move.task_id}] {move.from_tier} -> {move.to_tier}: {move.why}" for move in view.moves)
        yield from _listed("measured", moves)
        yield from _listed("team_wishes", filter(None, [view.session.beat.prompt]))


def _exchange(exchange: PeerData) -> Iterator[PromptSection]:
    """Yield what the beat has to do with other sessions; task lines are theirs, and data like all the rest."""
    offered = (f"[{one.id}] {one.place}: {one.task}\n    why: {one.reason}" for one in exchange.offered)
    yield from _listed("suggestions_for_you", offered)
    offers = (f"[{one.id}] to {one.to}, {one.tier}: {one.task}\n    why: {one.reason}" for one in exchange.offers)
    yield from _listed("suggestions_to_send", offers)
    yield from _listed("sessions_without_a_report", exchange.silent)


def _listed(name: str, lines: Iterable[str]) -> Iterator[PromptSection]:
    """Yield one section of these lines; none where there are no lines."""
    if text := "\n".join(lines):
        yield PromptSection(name=name, text=text)


def _output(result: ProbeResult) -> str:
    text = result.problem or result.output or "(printed nothing)"
    return text if len(text) <= OUTPUT_CHARS else text[:OUTPUT_CHARS] + "\n… (cut)"


def _named(entry: PlaybookEntry) -> str:
    return f"[{entry.id}] {entry.text}"


def _consistent(receipt: Receipt) -> Receipt:
    if (receipt.result == "finding") != (receipt.finding is not None):
        raise ValueError("`finding` is given if the result is `finding`, and only then")
    return receipt


class FinishBeat(Arguments):
    """Arguments of `finish_beat`; `status` says whether the message wants somebody."""

    receipts: Annotated[tuple[Annotated[Receipt, AfterValidator(_consistent)], ...], Field(max_length=MAX_RECEIPTS)]
    status: Literal["ok", "attention"]
    message: Annotated[str, AfterValidator(lambda text: text[:MESSAGE_CHARS])] = ""
    reasoning: Annotated[str, AfterValidator(lambda text: text[:MESSAGE_CHARS])] = ""


FINISH_BEAT: Final = Tool(
    name="finish_beat",
    description="End the beat with a receipt for each due task. Call it once, after everything else.",
    arguments=FinishBeat,
    call=lambda _: "The beat ends with this, unless the same turn calls it again and says something else.",
)


class LastWords(RootModel[str]):
    """A model's last words, unread."""


def full_run(view: BeatView, model: Specialist, tools: Sequence[Tool], secrets: Collection[str]) -> BeatReport:
    """Return the report of the session's model, without credentials; raises as `Minds.full`."""
    said = build_sections(view, only_changed=False)
    result = model.run(view.run_id, rubric(view.session), said, tools, spent_usd=view.spent_usd, cancel=view.cancel)
    answer = result.answer
    if isinstance(answer, LastWords):
        words = without_thoughts(answer.root)[:MESSAGE_CHARS]
        reported: dict[str, Any] = {"message": words, "receipts": ()}
        if words.startswith("{"):  # arguments of a call that could not be taken
            reported["status"] = "attention"
    else:
        assert isinstance(answer, FinishBeat)
        reported = {**answer.model_dump(), "reasoning": answer.reasoning or None}
    return BeatReport(**redact_values(reported, secrets), usage=result.usage, tool_calls=result.tool_calls)


def rubric(session: Session) -> str:
    """Return what stays the same from beat to beat of a session."""
    role = "the master session, which looks after the others" if session.is_master else "a worker session"
    return (
        f"You keep watch over `{session.name}`, {role}. If you cannot call `{FINISH_BEAT.name}` and nothing needs a "
        f"human, write `{session.beat.ack_token}` and nothing else."
    )


class PrescreenAnswer(BaseModel):
    """What the cheap model is asked for."""

    model_config = ConfigDict(extra="ignore")

    action: str
    reason: str = ""
    receipts: tuple[Receipt, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Screened:
    """What a cheap model decided, why, and what it cost."""

    action: Action
    reason: str
    usage: Usage
    error: str = ""
    """Why there is no answer, rather than one that escalates."""


@dataclass(frozen=True, slots=True)
class Minds:
    """Who thinks: `full` carries out the due tasks; `screen` looks first, where it is not None.

    `full` raises RunCancelled if the view's `cancel` was set, RunFailed where there is no report.
    """

    full: Callable[[BeatView], BeatReport]
    screen: Callable[[BeatView], Screened] | None = None


def prescreen(view: BeatView, model: Specialist, tools: Sequence[Tool], secrets: Collection[str]) -> Screened:
    """Return what the cheap model decides, without credentials; whatever goes wrong is `escalate`.

    A cancel is that, too: the beat looks for it itself.

    Raises:
        RunStopped: the process stops.
    """
    said = build_sections(view, only_changed=True)
    try:
        result = model.run(f"{view.run_id}-pre", RUBRIC, said, tools, spent_usd=view.spent_usd, cancel=view.cancel)
    except RunStopped:
        raise
    except RunFailed as error:
        log.warning("[triage] pre-screen failed: %s", error, extra={"action": "prescreen_failed"})
        return Screened(action=Action.ESCALATE, reason="no answer", usage=error.usage, error=str(error))
    assert isinstance(result.answer, LastWords)
    decision = escalated_for_doubt(parse_decision(result.answer.root), view, forced=result.convergence_forced)
    reason = redact(decision.reason, secrets)
    log.info("[triage] %s: %s", decision.action, reason, extra={"action": "prescreened"})
    return Screened(action=decision.action, reason=reason, usage=result.usage)


def escalated_for_doubt(decision: Decision, view: BeatView, *, forced: bool = False) -> Decision:
    """Return the decision, or `escalate` where it does not account for every due task or concerns a finding."""
    if decision.action is Action.ESCALATE:
        return decision
    doubts = {
        "doubt: the model had to be forced to answer": forced,
        "doubt: a due task has no receipt": bool(unanswered(view.tasks, decision.receipts)),
        "a receipt reports a finding": any(each.result == "finding" or each.finding for each in decision.receipts),
    }
    return next((Decision(Action.ESCALATE, why) for why, is_so in doubts.items() if is_so), decision)
