"""Whether a beat may run now, and if not, why. Pure: the facts come in, one refusal or none comes out.

Asked twice: at the tick, before anything is queued, and again when the job starts, for it may have waited long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from bot.domain.beats import Delivered, Wake
from bot.domain.hours import ActiveHours
from bot.domain.moments import utc_text
from bot.domain.session import SessionState, is_still_silent
from bot.heartbeat.failures import LONGEST_PAUSE
from bot.heartbeat.session import PLAYBOOK, Session
from bot.heartbeat.steps import Step, remark

TRACKED: Final = (
    f"git tracks {PLAYBOOK}, so every contributor could write the owner's alerts; run git rm --cached {PLAYBOOK} and "
    "commit, or set allow_tracked_playbook: true"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class GateFacts:
    """All that decides; what costs a look at the disk or the chat comes as a question and is asked last."""

    session: Session
    state: SessionState
    wake: Wake
    now: datetime
    hours: ActiveHours
    route: Callable[[], Delivered | None]
    is_busy: bool
    """Whether another beat of the session waits or runs."""
    is_tracked: Callable[[], bool]
    """Whether git tracks the playbook, so that every contributor writes it."""
    playbook_is_empty: Callable[[], bool]
    folder_is_there: Callable[[], bool] = lambda: True
    halted: str | None = None
    """Who has paused all of triage, and since when."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Why a beat does not run."""

    step: Step
    detail: str

    @property
    def why(self) -> str:
        """The remark for the record."""
        return remark(self.step, self.detail)


def refusal(facts: GateFacts) -> Refusal | None:
    """Return the first reason not to run, in the order of SPEC 5.2, or None."""
    return next(_refusals(facts), None)


def _refusals(facts: GateFacts) -> Iterator[Refusal]:
    session, state, beat = facts.session, facts.state, facts.session.beat
    by_interval = facts.wake is Wake.INTERVAL
    if not beat.enabled:
        yield Refusal(step=Step.DISABLED, detail=f"to switch it on: /triage heartbeat on {session.id}")
    if facts.halted:
        yield Refusal(step=Step.HALTED, detail=f"{facts.halted}; to go on: /triage resume")
    paused = state.failures.paused_until
    is_paused = paused is not None and is_still_silent(paused, facts.now, LONGEST_PAUSE)
    if facts.wake is not Wake.ON_DEMAND and paused is not None and is_paused:
        detail = f"{state.failures.count} failures in a row ({state.failures.key}); tried again at {utc_text(paused)}"
        yield Refusal(step=Step.PAUSED, detail=detail)
    if by_interval and not facts.hours.contains(facts.now):
        yield Refusal(step=Step.HOURS, detail=_hours(facts.hours, facts.now))
    if not facts.folder_is_there():
        yield Refusal(step=Step.FOLDER, detail=f"{session.cwd} is not there; put it back, or correct cwd in triage.yml")
    shown = beat.visibility
    if not (shown.show_ok or shown.show_alerts or shown.use_indicator):
        yield Refusal(step=Step.HIDDEN, detail="visibility switches everything off")
    if facts.route() is None:
        yield Refusal(step=Step.ROUTE, detail="the session has no owner who can be reached")
    spent = spent_today(state, facts.now)
    if beat.daily_budget_usd is not None and spent >= beat.daily_budget_usd:
        yield Refusal(step=Step.BUDGET, detail=f"{spent:.2f} of {beat.daily_budget_usd:.2f} USD today")
    if facts.is_busy:
        yield Refusal(step=Step.BUSY, detail=f"a beat of {session.id} waits or runs; this wake follows it")
    if not beat.allow_tracked_playbook and facts.is_tracked():
        yield Refusal(step=Step.TRACKED, detail=TRACKED)
    if by_interval and facts.playbook_is_empty():
        yield Refusal(step=Step.EMPTY, detail=f"{session.playbook_path.name} holds no task; add one under Quick Tasks")


def spent_today(state: SessionState, now: datetime) -> float:
    """Return what the session has cost in the UTC day of `now`, in US dollars."""
    return state.spent.usd if state.spent.day == now.date().isoformat() else 0.0


def _hours(hours: ActiveHours, now: datetime) -> str:
    local = now.astimezone(ZoneInfo(hours.timezone))
    return f"it is {local:%H:%M} in {hours.timezone}, beats run {hours.start}-{hours.end}"
