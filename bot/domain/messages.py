"""A chat message as the rules read it: its kind, its thread, and under which names it may be delivered again. Pure.

An Event (see events.py) is the whole of a message, checked by pydantic. Importing pydantic takes as long as classifying
thousands of messages, so what `triage classify` needs of every line stands here, without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bot.domain.events import Event


class MessageType(StrEnum):
    """What kind of message an event is about; `edit` and `delete` never start work by themselves."""

    TEXT = "text"
    IMAGE = "image"
    FILE = "file"
    THREAD_REPLY = "thread_reply"
    EDIT = "edit"
    DELETE = "delete"
    OTHER = "other"


class Message(NamedTuple):
    """What the rules read of an Event; each field is the Event's of that name."""

    team_id: str
    chat_id: str
    message_id: str
    msg_type: str
    content: str
    thread_id: str | None
    mentions: Sequence[str]
    alert_state: str | None = None


def thread_key(event: Event | Message) -> str:
    """Return the id of the thread an event belongs to (a Slack ts is unique only in its channel)."""
    return f"{event.team_id}.{event.chat_id}.{event.thread_id or event.message_id}"


def delivery_names(event: Event) -> list[tuple[str, ...]]:
    """Return every name under which the same happening may be delivered again.

    A shared channel has one id in all its teams, and earlier versions wrote down whichever team Slack named.
    """
    place = (event.chat_id,)
    if event.msg_type is MessageType.EDIT:
        shown = f"{event.content}{event.alert_state or ''}"  # the state of an alert may be a colour
        return [(*place, event.message_id, "edit", event.event_id or shown)]
    if event.msg_type is MessageType.DELETE:
        return [(*place, event.message_id, "delete")]
    keys: list[tuple[str, ...]] = [(*place, event.message_id)]
    if event.client_msg_id:
        keys.append((*place, "client", event.client_msg_id))
    return keys
