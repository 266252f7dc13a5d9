"""Sends what is not a card: to one person, ephemeral or direct; to the ops channel reminders, the brief, what stops it.

Every text passes here last, so that its times are shown in the reader's zone. A chat that does not take the answer to
a click is only logged: what was clicked is done. Reactions (scope reactions:write) keep Slack's rate, and nobody waits
for one: the caller tries again later. A question that begins with a button or a command is posted by a job, so that the
thread exists in which it is answered; what was posted is found again by its mark, so it is asked once.
Source: https://docs.slack.dev/reference/methods/reactions.add (Tier 3) and reactions.remove (Tier 2).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, Final
from uuid import uuid4

from slack_bolt import Respond
from slack_sdk import WebClient
from slack_sdk.models.blocks import Block

from blocks import ids
from blocks.text.message_size import REFUSED_CONTENT
from blocks.text.outgoing_text import escape, section, with_local_times
from blocks.text.splitting import SECTION_CHARS, split
from blocks.views.answers import ListedTable, answer_blocks, without_tables
from blocks.views.report_views import reminder_blocks, reminder_line
from bot.casework.reports.answers_brief import brief_answer
from bot.casework.reports.daily_brief import DailyBrief, brief_line
from bot.casework.reports.status_overview import ThreadLine
from bot.config.environment import Environment, require_bot_token
from bot.domain.acknowledgement import Reaction
from bot.domain.events import Event, Sender
from bot.domain.jobs import AskInOps, QuestionAsked
from bot.domain.threads import ThreadState
from bot.errors import ProviderError, Unavailable
from bot.ports import Clock, JobQueue, Workspace
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import CARD, LINE
from handlers.transport.slack_clients import posting_client, translate_slack_errors

log = logging.getLogger(__name__)


Ephemeral = Callable[[str, str, str], None]
"""Takes `(channel, user, mrkdwn)`."""

Whisper = Callable[[str, str, str, str | None], None]
"""Takes `(channel, user, mrkdwn, thread_ts or None)`."""

_STANDS_ALREADY, _DOES_NOT_STAND = "already_reacted", "no_reaction"


def ephemeral_reply(client: WebClient) -> Whisper:
    """Return a way to tell one user something only they see, in a channel or in one of its threads."""

    def tell(channel: str, user: str, text: str, thread_ts: str | None) -> None:
        with translate_slack_errors("answer you"):
            client.chat_postEphemeral(channel=channel, user=user, text=with_local_times(text), thread_ts=thread_ts)

    return tell


def ephemeral(client: WebClient, poster: Poster) -> Ephemeral:
    """Return a way to tell one user something only they see: in a channel, or in private if they are not there."""
    whispered = ephemeral_reply(client)

    def tell(channel: str, user: str, text: str) -> None:
        try:
            whispered(channel, user, text, None)
        except Unavailable:
            raise
        except ProviderError:
            log.info("answering in private instead", extra={"action": "answered_in_private"}, exc_info=True)
            poster.post(poster.open_place(user), with_local_times(text), what="answer you", rank=LINE)

    return tell


def answer(tell: Callable[..., None], *said: str | None) -> None:
    """Answer a click as an `Ephemeral` or a `Whisper`; one that Slack does not take is logged: the click is done."""
    try:
        tell(*said)
    except ProviderError:
        log.exception("could not answer a click", extra={"action": "answer_failed"})


def respond_privately(respond: Respond, text: str, **said: Any) -> str:
    """Say something more to the one who typed, at their command's response_url; return why Slack refused, or "".

    Slack takes five of these within 30 minutes, and then only the log hears.
    Source: https://docs.slack.dev/interactivity/implementing-slash-commands
    """
    try:
        with translate_slack_errors("answer you"):
            answer = respond(text=with_local_times(text), response_type="ephemeral", replace_original=False, **said)
    except (ProviderError, ValueError):  # Bolt's word for a command that came without a response_url
        log.warning("an answer could not be given", extra={"action": "answer_failed"}, exc_info=True)
        return ""
    status, body = getattr(answer, "status_code", HTTPStatus.OK), str(getattr(answer, "body", ""))
    if status == HTTPStatus.OK and not any(code in body for code in REFUSED_CONTENT):
        return ""
    log.warning("an answer was refused with status %s: %s", status, body[:80], extra={"action": "answer_failed"})
    return body or str(status)


class TableAnswers:
    """Answers with table blocks until Slack refuses one; from then on, for the life of the process, with their text."""

    def __init__(self) -> None:
        self._are_refused = False

    def wanted_for(self, blocks: Sequence[Block]) -> bool:
        """Whether an answer has a table that Slack may take."""
        return not self._are_refused and any(isinstance(block, ListedTable) for block in blocks)

    def respond(self, respond: Respond, text: str, blocks: Sequence[Block]) -> None:
        """Send an answer with its tables; where Slack refuses it, send the same without."""
        refused = respond_privately(respond, text, blocks=[block.to_dict() for block in blocks])
        if not refused:
            return
        self._are_refused = True
        log.info("Slack takes no tables; lists are sent as text", extra={"action": "tables_refused"})
        respond_privately(respond, text, blocks=[block.to_dict() for block in without_tables(blocks)])


TABLES: Final = TableAnswers()
"""Of this process: what one workspace refused is sent as text to every other, too."""


class SlackAskerChat:
    """Speaks with the bot's token."""

    def __init__(self, client: WebClient, poster: Poster) -> None:
        self._poster = poster
        self._whisper = ephemeral_reply(client)

    def add_reaction(self, chat_id: str, message_id: str, reaction: Reaction) -> None:
        """Put our reaction on a message; harmless where it stands already."""
        self._react(chat_id, message_id, reaction, is_set=True)

    def remove_reaction(self, chat_id: str, message_id: str, reaction: Reaction) -> None:
        """Take our reaction from a message; harmless where it does not stand."""
        self._react(chat_id, message_id, reaction, is_set=False)

    def tell_asker(self, state: ThreadState, text: str) -> None:
        """Say a line beside the question that only its asker sees: in its thread only if it was asked there."""
        in_thread = state.thread_ts if state.thread_ts != state.original_message_id else None
        self._whisper(state.chat_id, state.original_sender_id, text, in_thread)

    def _react(self, chat_id: str, message_id: str, reaction: Reaction, *, is_set: bool) -> None:
        try:
            self._poster.react(chat_id, message_id, reaction.value, is_set=is_set)
        except ProviderError as error:
            if error.code != (_STANDS_ALREADY if is_set else _DOES_NOT_STAND):
                raise


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
