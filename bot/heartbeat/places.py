"""Where alerts go, as it may be judged and written down. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit

from bot.domain.beats import Delivered


def is_private(route: Delivered) -> bool:
    """Whether only the owner reads there: a DM, or a Telegram chat with one person (its id is positive).

    >>> is_private(Delivered(mode="explicit", channel="telegram", to="-1001"))
    False
    """
    to = route.to or ""
    if route.channel == "slack":
        return to[:1] in ("U", "W", "D", "S")  # of a group, each member is told in their direct messages
    return route.channel == "telegram" and to.isdigit()


def public(route: Delivered) -> Delivered:
    """Return a route as it may be written down: the path of a webhook is a secret."""
    if route.channel != "webhook" or not route.to:
        return route
    address = urlsplit(route.to)
    return route.model_copy(update={"to": f"{address.scheme}://{address.netloc.rpartition('@')[2]}"})


def destination(route: Delivered) -> str:
    """Return what stamps of a route are kept under."""
    return f"{route.channel}:{public(route).to}"
