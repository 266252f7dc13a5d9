"""A chat message as the bot sees it, and what the rules say of it.

Reads and writes nothing. The shapes are those of events.ndjson and events-classified.ndjson; the keys of a record
never change meaning, so that other programs can read the journals.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from bot.domain.alerts import Alert
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


def is_direct(chat_id: str) -> bool:
    """Whether a chat is a person's direct messages with the bot.

    >>> is_direct("D0ANA"), is_direct("C0HELP")
    (True, False)
    """
    return chat_id.startswith("D")


class Event(KeepsUnknownFields):
    """One normalised chat message.

    `message_id` is the Slack ts of the message concerned (for `edit` and `delete`, of the message edited or deleted);
    `thread_id` is Slack's raw `thread_ts`, None for a root message. `images` are Slack's file ids. `edited_ts` is
    Slack's time of an `edit`, None where it gives none. `alert` is what the message of a listed alert bot says, None
    for every other message.
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
    edited_ts: str | None = None
    images: tuple[str, ...] = ()
    alert: Alert | None = None

    @property
    def is_direct(self) -> bool:
        """Whether it was written to the bot alone."""
        return is_direct(self.chat_id)

    @property
    def alert_state(self) -> str | None:
        """The state of its alert, which the rules read; None where it is none."""
        return self.alert.state.value if self.alert else None


class Classification(BaseModel):
    """What the rules found in one event; every field is written to events-classified.ndjson."""

    model_config = ConfigDict(frozen=True, defer_build=True)

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


def delivery_names(event: Event) -> list[tuple[str, ...]]:
    """Return every name under which the same happening may be delivered again.

    A shared channel has one id in all its teams, and earlier versions wrote down whichever team Slack named. An edit
    that is read back has no event id, and Slack tells the time of edits in whole seconds.
    """
    place = (event.chat_id,)
    if event.msg_type is MessageType.EDIT:
        text = f"{event.content}{event.alert_state or ''}"  # the state of an alert may be a colour
        shown = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]  # an index takes no name of some KB
        edit = (*place, event.message_id, "edit")
        at = [(*edit, event.edited_ts, shown)] if event.edited_ts else []
        return [*at, *([(*edit, event.event_id)] if event.event_id else [])] or [(*edit, shown)]
    if event.msg_type is MessageType.DELETE:
        return [(*place, event.message_id, "delete")]
    keys: list[tuple[str, ...]] = [(*place, event.message_id)]
    if event.client_msg_id:
        keys.append((*place, "client", event.client_msg_id))
    return keys


_TOLD_APART_BY = ("team_id", "chat_id", "message_id", "msg_type", "event_id", "edited_ts")


def record_key(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what tells a journaled message from all others; that of its line in either journal."""
    return tuple(str(record.get(key)) for key in _TOLD_APART_BY)


def names_of_record(record: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return under which names a journaled message may be delivered again; none where the record holds no message."""
    try:
        return delivery_names(Event.model_validate(record))
    except ValueError:
        return []
