"""Speaks in somebody's direct messages with the bot, in Slack's native signs where the workspace has them.

A native sign that Slack refuses for what it is (no agent view, no scope, an unknown method) is not tried again by this
process; then the reaction on the question says that somebody is on it. Needs the scope assistant:write.
Source: https://docs.slack.dev/reference/methods/agents.sessions.setStatus, assistant.threads.setStatus, .setTitle and
.setSuggestedPrompts, as slack_sdk 3.48 sends them.

The message shortcut "Triage this": investigates a message whatever the rules say.

For full members of the bot's own workspace; only they see the answer, also in a channel that the bot is not in.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

from slack_bolt import Ack, Respond
from slack_sdk import WebClient

from blocks import ids
from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import answer_text, plain, section
from bot.casework.approvers import is_member
from bot.casework.mentions import Mentions
from bot.domain.command_specs import read_line
from bot.domain.jobs import MentionInstruction
from bot.domain.threads import ThreadState
from bot.errors import InputError, ProviderError, StoreError, Unavailable
from bot.intake.enqueue import ABOUT_SESSION
from bot.intake.message_text import image_ids, read_message
from bot.intake.watcher import ForcedEnqueue, Watcher
from bot.ports import Workspace, is_stranger
from handlers.answers import respond_privately
from handlers.buttons.decision_handler import clicking_person
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


Body = dict[str, Any]

NOT_YOURS: Final = "Guests cannot do that; only members of this workspace can."
INVITE: Final = (
    "Triage cannot read that channel, so it could not answer there. Invite it (/invite @triage), then try again; or "
    "ask from here: /triage investigate <question>"
)
PRIVATE_TALK: Final = (
    "That is a conversation between people, which triage cannot read and could not answer in. Copy the question: "
    "/triage investigate <question>"
)
WORDLESS: Final = "That message has no words and no picture. Write the question in its thread and mention triage there."
GUESTS: Final = (
    "A guest or somebody of another workspace wrote that; triage takes such messages only with "
    "watcher.allow_external: true. To make it your question: /triage investigate <question>"
)
_SAYS: Final = {
    ForcedEnqueue.QUEUED: (
        "Triage is investigating it: a draft will be in the ops channel soon, and a person decides what is posted."
    ),
    ForcedEnqueue.UNDER_WAY: "Triage is already working on it: its thread has a card in the ops channel.",
    ForcedEnqueue.CLOSED: "That message was already handled. To ask again, mention triage in its thread.",
    ForcedEnqueue.NOTHING: "Nothing to investigate: this is triage's own message or a system message.",
}


class Shortcuts:
    """The listener of the shortcut; `whose` returns what stands before what was done."""

    def __init__(
        self,
        watcher: Watcher,
        workspace: Workspace,
        *,
        team_id: str,
        allow_external: bool = False,
        whose: Callable[[], str] = str,
    ) -> None:
        self._watcher, self._workspace, self._whose = watcher, workspace, whose
        self._team_id, self._allow_external = team_id, allow_external

    def triage_this(self, ack: Ack, body: Body, respond: Respond) -> None:
        """Queue the message as a question of whoever wrote it."""
        ack()
        try:
            says = f"{self._whose()}{self._take(body)}"
        except InputError as error:
            says = str(error)
        except (ProviderError, StoreError) as error:
            log.warning("a message could not be taken up: %s", error, extra={"action": "shortcut_failed"})
            says = f"That did not work: {error}"
        respond_privately(respond, says)

    def _take(self, body: Body) -> str:
        self._require_member(body)
        channel, message = str(body["channel"]["id"]), body["message"]
        self._require_readable(body["channel"], str(message.get("thread_ts") or message.get("ts")))
        self._require_takeable(message)
        event = {**message, "type": "message", "channel": channel}
        return _SAYS[self._watcher.force_enqueue({"team_id": self._team_id, "event": event})]

    def _require_member(self, body: Body) -> None:
        user, team = clicking_person(body)
        if not is_member(self._workspace.person(user, fresh=True), team, self._team_id):
            raise InputError(NOT_YOURS)

    def _require_readable(self, channel: Body, thread_ts: str) -> None:
        """A reply can only be posted, and its question only be checked, where the bot is."""
        try:
            found = self._workspace.thread(str(channel["id"]), thread_ts)
        except Unavailable:
            raise
        except ProviderError as error:
            raise InputError(PRIVATE_TALK if _is_between_people(channel) else INVITE) from error
        if not found:
            raise InputError("That message is gone.")

    def _require_takeable(self, message: Body) -> None:
        """Refuse what would be queued and then left alone, or could not be looked into."""
        author = message.get("user")
        if not read_message(message).strip() and not image_ids(message):
            raise InputError(WORDLESS)
        if self._allow_external or not isinstance(author, str) or message.get("bot_id"):
            return
        if is_stranger(self._workspace.person(author, fresh=True)):
            raise InputError(GUESTS)


def _is_between_people(channel: Body) -> bool:
    """Whether it is a direct message, of two or of several; Slack gives no more of a channel than id and name."""
    name = str(channel.get("name") or "")
    return str(channel.get("id") or "").startswith("D") or name == "directmessage" or name.startswith("mpdm-")
