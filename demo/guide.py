"""What the page shows after the first question: an alert, then a shared check, each with a line that says what it is.

Each begins once somebody dealt with what came before. A colleague says the line and breaks what a heartbeat then finds;
the bot does the rest by itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from blocks import ids
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.domain.heartbeats.beats import Wake
from bot.heartbeat.session_registry import WakeBox
from demo.control import Control
from demo.headless import find_element
from demo.watched import FAULTY, MASTER, REPAIRED, SESSION, WORKER, break_config
from demo.workspace import ANA, BEN, OPS

_ALERT: Final = (
    "That was a question. Next, what triage does while nobody asks: it checks repositories, such as *{session}*. I "
    "have just broken a config there. An alert comes into your direct messages, on the left: click *Acknowledge*.\n"
    "It is resolved once `{repaired}` stands in `{faulty}` again."
)
_SHARED: Final = (
    "Last, a shared check: *{master}* has seen that *{worker}* lacks a check that another repository has, and offers "
    "it below. *Accept* writes it into the HEARTBEAT.md of *{worker}*. Then it is your turn: ask something in #help."
)


class Guide:
    """Leads from one thing to the next; `tick` looks whether it is time."""

    def __init__(self, control: Control, home: Path) -> None:
        self._control, self._wakes, self._watched = control, WakeBox(FileDocuments(home)), home / "watched" / SESSION
        self._steps = [(self._is_answered, self.alert), (self._is_acknowledged, self._share)]

    def tick(self) -> None:
        """Begin the next step if somebody dealt with the one before."""
        if self._steps and self._steps[0][0]():
            self._steps.pop(0)[1]()

    def _is_answered(self) -> bool:
        cards = self._control.messages(OPS.channel_id)
        return bool(cards) and not any(find_element(card, ids.DISMISS) for card in cards)

    def _is_acknowledged(self) -> bool:
        channel = self._control.direct_messages(ANA.user_id)
        alerts = self._control.messages(channel) if channel else []
        return bool(alerts) and not any(find_element(alert, ids.ACKNOWLEDGE) for alert in alerts)

    def alert(self) -> None:
        """Break what a heartbeat watches, and have it checked now, as `triage heartbeat run` does."""
        self._say(_ALERT.format(session=SESSION, repaired=REPAIRED, faulty=self._watched / FAULTY))
        break_config(self._watched)
        self._wakes.drop(SESSION, Wake.ON_DEMAND)

    def _share(self) -> None:
        self._say(_SHARED.format(master=MASTER, worker=WORKER))
        self._wakes.drop(MASTER, Wake.ON_DEMAND)

    def _say(self, text: str) -> None:
        self._control.say(OPS.channel_id, BEN.user_id, text)
