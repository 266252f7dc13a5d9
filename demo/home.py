"""The demo's data directory: thrown away or kept, an ordinary triage.yml, and a repository to watch.

What an earlier demo left in a kept one of its heartbeat is removed: its cards stood in a Slack that is gone.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import yaml

from bot.errors import ConfigError
from demo.neighbours import neighbours
from demo.watched import watched
from demo.workspace import ENG, HELP, OPS

_OURS: Final = "# Written by `triage demo`, which writes it anew each time.\n"


@contextmanager
def home_of(kept: Path | None) -> Iterator[Path]:
    """Give a data directory: the one to keep, else one that is gone at the end."""
    if kept is not None:
        yield kept.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="triage-demo-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def furnish(home: Path, codebase: Path) -> Path:
    """Write triage.yml and the watched repository; return the config's path.

    Raises:
        ConfigError: the folder cannot be written, or holds somebody's config.
    """
    path = home / "triage.yml"
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.exists():
            _forget_last_time(home, path)
        path.write_text(_OURS, encoding="utf-8")
        path.write_text(_OURS + _settings(codebase, watched_in=home / "watched"), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}; give --home a folder of yours, or none") from error
    return path


def _forget_last_time(home: Path, config: Path) -> None:
    if not config.read_text(encoding="utf-8", errors="replace").startswith(_OURS):
        raise ConfigError(f"{config} is somebody's config and stays as it is; give --home another folder, or none")
    for folder in (home / "watched", home / "sessions", home / "suggestions"):
        if folder.exists():
            shutil.rmtree(folder)


def _settings(codebase: Path, *, watched_in: Path) -> str:
    settings = {
        "codebase": str(codebase),
        "ops_channel": OPS.channel_id,
        "watched_chats": [{"chat_id": channel.channel_id, "name": channel.name} for channel in (HELP, ENG)],
        "sessions": {**watched(watched_in), **neighbours(watched_in)},
    }
    return yaml.safe_dump(settings, sort_keys=False)
