"""Which message a delivery, or a line of a journal, is about: however often and as whatever Slack delivers one.

Also whether the last message was journaled and not classified yet. Pure, but for the journals it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.domain.events import Event, MessageType
from bot.ports import Journal


def delivery_names(event: Event) -> list[tuple[str, ...]]:
    """Return every name under which the same happening may be delivered again.

    A shared channel has one id in all its teams, and earlier versions wrote down whichever team Slack named.
    """
    place = (event.chat_id,)
    if event.msg_type is MessageType.EDIT:
        return [(*place, event.message_id, "edit", event.event_id or event.content)]
    if event.msg_type is MessageType.DELETE:
        return [(*place, event.message_id, "delete")]
    keys: list[tuple[str, ...]] = [(*place, event.message_id)]
    if event.client_msg_id:
        keys.append((*place, "client", event.client_msg_id))
    return keys


def record_key(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what tells a journaled message from all others; that of its line in either journal."""
    return tuple(record.get(key) for key in ("team_id", "chat_id", "message_id", "msg_type", "event_id"))


def names_of_record(record: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return under which names a journaled message may be delivered again; none where the record holds no message."""
    try:
        return delivery_names(Event.model_validate(record))
    except ValueError:
        return []


def has_unsorted(events: Journal, classified: Journal) -> bool:
    """Whether a message was journaled last and not classified: a crash came between, and the next start does it."""
    last = next(classified.newest_first(), {})
    for record in events.newest_first():
        if names_of_record(record):
            return record_key(record) != record_key(last)
    return False
