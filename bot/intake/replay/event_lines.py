"""Reads one line of events.ndjson as what the rules need.

A line in the usual form is read without pydantic, by the same parser. Any other line goes to pydantic, which reads
what it can and says what is wrong with the rest.
"""

from __future__ import annotations

import re
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import jiter

from bot.domain.messages import Message, MessageType
from bot.errors import InputError

if TYPE_CHECKING:
    from pydantic import ValidationError

    from bot.domain.events import Event

_LEFT_OUT: Final[dict[str, Any]] = {
    "platform": "slack",
    "chat_name": None,
    "msg_type": MessageType.TEXT.value,
    "content": "",
    "thread_id": None,
    "mentions": [],
    "event_id": None,
    "client_msg_id": None,
}
"""The fields that a line need not have, and what they are then; the same as in Event."""

_message_fields = itemgetter(*Message._fields[:-1])
_texts = itemgetter("platform", "team_id", "chat_id", "message_id", "msg_type", "content", "create_time")
_texts_or_null = itemgetter("chat_name", "thread_id", "event_id", "client_msg_id")
_TEXT: Final = {str}
_TEXT_OR_NULL: Final = {str, type(None)}
_KINDS: Final = frozenset(map(str, MessageType))
_SENDERS: Final = ("user", "bot")
_TIME: Final = re.compile(r"[0-9-]{10}T[0-9:]{8}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-5][0-9])")


def read_message(line: bytes) -> Message | Event:
    """Return the message of a line.

    Raises:
        InputError: the line is no event; the message says why and does not quote it.
    """
    found = _plain_message(line)
    if found is not None:
        return found
    from pydantic import ValidationError  # here: few streams hold a line that needs it

    from bot.domain.events import Event

    try:
        return Event.model_validate_json(line)
    except ValidationError as error:
        raise InputError(_reason(line, error)) from error


def _plain_message(line: bytes) -> Message | None:
    """Return the message of a line in which each field has its usual form, None of any other."""
    try:
        fields = _LEFT_OUT | jiter.from_json(line, cache_mode="keys")
        return Message(*_message_fields(fields)) if _has_usual_forms(fields) else None
    except (ValueError, TypeError, KeyError):
        return None


def _has_usual_forms(fields: dict[str, Any]) -> bool:
    """Tell whether the fields of an event are what they usually are; raises KeyError where one is absent."""
    sender, mentions = fields["sender"], fields["mentions"]
    return (
        {*map(type, _texts(fields))} == _TEXT
        and {*map(type, _texts_or_null(fields))} <= _TEXT_OR_NULL
        and fields["msg_type"] in _KINDS
        and type(mentions) is list
        and {*map(type, mentions)} <= _TEXT
        and type(sender) is dict
        and type(sender["id"]) is str
        and sender.get("type", "user") in _SENDERS
        and _TIME.fullmatch(fields["create_time"]) is not None
        and datetime.fromisoformat(fields["create_time"]).tzinfo is not None
    )


def _reason(line: bytes, error: ValidationError) -> str:
    """Return why a line is no event, without quoting it."""
    try:
        line.decode()
    except UnicodeDecodeError as broken:
        return f"not UTF-8 at byte {broken.start + 1}"
    first, *others = error.errors(include_input=False, include_url=False, include_context=False)
    where = "".join(f"{step}: " for step in first["loc"])
    message = first["msg"].replace(" at line 1 column", " at column").replace("Invalid JSON", "not JSON")
    return where + message + (f" (and {len(others)} more)" if others else "")
