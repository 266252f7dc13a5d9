"""Checks the shape of Slack's bodies before Bolt gets them.

Every field type that Bolt and the listeners rely on is checked, and no more. A body that does not fit is acknowledged
and dropped: Bolt fails on it before any middleware runs, and unacknowledged it would come again.
Source: https://docs.slack.dev/reference/interaction-payloads and slack_bolt 1.30 (read), request/internals.py.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from slack_bolt import App, BoltRequest, BoltResponse

from bot.domain.text.sanitize import is_deeper_than

log = logging.getLogger(__name__)

MAX_DEPTH: int = 60
"""Slack's own payloads stay below 20 levels; far deeper ones exhaust the stack of whoever prints them."""


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Named(_Shape):
    id: str | None = None


class _Level(_Shape):
    """A level of a body at which Bolt looks for ids."""

    type: str | None = None
    team: str | _Named | None = None
    channel: str | _Named | None = None
    enterprise: str | _Named | None = None
    message: _Part | None = None
    previous_message: _Part | None = None
    item: _Part | None = None
    assistant_thread: _Part | None = None
    authorizations: list[_Part] | None = None
    response_urls: list[dict[str, Any]] = []


class _Part(_Level):
    user: str | _Named | None = None


class _Event(_Part):
    type: str


class _Person(_Shape):
    id: str
    team_id: str | None = None


class _Option(_Shape):
    value: str


class _Action(_Shape):
    action_id: str
    value: str | None = None
    selected_option: _Option | None = None


class _Input(_Shape):
    value: str | None = None
    selected_options: list[Any] | None = None


class _State(_Shape):
    values: dict[str, dict[str, _Input]] = {}


class _View(_Shape):
    type: Literal["modal", "home"]
    callback_id: str
    private_metadata: str = ""
    state: _State = _State()


class _EventBody(_Part):
    event: _Event


class _Command(_Part):
    command: str
    user_id: str
    team_id: str | None = None
    text: str = ""


class _Interaction(_Level):
    user: _Person
    channel: _Named | None = None


class _Click(_Interaction):
    trigger_id: str
    container: dict[str, Any] = {}
    actions: Annotated[list[_Action], Field(min_length=1)]


class _Dialogue(_Interaction):
    view: _View


class _Shortcut(_Interaction):
    callback_id: str
    trigger_id: str


class _Place(_Named):
    id: str


class _MessageShortcut(_Shortcut):
    message: _Part
    channel: _Place


class _Suggestion(_Interaction):
    action_id: str


class _Challenge(_Shape):
    challenge: str


_SHAPES: Mapping[str, type[_Shape]] = {
    "url_verification": _Challenge,
    "event_callback": _EventBody,
    "block_actions": _Click,
    "view_submission": _Dialogue,
    "view_closed": _Dialogue,
    "shortcut": _Shortcut,
    "message_action": _MessageShortcut,
    "block_suggestion": _Suggestion,
}


def dispatch(app: App, body: object, request: Mapping[str, Any]) -> BoltResponse:
    """Return Bolt's answer to a request, which is made of these arguments if its body has the right shape."""
    if is_well_shaped(body):
        return app.dispatch(BoltRequest(**request))
    log.warning("ignored a payload of the wrong shape", extra={"action": "payload_misshapen"})
    return BoltResponse(status=200, body="")


def is_well_shaped(body: object) -> bool:
    """Whether a body is of a kind this app takes and every part that is relied on has its type.

    >>> is_well_shaped({"type": "event_callback", "event": {"type": "message", "user": "U1"}})
    True
    >>> is_well_shaped({"type": "event_callback", "event": {"type": "message", "user": ["U1"]}})
    False
    """
    if not isinstance(body, dict) or is_deeper_than(body, MAX_DEPTH):
        return False
    kind = body.get("type")
    shape = _Command if "command" in body else _SHAPES.get(kind) if isinstance(kind, str) else None
    if shape is None:
        return False
    try:
        shape.model_validate(body)
    except ValidationError:
        return False
    return True
