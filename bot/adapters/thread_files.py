"""Finds one thread in the data directory by id or by Slack link, open or archived, without touching anything.

For commands beside a running bot: the store itself belongs to the bot's process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError

from bot.adapters.files import list_files, read_json
from bot.domain.threads import ThreadState, check_thread_id
from bot.errors import InputError

_LINK: Final = re.compile(r"/archives/(?P<channel>[A-Z0-9]+)/p(?P<seconds>[0-9]+)(?P<fraction>[0-9]{6})/?")
_TS: Final = re.compile(r"[0-9]+\.[0-9]+")


def find_thread(home: Path, asked: str) -> ThreadState:
    """Return the thread with this id or link as it stands, else as it last ended.

    Raises:
        InputError: it is neither an id nor a link, or no such thread is on file.
        StoreError: its file cannot be read.
    """
    name = name_pattern(asked)
    for path in _newest_first(home, name):
        try:
            return ThreadState.model_validate(read_json(path))
        except ValidationError:
            continue
    raise InputError(f"no thread {asked[:200]!r} in {home}; `triage status` lists the open ones")


def name_pattern(asked: str) -> str:
    """Return the file name of a thread without its ending, as a glob where the team is not known.

    >>> name_pattern("https://acme.slack.com/archives/C01/p1700000009000200?thread_ts=1700000000.000100&cid=C01")
    '*.C01.1700000000.000100'
    """
    parts = urlsplit(asked.strip().strip("<>"))
    link = _LINK.fullmatch(parts.path) if parts.scheme in ("http", "https") else None
    if link is None:
        return check_thread_id(asked.strip())
    parent = parse_qs(parts.query).get("thread_ts", [""])[0]
    ts = parent if _TS.fullmatch(parent) else f"{link['seconds']}.{link['fraction']}"
    return f"*.{link['channel']}.{ts}"


def _newest_first(home: Path, name: str) -> Iterator[Path]:
    yield from list_files(home / "state", f"{name}.json")
    yield from sorted(list_files(home / "closed", f"*/{name}.*.json"), key=lambda path: path.stem, reverse=True)
