"""The demo's other sessions: one that lacks a check of the watched repository's, and the master that suggests it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from demo.workspace import ANA

WORKER: Final = "payments"
MASTER: Final = "platform"

_PLAYBOOKS: Final = {
    WORKER: "- Working-tree status\n- Urgent flags\n- Refund queue is short\n",
    MASTER: """# Heartbeat of platform

## Timestamps

- Last quick: (never)
- Last hourly: (never)
- Last daily: (never)

## Daily Tasks

- [ ] Cross-pollinate: tasks of one session that would help another, as suggestions
""",
}


def neighbours(folder: Path) -> dict[str, Any]:
    """Make a folder with a playbook for each in `folder`, and return their part of triage.yml; raises OSError."""
    found = {}
    for name, playbook in _PLAYBOOKS.items():
        cwd = folder / name
        cwd.mkdir(parents=True)
        (cwd / "HEARTBEAT.md").write_text(playbook, encoding="utf-8")
        hours = {"start": "00:00", "end": "24:00", "timezone": "UTC"}
        beat = {"every": "1m" if name == MASTER else "12h", "active_hours": hours}
        found[name] = {"cwd": str(cwd), "owner": ANA.user_id, "master": name == MASTER, "heartbeat": beat}
    return found
