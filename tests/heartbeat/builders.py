"""Sessions, tasks and beats for the tests of this folder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.config.heartbeat_settings import BeatSettings
from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import SessionOverride
from bot.domain.playbook import parse
from bot.domain.tiers import Tier, includes
from bot.heartbeat.alert_routing import AlertRouter
from bot.heartbeat.playbook_file import Removals
from bot.heartbeat.run.beat_record import BeatView
from bot.heartbeat.run.inputs import InputCollector, PeerSessions
from bot.heartbeat.run.probes import ProbeReport, Probes
from bot.heartbeat.session_registry import Owners, Session, SessionMemory, SessionRegistry
from bot.heartbeat.suggestion_desk import SuggestionDesk
from bot.ports import Clock, Surface
from bot.ports.collections import OVERRIDES
from bot.ports.feature_collections import SUGGESTIONS
from tests.fakes import FakeClock, MemoryDecisionLog, MemorySingle, in_memory

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)

OWNERS = Owners(None, FakeClock(), local="UTC")
"""Nobody but the owners that sessions name."""
OPS: list[str] = []
"""What the ops channel was told by routers of nobody in particular."""


def alert_router(
    surfaces: Mapping[str, Surface], store: SessionMemory, clock: Clock, say: Callable[[str], None] = OPS.append
) -> AlertRouter:
    """Return the way to owners over these surfaces; `say` hears what no owner can be told."""
    return AlertRouter(surfaces, store, clock, say=say)


def peer_sessions(sessions: SessionRegistry, store: SessionMemory, clock: Clock) -> PeerSessions:
    """Return what beats have to do with other sessions, where no suggestion was made yet and nobody is woken."""
    desk = SuggestionDesk(
        sessions=sessions,
        states=store,
        suggestions=in_memory(SUGGESTIONS),
        decisions=MemoryDecisionLog(),
        clock=clock,
    )
    return PeerSessions(desk)


def input_collector(
    probes: Probes,
    store: SessionMemory,
    sessions: SessionRegistry | None = None,
    clock: Clock | None = None,
    removals: Removals | None = None,
) -> InputCollector:
    """Return what looks around for a beat; without a registry there are no other sessions."""
    sessions, clock = sessions or SessionRegistry({}, in_memory(OVERRIDES)), clock or FakeClock(AT)
    peers = peer_sessions(sessions, store, clock)
    removals = removals or Removals(MemorySingle())
    return InputCollector(store, probes, clock, removals, peers)


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
        "is_master": False,
        "beat": beat,
        "configured": beat,
        "override": SessionOverride(),
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
        "stamp_at": AT,
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
