"""Posts to the ops channel what is not a card: reminders, the brief, and what stops the bot at the start.

Also a question that begins with a button or a command: a job posts it there, so that the thread exists in which it is
answered, and then it is handled like any other. What was posted is found again by its mark, so it is asked once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import uuid4

from blocks import ids
from blocks.text.outgoing_text import escape, section, with_local_times
from blocks.text.splitting import SECTION_CHARS, split
from blocks.views.answers import answer_blocks
from blocks.views.brief_view import reminder_blocks, reminder_line
from bot.casework.reports.answers_brief import brief_answer
from bot.casework.reports.daily_brief import DailyBrief, brief_line
from bot.casework.reports.status_overview import ThreadLine
from bot.config.environment import Environment, require_bot_token
from bot.domain.events import Event, Sender
from bot.domain.jobs import AskInOps, QuestionAsked
from bot.errors import ProviderError
from bot.ports import Clock, JobQueue, Workspace
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import CARD, LINE
from handlers.transport.slack_clients import posting_client, translate_slack_errors

log = logging.getLogger(__name__)

Ask = Callable[[str, str], str]
"""Takes `(question, who asks)`, has it asked in the ops channel, and returns what to tell the asker."""

QUESTION_CHARS: Final = 10_000
"""What is asked at most; a finding may hold the output of a command."""


def announce(ops_channel: str, environment: Environment, text: str) -> None:
    """Say the line; a chat that does not take it is only logged.

    Raises:
        ConfigError: the bot token cannot be used.
    """
    bot_token = require_bot_token(environment)
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
        blocks = answer_blocks(brief_answer(brief, title, may_see_drafts=True))
        self._poster.post(self._ops_channel, brief_line(brief, title), blocks, what="post the brief", rank=LINE)


class OpsQuestions:
    """Has questions asked in one ops channel."""

    def __init__(
        self, poster: Poster, workspace: Workspace, jobs: JobQueue, clock: Clock, *, team_id: str, ops_channel: str
    ) -> None:
        self._poster, self._workspace, self._jobs, self._clock = poster, workspace, jobs, clock
        self._team_id, self._ops_channel = team_id, ops_channel

    def ask(self, question: str, by: str, *, mark: str = "", codebases: Collection[str] = ()) -> str:
        """Have a question asked for somebody, once for each mark, and return what to tell them; raises StoreError."""
        work = AskInOps(
            mark=mark or ids.asked_block_id(uuid4().hex),
            question=question[:QUESTION_CHARS],
            by=by,
            at=self._clock.now(),
            codebases=tuple(codebases),
        )
        self._jobs.put(work)
        return f"Asked in <#{self._ops_channel}>; its card will show the draft."

    def post(self, asked: AskInOps) -> None:
        """Post a question unless it stands there, and queue it as Slack keeps it: so it does not look edited later.

        Raises:
            ProviderError: Slack refused it, or cannot say whether it stands; trying again posts no second.
        """
        what, channel = "ask in the ops channel", self._ops_channel
        ts = self._poster.find(channel, asked.mark, what=what, recorded_at=asked.at, by_others=True)
        if ts is None:
            text = escape(asked.question)
            first, *rest = split(text, SECTION_CHARS)
            blocks = [section(first, block_id=asked.mark), *map(section, rest)]
            answer = self._poster.post(channel, text, blocks, what=what, rank=CARD, mark=asked.mark)
            ts = str(answer["ts"])
        kept = next((one for one in self._workspace.thread(channel, ts) if one.message_id == ts), None)
        if kept is None:
            return  # somebody deleted it
        event = Event(
            team_id=self._team_id,
            chat_id=channel,
            message_id=ts,
            create_time=datetime.fromtimestamp(float(ts), UTC),
            content=kept.text,
            sender=Sender(id=asked.by),
        )
        self._jobs.put(QuestionAsked(event=event, codebases=asked.codebases))
