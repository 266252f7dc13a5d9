"""Speaks in somebody's direct messages with the bot, in Slack's native signs where the workspace has them.

A native sign that Slack refuses for what it is (no agent view, no scope, an unknown method) is not tried again by this
process; then the reaction on the question says that somebody is on it. Needs the scope assistant:write.
Source: https://docs.slack.dev/reference/methods/agents.sessions.setStatus, assistant.threads.setStatus, .setTitle and
.setSuggestedPrompts, as slack_sdk 3.48 sends them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

from slack_sdk import WebClient

from blocks import ids
from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import answer_text, plain, section
from bot.casework.mentions import Mentions
from bot.domain.commands.command_line import read_line
from bot.domain.jobs import MentionInstruction
from bot.domain.threads import ThreadState
from bot.errors import ProviderError, Unavailable
from bot.intake.enqueue import ABOUT_SESSION
from handlers.commands.dispatcher import CommandDispatcher, TypedCommand
from handlers.transport.poster import Part, Poster
from handlers.transport.rate_limits import LINE
from handlers.transport.slack_clients import OF_ONE_PLACE, translate_slack_errors

log = logging.getLogger(__name__)

TITLE_CHARS: Final = 80
PROMPTS: Final = (
    ("Where is a setting?", "Where is the default timeout set?"),
    ("Who changed it last?", "Who changed the retry limit last, and why?"),
)
MAX_PROMPTS: Final = 4
PROMPT_CHARS: Final = 70


class NativeSigns:
    """Calls that some workspaces do not take; safe in several threads."""

    def __init__(self, client: WebClient) -> None:
        self._client = client
        self._refused: set[str] = set()

    def show_working(self, channel: str, thread_ts: str, title: str, *, is_working: bool) -> bool:
        """Set or clear the status of a thread, by the first way that Slack takes; False where it takes none."""
        at = {"channel_id": channel, "thread_ts": thread_ts}
        state = "processing" if is_working else "active"
        if self._takes(self._client.agents_sessions_setStatus, **at, status=state, title=title):
            return True
        if is_working:
            self._takes(self._client.assistant_threads_setTitle, **at, title=title)
        status = "is looking into it …" if is_working else ""
        return self._takes(self._client.assistant_threads_setStatus, **at, status=status)

    def suggest(self, channel: str, prompts: Iterable[tuple[str, str]]) -> bool:
        """Offer prompts in somebody's direct messages; False where Slack does not take them."""
        shown = [{"title": plain(title, PROMPT_CHARS), "message": message} for title, message in prompts][:MAX_PROMPTS]
        return self._takes(self._client.assistant_threads_setSuggestedPrompts, channel_id=channel, prompts=shown)

    def _takes(self, call: Callable[..., object], **arguments: Any) -> bool:
        name = call.__name__
        if name in self._refused:
            return False
        try:
            with translate_slack_errors("show a native sign"):
                call(**arguments)
        except ProviderError as error:
            if error.code not in OF_ONE_PLACE and not isinstance(error, Unavailable):
                self._refused.add(name)
            log.info("Slack does not take %s: %s", name, error.code, extra={"action": "native_sign_refused"})
            return False
        return True


class SlackDirectChat:
    """Port DirectChat."""

    def __init__(self, poster: Poster, signs: NativeSigns) -> None:
        self._poster, self._signs = poster, signs

    def tell(self, chat_id: str, thread_ts: str, text: str, *, about: str) -> None:
        """Say a line in the thread of a message unless it stands there."""
        mark, said = ids.told_block_id(about), answer_text(text)
        part = Part(mark=mark, text=said, blocks=[section(said, block_id=mark)])
        self._poster.post_series([part], channel=chat_id, thread_ts=thread_ts, what="answer you", rank=LINE)

    def show_working(self, state: ThreadState, *, is_working: bool) -> None:
        """Set or clear the native status; where there is none, the reaction on the question stands alone."""
        title = plain(state.question, TITLE_CHARS)
        self._signs.show_working(state.chat_id, state.thread_ts, title, is_working=is_working)


class SessionQuestions:
    """Answers "how is web?" in direct messages, as `/triage heartbeat why web` does; hands on all other mentions."""

    def __init__(self, commands: CommandDispatcher, poster: Poster, mentions: Mentions) -> None:
        self._commands, self._poster, self._mentions = commands, poster, mentions

    def follow_instruction(self, mention: MentionInstruction) -> None:
        """Answer in the question's thread, once; raises ProviderError, StoreError."""
        event, line = mention.event, read_line(mention.instruction.command)
        if not event.is_direct or not mention.instruction.command.startswith(ABOUT_SESSION):
            self._mentions.follow_instruction(mention)
            return
        user = event.sender.id
        typed = TypedCommand(line=line, user_id=user, team_id=event.team_id, user_name=user, channel_id=event.chat_id)
        blocks = fit_message(self._commands.answer(typed).blocks)
        blocks[0].block_id = mark = f"triage_session_answer:{event.message_id}"
        part = Part(mark=mark, text=answer_text(f"How {line.word(2)} is"), blocks=blocks)
        at = {"channel": event.chat_id, "thread_ts": event.thread_id or event.message_id}
        self._poster.post_series([part], **at, what="say how a session is", rank=LINE)
