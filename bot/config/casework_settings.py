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
    """When the report of the day is said; null: never. Both are on the clock of `working_hours.timezone`."""


class PageSettings(SettingsBlock):
    """What follows a page that nobody acknowledges."""

    again_after: PerhapsInterval = AGAIN_AFTER
    """How often such a page rings again; null: never."""
    then: EscalationId | None = None
    """Who is told once after twice as long; a channel must be private."""


class EscalationSettings(SettingsBlock):
    """Long investigations outside the bot's own process; they need a model."""

    enabled: bool = True
    """false: no long run is started, by nobody."""
    expected_runtime_min_threshold: Annotated[float, Field(ge=1, le=240)] = 10
    """A question expected to take so many minutes is escalated at once."""
    command: Annotated[tuple[_Argument, ...], Field(min_length=1)] | None = None
    """Another harness, with {rubric}, {question_file}, {codebase}, {out}; null: triage itself."""
    time_limit_min: Annotated[float, Field(gt=0, le=240)] = 30
    """Minutes after which a long run is ended."""
    transcript_dir: PerhapsFolder | None = None
    """Where long runs write transcript.log, a folder a thread, never removed; null: in the data directory."""


def _switch_word(value: object) -> object:
    """Return the word that YAML takes for a truth value: `on` and `off` without quotes."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


Autonomy = Annotated[Literal["off", "shadow", "on"], BeforeValidator(_switch_word)]
"""Whether replies may be sent without a human."""


class FixSettings(SettingsBlock):
    """Draft pull requests of proposed patches; they need a token of the code host in the environment."""

    check: Annotated[tuple[_Argument, ...], Field(min_length=1)] | None = None
    """What runs the tests in the patched files, such as `[make, test]`; null: nothing."""

    def over(self, others: FixSettings) -> FixSettings:
        """Return these where they were given, else the others."""
        return others.model_copy(update={key: getattr(self, key) for key in self.model_fields_set})
