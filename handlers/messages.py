"""Messages on their way in: on disk before Slack gets its acknowledgement.

A Bolt listener runs after the acknowledgement, a middleware before it; a body that cannot be journaled is not
acknowledged, so Slack delivers it again.  Source: FACTS B4 (measured).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from slack_bolt import BoltResponse

from bot.domain.text.sanitize import mend
from bot.errors import StoreError
from bot.intake.watcher import Watcher

log = logging.getLogger(__name__)

Body = dict[str, Any]
Next = Callable[[], BoltResponse]
_MESSAGES = frozenset({"message", "app_mention"})


def _mend(body: dict[str, Any]) -> None:
    """Replace half characters, which can be neither stored nor sent, in all but what was typed into a dialogue.

    What was typed is refused by its listener instead: it is not for us to change somebody's words.
    """
    view = body.get("view")
    if body.get("type") != "view_submission" or not isinstance(view, dict):
        mend(body)
        return
    for whole, typed in ((body, "view"), (view, "state")):
        rest = {key: value for key, value in whole.items() if key != typed}
        mend(rest)
        whole.update(rest)


def journal_first(watcher_of: Callable[[Body], Watcher]) -> Callable[..., BoltResponse]:
    """Return the middleware that takes message events out of Bolt's chain and gives them to the team's watcher."""

    def middleware(body: dict[str, Any], next: Next) -> BoltResponse:
        _mend(body)
        event = body.get("event")
        if not isinstance(event, dict) or event.get("type") not in _MESSAGES:
            return next()
        try:
            watcher_of(body).receive(body)
        except StoreError:
            log.exception("event not journaled, so not acknowledged", extra={"action": "event_refused"})
            return BoltResponse(status=503, body="not stored")
        return BoltResponse(status=200, body="")

    return middleware
