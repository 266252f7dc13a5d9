"""The repository the demo's heartbeat watches: a checkout and its origin, a stale branch, a check that can be broken.

Everything is real git on this disk; the playbook names git and one committed script, so nothing else need be installed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bot.domain.heartbeats.allowed_commands import DEFAULT_COMMANDS
from bot.errors import ConfigError
from demo.workspace import ANA

SESSION: Final = "storefront"
FAULTY: Final = "config/production.json"
REPAIRED: Final = '"query_timeout_s": 5'

COMMANDS: Final = [
    ["python3", "scripts/check_config.py"],
    *map(list, DEFAULT_COMMANDS),
    ["git", "log", "--oneline", "--max-count=20", "{branch}"],
]
"""What its checks may run."""

_STALE_DAYS: Final = 12

_CONFIG: Final = '{{\n  "pool_size": 20,\n  "query_timeout_s": {timeout}\n}}\n'
FILES: Final = {
    "README.md": "# storefront\n\nThe shop's front end. `scripts/check_config.py` says whether a deploy would work.\n",
    FAULTY: _CONFIG.format(timeout=5),
    "scripts/check_config.py": '''"""Says whether production could start with its config; exit code 1 if not."""

import json
import sys
from pathlib import Path

config = json.loads(Path("config/production.json").read_text())
if config["query_timeout_s"] <= 0:
    sys.exit("config/production.json: query_timeout_s is 0, so every query fails at once")
print("config/production.json: fine")
''',
}
_PLAYBOOK: Final = """# Heartbeat of storefront

## Timestamps

- Last quick: (never)
- Last hourly: (never)
- Last daily: (never)

## Urgent Flags

(none)

## Quick Tasks (every heartbeat)

- [ ] Production config: `python3 scripts/check_config.py`
- [ ] Working-tree status: `git status --porcelain=v1 --branch`

## Hourly Tasks

- [ ] Fetch: `git fetch --prune --quiet origin`
- [ ] New commits on main: `git log --oneline --max-count=20 origin/main`

## Daily Tasks

- [ ] Stale branches: `git for-each-ref --sort=committerdate \
'--format=%(committerdate:short)%09%(refname:short)' refs/remotes/origin`

## Notes
"""


def watched(folder: Path) -> dict[str, Any]:
    """Make the repository in `folder`, which must not exist, and return the session's part of triage.yml.

    Raises:
        ConfigError: git cannot make it.
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True)
    origin, cwd = folder / "origin.git", folder / SESSION
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(origin))
    git(folder, "clone", "--quiet", str(origin), str(cwd))
    commit(cwd, FILES, "The storefront", days_ago=30)
    git(cwd, "switch", "--quiet", "--create", "feature/gift-cards")
    commit(cwd, {"GIFT_CARDS.md": "Half done.\n"}, "Gift cards, half done", days_ago=_STALE_DAYS)
    git(cwd, "switch", "--quiet", "main")
    git(cwd, "push", "--quiet", "origin", "main", "feature/gift-cards")
    (cwd / ".git" / "info" / "exclude").write_text("HEARTBEAT.md\n")
    (cwd / "HEARTBEAT.md").write_text(_PLAYBOOK)
    return {SESSION: _session(cwd)}


def break_config(cwd: Path) -> None:
    """Have the check of the config fail; raises ConfigError and OSError."""
    commit(cwd, {FAULTY: _CONFIG.format(timeout=0)}, "Fail fast when the database is slow", days_ago=0)


def _session(cwd: Path) -> dict[str, Any]:
    return {
        "name": "Storefront",
        "cwd": str(cwd),
        "owner": ANA.user_id,
        "heartbeat": {
            "every": "1m",
            "active_hours": {"start": "00:00", "end": "24:00", "timezone": "UTC"},
            "commands": COMMANDS,
        },
    }


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
