"""Sessions, tasks and beats for the tests of this folder."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.config.heartbeat_settings import BeatSettings
from bot.domain.heartbeats.beats import Wake
from bot.domain.playbook import parse
from bot.domain.tiers import Tier, includes
from bot.heartbeat.run.beat_view import BeatView
from bot.heartbeat.run.probes import ProbeReport
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_registry import Session
from tests.fakes import FakeClock

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)

OWNERS = Owners(None, FakeClock(AT))
"""Nobody but the owners that sessions name."""

PLAYBOOK = """# Heartbeat

## Timestamps

- Last quick: (never)
- Last hourly: (never)
- Last daily: (never)

## Quick Tasks

- [ ] Working tree: `git status --porcelain`
- [ ] Deploys look healthy

## Hourly Tasks

- [ ] New commits: `git log --oneline -n 20`

## Daily Tasks

- [ ] Stale branches

## Notes
"""


def a_session(cwd: Path, **changes: Any) -> Session:
    """Return a session of Ana's; `beat` takes settings of its heartbeat."""
    beat = BeatSettings.model_validate({"every": timedelta(minutes=30), **changes.pop("beat", {})})
    fields: dict[str, Any] = {
        "id": "shop",
        "name": "Shop",
        "cwd": cwd,
        "owner": "U0ANA",
        "channels": (),
        "is_master": False,
        "beat": beat,
    }
    return Session(**{**fields, **changes})


def a_view(cwd: Path, *, tier: Tier = Tier.QUICK, text: str = PLAYBOOK, **changes: Any) -> BeatView:
    """Return a beat of the playbook `text` in which no command ran."""
    playbook = parse(text)
    fields: dict[str, Any] = {
        "session": a_session(cwd),
        "run_id": "beat-shop-1",
        "wake": Wake.INTERVAL,
        "tier": tier,
        "started_at": AT,
        "playbook": playbook,
        "tasks": tuple(task for each in includes(tier) for task in playbook.tasks(each)),
        "probes": ProbeReport(),
        "changed": (),
        "earlier": {},
        "inbox": (),
        "open_findings": (),
        "spent_usd": 0.0,
        "cancel": threading.Event(),
    }
    return BeatView(**{**fields, **changes})
