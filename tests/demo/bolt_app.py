"""A tiny Bolt bot for the tests of the demo's own tools: a card with buttons, a modal, a thread reply."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from demo.slack_server import LocalSlack
from demo.workspace import DEMO, OPS


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def _button(action_id: str, label: str, style: str | None = None) -> dict[str, Any]:
    button = {"type": "button", "action_id": action_id, "text": _plain(label), "value": f"{action_id}-value"}
    return {**button, **({"style": style} if style else {})}


def card(question: str) -> list[dict[str, Any]]:
    """Return a card like the real one, as far as the tools care."""
    menu = {"type": "overflow", "action_id": "more", "options": [{"text": _plain("Show evidence"), "value": "show"}]}
    buttons = [_button("approve", "Approve", "primary"), _button("edit", "Edit"), _button("dismiss", "Dismiss"), menu]
    return [
        {"type": "section", "block_id": "question", "text": {"type": "mrkdwn", "text": f"> {question}"}},
        {"type": "actions", "block_id": "buttons", "elements": buttons},
    ]


def modal(channel_and_ts: str) -> dict[str, Any]:
    """Return a modal with a text and a checkbox."""
    text = {"type": "plain_text_input", "action_id": "value", "multiline": True, "initial_value": "draft"}
    boxes = {
        "type": "checkboxes",
        "action_id": "value",
        "options": [{"text": _plain("Only save"), "value": "only_save"}],
    }
    return {
        "type": "modal",
        "callback_id": "edit_view",
        "private_metadata": channel_and_ts,
        "title": _plain("Edit the reply"),
        "submit": _plain("Post now"),
        "close": _plain("Cancel"),
        "blocks": [
            {"type": "input", "block_id": "reply", "label": _plain("Reply"), "element": text},
            {"type": "input", "block_id": "only_save", "label": _plain("Then"), "optional": True, "element": boxes},
        ],
    }


@contextmanager
def running_app(slack: LocalSlack) -> Iterator[list[dict[str, Any]]]:
    """Run the bot and yield the list of bodies it was sent, in order."""
    seen: list[dict[str, Any]] = []
    app = App(client=WebClient(DEMO.bot_token, base_url=slack.api_url))
    _register(app, seen)
    handler = SocketModeHandler(app, DEMO.app_token, web_client=WebClient(DEMO.app_token, base_url=slack.api_url))
    handler.connect()
    try:
        yield seen
    finally:
        _close(handler)


def _close(handler: SocketModeHandler) -> None:
    """Close at once: `close` alone waits for two threads that look up from socket and queue now and then only."""
    client = handler.client
    client.auto_reconnect_enabled, client.closed = False, True
    client.current_session.sock.shutdown(socket.SHUT_RDWR)
    client.message_queue.put(None)
    handler.close()


def _register(app: App, seen: list[dict[str, Any]]) -> None:
    @app.use
    def record(body: dict[str, Any], next: Any) -> None:
        seen.append(body)
        next()

    @app.event("message")
    def on_message(event: dict[str, Any], client: WebClient) -> None:
        if not event.get("subtype") and not event.get("thread_ts"):
            client.chat_postMessage(channel=OPS.channel_id, text="card", blocks=card(event["text"]))

    @app.event("app_home_opened")
    def on_home() -> None:
        pass

    @app.command("/triage")
    def on_command(ack: Any, command: dict[str, Any]) -> None:
        ack(text=f"you typed {command['text']}", response_type="ephemeral")

    @app.action("edit")
    def on_edit(ack: Any, body: dict[str, Any], client: WebClient) -> None:
        ack()
        client.views_open(trigger_id=body["trigger_id"], view=modal(body["container"]["message_ts"]))

    @app.action(re.compile("approve|dismiss|more"))
    def on_click(ack: Any, body: dict[str, Any], client: WebClient) -> None:
        ack()
        client.chat_postMessage(channel=OPS.channel_id, thread_ts=body["container"]["message_ts"], text="clicked")

    @app.view("edit_view")
    def on_submit(ack: Any, body: dict[str, Any], view: dict[str, Any], client: WebClient) -> None:
        text = view["state"]["values"]["reply"]["value"]["value"]
        if not text.strip():
            ack(response_action="errors", errors={"reply": "An empty reply helps nobody."})
            return
        ack()
        client.chat_postMessage(channel=OPS.channel_id, thread_ts=view["private_metadata"], text=str(text))
