"""Replicas of the bot as processes of their own: one database, one workspace, a data directory each."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from blocks import ids
from demo.headless import find_element, find_replies, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, DEMO, HELP, OPS
from tests import fork_server
from tests.fork_server import ForkedProcess
from tests.hands import Control, Json
from tests.journeys.office import environment_of, write_config
from tests.postgres import driver, new_database


class Fleet:
    """Replicas by number, and the hands of everybody."""

    def __init__(
        self,
        slack: LocalSlack,
        control: Control,
        folder: Path,
        codebase: Path,
        *,
        url: str | None = None,
        **settings: Any,
    ) -> None:
        self.control, self.url = control, url or new_database()
        self._slack, self._folder, self._codebase, self._settings = slack, folder, codebase, settings
        self.running: dict[int, ForkedProcess] = {}

    def start(
        self,
        *numbers: int,
        environment: Mapping[str, str] | None = None,
        may_die: bool = False,
        program: Sequence[str] = ("bot",),
        only: str | None = None,
    ) -> None:
        """Start replicas beside each other and return once all of them hear Slack, or are dead if they may die.

        One that only works hears nothing: it is waited for until it runs.
        """
        before = {number: len(self.log(number)) for number in numbers}
        for number in numbers:
            self.running[number] = self._spawn(number, environment or {}, program, only)
        ready = "Ctrl-C stops" if only == "work" else "connected to Slack"
        for number in numbers:

            def hears(number: int = number) -> bool:
                is_dead = may_die and self.running[number].poll() is not None
                return is_dead or ready in self.log(number)[before[number] :]

            self.control.wait_for(hears, f"replica {number} to hear Slack", timeout_s=180)

    def _spawn(
        self, number: int, environment: Mapping[str, str], program: Sequence[str], only: str | None
    ) -> ForkedProcess:
        home = self.home(number)
        role = [] if only is None else ["--only", only]
        argv = [*program, "run", "--config", str(write_config(home, self._codebase, **self._settings)), *role]
        with self._log(number).open("ab") as log:
            return fork_server.start(*argv, env={**self.environment(number), **environment}, stdout=log, stderr=log)

    def environment(self, number: int) -> dict[str, str]:
        """Return the variables of a replica."""
        own = environment_of(self._slack, self.home(number))
        return {**os.environ, **own, "TRIAGE_DATABASE_URL": self.url}

    def kill(self, number: int, how: signal.Signals = signal.SIGKILL) -> None:
        """Send a replica a signal and return once it has ended."""
        process = self.running.pop(number)
        process.send_signal(how)
        process.wait()

    def end(self) -> None:
        """Kill what still runs."""
        for number in list(self.running):
            self.kill(number)

    def holder_of(self, lease: str) -> int | None:
        """Return which replica holds a lease of the team, or None."""
        pid = self.pid_of_holder(lease)
        return next((number for number, process in self.running.items() if process.pid == pid), None)

    def pid_of_holder(self, lease: str) -> int | None:
        """Return the process, living or dead, that holds a lease of the team, or None."""
        with driver().connect(self.url, autocommit=True) as connection:
            row = connection.execute(
                "SELECT holder FROM triage_leases WHERE name = %s AND holder IS NOT NULL AND expires_at > now()",
                [lease],
            ).fetchone()
        return int(str(row[0]).rpartition(":")[2]) if row else None

    @property
    def database(self) -> str:
        """The name of the database."""
        from psycopg.conninfo import conninfo_to_dict

        return str(conninfo_to_dict(self.url)["dbname"])

    @property
    def server_url(self) -> str:
        """The address of another database of the same server."""
        from psycopg.conninfo import make_conninfo

        return make_conninfo(self.url, dbname="postgres")

    def home(self, number: int) -> Path:
        """Return a replica's data directory."""
        return self._folder / f"replica{number}"

    def log(self, number: int) -> str:
        """Return what a replica has said so far."""
        path = self._log(number)
        return path.read_text(errors="replace") if path.exists() else ""  # it may be read amid a character

    def cards(self, ts: str) -> list[Json]:
        """Return the cards about a message in #help."""
        messages = self.control.messages(OPS.channel_id)
        return [m for m in messages if any(b.get("block_id") == _marker(ts) for b in m.get("blocks") or [])]

    def ask(self, text: str, user: str) -> str:
        """Post a message in #help; return its ts."""
        return self.control.say(HELP.channel_id, user, text)

    def is_offered(self, ts: str) -> bool:
        """Whether a message has a draft that can be approved."""
        return any(find_element(card, ids.APPROVE) for card in self.cards(ts))

    def can_approve(self, ts: str) -> bool:
        """Whether a message has a draft that waits, or had one."""
        return self.is_offered(ts) or bool(self.replies(ts))

    def ready(self, asked: Iterable[str]) -> list[str]:
        """Return of which messages a draft waits, or did, by one look at each channel."""
        cards, said = self.control.messages(OPS.channel_id), self.control.messages(HELP.channel_id)
        offered = {b.get("block_id") for m in cards if find_element(m, ids.APPROVE) for b in m.get("blocks") or []}
        return [ts for ts in asked if _marker(ts) in offered or find_replies(said, ts, DEMO.bot_id)]

    def shown(self, ts: str) -> str:
        """Return what the cards of a message show."""
        return "\n".join(map(shown_text, self.cards(ts)))

    def draft(self, ts: str) -> Json:
        """Return the card of a message once it has a draft."""

        def found() -> Json | None:
            return next((card for card in self.cards(ts) if find_element(card, ids.APPROVE)), None)

        return self.control.wait_for(found, "a draft", channel=OPS.channel_id)

    def has_one_of_each(self, ts: str) -> bool:
        """Whether a message has one card and one reply: a second one, posted in the same moment, is soon deleted."""
        return (len(self.cards(ts)), len(self.replies(ts))) == (1, 1)

    def duty_holder(self) -> int:
        """Return which replica has the duty for questions, once one of them has."""
        holders = self.control.wait_for(
            lambda: [n for n in [self.holder_of("duty.questions")] if n is not None], "somebody to have the duty"
        )
        return holders[0]

    def replies(self, ts: str) -> list[Json]:
        """Return the bot's replies under a message."""
        return find_replies(self.control.messages(HELP.channel_id), ts, DEMO.bot_id)

    def click(self, card: Json, action: str, *, user: str = ANA.user_id) -> None:
        """Click a button of a card."""
        element = find_element(card, action)
        assert element is not None
        self.control.click(OPS.channel_id, card["ts"], user, **element.click_fields())

    def _log(self, number: int) -> Path:
        return self._folder / f"replica{number}.log"


def _marker(ts: str) -> str:
    """Return what marks the cards of a message in #help."""
    return ids.card_block_id(f"{DEMO.team_id}.{HELP.channel_id}.{ts}")
