"""Pauses and resumes work: while paused, messages get their cards, and nothing that costs money begins.

Writes one document, which resuming deletes; waiting jobs stay in the queue. A document that cannot be read counts as a
pause.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from bot.domain.answers import Answer, sentence
from bot.domain.text.humanize import utc_text
from bot.ports import Clock, Documents
from bot.ports.collections import PAUSE, SingleDocument
from bot.ports.migrations import migrated

if TYPE_CHECKING:
    from bot.domain.jobs import Job

log = logging.getLogger(__name__)


class Pause(BaseModel):
    """Who paused the bot, and since when; as it stands in paused.json."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    by: str
    """The user's id."""
    name: str
    at: AwareDatetime

    def words(self) -> str:
        """Return who and since when.

        >>> from datetime import UTC, datetime
        >>> pause = Pause(by="U1", name="ana", at=datetime(2026, 11, 20, 9, 12, tzinfo=UTC))
        >>> pause.words()
        'paused by @ana since 2026-11-20 09:12 UTC'
        """
        return f"paused by @{self.name} since {utc_text(self.at)}"


def read_pause(documents: Documents) -> Pause | None:
    """Return the pause that is on file, also beside a running bot; None where there is none. Raises StoreError."""
    document = documents.get(PAUSE, PAUSE)
    content = {} if document is None else migrated(documents, PAUSE, document)
    if document is None or content == {}:
        return None
    try:
        return Pause.model_validate(content)
    except ValidationError:
        return Pause(by="", name="somebody (paused.json cannot be read)", at=document.written_at)


class PauseSwitch:
    """The one switch of a running bot."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._document, self._clock = SingleDocument(documents, PAUSE), clock
        self._documents, self._lock = documents, threading.Lock()
        self._pause = read_pause(documents)

    def follow(self) -> bool:
        """Take over what another process, such as the terminal, has set; whether it changed. Raises StoreError."""
        with self._lock:
            before, self._pause = self._pause, read_pause(self._documents)
            return self._pause != before

    @property
    def is_paused(self) -> bool:
        """Whether nothing may begin."""
        return self._pause is not None

    def words(self) -> str | None:
        """Return who paused and since when; None while work goes on."""
        pause = self._pause
        return pause.words() if pause else None

    def allows(self, job: Job) -> bool:
        """Whether a job may be taken now: a message still gets its card, whose investigation waits."""
        from bot.domain.jobs import AskInOps, MessageWork  # here: who only asks for the pause needs no jobs

        return self._pause is None or isinstance(job.work, MessageWork | AskInOps)

    def pause(self, *, by: str, name: str) -> bool:
        """Stop; False if that had been done already, and then the first one's name stands. Raises StoreError."""
        with self._lock:
            if self._pause is not None:
                return False
            pause = Pause(by=by, name=name, at=self._clock.now())
            self._document.update(pause.model_dump(mode="json"))
            self._pause = pause
        log.warning("paused by %s", by, extra={"action": "paused"})
        return True

    def resume(self, *, by: str) -> bool:
        """Go on; False if nothing was paused. Raises StoreError, and then all stays paused."""
        with self._lock:
            if self._pause is None:
                return False
            self._document.clear()
            self._pause = None
        log.warning("resumed by %s", by, extra={"action": "resumed"})
        return True


def answer_pause(switch: PauseSwitch, *, by: str, name: str) -> Answer:
    """Pause, and return what is said of it. Raises StoreError."""
    is_new = switch.pause(by=by, name=name)
    rest = "New messages still get cards. New investigations and heartbeats wait; running ones finish."
    return sentence(f"Triage is {'' if is_new else 'already '}{switch.words()}. {rest}", undo=("resume",))


def answer_resume(switch: PauseSwitch, *, by: str) -> tuple[bool, Answer]:
    """Go on; return whether anything was paused, and what is said of it. Raises StoreError, and all stays paused."""
    words = switch.words()
    if not switch.resume(by=by):
        return False, sentence("Nothing is paused.", "status")
    return True, sentence(f"Triage is running again; it had been {words}.", "status")
