"""Who is reached under one Slack id: a person, each member of a user group, or a channel."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Final, TypeVar

from slack_sdk import WebClient

from bot.errors import ProviderError
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

Sent = TypeVar("Sent")
Members = Callable[[str], Collection[str]]
"""Returns the user ids in a user group; raises ProviderError if Slack cannot say."""

MAX_MEMBERS: Final = 30
"""How many members of a user group are written to."""


def open_place(client: WebClient, to: str) -> str:
    """Return the channel to post in: a person's direct messages, else `to` itself; raises ProviderError."""
    if to[:1] not in ("U", "W"):
        return to
    with translate_slack_errors("open a direct message"):
        return str(client.conversations_open(users=to)["channel"]["id"])


def send_to_each(to: str, members: Members, send: Callable[[str], Sent]) -> list[Sent]:
    """Send to a person, a channel or each member of a user group; return what came of those that were reached.

    Raises:
        ProviderError: nobody was reached; Unconfirmed if nobody can tell.
    """
    people = sorted(members(to))[:MAX_MEMBERS] if to.startswith("S") else [to]
    sent: list[Sent] = []
    problem = ProviderError(f"Slack could not send an alert: the user group {to} has no members")
    for person in people:
        try:
            sent.append(send(person))
        except ProviderError as error:
            log.warning("an alert did not reach everybody", extra={"action": "alert_unsent"}, exc_info=True)
            problem = error
    if not sent:
        raise problem
    return sent
