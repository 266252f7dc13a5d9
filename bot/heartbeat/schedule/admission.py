"""Whether a beat may run now, and if not, why.

Asked at the tick, before anything is queued, and again when the job starts, for it may have waited long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from bot.config.session_settings import unreachable
from bot.domain.heartbeats.beats import BeatStep, Delivered, Wake, ending_text
from bot.domain.heartbeats.session_state import LONGEST_PAUSE, SessionState, is_snoozed
from bot.domain.hours import ActiveHours
from bot.domain.text.humanize import utc_text
from bot.errors import StoreError
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.sessions.owners import OwnerZones
from bot.heartbeat.sessions.session_registry import PLAYBOOK, Session

TRACKED: Final = (
    f"git tracks {PLAYBOOK}, so every contributor could write the owner's alerts; run git rm --cached {PLAYBOOK} and "
    "commit, or set allow_tracked_playbook: true"
)
Route = Callable[[Session, SessionState], Delivered | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatRefusal:
    """Why a beat does not run."""

    step: BeatStep
    detail: str

    @property
    def why(self) -> str:
        """The same in words."""
        return ending_text(self.step, self.detail) or ""


class Admission:
    """Says whether a session's beat may run now.

    `route` says where an alert would go; `halted` who has paused all of triage, None while nobody has;
    `runs_elsewhere` whether another replica has a session and its folder.
    """

    def __init__(
        self,
        zones: OwnerZones,
        *,
        route: Route,
        halted: Callable[[], str | None] = lambda: None,
        runs_elsewhere: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._zones, self._route = zones, route
        self._halted, self._runs_elsewhere = halted, runs_elsewhere

    def hours(self, session: Session) -> ActiveHours:
        """Return when beats of a session's interval may run."""
        return self._zones.hours(session)

    def refusal(
        self, session: Session, state: SessionState, wake: Wake, now: datetime, *, is_held: bool = False
    ) -> BeatRefusal | None:
        """Return the first reason not to run now, or None; disk and chat are asked only if all before allows the beat.

        `is_held` says that another beat of the session waits or runs; a beat that starts is not in its own way.
        """
        return next(self.refusals(session, state, wake, now, is_held=is_held), None)

    def refusals(
        self, session: Session, state: SessionState, wake: Wake, now: datetime, *, is_held: bool = False
    ) -> Iterator[BeatRefusal]:
        """Yield every reason not to run now, in the order of the gate; each is looked for as it is asked for."""
        beat, shown = session.beat, session.beat.visibility
        if not beat.enabled:
            yield BeatRefusal(step=BeatStep.DISABLED, detail=f"to switch it on: /triage heartbeat on {session.id}")
        if halted := self._halted():
            yield BeatRefusal(step=BeatStep.HALTED, detail=f"{halted}; to resume: /triage resume")
        paused = state.failures.paused_until
        if wake is not Wake.ON_DEMAND and paused is not None and is_snoozed(paused, now, LONGEST_PAUSE):
            failed = f"{state.failures.count} failures in a row ({state.failures.key})"
            yield BeatRefusal(step=BeatStep.PAUSED, detail=f"{failed}; tried again at {utc_text(paused)}")
        hours = self._zones.hours(session)
        if wake is Wake.INTERVAL and not hours.contains(now):
            local = now.astimezone(ZoneInfo(hours.timezone))
            detail = f"it is {local:%H:%M} in {hours.timezone}, beats run {hours.start}-{hours.end}"
            yield BeatRefusal(step=BeatStep.HOURS, detail=detail)
        if not (is_here := session.cwd.is_dir()) and not self._runs_elsewhere(session.id):
            detail = f"{session.cwd} is not there; put it back, or correct sessions.{session.id}.cwd in triage.yml"
            yield BeatRefusal(step=BeatStep.FOLDER, detail=detail)
        if not (shown.show_ok or shown.show_alerts or shown.use_indicator):
            yield BeatRefusal(step=BeatStep.HIDDEN, detail="visibility has every kind of message switched off")
        if self._route(session, state) is None:
            no_token = unreachable(session.id, beat.deliver, has_telegram=False)
            detail = no_token or f"it has no owner; name one under sessions.{session.id}.owner in triage.yml"
            yield BeatRefusal(step=BeatStep.ROUTE, detail=detail)
        spent, limit = state.spent.on(now), beat.daily_budget_usd
        if limit is not None and spent >= limit:
            yield BeatRefusal(step=BeatStep.BUDGET, detail=f"{spent:.2f} of {limit:.2f} USD today")
        if is_held:
            detail = f"a heartbeat of {session.id} is already queued or running; this one runs after it"
            yield BeatRefusal(step=BeatStep.BUSY, detail=detail)
        if not is_here:
            return  # the replica that has the folder looks into it when it begins the beat
        if not beat.allow_tracked_playbook and playbook_of(session).is_tracked():
            yield BeatRefusal(step=BeatStep.TRACKED, detail=TRACKED)
        if wake is Wake.INTERVAL and _asks_for_nothing(session, state):
            yield BeatRefusal(step=BeatStep.EMPTY, detail=f"{PLAYBOOK} has no tasks; add one under Quick Tasks")


def _asks_for_nothing(session: Session, state: SessionState) -> bool:
    """Whether the playbook is empty, and no finding of its former tasks waits to be closed.

    One that is missing is made from the template by the beat. What cannot be read is not empty: the beat runs, and
    fails in plain sight.
    """
    if any(each.is_open for each in state.findings.values()):
        return False
    try:
        playbook = playbook_of(session).peek()
    except StoreError:
        return False
    return playbook is not None and playbook.is_effectively_empty
