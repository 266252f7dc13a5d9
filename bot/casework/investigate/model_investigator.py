"""The investigator that asks a model: a prompt of delimited data in, a draft whose cited lines code prints out.

A cited file is printed at the commit at which the ledger says it was read. This process's secrets are removed from
every return.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidatorFunctionWrapHandler, WithJsonSchema, WrapValidator, model_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic.types import StrictInt

from bot.agent.git.repositories import Repositories
from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.agent.prompts import PromptSection
from bot.agent.specialist import Specialist
from bot.agent.tools.base import Tool
from bot.casework.checks.addresses import print_evidence
from bot.casework.checks.sources import Sources
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.domain.returns import (
    Claim,
    ClaimKind,
    EvidenceKind,
    InvestigatorReturn,
    ProposedPatch,
    Risk,
    Touches,
    TriageFile,
    in_paragraphs,
    join_claims,
)
from bot.domain.secrets import redact_values
from bot.domain.text.humanize import unread_images
from bot.domain.threads import QuestionType
from bot.errors import ProviderError
from bot.ports import Attachments, Image, NoteStore

log = logging.getLogger(__name__)


def every_field_required(schema: dict[str, Any]) -> None:
    """Have a schema ask for every field, in order; what arrives may still be less."""
    for field in schema["properties"].values():
        field.pop("default", None)
        field.pop("title", None)
    schema["required"] = list(schema["properties"])


def _unless_known(instead: object) -> Callable[[object, ValidatorFunctionWrapHandler], object]:
    """Return a validator that reads a value nobody knows as `instead`."""

    def read(value: object, known: ValidatorFunctionWrapHandler) -> object:
        try:
            return known(value)
        except ValueError:
            return instead

    return read


def _one_of(*values: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": [str(value) for value in values]})


_NOT_SAID: Final = WrapValidator(_unless_known(None))


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra=every_field_required)


class AnswerCitation(_Answer):
    """One address and what the lines there show; code fills in the commit and prints the lines."""

    kind: EvidenceKind
    ref: str
    supports_claim: str = ""
    quote: SkipJsonSchema[str] = ""


class AnswerClaim(_Answer):
    """One sentence of the draft; `cites` are the indexes of evidence_refs it rests on, counted from 0."""

    text: str
    kind: Annotated[ClaimKind, WrapValidator(_unless_known(ClaimKind.FACT))] = ClaimKind.FACT
    cites: Annotated[tuple[StrictInt, ...], WrapValidator(_unless_known(()))] = ()


class InvestigatorAnswer(_Answer):
    """A draft with its evidence: what was found, then what is said, then what that is worth."""

    research_notes: str = ""
    evidence_refs: tuple[AnswerCitation, ...] = ()
    claims: tuple[AnswerClaim, ...] = ()
    open_questions: tuple[str, ...] = ()
    question_type: Annotated[QuestionType | None, _NOT_SAID, _one_of(*QuestionType)] = None
    risk: Annotated[Risk | None, _NOT_SAID, _one_of(*get_args(Risk))] = None
    touches: Annotated[Touches | None, _NOT_SAID, _one_of(*get_args(Touches))] = None
    proposed_triage_file: TriageFile | None = None
    proposed_patch: ProposedPatch | None = None
    summary_for_orchestrator: str
    question_language: Annotated[str | None, WithJsonSchema({"type": "string"})] = None
    draft_language: str = "en"
    gloss: str | None = None
    confidence_reason: str
    confidence: Literal["high", "medium", "low"]
    escalation_requested: bool = False
    escalation_reason: str | None = None
    draft_reply: SkipJsonSchema[str] = ""

    @model_validator(mode="after")
    def _holds_a_draft(self) -> Self:
        if self.model_fields_set.isdisjoint({"claims", "draft_reply"}):
            raise ValueError("claims: Field required")
        return self

    def as_return(self, number: int) -> InvestigatorReturn:
        """Return it as the return of round `number`, with the draft that its claims make."""
        claims = tuple(Claim(**one.model_dump()) for one in self.claims if one.text.strip())
        said = self.model_dump(exclude={"claims", "draft_reply"})
        draft = join_claims(claims) or self.draft_reply
        ret = InvestigatorReturn(**said, claims=claims, draft_reply=draft, investigator_round=number)
        return ret if claims else ret.evolve(claims=tuple(in_paragraphs(ret.said_claims)))


MAX_IMAGES: Final = 4
ToolsFor = Callable[[Ledger, Collection[str]], Sequence[Tool]]
"""Returns the tools of one run about some codebases, which write down what they do in its ledger."""


class ModelInvestigator:
    """Port Investigator over a model."""

    def __init__(
        self,
        specialist: Specialist,
        tools_for: ToolsFor,
        repos: Repositories,
        *,
        notes: NoteStore | None = None,
        attachments: Attachments | None = None,
        secrets: Collection[str] = (),
    ) -> None:
        self._specialist, self._tools_for, self._repos = specialist, tools_for, repos
        self._notes, self._attachments, self._secrets = notes, attachments, secrets

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return the model's draft.

        Raises:
            RunFailed: there is no answer; it says why and carries the usage.
            ConfigError: the codebase has no commit.
            ProviderError: git cannot read what is cited.
            StoreError: the notes cannot be read.
        """
        ledger, repos = Ledger(), self._repos.about(assignment.codebases)
        heads = repos.heads()
        images, problem = self._read_images(assignment)
        result = self._specialist.run(
            run_id,
            assignment.rubric,
            sections_of(assignment, unread=len(assignment.images) - len(images)),
            self._tools_for(ledger, assignment.codebases),
            spent_usd=assignment.spent_usd,
            on_progress=on_progress,
            effort="high" if assignment.feedback else None,
            images=images,
            ledger=ledger,
        )
        assert isinstance(result.answer, InvestigatorAnswer)
        sources = Sources(repo=repos, ledger=ledger, notes=self._notes, known_secrets=self._secrets, heads=heads)
        return Investigation(
            ret=return_of(result.answer, assignment.round, sources).evolve(
                images_read=result.images_shown, images_problem=problem
            ),
            ledger=ledger,
            usage=result.usage,
            investigator=self._specialist.model,
            convergence_forced=result.convergence_forced,
            images=tuple(f"{one.media_type}, {len(one.data)} bytes" for one in images[: result.images_shown]),
        )

    def _read_images(self, assignment: Assignment) -> tuple[list[Image], str | None]:
        """Return the first images of the question, and the chat's word for why one is not read; the log has all."""
        images, problem = list[Image](), None
        if self._attachments is None:
            return images, problem
        for number, file_id in enumerate(assignment.images, start=1):
            try:
                if number > MAX_IMAGES:
                    raise ProviderError(f"at most {MAX_IMAGES} are read of a question")
                images.append(self._attachments.image(file_id))
            except ProviderError as error:
                problem = problem or error.code
                log.warning("an image was not read: %s", error, extra={"action": "image_unread", "file": file_id})
        return images, problem


def sections_of(given: Assignment, *, unread: int = 0) -> Iterator[PromptSection]:
    """Yield the data of a brief, the question first; what is empty is left out. `unread` images are not shown."""
    yield PromptSection(name="question", text=given.question, sender=given.asked_by)
    if unread:
        yield PromptSection(name="images", text=unread_images(unread), sender="triage")
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


def return_of(answer: InvestigatorAnswer, number: int, sources: Sources) -> InvestigatorReturn:
    """Return the answer of round `number` with the lines that it cites, and without any credential in any field.

    Raises as `print_evidence`.
    """
    ret = print_evidence(answer.as_return(number), sources)
    return InvestigatorReturn.model_validate(redact_values(ret.model_dump(), sources.known_secrets))
