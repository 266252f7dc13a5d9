"""Whom a click or a submit comes from."""

from __future__ import annotations

from typing import Any


def clicking_person(body: dict[str, Any]) -> tuple[str, str]:
    """Return the user and the team of a click or submit; an id is unique in its team only.

    An app that is installed for a whole Enterprise Grid may get no team, and the company stands for it.

    >>> clicking_person({"user": {"id": "U1"}, "team": {"id": "T1"}})
    ('U1', 'T1')
    """
    user = body.get("user") or {}
    places = (body.get("team"), body.get("enterprise"))
    ids = [user.get("team_id"), *(place.get("id") for place in places if isinstance(place, dict))]
    return str(user.get("id") or ""), str(next(filter(None, ids), ""))


def team_of(body: dict[str, Any]) -> str:
    """Return the team of an event: that which installed us, for in a shared channel `team_id` may be a partner's.

    >>> team_of({"team_id": "T9", "authorizations": [{"team_id": "T1"}]})
    'T1'
    """
    given = body.get("authorizations")
    ours = given[0] if isinstance(given, list) and given and isinstance(given[0], dict) else {}
    return str(ours.get("team_id") or body.get("team_id") or "")
