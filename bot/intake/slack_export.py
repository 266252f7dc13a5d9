"""Reads a Slack export, a zip or its folder: channels.json, users.json, and a folder of days for each channel.

What is no message is counted and left out. Nothing outside of the export is read, and no file of it beyond MAX_BYTES.
Source: https://slack.com/help/articles/220556107-How-to-read-Slack-data-exports
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bot.config.settings import WatcherSettings
from bot.domain.events import Event
from bot.errors import InputError
from bot.intake.alerts import alert_in
from bot.intake.normalise import Identity, normalise

_LISTS: Final = ("channels.json", "groups.json", "dms.json", "mpims.json")
TEAM: Final = "EXPORT"
MAX_BYTES: Final = 64 * 1024 * 1024
"""Of one file; a day of one channel is far below that."""


class SlackExport:
    """One export; `bad` counts what could not be read."""

    def __init__(self, path: Path, *, bot_id: str | None = None, watcher: WatcherSettings | None = None) -> None:
        self._path, self._watcher = path, watcher or WatcherSettings()
        self._me = Identity(team_id=TEAM, user_id=bot_id or "")
        self._top: Path | zipfile.Path = path
        self.bad = 0

    def events(self) -> list[Event]:
        """Return every message people wrote and every alert of a listed bot, oldest first.

        Raises:
            InputError: it is no export, or cannot be read.
        """
        try:
            self._top = self._path if self._path.is_dir() else zipfile.Path(self._path)
            ids = self._channel_ids()
            if not ids:
                raise InputError(
                    f"{self._path} is not a Slack export: it has no readable channels.json beside channel folders"
                )
            found = [event for name, chat_id in ids.items() for event in self._channel(name, chat_id)]
        except (OSError, zipfile.BadZipFile, RuntimeError) as error:  # RuntimeError: it has a password
            why = getattr(error, "strerror", None) or error
            raise InputError(
                f"cannot read {self._path}: {why}; give the zip of a Slack export or its folder"
            ) from error
        return sorted(found, key=lambda event: event.create_time)

    def names(self) -> dict[str, str]:
        """Return what people are called, by id; to be called after `events`."""
        people = ((str(one.get("id")), one) for one in self._list(self._top / "users.json"))
        return {key: str(one.get("real_name") or one.get("name") or key)[:80] for key, one in people}

    def _channel_ids(self) -> dict[str, str]:
        """Return the ids of the channels that have a folder here; names lead nowhere else."""
        here = {one.name for one in self._top.iterdir() if one.is_dir() and not _is_link(one)}
        listed = [entry for name in _LISTS for entry in self._list(self._top / name)]
        names = {str(entry.get("name") or entry.get("id")): str(entry.get("id")) for entry in listed}
        return {name: chat_id for name, chat_id in names.items() if name in here}

    def _channel(self, name: str, chat_id: str) -> Iterator[Event]:
        days = (one for one in (self._top / name).iterdir() if one.name.endswith(".json"))
        for path in sorted(days, key=lambda one: one.name):
            for message in self._list(path):
                body = {"team_id": TEAM, "event": {**message, "channel": chat_id}}
                try:
                    incoming = normalise(body, self._me)
                except (ValueError, OverflowError):  # OverflowError: a ts beyond any calendar
                    self.bad += 1
                    continue
                if incoming is not None:
                    known = {"chat_name": name, "alert": alert_in(incoming, self._watcher)}
                    yield incoming.event.model_copy(update=known)

    def _list(self, path: Path | zipfile.Path) -> list[dict[str, Any]]:
        """Return the objects of a file; a missing one holds none."""
        if not path.is_file():
            return []
        try:
            with path.open("rb") as file:
                value = json.loads(file.read(MAX_BYTES))
        except (ValueError, RecursionError, zipfile.BadZipFile, zlib.error):
            self.bad += 1
            return []
        return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _is_link(path: Path | zipfile.Path) -> bool:
    return isinstance(path, Path) and path.is_symlink()
