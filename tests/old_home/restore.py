"""Puts the old installation where today's code finds it: its files or its database, and what stood in Slack.

The messages get the ts they had, since ids are made of them; a clock that is as far behind as Slack's goes on at the
moment the old version was killed. Reads data/, which make.py wrote. What changes are paths of this machine and the
channels of direct messages.
"""

from __future__ import annotations

import gzip
import json
import tarfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

from demo.control import Json
from demo.workspace import DEMO
from tests.old_home import codebase
from tests.old_home.seeded_slack import SeededSlack
from tests.postgres import driver, new_database

DATA: Final = Path(__file__).with_name("data")
PLACE: Final = "@PLACE@"
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
    channels: dict[str, str]
    """The channel of direct messages that each of the old ones is now."""

    @property
    def home(self) -> Path:
        """The data directory."""
        return self.place / "home"

    def threads(self) -> set[str]:
        """Return the ids of all threads that were stored, open and closed."""
        with tarfile.open(DATA / "files.tar.gz") as packed:
            names = [Path(name) for name in packed.getnames() if "/state/" in name or "/closed/" in name]
        return {".".join(name.name.split(".")[:4]) for name in names}

    def database(self) -> str:
        """Restore the database of the same state, and return its address; the data directory keeps its config only."""
        url = new_database()
        statements = self._here(gzip.decompress((DATA / "database.sql.gz").read_bytes()).decode())
        with driver().connect(url, autocommit=True) as connection:
            connection.execute(statements)
        return url

    def _here(self, text: str) -> str:
        for then, now in {PLACE: str(self.place), **self.channels}.items():
            text = text.replace(then, now)
        return text

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
def messages() -> tuple[Json, ...]:
    """Return what stood in Slack, oldest first."""
    return tuple(json.loads((DATA / "slack.json").read_text()))


def restore(slack: SeededSlack, place: Path) -> Restored:
    """Put everything in its place; nobody is connected to `slack` yet."""
    about = json.loads((DATA / "about.json").read_text())
    behind = datetime.now(UTC) - datetime.fromisoformat(about["stopped_at"])
    channels = {}
    for message in messages():
        channel = channels.get(message["channel"]) or _channel(slack, message)
        channels[message["channel"]] = channel
        _say(slack, message, channel)
    slack.is_behind(behind)
    restored = Restored(place=place, clock=SlowClock(behind=behind), channels=channels)
    restored._copy_files()
    return restored


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
