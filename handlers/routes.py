"""What arrives from Slack and who takes it: the table is the last thing in this file.

The buttons and dialogues of each kind of card are a table of its own, in handlers/buttons.
"""

from __future__ import annotations

import logging
from concurrent.futures import Executor
from dataclasses import dataclass

from slack_bolt import App, BoltResponse
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_sdk import WebClient

from blocks import ids
from bot.intake.normalise import Identity
from bot.intake.watcher import Watcher
from handlers.buttons.alert_buttons import AlertButtons
from handlers.buttons.draft_buttons import DraftButtons
from handlers.buttons.lesson_buttons import LessonButtons
from handlers.buttons.proposal_buttons import ProposalButtons
from handlers.buttons.suggestion_buttons import SuggestionButtons
from handlers.buttons.tier_buttons import TierButtons
from handlers.commands.dispatcher import CommandDispatcher
from handlers.home import HomeTab
from handlers.messages import journal_first
from handlers.shortcuts import Shortcuts

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Listeners:
    """Everything that listens."""

    watcher: Watcher
    approvals: DraftButtons
    alerts: AlertButtons
    suggestions: SuggestionButtons
    commands: CommandDispatcher
    tiers: TierButtons
    proposals: ProposalButtons
    shortcuts: Shortcuts
    home: HomeTab
    lessons: LessonButtons


def bolt_app(bot_token: str, api_url: str, me: Identity, to: Listeners, on: Executor) -> App:
    """Return the Bolt app with every listener registered to run `on`; messages are taken before Bolt's own chain.

    Bolt's check of signatures is off: it parses a body before and logs it after refusing it (slack_bolt 1.30, read), so
    handlers/transport/http_app.py checks before Bolt sees anything. Behind any other server this app would trust
    everybody.
    """
    authorised = AuthorizeResult(
        enterprise_id=None, team_id=me.team_id, bot_user_id=me.user_id, bot_id=me.bot_id, bot_token=bot_token
    )
    app = App(
        name="triage",
        client=WebClient(base_url=api_url),
        authorize=lambda: authorised,
        before_authorize=journal_first(to.watcher),
        signing_secret="",
        request_verification_enabled=False,
        listener_executor=on,
        raise_error_for_unhandled_request=True,
    )
    app.error(_not_taken)
    _connect(app, to)
    return app


def _not_taken(error: Exception) -> BoltResponse | None:
    """Acknowledge what no listener takes: it would only come again; any other error is a bug of ours."""
    if isinstance(error, BoltUnhandledRequestError):
        log.info("nobody takes a %s", error.body.get("type"), extra={"action": "request_not_taken"})
        return BoltResponse(status=200, body="")
    log.error("a listener failed", exc_info=error, extra={"action": "listener_failed"})
    return None


def _connect(app: App, to: Listeners) -> None:
    app.command("/triage")(to.commands)
    app.event("app_home_opened")(to.home.opened)
    app.action(ids.RUN_SESSION)(to.home.run_now)
    app.message_shortcut(ids.TRIAGE_THIS)(to.shortcuts.triage_this)
    for kind in (to.approvals, to.lessons, to.alerts, to.tiers, to.proposals, to.suggestions):
        for action_id, listener in kind.actions.items():
            app.action(action_id)(listener)
        for callback_id, listener in kind.views.items():
            app.view(callback_id)(listener)
