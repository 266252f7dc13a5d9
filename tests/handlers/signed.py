"""Requests as Slack signs them, for the tests of HTTP mode."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any
from urllib.parse import urlencode

import requests

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"


def sign(body: bytes, at: float, secret: str = SECRET) -> dict[str, str]:
    """Return the two headers of Slack's scheme v0, computed from its description and not with the SDK."""
    digest = hmac.new(secret.encode(), f"v0:{at:.0f}:".encode() + body, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": f"{at:.0f}", "X-Slack-Signature": f"v0={digest}"}


def as_json(payload: dict[str, Any]) -> tuple[bytes, str]:
    """Return an event's body and content type."""
    return json.dumps(payload).encode(), "application/json"


def as_form(payload: dict[str, Any]) -> tuple[bytes, str]:
    """Return the body and content type of a click or a dialogue; a command's fields stand in the form themselves."""
    fields = payload if "command" in payload else {"payload": json.dumps(payload)}
    return urlencode(fields).encode(), "application/x-www-form-urlencoded"


def send(url: str, body: bytes, content_type: str, headers: dict[str, str]) -> requests.Response:
    """Post a body past any proxy of the environment."""
    with requests.Session() as session:
        session.trust_env = False
        return session.post(url, data=body, headers={"Content-Type": content_type, **headers}, timeout=120)
