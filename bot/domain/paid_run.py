"""A beat's full run that is over and not yet on record: kept so that whoever goes on after a crash pays for none again.

Pure values; one stands in its session's state from the end of the run until the beat's line is written.
"""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.domain.beats import Action, Receipt, Wake
from bot.domain.returns import Usage
from bot.domain.tiers import Tier


class PaidRun(BaseModel):
    """What a run reported, with the beat it belongs to: why that began and when, which tier, what is to be stamped.

    `due` are the ids of the tasks it was to carry out, `inbox` is how many messages it was shown; what has come since
    is another beat's. `prescreen` and `triage` are what a cheap model said before it, and what that cost.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    wake: Wake
    tier: Tier
    started_at: AwareDatetime
    stamp_at: AwareDatetime
    due: tuple[str, ...]
    inbox: int
    message: str
    receipts: tuple[Receipt, ...]
    usage: Usage | None
    tool_calls: int = 0
    reasoning: str | None = None
    notes: tuple[str, ...] = ()
    prescreen: Action | None = None
    triage: Usage | None = None
