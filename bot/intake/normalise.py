"""Turns a Slack Events API body into an Event, or None if nobody wrote a message. Pure.

Joins, our own posts, Slackbot's, unfurls and metadata changes give None. A parent deleted under replies arrives as an
edit into a "tombstone" and becomes a delete. What the message says is read in `message_text`, without credentials.
Source: https://docs.slack.dev/reference/events/message
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from bot.domain.events import Event, MessageType, Sender
from bot.intake.message_text import image_ids, mentioned_ids, read_message, without_previews

Body = Mapping[str, Any]

_SLACKBOT: Final = "USLACKBOT"
WRITTEN: Final = frozenset({None, "file_share", "thread_broadcast", "me_message", "bot_message"})
"""The subtypes of what somebody wrote; all others say what happened in a channel."""

_SHOWN: Final = ("text", "blocks", "attachments")
_TS = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}")
_ID = re.compile(r"[A-Z0-9]{1,64}")
_USER = re.compile(r"[UW][A-Z0-9]{1,63}")
_TOKEN = re.compile(r"[!-~]{1,200}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """Who the bot itself is in the workspace."""

    team_id: str
    user_id: str
    bot_id: str | None = None
    enterprise_id: str | None = None
    """The company, where the workspace is one of several of an Enterprise Grid."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Incoming:
    """An event with the facts about its sender that are not part of the journal's record.

    `message` is the message as Slack sent it, of an edit the new one. `is_foreign` says that its sender is of another
    company for sure; on an Enterprise Grid only the chat can tell.
    """

    event: Event
    sender_ids: frozenset[str]
    message: Body
    is_foreign: bool = False


def normalise(body: Body, me: Identity) -> Incoming | None:
    """Return what a delivered `message` or `app_mention` says, or None.

    Raises:
        ValueError: the body is not shaped like Slack's; nothing should be made of it.
    """
    event = _mapping(body, "event")
    _id(body, "team_id")
    subtype = event.get("subtype")
    if not isinstance(subtype, str | None):
        raise ValueError("event with an unusable subtype")  # noqa: TRY004 - a wrong payload
    if event.get("type") not in ("message", "app_mention"):
        return None
    if subtype == "message_changed":
        kind, message = _change(event)
    elif subtype == "message_deleted":
        kind, message = MessageType.DELETE, {**_mapping(event, "previous_message"), "ts": event.get("deleted_ts")}
    elif subtype in WRITTEN:
        kind, message = _kind_of(event), event
    else:
        return None
    if kind is None or _is_own_or_slackbots(message, me):
        return None
    return _incoming(body, event, message, kind, me)


def is_edited_message(message: Body, before: str | None) -> bool:
    """Whether its words are no longer those of `before` because its author changed them.

    Slack marks what a person edited, but not where a bot changed its blocks; then its words before must be known.
    Source: https://docs.slack.dev/reference/methods/chat.update (`blocks`)
    """
    is_marked = bool(message.get("edited")) or (bool(message.get("bot_id")) and before is not None)
    return is_marked and before not in (read_message(message), read_message(without_previews(message)))


def _incoming(body: Body, event: Body, message: Body, kind: MessageType, me: Identity) -> Incoming:
    """Return the event as one of our workspace, whatever team the body names.

    In a channel shared with partners `team_id` may be theirs, and the same message may come under both; it is ours that
    installed the app.  Source: https://docs.slack.dev/apis/events-api (authorizations, shared channels)
    """
    ts, channel, thread_ts = _id(message, "ts", _TS), _id(event, "channel"), _id(message, "thread_ts", _TS)
    if ts is None or channel is None:
        raise ValueError("event without a usable channel and ts")
    user, bot, app = _id(message, "user", _USER), _id(message, "bot_id"), _id(message, "app_id")
    if user is None and bot is None and kind is not MessageType.DELETE:
        raise ValueError("event without a usable sender")
    edited = message.get("edited")
    sender_team = _id(message, "user_team") or _id(message, "team") or me.team_id
    return Incoming(
        event=Event(
            team_id=me.team_id,
            chat_id=channel,
            message_id=ts,
            create_time=datetime.fromtimestamp(float(ts), UTC),
            msg_type=kind,
            content=read_message(message),
            thread_id=thread_ts if thread_ts != ts else None,
            sender=Sender(id=user or bot or "", type="bot" if bot else "user"),
            mentions=mentioned_ids(message),
            event_id=_token(body.get("event_id")),
            client_msg_id=_token(message.get("client_msg_id")),
            edited_ts=_token(edited.get("ts")) if kind is MessageType.EDIT and isinstance(edited, Mapping) else None,
            images=image_ids(message),
        ),
        sender_ids=frozenset(name for name in (user, bot, app) if name),
        message=message,
        is_foreign=sender_team != me.team_id and _enterprise_of(body, me) is None,
    )


def _enterprise_of(body: Body, me: Identity) -> str | None:
    """Return the Enterprise Grid our workspace belongs to; None where it belongs to none."""
    given = body.get("authorizations")
    ours = given[0] if isinstance(given, list) and given and isinstance(given[0], Mapping) else {}
    return me.enterprise_id or _id(ours, "enterprise_id")


def _change(event: Body) -> tuple[MessageType | None, Body]:
    """Return an edit only where the author changed the words, or a bot what it shows: its state may be a colour."""
    message, previous = _mapping(event, "message"), event.get("previous_message")
    if message.get("subtype") == "tombstone":
        return MessageType.DELETE, {**(previous if isinstance(previous, Mapping) else {}), "ts": message.get("ts")}
    now, before = without_previews(message), without_previews(previous) if isinstance(previous, Mapping) else None
    if message.get("bot_id") and before is not None:
        is_edit = any(now.get(key) != before.get(key) for key in _SHOWN)
    else:
        is_edit = is_edited_message(now, None if before is None else read_message(before))
    return (MessageType.EDIT if is_edit else None), message


def _kind_of(event: Body) -> MessageType:
    files = event.get("files")
    if isinstance(files, list) and files:
        images = all(isinstance(f, Mapping) and str(f.get("mimetype", "")).startswith("image/") for f in files)
        return MessageType.IMAGE if images else MessageType.FILE
    if event.get("thread_ts") not in (None, event.get("ts")):
        return MessageType.THREAD_REPLY
    return MessageType.TEXT


def _is_own_or_slackbots(message: Body, me: Identity) -> bool:
    user, bot = message.get("user"), message.get("bot_id")
    return user in (me.user_id, _SLACKBOT) or (me.bot_id is not None and bot == me.bot_id)


def _mapping(body: Body, key: str) -> Body:
    value = body.get(key)
    if not isinstance(value, Mapping):
        raise ValueError(f"event body without {key}")  # noqa: TRY004 - a wrong payload, not a wrong type in our code
    return value


def _id(body: Body, key: str, form: re.Pattern[str] = _ID) -> str | None:
    """Return an id or a time, which become part of file names and requests; None where there is none."""
    value = body.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ValueError(f"event with an unusable {key}")
    return value


def _token(value: object) -> str | None:
    """Return one of Slack's own marks, or None where it is no such thing: nothing but de-duplication rests on it."""
    return value if isinstance(value, str) and _TOKEN.fullmatch(value) else None
