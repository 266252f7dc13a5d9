"""Buttons and dialogues of removed features: they stand on old messages, and whoever uses one is told what to do now.

A click changes nothing. The message is shown again without its removed buttons, where Slack sends it with the click.
To remove one more, add a row: its id and a sentence that says what is gone and what to type instead.
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
from handlers.buttons.decision_handler import Listener, Say
from handlers.clicks import Body, Click, typed_in
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

_ADD_OR_MOVE: Final = "Type `/triage tiers <session> add <tier> <task>`, or `remove <n>` or `move <n> <tier>`."
_GONE: Final = (
    (
        (ids.ACCEPT_PROPOSAL, ids.REJECT_PROPOSAL, ids.CHOOSE_SESSION),
        f"Changes of HEARTBEAT.md are no longer proposed in a chat; nothing was changed. {_ADD_OR_MOVE}",
    ),
    (
        tuple(f"{ids.EDIT_TIER}:{tier}" for tier in Tier),
        f"Checks are no longer edited in a dialogue; nothing was changed. {_ADD_OR_MOVE}",
    ),
    (
        (ids.PROPOSE_FIX,),
        "Alerts no longer offer to propose a fix; nothing was started. Click Investigate, or type "
        "`/triage investigate <what fails>, please propose a fix`.",
    ),
    (
        (ids.STILL_TRUE, ids.RETIRE),
        "Notes whose cited lines changed are no longer asked about; nothing was changed. Such a note says so itself "
        "wherever it is found. To put it away, type `/triage notes retire <name>`.",
    ),
    (
        (ids.READ_SUGGESTION,),
        "Shared checks are no longer read in a dialogue; nothing was changed. The card shows the line. Type "
        "`/triage pollinate accept <id>` to add it.",
    ),
)

REMOVED_BUTTONS: Final[Mapping[str, str]] = {name: said for names, said in _GONE for name in names}
"""What is told to whoever clicks, by action id."""

REMOVED_VIEWS: Final[Mapping[str, str]] = {
    ids.TIER_VIEW: REMOVED_BUTTONS[f"{ids.EDIT_TIER}:{Tier.QUICK}"],
    ids.READ_VIEW: REMOVED_BUTTONS[ids.READ_SUGGESTION],
}
"""What is told, with the text given back, to whoever submits a dialogue that was open during the update."""


class RemovedButtons:
    """The listeners of all removed buttons and dialogues; `say` answers who clicked, in private."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self.actions: Mapping[str, Listener] = {name: self._clicked(said) for name, said in REMOVED_BUTTONS.items()}
        self.views: Mapping[str, Listener] = {name: self._submitted(said) for name, said in REMOVED_VIEWS.items()}

    def _clicked(self, said: str) -> Listener:
        def listener(ack: Ack, body: Body, action: Body, respond: Respond) -> None:
            ack()
            self._say(Click.of(body, action), said)
            _show_without_removed(body, respond)

        return listener

    def _submitted(self, said: str) -> Listener:
        def listener(ack: Ack, body: Body, view: Body) -> None:
            ack()
            self._say(Click.submitted(body, view), said, typed=typed_in(view))

        return listener


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
