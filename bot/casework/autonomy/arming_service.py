"""Arms automatic replies at a person's word, and looks every minute whether all still holds that they rest on.

Reads and writes autonomy.json. What is looked at, and what follows, is bot/domain/questions/arming.py.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from bot.casework.reports.autonomy_metrics import AutonomyCase, parse_arming, read_arming, read_case, read_record
from bot.casework.reports.rollup_rows import MENTIONS, POSTED
from bot.casework.reports.rollups import Allowance, Rollups
from bot.casework.thread_service import ThreadService
from bot.domain.hours import ActiveHours
from bot.domain.questions.arming import Arming, Look, arm, armed_condition, disarm, look, why_not
from bot.domain.questions.conditions import AutonomyMode, Condition
from bot.errors import InputError
from bot.intake.presence import read_presence
from bot.ports import Store
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)


class ArmingService:
    """The switch of one team; `process` names this start of the bot, `say` tells the ops channel."""

    def __init__(
        self,
        desk: ThreadService,
        store: Store,
        stored: SingleDocument,
        *,
        hours: ActiveHours | None,
        process: str,
        say: Callable[[str], None],
    ) -> None:
        self._desk, self._store, self._stored = desk, store, stored
        self._rollups, self._lock = Rollups(store), threading.Lock()
        self.hours, self._process, self._say = hours, process, say
        self._has_looked = self._was_armed = False

    @property
    def mode(self) -> AutonomyMode:
        """What triage.yml allows."""
        return AutonomyMode(self._desk.settings.autonomy)

    def tick(self) -> None:
        """Disarm, and say so, where something does not hold any more; raises StoreError."""
        if self._was_armed or read_arming(self._stored).is_armed:
            self._look()

    def ask(self) -> Condition:
        """Return whether it is armed, looked at anew; raises StoreError."""
        if read_arming(self._stored).is_armed:
            self._look()
        return armed_condition(read_arming(self._stored))

    def arm(self, *, by: str) -> str:
        """Arm, if every condition holds; returns what to say. Raises InputError, naming those that do not."""
        if self.hours is None:
            raise InputError("Not armed: `working_hours` is not set in triage.yml.", next_step="Look: /triage autonomy")
        with self._lock:
            armed = arm(self._see(), by=by)
            self._stored.change(lambda raw: _written(raw, armed))
            self._has_looked = self._was_armed = True
        log.warning("automatic replies are armed", extra={"action": "autonomy_armed"})
        return (
            "Automatic replies are armed. Each one is shown in the ops channel with Take back. "
            "To stop: /triage autonomy disarm"
        )

    def disarm(self, *, by: str) -> str:
        """Disarm; returns what to say."""
        at = self._desk.clock.now()
        with self._lock:
            self._was_armed = False
            self._stored.change(lambda raw: _written(raw, disarm(parse_arming(raw), at, by=by)))
        return "Automatic replies are off. Every draft waits for an approver again."

    def case(self) -> AutonomyCase:
        """Return the case for or against; raises StoreError."""
        return read_case(self._store, self._rollups, self._desk.clock.now(), self.mode, self.hours)

    def _look(self) -> None:
        with self._lock:
            seen = self._see()
            after = Arming()

            def looked(raw: Mapping[str, Any]) -> Mapping[str, Any]:
                nonlocal after
                after = look(parse_arming(raw), seen)
                return _written(raw, after)

            self._stored.change(looked)
            self._has_looked = True
            was_armed, self._was_armed = self._was_armed, after.is_armed
        if after.is_armed:
            return
        if was_armed or after.disarmed_at == seen.now:
            why = why_not(after) or ": the record of who armed them is gone"
            self._say(f"Automatic replies are off{why}. Every draft waits for an approver. To look: /triage autonomy")

    def _see(self) -> Look:
        now = self._desk.clock.now()
        record = read_record(self._store, self._rollups, now, self.hours, allow=Allowance.for_one_look())
        seen = read_presence(self._store.documents)
        return Look(
            now=now,
            mode=self.mode,
            process=self._process,
            is_first=not self._has_looked,
            places={kind.journal: self._rollups.place(kind, now) for kind in (MENTIONS, POSTED)},
            weeks=record.weeks,
            uncounted=record.uncounted,
            newest=record.newest,
            chat_ahead=self._desk.chat_ahead(),
            others=seen.other_connections if seen else 0,
        )


def _written(raw: Mapping[str, Any], standing: Arming) -> Mapping[str, Any]:
    return {**raw, **standing.model_dump(mode="json")}
