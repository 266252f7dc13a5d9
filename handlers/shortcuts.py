"""The message shortcut "Triage this": investigates a message whatever the rules say.

For full members of the bot's own workspace; only they see the answer, also in a channel that the bot is not in.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from slack_bolt import Ack, Respond

from bot.casework.approvers import is_member
from bot.errors import InputError, ProviderError, StoreError, Unavailable
from bot.intake.message_text import image_ids, read_message
from bot.intake.watcher import ForcedEnqueue, Watcher
from bot.ports import Workspace, is_stranger
from handlers.answers import respond_privately
from handlers.clicks import clicking_person

log = logging.getLogger(__name__)

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
