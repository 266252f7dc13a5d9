"""The old bot as a process of its own, and the hands of everybody who talks to it.

Runs with the version at 8154d7ff only; see make.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from blocks import ids
from demo.headless import find_element, shown_text
from demo.workspace import ANA, CHLOE, ENG, HELP, DemoChannel
from tests import fork_server
from tests.hands import Control, Json, find_option, text_value
from tests.journeys.company import COMPANY, PAY_OPS, PLAT_OPS, CompanyProcess
from tests.old_home import cast, codebase
from tests.old_home.seeded_slack import SeededSlack

OPS: Final = {HELP: PAY_OPS, ENG: PLAT_OPS}


class Installation(CompanyProcess):
    """The old bot, and the hands of everybody."""

    def __init__(self, control: Control, slack: SeededSlack, place: Path) -> None:
        shop = codebase.make_shop(place)
        super().__init__(control, slack.server, place / "home", shop)
        self.slack, self.place = slack, place
        self.more = cast.settings(place)

    def ask(self, text: str, channel: DemoChannel = HELP, user: str = CHLOE.user_id, thread: str | None = None) -> str:
        return self.control.say(channel.channel_id, user, text, thread)

    def seen(self, ts: str, showing: str = "", offering: str | None = None, channel: DemoChannel = HELP) -> Json:
        return self.card(OPS[channel], ts, channel, showing=showing, offering=offering)

    def press(self, ts: str, action: str, channel: DemoChannel = HELP, user: str = ANA.user_id) -> None:
        self.click(OPS[channel], self.seen(ts, offering=action, channel=channel), action, user)

    def submit(self, values: Mapping[str, str], user: str = ANA.user_id) -> None:
        self.control.wait_for(self.control.modals.current, "the dialogue")
        given = {block: {ids.INPUT: text_value(text)} for block, text in values.items()}
        assert self.control.modals.submit(user, given) == {}

    def types(self, text: str, says: str, place: DemoChannel = PAY_OPS, user: str = ANA.user_id) -> None:
        self.control.command(user, place.channel_id, text)
        self.told(place, says, user=user)

    def terminal(self, *words: str) -> None:
        env = {**self._environment, "TRIAGE_HOME": str(self.home)}
        done = fork_server.run("bot", *words, env=env, cwd=self.home)
        assert done.returncode == 0, (words, done.stdout, done.stderr)

    def archived(self) -> list[Path]:
        """Return the files of closed threads."""
        return sorted((self.home / "teams").glob("*/closed/*/*.json"))

    def has_status(self, ts: str, status: str) -> None:
        """Wait until a thread of payments has a status."""
        path = self.home / "teams/payments/state" / f"{COMPANY.team_id}.{HELP.channel_id}.{ts}.json"

        def has() -> bool:
            with suppress(FileNotFoundError, ValueError):
                return str(json.loads(path.read_text())["status"]) == status
            return False

        self.control.wait_for(has, f"{ts} to be {status}", channel=PAY_OPS.channel_id)

    def jobs(self, pattern: str, count: int) -> None:
        """Wait until so many jobs wait or run."""

        def are() -> bool:
            return len(list((self.home / "teams").glob(f"*/queue/{pattern}"))) >= count

        self.control.wait_for(are, f"{count} jobs in {pattern}", channel=PAY_OPS.channel_id)

    def found(self, place: str, showing: str, offering: str | None = None) -> Json:
        """Return the newest message of a channel that shows this and offers that."""

        def look() -> Json | None:
            for message in reversed(self.control.messages(place)):
                if showing in shown_text(message) and (offering is None or find_element(message, offering)):
                    return message
            return None

        return self.control.wait_for(look, f"{showing!r} and {offering}", channel=place, timeout_s=90)

    def act(self, message: Json, action: str, user: str = ANA.user_id, label: str = "") -> None:
        element = find_option(message, label) if label else find_element(message, action)
        assert element is not None, shown_text(message)
        self.control.click(message["channel"], message["ts"], user, **element.click_fields())

    def alert(self, user: str, showing: str, offering: str | None = None) -> Json:
        """Return somebody's direct message about a finding."""
        dm = self.control.wait_for(lambda: self.control.direct_messages(user), "direct messages")
        return self.found(dm, showing, offering)
