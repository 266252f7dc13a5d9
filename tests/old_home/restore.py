"""Puts the old installation where today's code finds it: its files or its database, and what stood in Slack.

The messages get the ts they had, since ids are made of them; a clock that is as far behind as Slack's goes on at the
moment the old version was killed, and a little later. Reads data/, which make.py wrote. What changes are paths of this
machine, the channels of direct messages, and the addresses of Slack and of the code host.
"""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

from demo.workspace import DEMO
from tests.hands import Json
from tests.old_home import codebase
from tests.old_home.seeded_slack import SeededSlack
from tests.postgres import driver, new_database

DATA: Final = Path(__file__).with_name("data")
PLACE: Final = "@PLACE@"
SLACK: Final = "http://localhost:43897"
CODE_HOST: Final = "http://127.0.0.1:42031"
"""Where both were when the old version ran."""

AWAY: Final = timedelta(minutes=10)
"""Between the kill and the start of today's bot: longer than a pull request goes without a look."""

_POSTED: Final = ("text", "blocks", "thread_ts", "metadata")


@dataclass(frozen=True, kw_only=True)
class SlowClock:
    """The clock of a machine that is behind."""

    behind: timedelta

    def now(self) -> datetime:
        """Return its time."""
        return datetime.now(UTC) - self.behind


@dataclass(frozen=True, kw_only=True)
class Restored:
    """Where the old installation lies now."""

    place: Path
    clock: SlowClock
    moved: Mapping[str, str]
    """What stands in the old texts, and what it is now: paths, channels, addresses."""

    @property
    def home(self) -> Path:
        """The data directory."""
        return self.place / "home"

    def documents(self, team: str, folder: str) -> set[str]:
        """Return the ids of what was stored in a folder of a team, `state` or `closed/2026-10` for example."""
        names = [name.removeprefix(f"home/teams/{team}/{folder}/") for name in _packed()]
        return {name.removesuffix(".json") for name in names if "/" not in name}

    def lines(self, team: str, file: str) -> list[str]:
        """Return the lines that a file of a team had, those before its rotation first."""
        texts = [_packed().get(f"home/teams/{team}/{name}", b"").decode() for name in (f"{file}.1", file)]
        return [line for text in texts for line in self._here(text).splitlines()]

    def database(self) -> str:
        """Restore the database of the same state, and return its address; the data directory keeps its config only."""
        url = new_database()
        statements = self._here(gzip.decompress((DATA / "database.sql.gz").read_bytes()).decode())
        with driver().connect(url, autocommit=True) as connection:
            connection.execute(statements)
        return url

    def _here(self, text: str) -> str:
        return _renamed(text, {PLACE: str(self.place), **self.moved})

    def _copy_files(self) -> None:
        for name in codebase.WATCHED:
            codebase.make_watched(self.place, name)
        with tarfile.open(DATA / "files.tar.gz") as packed:
            packed.extractall(self.place, filter="data")
        codebase.change_shop(codebase.make_shop(self.place))
        for path in self.home.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
            if path.is_file():
                path.write_text(self._here(path.read_text()))
        self.home.chmod(0o700)


@cache
def _packed() -> dict[str, bytes]:
    """Return every stored file by its name."""
    with tarfile.open(DATA / "files.tar.gz") as packed:
        return {one.name: packed.extractfile(one).read() for one in packed.getmembers()}  # type: ignore[union-attr]


@cache
def messages() -> tuple[Json, ...]:
    """Return what stood in Slack, oldest first."""
    return tuple(json.loads((DATA / "slack.json").read_text()))


def restore(slack: SeededSlack, place: Path, code_host: str) -> Restored:
    """Put everything in its place; nobody is connected to `slack` yet."""
    about = json.loads((DATA / "about.json").read_text())
    behind = datetime.now(UTC) - datetime.fromisoformat(about["stopped_at"]) - AWAY
    addresses = {SLACK: slack.server.url, CODE_HOST: code_host}
    channels: dict[str, str] = {}
    for message in messages():
        channel = channels.get(message["channel"]) or _channel(slack, message)
        channels[message["channel"]] = channel
        _say(slack, json.loads(_renamed(json.dumps(message), addresses)), channel)
    slack.is_behind(behind)
    restored = Restored(place=place, clock=SlowClock(behind=behind), moved={**channels, **addresses})
    restored._copy_files()
    return restored


def _renamed(text: str, names: Mapping[str, str]) -> str:
    for then, now in names.items():
        text = text.replace(then, now)
    return text


def _channel(slack: SeededSlack, message: Json) -> str:
    if not message["dm_with"]:
        return str(message["channel"])
    return str(slack.call("conversations.open", {"users": message["dm_with"]})["channel"]["id"])


def _say(slack: SeededSlack, message: Json, channel: str) -> None:
    given: dict[str, Any] = {"channel": channel, **{name: message[name] for name in _POSTED if name in message}}
    if message["user"] != DEMO.bot_id:
        slack.say({**given, "user": message["user"]}, ts=message["ts"])
    elif message.get("subtype") == "ephemeral":
        slack.call("chat.postEphemeral", {**given, "user": message["ephemeral_to"]}, ts=message["ts"])
    else:
        slack.call("chat.postMessage", given, ts=message["ts"])
    for reaction in message.get("reactions") or []:
        slack.call("reactions.add", {"channel": channel, "timestamp": message["ts"], "name": reaction["name"]})
