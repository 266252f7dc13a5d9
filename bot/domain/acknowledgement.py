"""What the asker sees while their question is being looked into: a reaction, or one line that only they see. Pure.

The reaction follows from the state of the thread alone, so after a crash at any moment the right one is known.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Literal

from pydantic import AwareDatetime

from bot.domain.frozen_value import FrozenValue
from bot.domain.threads import PendingReason, ThreadState, check_thread_id

AcknowledgeMode = Literal["reaction", "ephemeral", "none"]
"""How the asker hears that their question is being looked into."""

TELL_WITHIN: Final = timedelta(hours=1)
"""How old a question may be for its asker to be told in words: later nobody waits in front of the channel."""


class Reaction(StrEnum):
    """What stands on a question, by Slack's name for the emoji."""

    WORKING = "eyes"
    ANSWERED = "white_check_mark"


class Acknowledgement(FrozenValue):
    """What was done about one question's asker; nothing yet where all is empty."""

    thread_id: str = ""
    may_stand: tuple[Reaction, ...] = ()
    """Reactions that were begun to be set and are not known to be removed: on file before each is set."""
    stands: Reaction | None = None
    """The reaction that Slack confirmed; None: none, or nobody knows."""
    is_refused: bool = False
    """Whether Slack refused for good to set one; it is not asked again."""
    told_at: AwareDatetime | None = None
    """When the asker was told in words; on file before it is said, so it is said at most once."""


def acknowledgement_id(state: ThreadState) -> str:
    """Return under which id a question's acknowledgement is on file: that of a thread that begins with the question."""
    return check_thread_id(f"{state.team_id}.{state.chat_id}.{state.original_message_id}")


def wanted_reaction(state: ThreadState) -> Reaction | None:
    """Return what is to stand on the question of a thread that was investigated, or None for nothing.

    Nothing stands where nobody works on an answer any more: the thread is closed without a reply, or the
    investigation failed or was stopped.
    """
    if state.posted_message_id is not None:
        return Reaction.ANSWERED
    if not state.is_open or state.pending_reason in (PendingReason.FAILED, PendingReason.STOPPED):
        return None
    return Reaction.WORKING


def may_be_told(state: ThreadState, now: datetime) -> bool:
    """Whether the asker of a question can be told in words: a person, who asked lately."""
    return state.is_from_person and now.timestamp() - float(state.original_message_id) < TELL_WITHIN.total_seconds()
