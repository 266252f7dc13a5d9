"""Keys of triage.yml that earlier versions had: each is named with its line and its successor, and ignored.

A key that no version had is refused as ever. Pure; bot/config/written_keys.py asks for each key.
"""

from __future__ import annotations

from typing import Final

from bot.config.strict_yaml import KeyPath

REMOVED: Final = {
    "save_notes": "a note is saved in its dialogue (*Save note*, *Remember this*), and by nothing else.",
    "review": "`triage metrics --days 7` shows a week.",
    "brief.picture": "briefs have no picture; `triage metrics --days 7` shows a week.",
    "slack.posts_per_second": "posts keep to Slack's own limit: one a second to each channel, after a burst of three.",
    "slack.connections": "the connection is made again by itself, and what was said meanwhile is read back.",
    "classifier.weights": "the shipped weights are used; `classifier.threshold` says how much is heard.",
    "mcp_servers.*.cwd": "a server starts in the bot's folder; `command: [env, -C, FOLDER, PROGRAM]` changes that.",
    "mcp_servers.*.timeout_s": "connecting, listing and each call may take 60 seconds.",
    "pricing.*.cache_write_5m": "writing to the cache costs 1.25 times `input`.",
    "pricing.*.long.cache_write_5m": "writing to the cache costs 1.25 times `input`.",
    "fixes.base": "pull requests lead to the codebase's branch: `codebases: {shop: {path: ~/src/shop, branch: main}}`, "
    "else to the host's default branch.",
    "fixes.allow": "people change CI, lock files and git's own settings; *View diff* shows such a patch.",
    "fixes.check_limit_min": "a check may take 10 minutes.",
    "fixes.check_memory_mb": "each process of a check may take 4096 MB.",
    "fixes.max_files": "a patch may change 20 files.",
    "fixes.max_lines": "a patch may add and remove 500 lines.",
    "heartbeat.suggestions_per_day": "a session is offered at most three tasks of others a day; 0 is not possible.",
    "sessions.*.channels": "checks are changed by `/triage tiers`, in any channel.",
    "sessions.*.owner.rota": "an owner is a user or a user group. Without `owner: U0123ANN` or `owner: S0123ONCALL` "
    "the session has none, and does not beat where its alerts would go to one.",
    "sessions.*.owner.every": "",
    "sessions.*.owner.since": "",
}
"""What is so instead, by the key's path; `*` is any id. Of "" nothing is said: it goes with another key."""

_COPIES: Final = {
    "save_notes": "teams.*.",
    "review": "teams.*.",
    "brief": "teams.*.",
    "fixes": "codebases.*.",
    "heartbeat": "sessions.*.",
}
"""Where a block or a key of the top level could stand once more."""

PLACES: Final = REMOVED | {
    _COPIES[top] + key: said for key, said in REMOVED.items() if (top := key.split(".")[0]) in _COPIES
}
"""What is said of a removed key, by each place that it could stand at."""


def successor_of(path: KeyPath) -> str | None:
    """Return what is said of a key that was removed; None for any other."""
    return next((said for place, said in PLACES.items() if _fits(path, place)), None)


def _fits(path: KeyPath, place: str) -> bool:
    """Whether a key stands at a place of the table.

    >>> _fits(("teams", "pay", "save_notes"), "teams.*.save_notes"), _fits(("teams", "save_notes"), "save_notes")
    (True, False)
    """
    parts = place.split(".")
    return len(path) == len(parts) and all(part in ("*", key) for part, key in zip(parts, path, strict=True))
