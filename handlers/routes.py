"""Registers the listener of each kind of Slack event; the table is the last thing in this file.

Messages are on disk before Slack gets its acknowledgement: a Bolt listener runs after it, a middleware before it, and
a body that cannot be journaled is not acknowledged, so Slack delivers it again. Measured with Bolt 1.
The buttons and dialogues of each kind of card are a table of its own in handlers/buttons; handlers/team_router.py
decides to which team they belong.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from slack_bolt import App, BoltResponse
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_sdk import WebClient

from blocks import ids
from bot.domain.text.sanitize import mend
from bot.errors import StoreError
from bot.intake.normalise import Identity
from bot.intake.watcher import Watcher
from handlers.commands.team_commands import TeamCommands
from handlers.home import HomeTab
from handlers.team_router import TeamRouter

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


def bolt_app(client: WebClient, me: Identity, to: TeamRouter, home: HomeTab, on: Executor) -> App:
    """Return the Bolt app with every listener registered to run `on`; messages are taken before Bolt's own chain.

    Bolt's check of signatures is off: it parses a body before and logs it after refusing it (slack_bolt 1.30, read), so
    handlers/transport/http_app.py checks before Bolt sees anything. Behind any other server this app would trust
    everybody.
    """
    authorised = AuthorizeResult(
        enterprise_id=None, team_id=me.team_id, bot_user_id=me.user_id, bot_id=me.bot_id, bot_token=client.token
    )
    app = App(
        name="triage",
        client=WebClient(base_url=client.base_url, ssl=client.ssl),  # Bolt warns of one with a token
        authorize=lambda: authorised,
        before_authorize=journal_first(lambda body: to.of_message(body).watcher),
        signing_secret="",
        request_verification_enabled=False,
        listener_executor=on,
        raise_error_for_unhandled_request=True,
    )
    app.error(_not_taken)
    _connect(app, to, home)
    return app


def _not_taken(error: Exception) -> BoltResponse | None:
    """Acknowledge what no listener takes: it would only come again; any other error is a bug of ours."""
    if isinstance(error, BoltUnhandledRequestError):
        log.info("nobody takes a %s", error.body.get("type"), extra={"action": "request_not_taken"})
        return BoltResponse(status=200, body="")
    log.error("a listener failed", exc_info=error, extra={"action": "listener_failed"})
    return None


def _connect(app: App, to: TeamRouter, home: HomeTab) -> None:
    app.command("/triage")(TeamCommands(to))
    app.event("app_home_opened")(home.opened)
    app.action(ids.RUN_SESSION)(home.run_now)
    for callback_id in (ids.TRIAGE_THIS, ids.REMEMBER_THIS):
        app.message_shortcut(callback_id)(to.shortcut(callback_id))
    for action_id in sorted({name for team in to.all() for name in team.actions}):
        app.action(action_id)(to.action(action_id))
    for callback_id in sorted({name for team in to.all() for name in team.views}):
        app.view(callback_id)(to.view(callback_id))
