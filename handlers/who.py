"""Whom a click or a submit comes from."""

from __future__ import annotations

from typing import Any


def who(body: dict[str, Any]) -> tuple[str, str]:
    """Return the user and the team of a click or submit; an id is unique in its team only.

    >>> who({"user": {"id": "U1"}, "team": {"id": "T1"}})
    ('U1', 'T1')
    """
    user = body.get("user") or {}
    return str(user.get("id") or ""), str(user.get("team_id") or (body.get("team") or {}).get("id") or "")
