"""The validator that asks a model to break a draft, once the checks of code have nothing against it.

A draft that code refutes is not worth a model: it is bounced at once, for free. The model sees the whole return, the
lines that code printed, and what code could not check; it has one tool, read_file, in a fresh context. Its verdict
stands only as far as bot/domain/questions/verdict_rules.py lets it.

The validator's `read_file`: it takes one address and shows what stands there, whatever the address is of.

What it showed stands in the validator's own ledger, where the rules look up whether a spot check was made.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.agent.ledger import Ledger
from bot.agent.model_run import ModelUnavailable, OnProgress, RunCancelled, RunFailed
from bot.agent.prompts import PromptSection
from bot.agent.specialist import Specialist
from bot.agent.tools.base import MAX_PATH_CHARS, Arguments, Line, Tool, ToolProblem, fitting, number, quote_line
from bot.casework.checks.addresses import CALL_LINES, resolve
from bot.casework.checks.sources import Lines, Missing, Sources
from bot.casework.checks.validation import CodeValidator, Validation
from bot.casework.investigate.model_investigator import every_field_required
from bot.domain.citations.citation_lines import MAX_LINES, parse_lines
from bot.domain.questions.verdict_rules import enforce, problems_of
from bot.domain.returns import (
    Check,
    EvidenceKind,
    EvidenceRef,
    InvestigatorReturn,
    Risk,
    Touches,
    ValidatorReturn,
    Verdict,
)
from bot.domain.secrets import redact_patch
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.domain.threads import ThreadState
from bot.errors import ProviderError, StoreError
from bot.ports import Clock

MAX_PATCH_LINES: Final = 400
DESCRIPTION: Final = (
    "Open an address: lines of a file (path:start-end), a commit (its id), lines of a tool result of the investigator "
    f"(call:start-end), lines of a note (memory/name.md:start-end). At most {MAX_LINES} lines at once."
)
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
_NOTE: Final = re.compile(r"memory/.+\.md(?::[0-9-]+)?")


class OpenAddress(Arguments):
    """What to open."""

    address: Annotated[Line, Field(max_length=MAX_PATH_CHARS, description="One address, as the citations write it.")]


def address_tool(refs: Sequence[EvidenceRef], sources: Sources, ledger: Ledger) -> Tool:
    """Return the tool over the sources of a draft; `refs` are its citations, `ledger` is of whoever calls it.

    A file that the draft cites is opened at the commit that it was read at, any other one at HEAD.
    """
    call = partial(_open, refs, sources, ledger)
    return Tool(name="read_file", description=DESCRIPTION, call=call, arguments=OpenAddress)


def was_opened(ref: EvidenceRef, sources: Sources, ledger: Ledger) -> bool | None:
    """Whether the tool showed all lines of a citation to the run of this ledger; None where nobody can open it."""
    found = resolve(ref, sources)
    return ledger.covers(found.source, found.start, found.end) if isinstance(found, Lines) else None


def _open(refs: Sequence[EvidenceRef], sources: Sources, ledger: Ledger, given: OpenAddress) -> str:
    ref = _ref(given.address.strip(" `"), refs, sources)
    try:
        found = resolve(ref, sources)
    except (ProviderError, StoreError) as error:
        raise ToolProblem("read_file failed; open another address") from error
    if isinstance(found, Missing):
        raise ToolProblem(found.why)
    text = "\n".join(found.lines)
    ledger.record_read(found.source, found.start, found.end, commit=found.commit or "", text=text)
    return "\n".join([_heading(found), *map(number, found.shown, range(found.start, found.end + 1)), *_rest(found)])


def _ref(address: str, refs: Sequence[EvidenceRef], sources: Sources) -> EvidenceRef:
    """Return an address as the citation that it would be; what the draft itself cites so, as it cites it."""
    same = next((ref for ref in refs if ref.ref == address), None)
    if same is not None:
        return same
    if CALL_LINES.fullmatch(address):
        return EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref=address)
    if _COMMIT.fullmatch(address):
        return EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=address)
    if _NOTE.fullmatch(address):
        return EvidenceRef(kind=EvidenceKind.MEMORY, ref=address)
    return EvidenceRef(kind=EvidenceKind.FILE, ref=address, commit=_commit(address, refs, sources))


def _commit(address: str, refs: Sequence[EvidenceRef], sources: Sources) -> str | None:
    cited = parse_lines(address)
    if cited is None:
        return None
    of_draft = (ref for ref in refs if ref.kind is EvidenceKind.FILE and ref.commit)
    known = (ref.commit for ref in of_draft if (other := parse_lines(ref.ref)) and other.path == cited.path)
    return next(known, None) or sources.read_at(cited)


def _heading(found: Lines) -> str:
    at = f" at {found.commit[:12]}" if found.commit and found.path else ""
    what = found.place or found.about or (f"result of {found.tool}" if found.tool else "")
    more = f"\ncaution: {found.caution}" if found.caution else ""
    return f"{found.source} lines {found.start}-{found.end}{at}{f', {what}' if what else ''}{more}"


def _rest(found: Lines) -> list[str]:
    """Return a commit's patch behind its message."""
    patch = redact_patch("\n".join(found.extra), ()).split("\n") if found.extra else []
    kept = fitting([quote_line(line) for line in patch], max_lines=MAX_PATCH_LINES)
    return [*kept, f"truncated: {len(kept)} of {len(patch)} lines shown"] if len(kept) < len(patch) else kept


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
