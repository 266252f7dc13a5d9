"""The parts of triage.yml about casework: briefs, how long cards wait, notes, long investigations, pages.

Also automatic replies and draft pull requests. Values only; bot/config/settings.py reads them.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from bot.config.field_types import (
    ClockTime,
    EscalationId,
    PerhapsFolder,
    PerhapsInterval,
    SettingsBlock,
)
from bot.domain.paging import AGAIN_AFTER

REMIND_AFTER = timedelta(hours=4)
EXPIRE_AFTER = timedelta(days=3)
KEEP_RUNS_FOR = timedelta(days=90)

_Argument = Annotated[str, Field(min_length=1)]


class BriefSettings(SettingsBlock):
    """What the ops channel is told at fixed times; nothing until a time is given."""

    morning: ClockTime | None = None
    """When the brief is said; null: never."""
    evening: ClockTime | None = None
    """When the report of the day is said; null: never. Both times are read on the clock of
    `working_hours.timezone`."""


class PageSettings(SettingsBlock):
    """What becomes of what pages while nobody acknowledges it; of findings where `heartbeat` says nothing."""

    again_after: PerhapsInterval = AGAIN_AFTER
    """How long after a page nobody acknowledged it rings again, and again; null: never."""
    then: EscalationId | None = None
    """Who is told, once, of a page nobody acknowledged for twice as long; a channel must be private."""


class EscalationSettings(SettingsBlock):
    """Long investigations outside the bot's own process; they need a model."""

    enabled: bool = True
    """false: no long run is ever started, not by the Escalate button either."""
    expected_runtime_min_threshold: Annotated[float, Field(ge=1, le=240)] = 10
    """Minutes a question must be expected to take before it is escalated without a first round."""
    command: Annotated[tuple[_Argument, ...], Field(min_length=1)] | None = None
    """Another harness, as an argument list with {rubric}, {question_file}, {codebase}, {out}; null: triage itself."""
    time_limit_min: Annotated[float, Field(gt=0, le=240)] = 30
    """Minutes after which a long run is ended; its thread then waits for a human."""
    transcript_dir: PerhapsFolder | None = None
    """Where transcript.log of a long run is written, in a folder of its thread's, and never removed by triage; null:
    in escalations/ of the data directory, where `keep_runs_for` removes it."""


def _switch_word(value: object) -> object:
    """Return the word that YAML takes for a truth value: `on` and `off` without quotes."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


Autonomy = Annotated[Literal["off", "shadow", "on"], BeforeValidator(_switch_word)]
"""Whether replies may be sent without a human."""


class FixSettings(SettingsBlock):
    """Draft pull requests of proposed patches; they need a token of the code host in the environment."""

    check: Annotated[tuple[_Argument, ...], Field(min_length=1)] | None = None
    """The program that runs the codebase's tests, such as `[make, test]`, in the patched files without .git; null:
    none.
    """

    def over(self, others: FixSettings) -> FixSettings:
        """Return these where they were given, else the others."""
        return others.model_copy(update={key: getattr(self, key) for key in self.model_fields_set})
