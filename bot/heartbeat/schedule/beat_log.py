"""heartbeats.ndjson: the line every beat leaves, whatever happened, and the latest of them read back."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

from pydantic import ValidationError

from bot.domain.heartbeats.beats import BeatResult, Envelope, Wake, indicator_of
from bot.heartbeat.schedule.admission import BeatRefusal
from bot.heartbeat.sessions.session_registry import Session
from bot.ports import Journal

log = logging.getLogger(__name__)

FIRST_LOOK_BYTES: Final = 256 * 1024
LOOK_FACTOR: Final = 16
LAST_LOOK_BYTES: Final = 64 * 1024 * 1024


class BeatLog:
    """The record of all sessions' beats."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def append(self, envelope: Envelope) -> None:
        """Write one beat's line and return once it is on disk; raises StoreError when the disk refuses."""
        self._journal.append(envelope.model_dump(mode="json"))
        level = logging.DEBUG if envelope.result is BeatResult.SKIPPED else logging.INFO
        log.log(level, "beat: %s", envelope.result, extra={"action": "beat_recorded", "session": envelope.session_id})

    def refused(self, session: Session, wake: Wake, refusal: BeatRefusal, at: datetime) -> Envelope:
        """Write the line of a beat that did not run; raises StoreError when the disk refuses."""
        envelope = Envelope(
            ts=at,
            session_id=session.id,
            workspace_dir=str(session.cwd),
            reason=wake,
            result=BeatResult.SKIPPED,
            indicator=indicator_of(BeatResult.SKIPPED),
            why=refusal.why,
            step=refusal.step,
        )
        self.append(envelope)
        return envelope

    def recent(self, session_id: str, count: int) -> list[Envelope]:
        """Return the latest beats of a session, newest first; fewer where the last 64 MiB hold fewer."""
        return self._newest(session_id, lambda found: len(found) >= count)[:count]

    def since(self, session_id: str, at: datetime) -> list[Envelope]:
        """Return a session's beats from a moment on, newest first; fewer where the last 64 MiB hold fewer."""
        found = self._newest(session_id, lambda found: bool(found) and found[-1].ts < at)
        return [beat for beat in found if beat.ts >= at]

    def latest(self, is_wanted: Callable[[Envelope], bool]) -> dict[str, Envelope]:
        """Return the latest beat of every session among the newest lines, of those that are wanted."""
        newest = [_read(record) for record in self._journal.records(last_bytes=FIRST_LOOK_BYTES * LOOK_FACTOR)]
        return {beat.session_id: beat for beat in newest if beat is not None and is_wanted(beat)}

    def _newest(self, session_id: str, is_enough: Callable[[list[Envelope]], bool]) -> list[Envelope]:
        """Return a session's beats, newest first, from as much of the record's end as holds enough of them."""
        look = FIRST_LOOK_BYTES
        while True:
            records = (r for r in self._journal.records(last_bytes=look) if r.get("session_id") == session_id)
            found = [envelope for envelope in map(_read, records) if envelope is not None][::-1]
            if is_enough(found) or look >= LAST_LOOK_BYTES:
                return found
            look *= LOOK_FACTOR


def _read(record: dict[str, object]) -> Envelope | None:
    try:
        return Envelope.read(record)
    except ValidationError:
        return None
