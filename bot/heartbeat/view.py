"""What one beat looks at, and what whoever carried it out reports."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bot.domain.beats import Receipt, Wake
from bot.domain.measured import Move
from bot.domain.playbook import Playbook
from bot.domain.playbook_entries import Entry
from bot.domain.returns import Usage
from bot.domain.session import InboxMessage, OpenFinding, Removal
from bot.domain.tiers import Tier
from bot.heartbeat.edits import Edits
from bot.heartbeat.exchange import NONE, Exchange
from bot.heartbeat.probes import ProbeReport, ProbeResult
from bot.heartbeat.session import Session


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatView:
    """One beat: the due tasks and what is known before anybody thinks about them.

    `changed` are the probe results that differ from the last good beat's, `earlier` what those printed then;
    `spent_usd` is what the session has cost today; `moves` are the tasks that were measured to stand in a wrong tier,
    `edits` what the beat itself changes in the playbook, `exchange` what it has to do with other sessions.
    """

    session: Session
    run_id: str
    wake: Wake
    tier: Tier
    started_at: datetime
    playbook: Playbook
    tasks: tuple[Entry, ...]
    probes: ProbeReport
    changed: tuple[ProbeResult, ...]
    earlier: Mapping[str, str]
    inbox: tuple[InboxMessage, ...]
    open_findings: tuple[OpenFinding, ...]
    spent_usd: float
    cancel: threading.Event
    moves: tuple[Move, ...] = ()
    edits: Edits = field(default_factory=Edits)
    exchange: Exchange = NONE
    removals: Mapping[str, Removal] = field(default_factory=dict)
    """Who took which check out of the playbook, by its identity."""
    failed_before: frozenset[str] = frozenset()
    """The commands that had an error at the last good beat."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatReport:
    """What a beat found: a receipt for each due task, and a message to the owner.

    `usage` is None where no model ran; `notes` are remarks about the beat itself.
    """

    message: str
    receipts: tuple[Receipt, ...]
    usage: Usage | None
    tool_calls: int = 0
    reasoning: str | None = None
    notes: tuple[str, ...] = ()


class FullRun(Protocol):
    """Carries out the due tasks."""

    def run(self, view: BeatView) -> BeatReport:
        """Return the report.

        Raises:
            RunCancelled: the view's `cancel` was set.
            RunFailed: there is no report; it says why and carries the usage.
        """
        ...
