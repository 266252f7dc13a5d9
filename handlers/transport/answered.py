"""Tells a listener that its request's answer was sent, for what must not reach Slack before the answer does.

A submitted dialogue is answered with the view to show next, and changed later with views.update: two ways to Slack.
Bolt sends the answer up to 10 ms after `ack()` returned (slack_bolt 1.30, read), so an update made at once may come
first, and the answer then hides it for good.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

ANSWERED: Final = "answered"
"""The key, in a Bolt request's context, of an event that is set once the request's answer was sent."""
PATIENCE_S: Final = 3.0
"""Slack waits no longer for an answer."""


def wait_until_answered(context: Mapping[str, Any]) -> None:
    """Return once the answer to this request was sent; at once where nobody says when it is."""
    sent = context.get(ANSWERED)
    if isinstance(sent, threading.Event):
        sent.wait(PATIENCE_S)
