"""The channel of tests/data/backtest/channel.yml as a repository with dated commits, and as a Slack export."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import yaml

from tests.gitrepo import git, make_repo, write_files

DATA: Final = Path(__file__).parents[2] / "data" / "backtest" / "channel.yml"
START: Final = datetime(2026, 1, 1, tzinfo=UTC)


def make_channel(folder: Path) -> tuple[Path, Path]:
    """Return the repository and the zip."""
    channel = yaml.safe_load(DATA.read_text("utf-8"))
    repo = make_repo(folder / "shop")
    fixes = {f"{{{one['day']}}}": _commit(repo, one) for one in channel["commits"]}
    return repo, _export(folder / "export.zip", channel["threads"], fixes)


def _commit(repo: Path, one: dict[str, Any]) -> str:
    write_files(repo, one.get("files", {}))
    for name, (old, new) in one.get("replace", {}).items():
        text = (repo / name).read_text("utf-8")
        assert old in text, name
        (repo / name).write_text(text.replace(old, new), "utf-8")
    at = (START + timedelta(days=one["day"])).isoformat()
    git(repo, "add", "--all")
    names = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _identity(at).items()}
    done = ["git", "-C", str(repo), "commit", "--quiet", "--message", one["message"]]
    subprocess.run(done, check=True, env={**os.environ, **names})
    return git(repo, "rev-parse", "HEAD")


def _identity(at: str) -> dict[str, str]:
    return {"NAME": "Test", "EMAIL": "test@example.com", "DATE": at}


def _export(path: Path, threads: list[dict[str, Any]], fixes: dict[str, str]) -> Path:
    days: dict[str, list[dict[str, Any]]] = {}
    for number, one in enumerate(threads):
        asked = START + timedelta(days=one["day"], seconds=60 * number if one["day"] != 29 else 0)
        ts = f"{asked.timestamp():.0f}.000100"
        said = [("ana", one["ask"]), *(reply.split(": ", 1) for reply in one.get("replies", ()))]
        for at, (who, text) in enumerate(said):
            for day, sha in fixes.items():
                text = text.replace(day, sha)
            message = {"type": "message", "user": f"U{who.upper()}", "text": text, "thread_ts": ts}
            when = asked + timedelta(seconds=30 * at)
            days.setdefault(f"{when:%Y-%m-%d}", []).append({**message, "ts": f"{when.timestamp():.0f}.000100"})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("channels.json", json.dumps([{"id": "C0HELP", "name": "help"}]))
        archive.writestr("users.json", json.dumps([{"id": "UANA", "name": "ana", "real_name": "Ana"}]))
        for day, messages in days.items():
            archive.writestr(f"help/{day}.json", json.dumps(messages))
    return path
