"""What the bot does to the outside, in words: calls of Slack's API, programs, requests to a code host."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import parse_qsl

_VERBS: Final = {
    "chat.postMessage": "post",
    "chat.postEphemeral": "tell",
    "chat.update": "update",
    "chat.delete": "unpost",
    "conversations.history": "look",
    "conversations.replies": "look",
    "conversations.members": "members",
    "users.info": "person",
    "reactions.add": "react",
    "reactions.remove": "unreact",
}
"""The methods that steps name; any other is called as Slack calls it."""


def slack_call(method: str, body: str) -> str:
    """Return a call of Slack's API as verb, channel and what is sent, whichever of Slack's two forms that has.

    >>> slack_call("chat.postMessage", '{"channel": "C1", "text": "Hi"}')
    'post C1 {"channel": "C1", "text": "Hi"}'
    >>> slack_call("conversations.members", "channel=C1&limit=200")
    'members C1 {"channel": "C1", "limit": "200"}'
    """
    try:
        sent = json.loads(body)
    except ValueError:
        sent = dict(parse_qsl(body))
    return f"{_VERBS.get(method, method)} {sent.get('channel', '-')} {json.dumps(sent, ensure_ascii=False)}"


def outward(event: str, args: tuple[Any, ...]) -> str | None:
    """Return what an audit event is about to do outside of the process; None if it stays inside.

    Source: https://docs.python.org/3/library/audit_events.html
    """
    if event == "urllib.Request":
        return slack_call(str(args[0]).rpartition("/")[2], (args[1] or b"").decode())
    if event == "http.client.send":
        return f"send {bytes(args[1]).split(b' HTTP/')[0].decode(errors='replace')}"
    if event == "subprocess.Popen":
        return f"run {' '.join(map(str, args[1]))}"
    return None
