"""Socket Mode envelopes on their way to Bolt: what is not shaped like Slack's is acknowledged and goes no further.

Bolt reads ids out of a body before any middleware runs and fails on the wrong type of one; unacknowledged, the same
body would only come again.
"""

from __future__ import annotations

import logging

from slack_bolt import App, BoltResponse
from slack_bolt.adapter.socket_mode.internals import run_bolt_app
from slack_sdk.socket_mode.request import SocketModeRequest

from handlers.shapes import is_well_shaped

log = logging.getLogger(__name__)


def answer(app: App, request: SocketModeRequest) -> BoltResponse:
    """Return Bolt's answer to an envelope; a payload of the wrong shape is answered for Bolt."""
    if is_well_shaped(request.payload):
        answered: BoltResponse = run_bolt_app(app, request)
        return answered
    log.warning("ignored a payload of the wrong shape", extra={"action": "payload_misshapen"})
    return BoltResponse(status=200, body="")
