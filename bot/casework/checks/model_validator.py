"""The validator that asks a model: code checks first, then a run with fresh context that is told to break the draft.

The model sees the draft and its evidence, not the investigator's reasoning, and can only open files.
bot/casework/checks/validation.py corrects its verdict; what was corrected is logged and added to the reasons.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from typing import Final

from bot.agent.ledger import Ledger
from bot.agent.model_run import ModelUnavailable, OnProgress, RunFailed, RunStopped
from bot.agent.prompts.prompt_sections import PromptSection
from bot.agent.specialist import Specialist
from bot.casework.checks.validation import CodeValidator, Validation, enforce_checks
from bot.casework.investigate.model_investigator import ToolsFor, ValidatorAnswer
from bot.domain.returns import Check, InvestigatorReturn, ValidatorReturn
from bot.domain.threads import ThreadState
from bot.ports import Clock

log = logging.getLogger(__name__)

ONLY_TOOL: Final = "read_file"
MAX_PLACES: Final = 20
"""What a verdict remembers of the lines that were opened; the ledger has all."""

_SHOWN: Final = {"draft_reply", "draft_language", "gloss", "confidence", "open_questions", "proposed_patch"}
_NO_CONTRADICTION: Final = frozenset({"consistent", "no_overlap"})


class ModelValidator:
    """Port Validator over the code checks and a model."""

    def __init__(self, code: CodeValidator, specialist: Specialist, tools_for: ToolsFor, clock: Clock) -> None:
        self._code, self._specialist, self._tools_for, self._clock = code, specialist, tools_for, clock

    def validate(
        self,
        state: ThreadState,
        *,
        run_id: str,
        summaries: Sequence[str] = (),
        on_progress: OnProgress | None = None,
    ) -> Validation:
        """Return the model's verdict as the rules let it stand; none, with the checks kept, when its run failed.

        Raises:
            ModelUnavailable: the provider is away; the same may work later.
            ProviderError: git cannot be read, so nothing could be checked.
        """
        assert state.investigator_return is not None
        checks = self._code.validate(state, run_id=run_id).checks
        ledger = Ledger()
        spent_usd = (state.usage.cost_usd if state.usage else None) or 0.0
        sections = _sections(state, state.investigator_return, checks, summaries)
        tools = [tool for tool in self._tools_for(ledger) if tool.name == ONLY_TOOL]
        try:
            result = self._specialist.run(
                run_id, state.rubric or "", sections, tools, spent_usd=spent_usd, on_progress=on_progress
            )
        except (RunStopped, ModelUnavailable):
            raise
        except RunFailed as error:
            log.warning("no verdict: %s", error, extra={"action": "validation_failed", "thread_id": state.thread_id})
            spent, limits = error.usage, error.limits()
            return Validation(ret=None, checks=checks, usage=spent, ledger=ledger, problem=str(error), limits=limits)
        assert isinstance(result.answer, ValidatorAnswer)
        said = self._said(result.answer, summaries).model_copy(update={"read": _places(ledger)})
        ret = _corrected(said, checks, state, ledger)
        forced = result.convergence_forced
        return Validation(ret=ret, checks=checks, usage=result.usage, ledger=ledger, convergence_forced=forced)

    def _said(self, answer: ValidatorAnswer, summaries: Sequence[str]) -> ValidatorReturn:
        """Return the answer as a verdict; a contradiction with a thread that is not open is none."""
        known = {f"contradicts_{summary.split(maxsplit=1)[0]}" for summary in summaries} | _NO_CONTRADICTION
        said = answer.model_dump()
        if answer.cross_investigation_consistency not in known:
            said["cross_investigation_consistency"] = "no_overlap"
        return ValidatorReturn(**said, validator_model=self._specialist.model, validated_at=self._clock.now())


def _places(ledger: Ledger) -> tuple[str, ...]:
    """Return the lines that the validator opened, each place once, in order."""
    return tuple(dict.fromkeys(f"{read.path}:{read.start}-{read.end}" for read in ledger.reads))[:MAX_PLACES]


def _sections(
    state: ThreadState, ret: InvestigatorReturn, checks: Sequence[Check], summaries: Sequence[str]
) -> Iterator[PromptSection]:
    """Yield what the validator may see: the question, the draft with its evidence, the checks, the other threads."""
    yield PromptSection(name="question", text=state.question, sender=state.original_sender_id)
    draft = ret.model_dump(mode="json", include=_SHOWN)
    yield PromptSection(name="draft", text=_json(draft), sender="the investigator")
    for ref in ret.evidence_refs:
        yield PromptSection(name="evidence", text=_json(ref.model_dump(mode="json")), sender="the investigator")
    yield PromptSection(name="checks", text="\n".join(_json(check.model_dump()) for check in checks), sender="code")
    if summaries:
        yield PromptSection(name="other_open_threads", text="\n".join(summaries))


def _corrected(said: ValidatorReturn, checks: Sequence[Check], state: ThreadState, ledger: Ledger) -> ValidatorReturn:
    """Return the verdict as the rules let it stand; a change is logged and is the first of its reasons."""
    ruled = enforce_checks(said, checks, state.evidence_refs, ledger)
    if ruled.verdict is said.verdict:
        return ruled
    log.warning(
        "verdict corrected from %s to %s: %s",
        said.verdict,
        ruled.verdict,
        "; ".join(ruled.reasons),
        extra={"action": "verdict_corrected", "thread_id": state.thread_id},
    )
    note = (
        f"the validator said {said.verdict}; corrected to {ruled.verdict}, because its findings or the checks forbid it"
    )
    return ruled.model_copy(update={"reasons": (note, *ruled.reasons)})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
