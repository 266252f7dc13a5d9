"""What a beat has to do with other sessions: a value beside the rest of what it sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.domain.beats import Receipt
from bot.domain.suggestions import Suggestion
from bot.heartbeat.candidates import Candidate


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """What may be offered to others, who sent no report, what waits for this session's own decision.

    `playbooks` are the workers' task lines, by session id, for the master's daily run. `receipts` are those of the due
    tasks that code carries out, by task id; a beat without a model takes them as they are.
    """

    offers: tuple[Candidate, ...] = ()
    silent: tuple[str, ...] = ()
    offered: tuple[Suggestion, ...] = ()
    playbooks: Mapping[str, str] = field(default_factory=dict)
    receipts: Mapping[str, Receipt] = field(default_factory=dict)


NONE: Final = Exchange()
"""A beat that has nothing to do with others."""
