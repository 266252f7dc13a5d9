"""What a validating model answers: its reasons first, then field by field, the verdict last. Pure."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from bot.casework.investigate.investigator_answer import every_field_required
from bot.domain.returns import Risk, Touches, Verdict


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
