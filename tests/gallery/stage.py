"""Puts blocks, dialogues and homes before the people of the throw-away workspace, with the bot's own token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Locator, expect
from slack_bolt import Ack, App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from demo.slack_server import LocalSlack
from demo.workspace import ANA, DEMO, OPS
from tests.gallery.scene import Scene
from tests.hands import Control
from tests.journeys.browser import SlackPage


class Stage:
    """A bot that shows what it is given, and the page Ana looks at."""

    def __init__(self, client: WebClient, control: Control, page: SlackPage) -> None:
        self._client, self._control, self._page = client, control, page
        self._dialogue: View | None = None

    def show(self, scene: Scene) -> Locator:
        """Show a scene and return where it is drawn."""
        if not isinstance(scene.shows, View):
            return self._message(scene.shows, private=scene.private)
        return self._home(scene.shows) if scene.shows.type == "home" else self._modal(scene.shows)

    def clear(self) -> None:
        """Take away what was shown, and wait until the page has done so."""
        if self._dialogue is not None:
            self._control.modals.close(ANA.user_id)
            self._dialogue = None
        self._control.reset()
        expect(self._page.modal).to_have_count(0)
        expect(self._page.page.locator(".messages .msg")).to_have_count(0)

    def open_dialogue(self, ack: Ack, body: dict[str, Any]) -> None:
        """Open the dialogue of the scene: the bot's answer to whatever Ana types."""
        ack()
        assert self._dialogue is not None
        self._client.views_open(trigger_id=body["trigger_id"], view=self._dialogue)

    def _message(self, blocks: Sequence[Block], *, private: bool) -> Locator:
        self._page.open_channel(OPS.name)
        if private:
            self._client.chat_postEphemeral(channel=OPS.channel_id, user=ANA.user_id, text="shown", blocks=blocks)
        else:
            self._client.chat_postMessage(channel=OPS.channel_id, text="shown", blocks=blocks)
        return self._page.page.locator(".messages .msg .blocks").last

    def _modal(self, view: View) -> Locator:
        self._dialogue = view
        self._control.command(ANA.user_id, OPS.channel_id, "show")
        expect(self._page.modal).to_be_visible()
        return self._page.modal

    def _home(self, view: View) -> Locator:
        self._client.views_publish(user_id=ANA.user_id, view=view)
        return self._page.open_home().locator(".home-inner")


@contextmanager
def open_stage(slack: LocalSlack, control: Control, page: SlackPage) -> Iterator[Stage]:
    """Connect the bot and leave with it."""
    client = WebClient(token=DEMO.bot_token, base_url=slack.api_url)
    app = App(client=client, token_verification_enabled=False)
    stage = Stage(client, control, page)
    app.command("/triage")(stage.open_dialogue)
    ears = SocketModeHandler(app, DEMO.app_token, web_client=WebClient(token=DEMO.app_token, base_url=slack.api_url))
    ears.connect()
    try:
        control.wait_for(control.modals.is_bot_connected, "the gallery's bot to connect")
        page.act_as(ANA.real_name)
        yield stage
    finally:
        ears.close()
