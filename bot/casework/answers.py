"""What the two models are asked to hand back: the returns without the fields that only code may fill.

No model names a commit, a round, itself or the time. What it adds to the shape is ignored.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from bot.domain.returns import EvidenceKind, ProposedPatch, TriageFile, Verdict


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Citation(_Answer):
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
    evidence_refs: tuple[Citation, ...] = ()
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
