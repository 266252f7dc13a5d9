"""The validator that asks a model to break a draft, once the checks of code have nothing against it.

A draft that code refutes is not worth a model: it is bounced at once, for free. The model sees the whole return, the
lines that code printed, and what code could not check; it has one tool, read_file, in a fresh context. Its verdict
stands only as far as bot/domain/questions/verdict_rules.py lets it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from bot.agent.ledger import Ledger
from bot.agent.model_run import ModelUnavailable, OnProgress, RunCancelled, RunFailed
from bot.agent.prompts.prompt_sections import PromptSection
from bot.agent.specialist import Specialist
from bot.casework.checks.address_tool import address_tool, was_opened
from bot.casework.checks.validation import CodeValidator, Validation
from bot.casework.investigate.model_investigator import every_field_required
from bot.domain.questions.verdict_rules import enforce, problems_of
from bot.domain.returns import Check, InvestigatorReturn, Risk, Touches, ValidatorReturn, Verdict
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.domain.threads import ThreadState
from bot.ports import Clock

log = logging.getLogger(__name__)


class ValidatorAnswer(BaseModel):
    """A verdict on a draft; the schema asks for every field, in this order."""

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra=every_field_required)

    reasons: tuple[str, ...]
    spot_check_ref: str | None = None
    spot_check_note: str = ""
    spot_check_result: Literal["supports", "contradicts", "fabricated", "uncheckable"]
    schema_check: Literal["ok", "fail"]
    language_check: Literal["match", "mismatch"]
    confidence_language_match: Literal["match", "mismatch"]
    scope_drift: Literal["none", "minor", "major"]
    cross_investigation_consistency: str
    risk_gate_check: Literal["passes", "needs_high_confidence", "fails"]
    risk: Risk
    touches: Touches
    tone_assessment: Literal["matches", "off", "ai_smell"]
    bounce_feedback: str | None = None
    verdict: Verdict


MAX_PLACES: Final = 20
"""What a verdict remembers of the lines that were opened; the ledger has all."""

MAX_FIELD_CHARS: Final = 120
_OF_CODE: Final = {"investigator_round", "index_unfinished", "images_read", "images_problem", "owners"}
_SHOWN_APART: Final = {"draft_reply", "claims", "evidence_refs", *_OF_CODE}
"""The claims are the draft, the citations have sections of their own, and code alone fills in the rest."""


class ModelValidator:
    """Port Validator over the code checks and a model."""

    def __init__(self, code: CodeValidator, specialist: Specialist, clock: Clock) -> None:
        self._code, self._specialist, self._clock = code, specialist, clock

    def validate(
        self,
        state: ThreadState,
        *,
        run_id: str,
        summaries: Sequence[str] = (),
        on_progress: OnProgress | None = None,
    ) -> Validation:
        """Return the verdict of code on a draft that it refutes; else the model's, as the rules let it stand.

        There is none, with the checks kept, when the model's run failed.

        Raises:
            ModelUnavailable: the provider is away; the same may work later.
            ProviderError: git cannot be read, so nothing could be checked.
        """
        ret = state.investigator_return
        assert ret is not None
        by_code = self._code.validate(state, run_id=run_id)
        checks, ledger = by_code.checks, Ledger()
        if problems_of(checks):
            return by_code
        spent_usd = (state.usage.cost_usd if state.usage else None) or 0.0
        sections = _sections(state, ret, checks, summaries)
        sources = self._code.sources(state)
        tools = [address_tool(ret.evidence_refs, sources, ledger)]
        try:
            result = self._specialist.run(
                run_id, state.rubric or "", sections, tools, spent_usd=spent_usd, on_progress=on_progress
            )
        except (RunCancelled, ModelUnavailable):
            raise
        except RunFailed as error:
            log.warning("no verdict: %s", error, extra={"action": "validation_failed", "thread_id": state.thread_id})
            spent, limits = error.usage, error.limits()
            return Validation(ret=None, checks=checks, usage=spent, ledger=ledger, problem=str(error), limits=limits)
        assert isinstance(result.answer, ValidatorAnswer)
        opened = {ref.ref: was_opened(ref, sources, ledger) for ref in ret.evidence_refs}
        verdict = _ruled(self._said(result.answer, ledger), checks, state, opened)
        forced = result.convergence_forced
        return Validation(ret=verdict, checks=checks, usage=result.usage, ledger=ledger, convergence_forced=forced)

    def _said(self, answer: ValidatorAnswer, ledger: Ledger) -> ValidatorReturn:
        """Return the answer as a verdict, whatever a model wrote into its open field as one short line."""
        consistency = one_line(answer.cross_investigation_consistency, MAX_FIELD_CHARS)
        return ValidatorReturn(
            **{**answer.model_dump(), "cross_investigation_consistency": consistency},
            validator_model=self._specialist.model,
            read=_places(ledger),
            validated_at=self._clock.now(),
        )


def _places(ledger: Ledger) -> tuple[str, ...]:
    """Return the lines that the validator opened, each place once, in order."""
    return tuple(dict.fromkeys(f"{read.path}:{read.start}-{read.end}" for read in ledger.reads))[:MAX_PLACES]


def _sections(
    state: ThreadState, ret: InvestigatorReturn, checks: Sequence[Check], summaries: Sequence[str]
) -> Iterator[PromptSection]:
    """Yield what the validator sees: question, return, citations with their lines, open checks, other threads."""
    yield PromptSection(name="question", text=state.question, sender=state.original_sender_id)
    if state.images:
        seen = f"{counted(len(state.images), 'image')} beside the question; the investigator saw {ret.images_read}"
        yield PromptSection(name="images", text=seen, sender="code")
    draft = {"claims": [claim.model_dump(mode="json") for claim in ret.said_claims]}
    draft |= {name: value for name, value in ret.model_dump(mode="json", exclude=_SHOWN_APART).items() if value}
    yield PromptSection(name="draft", text=_json(draft), sender="the investigator")
    for index, ref in enumerate(ret.evidence_refs):
        shown = {"index": index, **ref.model_dump(mode="json")}
        yield PromptSection(name="evidence", text=_json(shown), sender="the investigator")
    unsure = [f"{check.name}: {check.reason}" for check in checks if check.ok is not True]
    if unsure:
        yield PromptSection(name="checks", text="\n".join(unsure), sender="code")
    if summaries:
        yield PromptSection(name="other_open_threads", text="\n".join(summaries))


def _ruled(
    said: ValidatorReturn, checks: Sequence[Check], state: ThreadState, opened: Mapping[str, bool | None]
) -> ValidatorReturn:
    """Return the verdict as the rules let it stand; a change is logged and is the first of its reasons."""
    ret = state.investigator_return
    assert ret is not None
    ruled = enforce(said, checks, confidence=ret.confidence, opened=opened)
    if ruled.verdict is said.verdict:
        return ruled
    log.warning(
        "verdict corrected from %s to %s: %s",
        said.verdict,
        ruled.verdict,
        "; ".join(ruled.reasons),
        extra={"action": "verdict_corrected", "thread_id": state.thread_id},
    )
    note = f"the validator said {said.verdict}; corrected to {ruled.verdict}, because its own findings forbid it"
    return ruled.model_copy(update={"reasons": (note, *ruled.reasons)})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
