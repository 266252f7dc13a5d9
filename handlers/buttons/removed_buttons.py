"""Buttons and dialogues of removed features: they stand on old messages, and whoever uses one is told that.

A click changes nothing. The message is shown again without its removed buttons, where Slack sends it with the click.
Source: https://docs.slack.dev/interactivity/handling-user-interaction (`replace_original`; good for 30 minutes)
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from slack_bolt import Ack, Respond

from blocks import ids
from bot.domain.tiers import Tier
from bot.errors import ProviderError
from handlers.buttons.decision_handler import Body, Click, Listener, Say, typed_in
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

GONE: Final = (
    "This belongs to a feature that triage no longer has; nothing was changed. `/triage help` lists what it does now."
)

REMOVED_BUTTONS: Final = frozenset(
    {
        *(ids.ACCEPT_PROPOSAL, ids.REJECT_PROPOSAL, ids.CHOOSE_SESSION, ids.PROPOSE_FIX),
        *(ids.STILL_TRUE, ids.RETIRE, ids.READ_SUGGESTION),
        *(f"{ids.EDIT_TIER}:{tier}" for tier in Tier),
    }
)
"""By action id."""

REMOVED_VIEWS: Final = (ids.TIER_VIEW, ids.READ_VIEW)
"""Dialogues that may have been open during the update; what was typed is given back."""


class RemovedButtons:
    """The listeners of all removed buttons and dialogues; `say` answers who clicked, in private."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self.actions: Mapping[str, Listener] = dict.fromkeys(REMOVED_BUTTONS, self._clicked)
        self.views: Mapping[str, Listener] = dict.fromkeys(REMOVED_VIEWS, self._submitted)

    def _clicked(self, ack: Ack, body: Body, action: Body, respond: Respond) -> None:
        ack()
        self._say(Click.of(body, action), GONE)
        _show_without_removed(body, respond)

    def _submitted(self, ack: Ack, body: Body, view: Body) -> None:
        ack()
        self._say(Click.submitted(body, view), GONE, typed=typed_in(view))


def without_removed(blocks: list[Any]) -> list[Any]:
    """Return the blocks of a message without removed buttons; a row that held no other is left out.

    >>> without_removed([{"type": "actions", "elements": [{"action_id": "triage_propose_fix"}]}, {"type": "divider"}])
    [{'type': 'divider'}]
    """
    left: list[Any] = []
    for block in blocks:
        elements = block.get("elements") if isinstance(block, dict) and block.get("type") == "actions" else None
        if not isinstance(elements, list):
            left.append(block)
        elif kept := [one for one in elements if not _is_removed(one)]:
            left.append({**block, "elements": kept})
    return left


def _is_removed(element: Any) -> bool:
    return isinstance(element, dict) and element.get("action_id") in REMOVED_BUTTONS


def _show_without_removed(body: Body, respond: Respond) -> None:
    """Replace the message that was clicked; one that only one person sees comes without its blocks, and stays."""
    message = body.get("message")
    blocks = message.get("blocks") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(blocks, list) or not body.get("response_url"):
        return
    left = without_removed(blocks)
    if not left or left == blocks:
        return
    try:
        with translate_slack_errors("update the message"):
            respond(text=str(message.get("text") or ""), blocks=left, replace_original=True)
    except ProviderError:
        log.info("a message keeps its removed buttons", extra={"action": "removed_buttons_stay"}, exc_info=True)
