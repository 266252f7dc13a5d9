"""A Slack export, as Slack makes it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bot.config.settings import WatcherSettings
from bot.errors import InputError
from bot.intake.event_stream import SlackExport

ASK = {"type": "message", "user": "U1", "text": "why is it slow?", "ts": "1795165200.000100"}
ALERT = {
    "type": "message",
    "subtype": "bot_message",
    "bot_id": "B1",
    "text": "[FIRING] HighLatency",
    "ts": "1795165203.1",
}
MESSAGES: list[Any] = [
    ASK,
    {**ASK, "text": "and why now?", "ts": "1795165209.000100", "thread_ts": "1795165200.000100"},
    {**ASK, "subtype": "channel_join", "ts": "1795165201.000100"},
    ALERT,
    {**ASK, "ts": "soon"},
    "nonsense",
]
FILES = {
    "channels.json": [{"id": "C0HELP", "name": "help"}, {"id": "C0X", "name": "../../etc"}],
    "users.json": [{"id": "U1", "name": "ana", "real_name": "Ana"}],
    "help/2026-11-20.json": MESSAGES,
}


def exports(folder: Path) -> list[Path]:
    """Return the same export as a folder and as a zip; the second day is torn."""
    texts = {**{name: json.dumps(value) for name, value in FILES.items()}, "help/2026-11-21.json": "{"}
    with zipfile.ZipFile(folder / "export.zip", "w") as archive:
        for name, text in texts.items():
            (folder / "export" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "export" / name).write_text(text)
            archive.writestr(name, text)
    return [folder / "export", folder / "export.zip"]


def test_people_of_listed_channels_are_read_from_a_folder_and_from_a_zip(tmp_path: Path) -> None:
    """Joins, nonsense and paths that lead out are not; an alert is one where its bot is listed."""
    for path in exports(tmp_path):
        export = SlackExport(path, watcher=WatcherSettings(allow_bots=("B1",)))
        found = export.events()
        assert [one.content for one in found] == ["why is it slow?", "[FIRING] HighLatency", "and why now?"]
        assert [one.alert is not None for one in found] == [False, True, False]
        assert (found[2].thread_id, found[2].chat_name, export.bad) == ("1795165200.000100", "help", 2)
        assert export.names() == {"U1": "Ana"}


def test_what_is_no_export_says_so(tmp_path: Path) -> None:
    """A torn zip, a folder of something else, and a path that leads nowhere."""
    (tmp_path / "torn.zip").write_bytes(b"PK")
    (tmp_path / "other").mkdir()
    for name in ("torn.zip", "other", "nowhere.zip"):
        with pytest.raises(InputError, match="export"):
            SlackExport(tmp_path / name).events()


def test_a_damaged_file_of_a_zip_is_counted_and_left_out(tmp_path: Path) -> None:
    """The messages of the other files are still read."""
    zipped = exports(tmp_path)[1]
    whole = zipped.read_bytes()
    zipped.write_bytes(whole.replace(b'"real_name": "Ana"', b'"real_name": "Eve"'))
    export = SlackExport(zipped)
    assert export.events() != []
    assert (export.names(), export.bad) == ({}, 3)
