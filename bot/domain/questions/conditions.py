"""What must hold before a reply is sent without a human, as values on disk; the rules are in auto_reply.py. Pure."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime

from bot.domain.frozen_value import FrozenValue


class AutonomyMode(StrEnum):
    """`autonomy` of triage.yml; `on`: may be armed."""

    OFF = "off"
    SHADOW = "shadow"
    ON = "on"


class ConditionCode(StrEnum):
    """Conditions, as they stand on disk: of a draft, of the team's record, of what the record rests on."""

    MENTIONED = "mentioned"
    QUESTION_TYPE = "question-type"
    CONFIDENCE = "confidence"
    FIRST_ROUND = "first-round"
    RISK_GATE = "risk-gate"
    UNTOUCHED = "untouched"
    WORKING_HOURS = "working-hours"

    ENOUGH_DRAFTS = "enough-drafts"
    EVERY_WEEK = "every-week"
    FALSE_POSITIVES = "false-positives"
    PRODUCTION = "production"
    COUNTED = "counted"

    ARMED = "armed"
    CLOCK = "clock"
    JOURNALS = "journals"
    ALONE = "alone"


class Condition(FrozenValue):
    """One condition; `said` is its figure, for people."""

    code: ConditionCode
    holds: bool
    said: str


class AutoJudgement(FrozenValue):
    """What code found of one draft, at the moment it was ready."""

    at: AwareDatetime
    draft_hash: str
    mode: AutonomyMode
    qualifies: bool
    """Whether the draft itself met everything; `conditions` may name what the team's record lacked."""
    conditions: tuple[Condition, ...]

    @property
    def missing(self) -> tuple[Condition, ...]:
        """What did not hold."""
        return tuple(one for one in self.conditions if not one.holds)
