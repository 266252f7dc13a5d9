"""A heartbeat's alert, found by its owner in her direct messages and acknowledged with a click."""

from __future__ import annotations

import textwrap
from typing import Any, Final

from blocks import ids
from bot.errors import ProviderError
from demo.control import Control, Json
from demo.headless import Transcript, find_element, shown_text
from demo.workspace import ANA

ALERT_LIMIT_S: Final = 120.0
MODEL_ALERT_LIMIT_S: Final = 600.0
CARD_LIMIT_S: Final = 120.0


class AlertJourney:
    """Ana waits for what the heartbeat of the watched repository has to say."""

    def __init__(self, control: Control, transcript: Transcript, *, limit_s: float = ALERT_LIMIT_S) -> None:
        self._control, self._transcript, self._limit_s = control, transcript, limit_s

    def acknowledge(self) -> dict[str, Any] | None:
        """Wait for the alert, click, see the card change; `heartbeat` of `triage demo --json`, None without alert.

        `alert_s` counts from the start of the transcript.
        """
        try:
            card = self._alert()
        except ProviderError as error:
            self._transcript.note(f"stopped: {error}")
            return None
        alert_s = self._transcript.note(f"a heartbeat alert waits in {ANA.name}'s DMs: {shortened(card)}")
        facts: dict[str, Any] = {"alert_s": round(alert_s, 2), "acknowledged": False}
        try:
            self._click(card)
        except ProviderError as error:
            self._transcript.note(f"stopped: {error}")
            return facts
        self._transcript.note(f"{ANA.name} clicks Acknowledge; the card says that she has it")
        return {**facts, "acknowledged": True}

    def _alert(self) -> Json:
        """Return the first card; raises ProviderError if none comes."""

        def found() -> Json | None:
            return next((card for card in self._messages() if find_element(card, ids.ACKNOWLEDGE)), None)

        return self._control.wait_for(found, f"an alert to {ANA.name}", timeout_s=self._limit_s)

    def _click(self, card: Json) -> None:
        button = find_element(card, ids.ACKNOWLEDGE)
        assert button is not None
        self._control.click(card["channel"], card["ts"], ANA.user_id, **button.click_fields())

        def acknowledged() -> bool:
            now = next((message for message in self._messages() if message["ts"] == card["ts"]), None)
            return now is not None and find_element(now, ids.ACKNOWLEDGE) is None

        self._control.wait_for(acknowledged, "the card to change", timeout_s=CARD_LIMIT_S)

    def _messages(self) -> list[Json]:
        channel = self._control.direct_messages(ANA.user_id)
        return self._control.messages(channel) if channel else []


def shortened(card: Json) -> str:
    """Return the beginning of a card's text without its emoji, cut at a word."""
    return textwrap.shorten(shown_text(card).removeprefix(":rotating_light: "), width=90, placeholder=" …")
