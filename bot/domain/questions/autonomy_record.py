"""What is on disk about replies that no human approved: conditions, judgements, the switch, what was sent. Pure."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from pydantic import AwareDatetime

from bot.domain.frozen_value import FrozenValue
from bot.errors import InputError

_REPLY_ID: Final = re.compile("[0-9a-f]{16}")


class AutonomyMode(StrEnum):
    """`autonomy` of triage.yml; `on`: an approver may arm it."""

    OFF = "off"
    SHADOW = "shadow"
    ON = "on"


class ConditionCode(StrEnum):
    """Conditions, as they stand on disk: of a draft, then of the team's record."""

    MENTIONED = "mentioned"
    QUESTION_TYPE = "question-type"
    CONFIDENCE = "confidence"
    CLAIMS = "claims"
    FIRST_ROUND = "first-round"
    RISK_GATE = "risk-gate"
    FIELDS = "fields"
    NO_PAGE = "no-page"
    NO_IDS = "no-ids"
    UNTOUCHED = "untouched"
    WORKING_HOURS = "working-hours"

    ENOUGH_DRAFTS = "enough-drafts"
    EVERY_WEEK = "every-week"
    FALSE_POSITIVES = "false-positives"
    PRODUCTION = "production"
    COUNTED = "counted"

    ARMED = "armed"
    ALONE = "alone"

    CLOCK = "clock"
    """Written by earlier releases, as is `journals`."""
    JOURNALS = "journals"


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


class Arming(FrozenValue):
    """The switch: who armed it and when, why it was disarmed last; `is_off`: a person stopped the shadow marks, too."""

    is_off: bool = False
    armed_by: str | None = None
    armed_at: AwareDatetime | None = None
    disarmed_at: AwareDatetime | None = None
    disarmed_by: str | None = None
    """None where it disarmed itself."""
    disarmed_for: tuple[Condition, ...] = ()

    @property
    def is_armed(self) -> bool:
        """Whether a person armed it, and nothing has disarmed it since."""
        return self.armed_by is not None

    def within(self, mode: AutonomyMode) -> AutonomyMode:
        """Return how the switch stands within what triage.yml allows; `on` is armed."""
        if mode is AutonomyMode.OFF or self.is_off:
            return AutonomyMode.OFF
        return AutonomyMode.ON if self.is_armed and mode is AutonomyMode.ON else AutonomyMode.SHADOW


class AutoReply(FrozenValue):
    """A reply that was sent automatically, and its audit card; it counts as a false positive once it is taken back."""

    id: str
    thread_id: str
    chat_id: str
    message_id: str
    question: str
    reply: str
    permalink: str | None = None
    at: AwareDatetime
    posted_message_id: str | None = None
    """None until the thread is closed: nothing may stand there yet."""
    card_channel: str | None = None
    card_ts: str | None = None
    taken_back_by: str | None = None
    taken_back_at: AwareDatetime | None = None
    is_withdrawn: bool = False
    """Whether the reply in the asker's thread says that it was taken back."""
    shows_taken_back: bool | None = None
    """What the card said last; None: there is no card."""

    @property
    def is_settled(self) -> bool:
        """Whether the card, and the reply, say how it stands."""
        is_back = self.taken_back_by is not None
        return self.shows_taken_back is is_back and self.is_withdrawn is is_back


def check_auto_reply_id(text: str) -> str:
    """Return an id if it has the form of one; raises InputError."""
    if not _REPLY_ID.fullmatch(text):
        raise InputError(f"{text[:40]!r} is not the id of an automatic reply")
    return text
