"""The hands of people in the throw-away workspace, for tests: also commands, edits, dialogues and App Home.

There is one stack of modals for the whole workspace, not one per user. An input that is left out of `values` arrives at
the bot as null or [], even if it has an initial value.  Source: local-slack 0.1.8, run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from bot.errors import InputError, ProviderError
from demo import control as demo_control
from demo.control import LIMIT_S as LIMIT_S
from demo.control import Json as Json
from demo.headless import Element, elements_of, named_blocks, shown_text

Values = Mapping[str, Mapping[str, Mapping[str, Any]]]

_ANSWER_LIMIT_S: Final = 120.0
_BIGGEST_SNAPSHOT: Final = 64 * 1024 * 1024
_ENOUGH_OF_A_QUESTION: Final = 60


class Modals:
    """Whatever modal is open; needs the `websockets` package (extra `dev`), imported when first used."""

    def __init__(self, url: str) -> None:
        """Take the page's address, as `LocalSlack.url` gives it."""
        self._url = url.replace("http://", "ws://", 1) + "/ui"

    def snapshot(self) -> Json:
        """Return what a freshly loaded page is told: users, channels, messages, modalStack, homeViews, apps, log."""
        with self._connected() as (_, state):
            return state

    def is_bot_connected(self) -> bool:
        """Whether a bot's socket is open right now."""
        return any(app["connected"] for app in self.snapshot()["apps"])

    def current(self) -> Json | None:
        """Return the view on top, or None when no modal is open."""
        stack = self.snapshot()["modalStack"]
        return stack[-1] if stack else None

    def submit(self, user: str, values: Values) -> dict[str, str]:
        """Submit the modal on top and return the errors the bot answered by block id; none means it was taken.

        Args:
            user: Who submits, by user id.
            values: block_id -> action_id -> element state, e.g. `{"reply": {"value": text_value("Use v2.")}}`.

        Raises:
            InputError: no modal is open.
            ProviderError: the server said nothing in time.
        """
        with self._connected() as (socket, state):
            if not state["modalStack"]:
                raise InputError("There is no modal open to submit.")
            socket.send(json.dumps({"t": "view_submit", "user": user, "values": values}))
            answer = _next(socket, {"view", "view_errors"})
        return dict(answer.get("errors") or {})

    def close(self, user: str) -> None:
        """Close all modals, as Cancel does."""
        with self._connected() as (socket, _):
            socket.send(json.dumps({"t": "view_close", "user": user}))
            _next(socket, {"view"})

    @contextmanager
    def _connected(self) -> Iterator[tuple[Any, Json]]:
        from websockets.exceptions import WebSocketException
        from websockets.sync.client import connect

        try:
            with connect(self._url, proxy=None, max_size=_BIGGEST_SNAPSHOT, close_timeout=1) as socket:
                yield socket, _next(socket, {"init"})["state"]
        except (OSError, WebSocketException) as error:
            raise ProviderError(f"The demo's Slack server at {self._url} does not answer; has it stopped?") from error


def text_value(text: str) -> Json:
    """Return the state of a text input.

    >>> text_value("Use v2.")
    {'type': 'plain_text_input', 'value': 'Use v2.'}
    """
    return {"type": "plain_text_input", "value": text}


def checked(*values: str) -> Json:
    """Return the state of checkboxes with these option values checked.

    >>> checked("only_save")["selected_options"][0]["value"]
    'only_save'
    """
    options = [{"text": {"type": "plain_text", "text": value}, "value": value} for value in values]
    return {"type": "checkboxes", "selected_options": options}


def _next(socket: Any, kinds: set[str]) -> Json:
    deadline = time.monotonic() + _ANSWER_LIMIT_S
    try:
        while True:
            message: Json = json.loads(socket.recv(timeout=deadline - time.monotonic()))
            if message["t"] in kinds:
                return message
    except TimeoutError as error:
        raise ProviderError(f"The demo's Slack server sent no {' or '.join(sorted(kinds))} in time.") from error


class Control(demo_control.Control):
    """The hands of the workspace's people; every method raises ProviderError if the server cannot be reached."""

    def __init__(self, url: str) -> None:
        """Take the page's address, as `LocalSlack.url` gives it."""
        super().__init__(url)
        self.modals = Modals(url)

    def edit(self, channel: str, ts: str, user: str, text: str) -> None:
        """Change a message; raises InputError if it is not the user's own."""
        self._post("edit-message", channel=channel, ts=ts, user=user, text=text)

    def delete(self, channel: str, ts: str, user: str) -> None:
        """Delete a message; raises InputError if it is not the user's own."""
        self._post("delete-message", channel=channel, ts=ts, user=user)

    def command(self, user: str, channel: str, text: str, *, command: str = "/triage") -> None:
        """Type a slash command; the answer arrives among the channel's messages as `subtype: ephemeral`."""
        self._post("command", channel=channel, user=user, command=command, text=text)

    def open_home(self, user: str) -> None:
        """Open the bot's App Home."""
        self._post("open-home", user=user)

    def reset(self) -> None:
        """Forget all messages, DMs, modals, homes and the log; people, channels and the bot's connection stay."""
        self._post("reset")

    def reactions(self, channel: str, ts: str) -> list[str]:
        """Return the names of the reactions that stand on a message."""
        message = next((one for one in self.messages(channel) if one["ts"] == ts), {})
        return sorted(str(one["name"]) for one in message.get("reactions") or [] if one.get("count"))


def find_card(messages: Sequence[Json], marker: str) -> Json | None:
    """Return the newest message with a block whose id is `marker`, or that shows the question which starts so."""
    start = " ".join(marker.split())[:_ENOUGH_OF_A_QUESTION]
    for message in reversed(messages):
        blocks = named_blocks(message)
        if any(block["block_id"] == marker for block in blocks) or (blocks and start in shown_text(message)):
            return message
    return None


def find_option(message: Json, label: str) -> Element | None:
    """Return the menu option with this label, or None."""
    for block, element in elements_of(message):
        for option in element.get("options") or []:
            if option["text"]["text"] == label:
                return Element(
                    action_id=element["action_id"],
                    block_id=block["block_id"],
                    type=element["type"],
                    selected_option=option,
                )
    return None
