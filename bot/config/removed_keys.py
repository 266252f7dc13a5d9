"""Keys of triage.yml that earlier versions had: each is named with its line and its successor, and ignored.

A key that no version had is refused as ever. Pure; bot/config/settings.py reads the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from yaml.nodes import MappingNode, Node

KeyPath = tuple[str, ...]


class RemovedKey(NamedTuple):
    """One key that is gone: every place it stood at, `*` for any id, and what is so instead."""

    places: Sequence[str]
    instead: str


_OF_FIXES: Final = ("fixes", "codebases.*.fixes")

REMOVED: Final = (
    RemovedKey(
        ("save_notes", "teams.*.save_notes"),
        "a note is saved by a click on its card, and by nothing else.",
    ),
    RemovedKey(
        ("slack.posts_per_second",),
        "posts keep to Slack's own limit: one a second to each channel, after a burst of three.",
    ),
    RemovedKey(
        ("slack.connections",),
        "the connection is made again by itself, and what was said meanwhile is read back.",
    ),
    RemovedKey(
        ("mcp_servers.*.cwd",),
        "a server starts in the bot's folder; `command: [env, -C, FOLDER, PROGRAM]` starts it in another one.",
    ),
    RemovedKey(
        ("mcp_servers.*.timeout_s",),
        "connecting, listing and each call may take 60 seconds.",
    ),
    RemovedKey(
        ("pricing.*.cache_write_5m", "pricing.*.long.cache_write_5m"),
        "writing to the cache costs 1.25 times `input`.",
    ),
    RemovedKey(
        [f"{block}.allow" for block in _OF_FIXES],
        "CI, lock files and git's own settings are changed by people; *View diff* shows such a patch.",
    ),
    RemovedKey(
        [f"{block}.check_limit_min" for block in _OF_FIXES],
        "a check may take 10 minutes.",
    ),
    RemovedKey(
        [f"{block}.check_memory_mb" for block in _OF_FIXES],
        "each process of a check may take 4096 MB.",
    ),
    RemovedKey(
        [f"{block}.max_files" for block in _OF_FIXES],
        "a patch may change 20 files.",
    ),
    RemovedKey(
        [f"{block}.max_lines" for block in _OF_FIXES],
        "a patch may add and remove 500 lines.",
    ),
    RemovedKey(
        ("heartbeat.suggestions_per_day", "sessions.*.heartbeat.suggestions_per_day"),
        "a session is offered three tasks of other sessions a day at most.",
    ),
)


def drop_removed(document: Node | None) -> tuple[str, ...]:
    """Take the removed keys and their values out of a composed triage.yml; return a sentence for each."""
    return tuple(_dropped(document, ()))


def _dropped(node: Node | None, path: KeyPath) -> Iterator[str]:
    if not isinstance(node, MappingNode):
        return
    kept = []
    for key, value in node.value:
        here = (*path, str(key.value))
        if (instead := _instead(here)) is None:
            kept.append((key, value))
            yield from _dropped(value, here)
        else:
            line = key.start_mark.line + 1
            yield f"triage.yml, line {line}: {'.'.join(here)} was removed: {instead} Delete the key."
    node.value = kept


def _instead(path: KeyPath) -> str | None:
    """Return what is said of a removed key; None for any other."""
    return next((one.instead for one in REMOVED if any(_fits(path, place) for place in one.places)), None)


def _fits(path: KeyPath, place: str) -> bool:
    """Whether a key stands at a place of the table.

    >>> _fits(("teams", "pay", "save_notes"), "teams.*.save_notes"), _fits(("teams", "save_notes"), "save_notes")
    (True, False)
    """
    parts = place.split(".")
    return len(path) == len(parts) and all(part in ("*", key) for part, key in zip(parts, path, strict=True))
