"""What an investigating model or another harness answers, and the return that code makes of it. Pure.

The wire schema asks for every field and no other: addresses without quotes, a draft in claims, reasons before
judgements. What arrives may be less. A harness or a server without schemas may answer with `draft_reply` instead of
claims, and with quotes; those are kept, so that the checks can hold them against their lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidatorFunctionWrapHandler, WithJsonSchema, WrapValidator, model_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic.types import StrictInt

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
from bot.domain.threads import QuestionType


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
