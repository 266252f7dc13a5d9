"""The demo's data directory: thrown away or kept, with an ordinary triage.yml.

What an earlier demo left in a kept directory of its heartbeats is removed: its cards stood in a Slack that is gone.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml

from bot.config.environment import Environment, read_environment
from bot.errors import ConfigError
from demo.slack_server import LocalSlack
from demo.watched import neighbours, watched
from demo.workspace import DEMO, ENG, HELP, OPS

_PASSED_ON: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "TRIAGE_STALL_S")
"""With a key in it the demo's bot uses models, as any bot does."""
_OURS: Final = "# Written by `triage demo`, which writes it anew each time.\n"


@contextmanager
def home_of(kept: Path | None) -> Iterator[Path]:
    """Give a data directory: the one to keep, else one that is gone at the end."""
    if kept is not None:
        yield kept.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="triage-demo-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def environment_of(slack: LocalSlack, home: Path, script: str | None = None) -> Environment:
    """Return what the environment holds for a bot in the throw-away Slack; `script` stands in for the models."""
    models = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    if script is not None:
        models = {"ANTHROPIC_API_KEY": "sk-ant-script", "ANTHROPIC_BASE_URL": script}
    return read_environment(
        {
            "TRIAGE_HOME": str(home),
            "SLACK_BOT_TOKEN": DEMO.bot_token,
            "SLACK_APP_TOKEN": DEMO.app_token,
            "SLACK_API_URL": slack.api_url,
            **models,
        }
    )


def status_command(home: Path) -> str:
    """Return the line that reports on a data directory from any other terminal."""
    program = Path(sys.executable).with_name("triage")
    return f"TRIAGE_HOME={shlex.quote(str(home))} {shlex.quote(str(program))} status"


def furnish(home: Path, codebase: Path, models: Mapping[str, Any] | None = None) -> Path:
    """Write the demo's triage.yml for a codebase, with `models` or else with watched repositories; return its path.

    Raises:
        ConfigError: the folder cannot be written, or holds somebody's config.
    """
    path = home / "triage.yml"
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.exists():
            _forget_last_time(home, path)
        path.write_text(_OURS, encoding="utf-8")
        path.write_text(_OURS + yaml.safe_dump(_settings(codebase, home, models), sort_keys=False), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}; give --home a folder of yours, or none") from error
    return path


def _forget_last_time(home: Path, config: Path) -> None:
    if not config.read_text(encoding="utf-8", errors="replace").startswith(_OURS):
        raise ConfigError(f"{config} is somebody's config and stays as it is; give --home another folder, or none")
    for folder in (home / "watched", home / "sessions", home / "suggestions"):
        if folder.exists():
            shutil.rmtree(folder)


def _settings(codebase: Path, home: Path, models: Mapping[str, Any] | None) -> dict[str, Any]:
    """Make the watched repositories and return the demo's settings; raises ConfigError and OSError."""
    watched_in = home / "watched"
    more = {"sessions": {**watched(watched_in), **neighbours(watched_in)}} if models is None else models
    return {
        "codebase": str(codebase),
        "ops_channel": OPS.channel_id,
        "watched_chats": [{"chat_id": channel.channel_id, "name": channel.name} for channel in (HELP, ENG)],
        **more,
    }
