"""Ports Workspace and History over Slack's Web API: people, channels, threads, and a channel's history.

People are remembered for a minute unless asked afresh, memberships never. The names that Slack tells anyway, and
nothing but names, are stored for readers outside Slack, such as the terminal.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from bot.config.team_settings import WatchedChat
from bot.domain.events import is_direct
from bot.domain.text.sanitize import storable
from bot.domain.threads import PROOF_MARK, REPLY_MARK
from bot.errors import ProviderError
from bot.intake.message_text import image_ids, read_message
from bot.intake.normalise import WRITTEN
from bot.ports import Channel, ChatMessage, Message, Person
from handlers.transport.name_book import NameBook
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

PAGE = 200

MESSAGES_ABOVE = 15
"""Looked through for one that somebody wrote; the others say who joined."""

CACHE_S = 60.0
MAX_CACHED = 1_000


def why_unreadable(client: WebClient, chat: WatchedChat) -> str | None:
    """Return why a watched channel cannot be read, None if it can; what Slack leaves out is not held against it."""
    name = f"{chat.chat_id} ({chat.name})" if chat.name else chat.chat_id
    try:
        with translate_slack_errors("look at the channel"):
            channel = client.conversations_info(channel=chat.chat_id)["channel"]
    except ProviderError as error:
        return f"{name}: {error}"
    if channel.get("is_archived"):
        return f"{name} is archived"
    return f"the bot is not in {name}" if channel.get("is_member") is False else None


class SlackHistory:
    """Reads channels and threads back."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def messages(self, chat_id: str, *, oldest: str) -> Iterator[Message]:
        """Yield a channel's root messages, page by page; raises ProviderError, Unavailable."""
        with translate_slack_errors(f"read the history of {chat_id}"):
            for page in self._client.conversations_history(channel=chat_id, oldest=oldest, limit=PAGE):
                yield from _messages_of(page)

    def replies(self, chat_id: str, thread_ts: str, *, oldest: str = "0") -> Iterator[Message]:
        """Yield a thread, nothing when its root is gone; raises as `messages` does."""
        return _replies(self._client, chat_id, thread_ts, oldest=oldest)

    def direct_chats(self) -> Iterator[str]:
        """Yield people's direct messages with the bot (scope im:read), page by page; raises as `messages` does."""
        with translate_slack_errors("list direct messages"):
            for page in self._client.users_conversations(types="im", limit=PAGE):
                yield from (str(one["id"]) for one in page["channels"] if is_direct(str(one["id"])))


def _replies(client: WebClient, chat_id: str, thread_ts: str, *, oldest: str = "0") -> Iterator[Message]:
    try:
        with translate_slack_errors(f"read a thread in {chat_id}"):
            for page in client.conversations_replies(channel=chat_id, ts=thread_ts, oldest=oldest, limit=PAGE):
                yield from _messages_of(page)
    except ProviderError as error:
        if error.code != "thread_not_found":
            raise


def _messages_of(page: SlackResponse) -> list[Message]:
    return [message for message in page.get("messages") or [] if isinstance(message, dict)]


class SlackWorkspace:
    """What the bot may ask Slack."""

    def __init__(
        self,
        client: WebClient,
        *,
        team_id: str,
        bot_user_id: str | None = None,
        enterprise_id: str | None = None,
        names: NameBook | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._team_id, self._bot_user_id, self._enterprise_id = team_id, bot_user_id, enterprise_id
        self._names, self._monotonic = names, monotonic
        self._people: dict[str, tuple[float, Person]] = {}

    def person(self, user_id: str, *, fresh: bool = False) -> Person:
        """Return who a user is; `fresh` asks Slack whatever is remembered. Raises ProviderError if Slack cannot say."""
        now = self._monotonic()
        asked_at, known = self._people.get(user_id, (0.0, None))
        if known is not None and not fresh and now - asked_at < CACHE_S:
            return known
        person = self._person(user_id)
        if len(self._people) >= MAX_CACHED:
            self._people = {name: held for name, held in self._people.items() if now - held[0] < CACHE_S}
        self._people[user_id] = (now, person)
        return person

    def permalink(self, chat_id: str, message_id: str) -> str | None:
        """Return a link to a message, or None if there is none to be had."""
        try:
            with translate_slack_errors("link to a message"):
                return str(self._client.chat_getPermalink(channel=chat_id, message_ts=message_id)["permalink"])
        except ProviderError:
            return None

    def thread(self, chat_id: str, thread_ts: str) -> Sequence[ChatMessage]:
        """Return the messages of a thread, its parent first; empty when the parent is gone."""
        messages = _replies(self._client, chat_id, thread_ts)
        return [self._message(m) for m in messages if m.get("subtype") != "tombstone" and m.get("ts")]

    def thread_above(self, chat_id: str, message_id: str) -> str | None:
        """Return the thread of the message that somebody wrote above another one in a channel; None for none.

        Those that mention the bot are left out: it has dealt with them. Raises ProviderError if Slack cannot say.
        """
        with translate_slack_errors("read the message above"):
            page = self._client.conversations_history(channel=chat_id, latest=message_id, limit=MESSAGES_ABOVE)
        above = [one for one in _messages_of(page) if float(one.get("ts") or "inf") < float(message_id)]
        us = f"<@{self._bot_user_id}"
        said = [one for one in above if one.get("subtype") in WRITTEN and us not in str(one.get("text"))]
        newest = max(said, key=lambda one: float(one["ts"]), default=None)
        return str(newest.get("thread_ts") or newest["ts"]) if newest else None

    def channel(self, chat_id: str) -> Channel:
        """Return how a channel stands; raises ProviderError if Slack cannot say."""
        with translate_slack_errors("look at the channel"):
            channel = dict(self._client.conversations_info(channel=chat_id)["channel"])
        self._learn(chat_id, channel.get("name"))
        return Channel(
            is_private=bool(channel.get("is_private")) and not channel.get("is_ext_shared"),
            is_archived=bool(channel.get("is_archived")),
        )

    def members(self, place_id: str) -> frozenset[str]:
        """Return the user ids in a channel or a user group (S…); raises ProviderError if Slack cannot say."""
        with translate_slack_errors("list who may approve"):
            if place_id.startswith("S"):
                return frozenset(self._client.usergroups_users_list(usergroup=place_id)["users"])
            pages = self._client.conversations_members(channel=place_id, limit=PAGE)
            return frozenset(member for page in pages for member in page["members"])

    def user_groups(self) -> Sequence[tuple[str, str]]:
        """Return the id and the handle of each user group; none where Slack cannot say."""
        try:
            with translate_slack_errors("list the user groups"):
                found = self._client.usergroups_list()["usergroups"]
                return [(str(one["id"]), str(one["handle"])) for one in found]
        except ProviderError:
            log.info("no user groups are offered", extra={"action": "groups_unknown"}, exc_info=True)
            return []

    def user_of(self, email: str) -> str | None:
        """Return the id of the user with an address (scope `users:read.email`); None where Slack names none."""
        try:
            with translate_slack_errors("look up an address"):
                return str(self._client.users_lookupByEmail(email=email)["user"]["id"])
        except ProviderError:
            log.info("an owner of code is not known to Slack", extra={"action": "owner_unknown"}, exc_info=True)
            return None

    def _message(self, message: Message) -> ChatMessage:
        is_ours = self._bot_user_id is not None and message.get("user") == self._bot_user_id
        return ChatMessage(
            message_id=message["ts"],
            sender_id=str(message.get("user") or message.get("bot_id") or ""),
            text=read_message(_without_proof(message) if is_ours else message),
            is_bot=bool(message.get("bot_id")),
            edited=bool(message.get("edited")),
            reply_mark=_reply_mark(message) if is_ours else None,
            long_files=tuple(_long_files(message)),
            images=image_ids(message),
        )

    def _person(self, user_id: str) -> Person:
        with translate_slack_errors("look up a user"):
            user = dict(self._client.users_info(user=user_id)["user"])
        profile = user.get("profile") or {}
        name = storable(profile.get("display_name") or user.get("real_name") or user.get("name") or user_id)
        self._learn(user_id, name)
        team = user.get("team_id") or self._team_id
        grid = self._grid_ids(user)
        return Person(
            user_id=user_id,
            name=name,
            team_id=team,
            team_ids=grid,
            is_bot=bool(user.get("is_bot")),
            is_guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
            is_external=not grid and (bool(user.get("is_stranger")) or team != self._team_id),
            is_deactivated=bool(user.get("deleted")),
            timezone=user.get("tz") or None,
        )

    def _learn(self, slack_id: str, name: object) -> None:
        if self._names is not None:
            self._names.learn(slack_id, name)

    def _grid_ids(self, user: dict[str, Any]) -> frozenset[str]:
        """Return the workspaces and the company of a colleague on our Enterprise Grid; of anybody else, none.

        Source: https://docs.slack.dev/reference/objects/user-object (enterprise_user)
        """
        found = user.get("enterprise_user") or {}
        company = found.get("enterprise_id") or user.get("enterprise_id")
        ids = frozenset(one for one in (user.get("team_id"), company, *(found.get("teams") or ())) if one)
        is_ours = self._team_id in (found.get("teams") or ()) or self._enterprise_id in ids
        return ids if is_ours else frozenset()


def _without_proof(message: Message) -> Message:
    """Return a message of ours without what stands under a reply and is none of its words."""
    blocks = [block for block in message.get("blocks") or [] if isinstance(block, dict)]
    return {**message, "blocks": [one for one in blocks if not str(one.get("block_id")).startswith(PROOF_MARK)]}


def _long_files(message: Message) -> Iterator[str]:
    """Yield the ids of text files that are longer than their preview; pictures and programs have none.

    Source: https://docs.slack.dev/reference/objects/file-object (preview, lines_more), and payloads of snippets
    """
    for file in message.get("files") or []:
        if isinstance(file, dict) and isinstance(file.get("id"), str):
            is_text = "preview" in file or str(file.get("mimetype")).startswith("text/")
            is_whole = file.get("preview") and not (file.get("preview_is_truncated") or file.get("lines_more"))
            if is_text and not is_whole:
                yield file["id"]


def _reply_mark(message: Message) -> str | None:
    """Return the block id that marks a reply; an id may be made of anything, so only its beginning is believed."""
    found = (block.get("block_id") for block in message.get("blocks") or [] if isinstance(block, dict))
    return next((mark for mark in found if isinstance(mark, str) and mark.startswith(REPLY_MARK)), None)
