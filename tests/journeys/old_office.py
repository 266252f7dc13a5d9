"""Today's bot on what a whole installation of an earlier version left (tests/old_home)."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from bot.app import App
from bot.config.environment import read_environment
from bot.config.settings import load_settings
from demo.headless import shown_text
from demo.workspace import ANA, DEMO, HELP, DemoChannel
from tests import fork_server
from tests.code_host import TOKEN, CodeHost
from tests.hands import Control, Json
from tests.journeys.company import COMPANY, PAY_OPS, CompanyHands
from tests.journeys.hasty import HASTE
from tests.journeys.office import environment_of
from tests.kept import Kept
from tests.old_home.restore import Restored, messages, restore
from tests.old_home.seeded_slack import seeded_slack


class Reopened(CompanyHands):
    """Today's bot on what the old version left; its code host says that the pull request was merged."""

    def __init__(self, control: Control, restored: Restored, variables: dict[str, str], host: CodeHost) -> None:
        super().__init__(control)
        self.host = host
        self.restored, self.home, self.variables = restored, restored.home, variables
        self.faults: list[str] = []
        settings = load_settings(self.home / "triage.yml")
        self.bot = App(settings, read_environment(variables), clock=restored.clock, time_scale=HASTE)

    def asked(self, words: str) -> str:
        """Return the ts of the old message that holds these words."""
        return next(one["ts"] for one in messages() if words in one["text"] and one["user"] != DEMO.bot_id)

    def kept(self, team: str) -> AbstractContextManager[Kept]:
        """Return what a team has stored now."""
        url = self.variables.get("TRIAGE_DATABASE_URL")
        return closing(Kept(self.home / "teams" / team, url, root=self.home))

    def card_of(self, words: str, showing: str = "", offering: str | None = None) -> Json:
        """Return the card of an old question of payments."""
        return self.card(PAY_OPS, self.asked(words), HELP, showing=showing, offering=offering)

    def types(self, text: str, *says: str, place: DemoChannel = PAY_OPS, user: str = ANA.user_id) -> str:
        """Type a command; return its answer once it holds these words."""
        before = {one["ts"] for one in self.control.messages(place.channel_id)}
        self.control.command(user, place.channel_id, text)

        def found() -> str | None:
            new = [one for one in self.control.messages(place.channel_id) if one["ts"] not in before]
            answers = [shown_text(one) for one in new if one.get("ephemeral_to") == user]
            return next((one for one in answers if all(word in one for word in says)), None)

        return self.control.wait_for(found, f"{text!r} to say {says}", channel=place.channel_id)

    def alert_of(self, user: str, session: str) -> Json:
        """Return the one alert about the failing check of a session, in somebody's direct messages."""
        messages = self.control.messages(self.control.direct_messages(user) or "")
        failing = f"`python3 check.py` fails (exit code 1) · {session}"
        [alert] = [one for one in messages if failing in one["text"] and one.get("thread_ts") in (None, one["ts"])]
        return alert

    def direct(self, user: str) -> list[str]:
        """Return the ts of everything in somebody's direct messages."""
        return [one["ts"] for one in self.control.messages(self.control.direct_messages(user) or "")]

    def reactions(self, ts: str) -> list[str]:
        """Return what the bot put on a message in #help."""
        [message] = [one for one in self.control.messages(HELP.channel_id) if one["ts"] == ts]
        return [one["name"] for one in message.get("reactions") or []]

    def why(self, words: str) -> str:
        """Return what `triage why` prints about an old question of payments."""
        link = f"https://demo.slack.com/archives/{HELP.channel_id}/p{self.asked(words).replace('.', '')}"
        return self.terminal("why", link, "--team", "payments")

    def terminal(self, *words: str) -> str:
        """Type a command on the terminal, and return what it prints."""
        done = fork_server.run("bot", *words, env={**os.environ, **self.variables}, cwd=self.home)
        assert done.returncode == 0, done.stderr
        return done.stdout


class _Faults(logging.Handler):
    """Keeps what a log would show with a traceback."""

    def __init__(self, kept: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self._kept.append(f"{record.name}: {record.getMessage()}: {record.exc_info[1]!r}")


@contextmanager
def reopened(place: Path, slack_binary: Path, *, in_database: bool) -> Iterator[Reopened]:
    """Restore the old installation, and have a bot without models take it over."""
    with (
        seeded_slack(slack_binary, COMPANY, place) as slack,
        Control(slack.server.url) as control,
        CodeHost(place / "host") as host,
    ):
        restored = restore(slack, place, host.origin)
        host.publish(place / "shop")
        host.pulls.append({"number": 1, "head": "triage/old", "title": "", "body": "", "draft": False, "sha": "0" * 40})
        host.pulls[0]["state"] = "merged"
        variables = {**environment_of(slack.server, restored.home), "TRIAGE_GITHUB_TOKEN": TOKEN}
        if in_database:
            variables["TRIAGE_DATABASE_URL"] = restored.database()
        office = Reopened(control, restored, variables, host)
        handler = _Faults(office.faults)
        logging.getLogger().addHandler(handler)
        office.bot.start()
        try:
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            yield office
        finally:
            office.bot.stop()
            logging.getLogger().removeHandler(handler)
