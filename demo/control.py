"""What people do in the throw-away workspace: local-slack's control API.

`say` and `click` return once the bot has acknowledged the event (or 5 s later; at once if no bot is connected), so
their duration is the bot's time to acknowledge. Anybody may do anything: the server checks neither membership nor who
sees what.  Source: local-slack 0.1.8, run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Self, TypeVar

import requests

from bot.errors import InputError, ProviderError

Json = dict[str, Any]

Found = TypeVar("Found")

LIMIT_S: Final = 240.0
"""How long a busy machine may take for one step; whoever waits asks until it is done, and waits no longer."""
_REQUEST_LIMIT_S: Final = 120.0
_POLL_S: Final = 0.05
_POLL_SHARE: Final = 0.05
_LONGEST_POLL_S: Final = 0.5
"""Whoever has waited long looks again after a share of that time: each look costs both processes milliseconds."""
_SHOWN_MESSAGES: Final = 5


class Control:
    """The hands of the workspace's people; every method raises ProviderError if the server cannot be reached."""

    def __init__(self, url: str) -> None:
        """Take the page's address, as `LocalSlack.url` gives it."""
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False  # a proxy of the environment must not see the loopback address

    def __enter__(self) -> Self:
        """Use as a context manager to close the connections."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._session.close()

    def say(self, channel: str, user: str, text: str, thread_ts: str | None = None) -> str:
        """Post as a person, in a thread if `thread_ts` is given; return the message's ts."""
        answer = self._post("message", channel=channel, user=user, text=text, thread_ts=thread_ts)
        return str(answer["message"]["ts"])

    def click(
        self,
        channel: str,
        message_ts: str,
        user: str,
        action_id: str,
        block_id: str,
        value: str | None = None,
        *,
        type: str = "button",
        selected_option: Mapping[str, Any] | None = None,
    ) -> None:
        """Click a button, or with `type="overflow"` choose `selected_option` of a menu."""
        action: Json = {"type": type, "action_id": action_id, "block_id": block_id}
        if value is not None:
            action["value"] = value
        if selected_option is not None:
            action["selected_option"] = dict(selected_option)
        self._post("interact", channel=channel, messageTs=message_ts, user=user, action=action)

    def messages(self, channel: str) -> list[Json]:
        """Return a channel's messages, thread replies and ephemeral ones included, oldest first."""
        return list(self._get(f"messages/{channel}")["messages"])

    def direct_messages(self, user: str) -> str | None:
        """Return the channel of a person's direct messages with the bot; None until the bot opened it."""
        channels = self.state()["channels"]
        return next((one["id"] for one in channels if one["is_im"] and user in one["members"]), None)

    def log(self) -> list[Json]:
        """Return the last 1,000 things that passed between server and bot, oldest first."""
        return list(self._get("log")["log"])

    def state(self) -> Json:
        """Return workspace, apps, users and channels."""
        return self._get("state")

    def is_connected(self) -> bool:
        """Whether a bot opened its socket since the server started or was reset; it may have left again."""
        return any(entry["kind"] == "socket" and "hello" in entry["summary"] for entry in self.log())

    def wait_for(
        self, probe: Callable[[], Found | None], what: str, *, timeout_s: float = LIMIT_S, channel: str | None = None
    ) -> Found:
        """Ask `probe` until it returns something true, and return that.

        Raises:
            ProviderError: nothing in `timeout_s`; names `what` and, given a `channel`, shows its last messages.
        """
        waited, started = 0.0, time.monotonic()
        while waited < timeout_s:
            found = probe()
            if found:
                return found
            time.sleep(min(max(_POLL_S, waited * _POLL_SHARE), _LONGEST_POLL_S))
            waited = time.monotonic() - started
        shown = f"\nThe last messages there:\n{self.transcript(channel)}" if channel else ""
        raise ProviderError(f"Waited {timeout_s:g} s for {what}, in vain.{shown}")

    def transcript(self, channel: str, *, last: int = _SHOWN_MESSAGES) -> str:
        """Return the last messages of a channel, one line each."""
        lines = [f"  {m['ts']} {m.get('user')}: {' '.join(m['text'].split())[:160]}" for m in self.messages(channel)]
        return "\n".join(lines[-last:]) or "  (none)"

    def _post(self, path: str, **fields: Any) -> Json:
        return self._send("POST", path, {name: value for name, value in fields.items() if value is not None})

    def _get(self, path: str) -> Json:
        return self._send("GET", path, None)

    def _send(self, method: str, path: str, body: Json | None) -> Json:
        try:
            answer = self._session.request(method, f"{self._url}/_control/{path}", json=body, timeout=_REQUEST_LIMIT_S)
            payload: Json = answer.json()
        except requests.RequestException as error:
            raise ProviderError(f"The demo's Slack server at {self._url} does not answer; has it stopped?") from error
        if not answer.ok:
            raise InputError(f"The demo's Slack server refused {path}: {payload.get('error', answer.status_code)}.")
        return payload
