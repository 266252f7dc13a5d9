"""The part of triage.yml about long investigations: when one starts, who carries it out, for how long at most.

Values only; bot/settings.py reads them.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Argument = Annotated[str, Field(min_length=1)]


class EscalationSettings(BaseModel):
    """Long investigations outside the bot's own process; they need a model."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    enabled: bool = True
    """false: no long run is ever started, not by the Escalate button either."""
    expected_runtime_min_threshold: Annotated[float, Field(ge=1, le=240)] = 10
    """Minutes a question must be expected to take before it is escalated without a first round."""
    command: Annotated[tuple[_Argument, ...], Field(min_length=1)] | None = None
    """Another harness, as an argument list with {rubric}, {question_file}, {codebase}, {out}; null: triage itself."""
    time_limit_min: Annotated[float, Field(gt=0, le=240)] = 30
    """Minutes after which a long run is ended; its thread then waits for a human."""
