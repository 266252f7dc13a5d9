"""Reads a Slack export (channels.json, groups.json, a folder for each channel) as events.

What is no message is counted and left out. Nothing outside of the folder is read.
Source: https://slack.com/help/articles/220556107-How-to-read-Slack-data-exports
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bot.domain.events import Event
from bot.errors import InputError
from bot.intake.normalise import Identity, normalise

_LISTS: Final = ("channels.json", "groups.json", "dms.json", "mpims.json")
TEAM: Final = "EXPORT"


class SlackExport:
    """One unpacked export; `bad` counts what could not be read."""

    def __init__(self, folder: Path, *, bot_id: str | None) -> None:
        self._folder = folder
        self._me = Identity(team_id=TEAM, user_id=bot_id or "")
        self.bad = 0

    def events(self) -> list[Event]:
        """Return every message people wrote, oldest first.

        Raises:
            InputError: the folder is no export, or cannot be read.
        """
        try:
            ids = self._channel_ids()
            if not ids:
                raise InputError(f"{self._folder} is not a Slack export: it has no channels.json; unpack the zip first")
            found = [event for name, chat_id in ids.items() for event in self._channel(name, chat_id)]
        except OSError as error:
            raise InputError(f"cannot read {self._folder}: {error.strerror}") from error
        return sorted(found, key=lambda event: event.create_time)

    def _channel_ids(self) -> dict[str, str]:
        """Return the ids of the channels that have a folder here; names lead nowhere else."""
        here = {path.name for path in self._folder.iterdir() if path.is_dir() and not path.is_symlink()}
        listed = [entry for name in _LISTS for entry in self._list(self._folder / name)]
        names = {str(entry.get("name") or entry.get("id")): str(entry.get("id")) for entry in listed}
        return {name: chat_id for name, chat_id in names.items() if name in here}

    def _channel(self, name: str, chat_id: str) -> Iterator[Event]:
        for path in sorted((self._folder / name).glob("*.json")):
            for message in self._list(path):
                body = {"team_id": TEAM, "event": {**message, "channel": chat_id}}
                try:
                    incoming = normalise(body, self._me)
                except (ValueError, OverflowError):  # OverflowError: a ts beyond any calendar
                    self.bad += 1
                    continue
                if incoming is not None:
                    yield incoming.event.model_copy(update={"chat_name": name})

    def _list(self, path: Path) -> list[dict[str, Any]]:
        """Return the objects of a file; a missing one holds none."""
        try:
            value = json.loads(path.read_bytes())
        except FileNotFoundError:
            return []
        except (ValueError, RecursionError):
            self.bad += 1
            return []
        return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
