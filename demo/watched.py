"""The repositories that the demo's heartbeats watch, with their part of triage.yml.

The storefront is a checkout with its origin and a stale branch; a check of it can be broken. The worker lacks a check
of the storefront's, and the master suggests it. Everything is real git on this disk, made of watched.yml; the playbooks
name git and one committed script, so nothing else need be installed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any, Final

import yaml

from bot.domain.heartbeats.allowed_commands import DEFAULT_COMMANDS
from bot.errors import ConfigError
from demo.workspace import ANA

SESSION: Final = "storefront"
WORKER: Final = "payments"
MASTER: Final = "platform"
FAULTY: Final = "config/production.json"
REPAIRED: Final = '"query_timeout_s": 5'

_MADE_OF: Final = yaml.safe_load((resources.files("demo") / "watched.yml").read_text(encoding="utf-8"))
_FILES: Final[Mapping[str, str]] = _MADE_OF["files"]
_STALE_DAYS: Final = 12
_BEAT: Final = {
    "active_hours": {"start": "00:00", "end": "24:00", "timezone": "UTC"},
    "commands": [
        ["python3", "scripts/check_config.py"],
        *map(list, DEFAULT_COMMANDS),
        ["git", "log", "--oneline", "--max-count=20", "{branch}"],
    ],
}


def watched(folder: Path) -> dict[str, Any]:
    """Make the storefront in `folder`, which must not exist, and return its part of triage.yml.

    Raises:
        ConfigError: git cannot make it.
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True)
    origin, cwd = folder / "origin.git", folder / SESSION
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(origin))
    git(folder, "clone", "--quiet", str(origin), str(cwd))
    commit(cwd, _FILES, "The storefront", days_ago=30)
    git(cwd, "switch", "--quiet", "--create", "feature/gift-cards")
    commit(cwd, {"GIFT_CARDS.md": "Half done.\n"}, "Gift cards, half done", days_ago=_STALE_DAYS)
    git(cwd, "switch", "--quiet", "main")
    git(cwd, "push", "--quiet", "origin", "main", "feature/gift-cards")
    return {SESSION: _session(cwd, every="1m")}


def neighbours(folder: Path) -> dict[str, Any]:
    """Make the worker and the master in `folder`, and return their part of triage.yml; raises as `watched`."""
    found = {}
    for name in (WORKER, MASTER):
        cwd = folder / name
        cwd.mkdir(parents=True)
        git(cwd, "init", "--quiet", "--initial-branch=main")
        commit(cwd, _FILES, "The service", days_ago=30)
        found[name] = _session(cwd, every="7d") | {"master": name == MASTER}  # checked only when the guide asks
    return found


def break_config(cwd: Path) -> None:
    """Have the check of the config fail; raises ConfigError and OSError."""
    broken = _FILES[FAULTY].replace(REPAIRED, '"query_timeout_s": 0')
    commit(cwd, {FAULTY: broken}, "Fail fast when the database is slow", days_ago=0)


def _session(cwd: Path, *, every: str) -> dict[str, Any]:
    """Give a repository its playbook, which git does not track, and return its part of triage.yml."""
    (cwd / ".git" / "info" / "exclude").write_text("HEARTBEAT.md\n")
    (cwd / "HEARTBEAT.md").write_text(_MADE_OF["playbooks"][cwd.name])
    return {"name": cwd.name.title(), "cwd": str(cwd), "owner": ANA.user_id, "heartbeat": {"every": every, **_BEAT}}


def commit(cwd: Path, files: Mapping[str, str], message: str, *, days_ago: int) -> None:
    """Commit these files, as of some days ago; raises ConfigError and OSError."""
    for name, text in files.items():
        path = cwd / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    at = f"{datetime.now(UTC) - timedelta(days=days_ago):%Y-%m-%dT%H:%M:%SZ}"
    git(cwd, "add", "--all")
    git(cwd, "commit", "--quiet", "--message", message, at=at)


def git(cwd: Path, *arguments: str, at: str = "") -> None:
    """Run git as nobody in particular: no config of the machine's or of the person's, no hook, no signature.

    Raises:
        ConfigError: git fails.
    """
    person = {"NAME": "Ben Okafor", "EMAIL": "ben@example.com", "DATE": at}
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items() if value}
    env = {"PATH": os.environ.get("PATH", os.defpath), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    argv = ["git", "-C", str(cwd), *arguments]
    done = subprocess.run(argv, env={**env, **who}, capture_output=True, text=True)  # noqa: S603 - a fixed argv
    if done.returncode != 0:
        raise ConfigError(f"git could not make the repository in {cwd}: {' '.join(done.stderr.split())[:300]}")
