"""A chat message as the bot sees it, and what the rules say of it.

Reads and writes nothing. The shapes are those of events.ndjson and events-classified.ndjson; the keys of a record
never change meaning, so that other programs can read the journals.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from bot.domain.frozen_value import KeepsUnknownFields


class MessageType(StrEnum):
    """What kind of message an event is about; `edit` and `delete` never start work by themselves."""

    TEXT = "text"
    IMAGE = "image"
    FILE = "file"
    THREAD_REPLY = "thread_reply"
    EDIT = "edit"
    DELETE = "delete"
    OTHER = "other"


class Sender(KeepsUnknownFields):
    """Who wrote a message: Slack's user id (or bot id) and which of the two it is."""

    model_config = ConfigDict(frozen=True)

    id: str
    type: Literal["user", "bot"] = "user"


class Event(KeepsUnknownFields):
    """One normalised chat message.

    `message_id` is the Slack ts of the message concerned (for `edit` and `delete`, of the message edited or deleted);
    `thread_id` is Slack's raw `thread_ts`, None for a root message.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    platform: str = "slack"
    team_id: str
    chat_id: str
    chat_name: str | None = None
    message_id: str
    create_time: AwareDatetime
    msg_type: MessageType = MessageType.TEXT
    content: str = ""
    thread_id: str | None = None
    sender: Sender
    mentions: tuple[str, ...] = ()
    event_id: str | None = None
    client_msg_id: str | None = None


class Classification(BaseModel):
    """What the rules found in one event; every field is written to events-classified.ndjson."""

    model_config = ConfigDict(frozen=True)

    is_bot_mention: bool
    is_question: bool
    is_ack_or_emoji: bool
    is_internal_chatter: bool
    mentions_thread_with_inflight: bool
    is_alarm: bool
    classification: Literal["actionable", "ack", "ambient"]
    classifier_confidence: Annotated[float, Field(ge=0, le=1)]
    classifier_version: str
    classified_at: datetime | None = None


def thread_key(event: Event) -> str:
    """Return the id of the thread an event belongs to (a Slack ts is unique only in its channel)."""
    return f"{event.team_id}.{event.chat_id}.{event.thread_id or event.message_id}"
