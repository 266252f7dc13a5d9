"""The ordinary bot at work on a folder of its own, by a clock that a test can put forward."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from demo.slack_server import LocalSlack
from tests.hands import Control
from tests.journeys.office import Office
from tests.promises.slack_end import SlackEnd


class Later:
    """The machine's clock, put forward by `ahead`."""

    ahead = timedelta()

    def now(self) -> datetime:
        """Return the time."""
        return datetime.now(UTC) + self.ahead


@contextmanager
def at_work(slack: LocalSlack | SlackEnd, control: Control, folder: Path, **more: Any) -> Iterator[Office]:
    """Run the bot on the folder's data directory and codebase; it has left Slack when the block ends."""
    office = Office(slack, control, folder / "home", folder / "shop", **more)
    office.bot.start()
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        yield office
    finally:
        office.bot.stop()
        control.wait_for(lambda: not control.modals.is_bot_connected(), "its socket to close")
