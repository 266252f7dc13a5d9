"""Posts to the ops channel what is not a card: reminders, the brief, and what stops the bot at the start.

Also a question that begins with a button or a command: it is posted there first, so that the thread exists in which it
is answered, and then handled like any other. If a crash follows, a message without a card is left, which the asker
sees.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from blocks.text.outgoing_text import escape, with_local_times
from blocks.views.brief_view import brief_blocks, reminder_blocks, reminder_line
from bot.casework.reports.daily_brief import DailyBrief, brief_line
from bot.casework.reports.status_overview import ThreadLine
from bot.config.environment import Environment, require_tokens
from bot.domain.events import Event, Sender
from bot.domain.jobs import QuestionAsked
from bot.errors import ProviderError
from bot.ports import JobQueue
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import CARD, LINE
from handlers.transport.slack_clients import posting_client, translate_slack_errors

log = logging.getLogger(__name__)

Ask = Callable[[str, str], str]
"""Takes `(question, who asks)`, opens a thread for it in the ops channel, and returns what to tell the asker."""


def announce(ops_channel: str, environment: Environment, text: str) -> None:
    """Say the line; a chat that does not take it is only logged.

    Raises:
        ConfigError: the tokens cannot be used.
    """
    bot_token, _ = require_tokens(environment)
    try:
        with translate_slack_errors("tell the ops channel", posting=True):
            posting_client(bot_token, environment.slack_api_url).chat_postMessage(
                channel=ops_channel, text=with_local_times(escape(text)), unfurl_links=False
            )
    except ProviderError:
        log.warning("the ops channel was not told", extra={"action": "ops_untold"}, exc_info=True)


class OpsChannelPosts:
    """Posts in one ops channel.

    Each method raises ProviderError if Slack refused it and nothing was posted (Unavailable says when to come back),
    and Unconfirmed if nobody can tell.
    """

    def __init__(self, poster: Poster, *, ops_channel: str, expire_after: timedelta | None) -> None:
        self._poster, self._ops_channel, self._expire_after = poster, ops_channel, expire_after

    def remind(self, waiting: Sequence[ThreadLine], now: datetime) -> None:
        """Name cards that wait; it names questions, so the channel must be private."""
        blocks = reminder_blocks(waiting, now, expire_after=self._expire_after)
        self._poster.post(self._ops_channel, reminder_line(waiting), blocks, what="post the reminder", rank=LINE)

    def say(self, brief: DailyBrief, title: str) -> None:
        """Post a brief; it names questions, so the channel must be private."""
        blocks = brief_blocks(brief, title, may_see_drafts=True)
        self._poster.post(self._ops_channel, brief_line(brief, title), blocks, what="post the brief", rank=LINE)


def ops_questions(poster: Poster, jobs: JobQueue, *, team_id: str, ops_channel: str) -> Ask:
    """Return a way to ask in the ops channel; it raises ProviderError where Slack refuses the message."""

    def ask(question: str, by: str) -> str:
        answer = poster.post(ops_channel, escape(question), what="ask in the ops channel", rank=CARD)
        event = _event(team_id, ops_channel, by, str(answer["ts"]), _as_posted(answer.get("message"), question))
        jobs.put(QuestionAsked(event=event))
        return f"Asked in <#{ops_channel}>; its card will show the draft."

    return ask


def _as_posted(message: object, question: str) -> str:
    """Return the words as Slack keeps them, so that the question does not look edited later."""
    text = message.get("text") if isinstance(message, dict) else None
    return text if isinstance(text, str) and text else escape(question)


def _event(team_id: str, channel: str, by: str, ts: str, text: str) -> Event:
    return Event(
        team_id=team_id,
        chat_id=channel,
        message_id=ts,
        create_time=datetime.fromtimestamp(float(ts), UTC),
        content=text,
        sender=Sender(id=by),
    )
