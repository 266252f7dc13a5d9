"""The investigator that asks a model: a prompt of delimited data in, a draft with citations pinned to commits out.

Also the answer types of both models: the returns without the fields that only code fills (commit, round, model, time).
Code takes the commit of each citation from the ledger, and removes this process's secrets from every return.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from bot.agent.git.repositories import Repositories
from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.agent.prompts.prompt_sections import PromptSection
from bot.agent.specialist import Specialist
from bot.agent.tools.base import Tool
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn, ProposedPatch, TriageFile, Verdict
from bot.domain.secrets import redact_values

ToolsFor = Callable[[Ledger], Sequence[Tool]]
"""Returns the tools of one run, which write down what they do in its ledger."""

CommitOf = Callable[[str], str]
"""From a cited path to the commit that was HEAD of its repository when the run began."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class AnswerCitation(_Answer):
    """One citation, at no particular commit: code fills in the one that was read."""

    kind: EvidenceKind
    ref: str
    quote: str = ""
    supports_claim: str = ""


class InvestigatorAnswer(_Answer):
    """A draft with its evidence."""

    confidence: Literal["high", "medium", "low"]
    confidence_reason: str
    summary_for_orchestrator: str
    draft_reply: str
    draft_language: str = "en"
    gloss: str | None = None
    evidence_refs: tuple[AnswerCitation, ...] = ()
    proposed_triage_file: TriageFile | None = None
    proposed_patch: ProposedPatch | None = None
    open_questions: tuple[str, ...] = ()
    escalation_requested: bool = False
    escalation_reason: str | None = None
    research_notes: str = ""


class ValidatorAnswer(_Answer):
    """A verdict on a draft, field by field."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    spot_check_ref: str | None = None
    spot_check_result: Literal["supports", "contradicts", "fabricated", "uncheckable"]
    spot_check_note: str = ""
    schema_check: Literal["ok", "fail"]
    confidence_language_match: Literal["match", "mismatch"]
    scope_drift: Literal["none", "minor", "major"]
    cross_investigation_consistency: str = "no_overlap"
    risk_gate_check: Literal["passes", "needs_high_confidence", "fails"]
    tone_assessment: Literal["matches", "off", "ai_smell"]
    bounce_feedback: str | None = None


class ModelInvestigator:
    """Port Investigator over a model."""

    def __init__(
        self, specialist: Specialist, tools_for: ToolsFor, repos: Repositories, *, secrets: Collection[str] = ()
    ) -> None:
        self._specialist, self._tools_for, self._repos = specialist, tools_for, repos
        self._secrets = secrets

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return the model's draft.

        Raises:
            RunFailed: there is no answer; it says why and carries the usage.
            ConfigError: the codebase has no commit.
        """
        ledger, at_head = Ledger(), pin_at_head(self._repos)
        result = self._specialist.run(
            run_id,
            assignment.rubric,
            sections_of(assignment),
            self._tools_for(ledger),
            spent_usd=assignment.spent_usd,
            on_progress=on_progress,
            effort="high" if assignment.feedback else None,
        )
        assert isinstance(result.answer, InvestigatorAnswer)
        ret = pinned_return(result.answer, ledger, at_head, assignment.round)
        return Investigation(
            ret=without_secrets(self._secrets, ret),
            ledger=ledger,
            usage=result.usage,
            investigator=self._specialist.model,
            convergence_forced=result.convergence_forced,
        )


def sections_of(given: Assignment) -> Iterator[PromptSection]:
    """Yield the data of a brief, the question first; what is empty is left out."""
    yield PromptSection(name="question", text=given.question, sender=given.asked_by)
    yield from (
        PromptSection(name="thread_message", text=said.text, sender=said.sender) for said in given.thread_context
    )
    yield from (PromptSection(name="added_context", text=said.text, sender=said.sender) for said in given.human_context)
    for hit in given.memory_hits:
        cautioned = f"caution: {hit.caution}\n" if hit.caution else ""
        yield PromptSection(name="memory", text=f"{cautioned}{hit.title}\n{hit.excerpt}", sender=hit.ref)
    if given.codebases:
        yield PromptSection(name="codebases_of_channel", text=", ".join(given.codebases), sender="triage.yml")
    if given.trace_notes:
        yield PromptSection(name="stack_trace", text=given.trace_notes, sender="the index and git")
    if given.summaries:
        yield PromptSection(name="other_open_threads", text="\n".join(given.summaries))
    if given.feedback:
        yield PromptSection(name="feedback", text=given.feedback, sender="the checks and the validator")


def pin_at_head(repos: Repositories) -> CommitOf:
    """Return where the HEADs are now, for citations of what no ledger shows; raises as `heads`."""
    heads = repos.heads()
    return lambda path: heads.get(repos.locate(path).repo.root) or next(iter(heads.values()))


def pinned_return(answer: InvestigatorAnswer, ledger: Ledger, at_head: CommitOf, number: int) -> InvestigatorReturn:
    """Return a model's answer with the commit at which each cited file was read, else that of `at_head`."""
    refs = tuple(_pinned(citation, ledger, at_head) for citation in answer.evidence_refs)
    said = answer.model_dump(exclude={"evidence_refs"})
    return InvestigatorReturn(**said, evidence_refs=refs, investigator_round=number)


def _pinned(citation: AnswerCitation, ledger: Ledger, at_head: CommitOf) -> EvidenceRef:
    """Return the citation with the commit at which the ledger says its lines were read, else HEAD as the run began."""
    cited = parse_lines(citation.ref) if citation.kind is EvidenceKind.FILE else None
    if cited is None:
        commit = at_head("") if citation.kind is EvidenceKind.FILE else None
        return EvidenceRef(**citation.model_dump(), commit=commit)
    commits = [read.commit for read in reversed(ledger.reads)]
    read_at = next((commit for commit in commits if ledger.covers(*cited, commit=commit)), None)
    return EvidenceRef(**citation.model_dump(), commit=read_at or at_head(cited.path))


def without_secrets(secrets: Collection[str], ret: InvestigatorReturn) -> InvestigatorReturn:
    """Return the draft with every credential blacked out, this process's own included, wherever they stand."""
    return InvestigatorReturn.model_validate(redact_values(ret.model_dump(), secrets))
