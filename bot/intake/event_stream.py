"""Past messages: a stream of lines that is classified, bytes in and bytes out; and a Slack export.

A line is an event of events.ndjson or plain text, which is a message by itself. The fields are inserted into the
original event, so that its own keys, known or not, stay as they were. An object that is no event becomes a problem
with its number and does not stop the rest. An export is a zip or its folder: channels.json, users.json, and a folder
of days for each channel. Nothing outside of it is read, and no file of it beyond MAX_BYTES.
Source: https://slack.com/help/articles/220556107-How-to-read-Slack-data-exports
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from bot.config.settings import WatcherSettings
from bot.domain.events import Event, Sender, thread_key
from bot.domain.text.humanize import counted
from bot.errors import InputError
from bot.intake.alerts import alert_in
from bot.intake.classifier.classification import Rules, classify, explain
from bot.intake.classifier.scorer import mentioned_ids
from bot.intake.normalise import Identity, normalise

UNKNOWN: Final = "unknown"
"""The team, channel and sender of a plain line."""

_BOM: Final = b"\xef\xbb\xbf"
_PERHAPS_TAGGED: Final = re.compile(rb'classifi|is_|mentions_t|"why"')
"""What stands in every line that was classified before."""


class EventStream:
    """Classifies line after line and remembers which threads have work under way.

    A stream does not say when work begins or ends, so a thread counts as in flight from its first actionable event to
    the end of the stream: too much attention rather than too little. One that `explains` adds `why` to each line.
    """

    def __init__(self, rules: Rules, *, explains: bool) -> None:
        self._rules = rules
        self._explains = explains
        self._inflight: set[str] = set()
        self._lines = 0
        self._bad = 0
        self._counts: Counter[str] = Counter()

    def take(self, line: bytes, *, at: datetime) -> tuple[bytes, str]:
        """Return a line classified, stamped `at` (aware UTC), or else `line 12: <reason>`; of a blank one neither."""
        self._lines += 1
        line = line.removeprefix(_BOM).strip()
        if not line:
            return b"", ""
        try:
            event = line if line.startswith(b"{") else plain_event(line, number=self._lines, at=at)
            return self._tagged(event, at), ""
        except InputError as error:
            self._bad += 1
            return b"", f"line {self._lines}: {error}\n"

    @property
    def is_all_bad(self) -> bool:
        """Whether there were lines and none of them was an event: another file was meant."""
        return self._bad > 0 and not self._counts

    def summary(self) -> str:
        """Return the closing line: how many events, what became of them, how many bad lines."""
        total = self._counts.total()
        shares = ", ".join(
            f"{self._counts[name]:,} {name} ({self._counts[name] / max(total, 1):.0%})"
            for name in ("actionable", "ack", "ambient")
        )
        return f"{counted(total, 'event')}: {shares}; {counted(self._bad, 'bad line')}"

    def _tagged(self, line: bytes, at: datetime) -> bytes:
        event = read_event(line)
        key = thread_key(event)
        is_inflight = key in self._inflight
        verdict = classify(event, self._rules, inflight=is_inflight)
        if verdict.classification == "actionable":
            self._inflight.add(key)
        self._counts[verdict.classification] += 1
        fields = verdict.model_copy(update={"classified_at": at}).model_dump_json().encode()
        if self._explains:
            why = explain(event, self._rules, inflight=is_inflight).model_dump_json(exclude_unset=True)
            fields = b'{"why":' + why.encode() + b"," + fields[1:]
        if _PERHAPS_TAGGED.search(line):  # ours take the place of older ones
            return json.dumps(json.loads(line) | json.loads(fields), ensure_ascii=False).encode() + b"\n"
        return line[:-1] + b", " + fields[1:] + b"\n"


def plain_event(line: bytes, *, number: int, at: datetime) -> bytes:
    """Return a line of plain text as an event: a root message of somebody unknown, said at `at`.

    `number` is the line's, which sets its thread apart from all others.

    Raises:
        InputError: the line is not UTF-8.
    """
    try:
        content = line.decode().strip()
    except UnicodeDecodeError as error:
        raise _no_utf8(error) from error
    event = Event(
        team_id=UNKNOWN,
        chat_id=UNKNOWN,
        message_id=f"{number}.000000",
        create_time=at,
        content=content,
        sender=Sender(id=UNKNOWN),
        mentions=mentioned_ids(content),
    )
    return event.model_dump_json().encode()


def read_event(line: bytes) -> Event:
    """Return the event of a line of events.ndjson.

    Raises:
        InputError: the line is no event; the message says why and does not quote it.
    """
    try:
        return Event.model_validate_json(line)
    except ValidationError as error:
        raise _no_event(line, error) from error


def _no_event(line: bytes, error: ValidationError) -> InputError:
    """Return why a line is no event, without quoting it."""
    try:
        line.decode()
    except UnicodeDecodeError as broken:
        return _no_utf8(broken)
    first, *others = error.errors(include_input=False, include_url=False, include_context=False)
    where = "".join(f"{step}: " for step in first["loc"])
    message = first["msg"].replace(" at line 1 column", " at column").replace("Invalid JSON", "not JSON")
    return InputError(where + message + (f" (and {len(others)} more)" if others else ""))


def _no_utf8(error: UnicodeDecodeError) -> InputError:
    return InputError(f"not UTF-8 at byte {error.start + 1}")


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
