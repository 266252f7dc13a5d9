"""An alert of a monitoring tool, read from the message it posted; how urgent it is; what a thread keeps of it. Pure.

`bot/intake/alerts.py` reads an Alert. Decisions are made on its fields, never on its text. Of the severities `page`
wakes somebody, `act` wants to be done today, `know` wants to be read; each is a field of whatever reports it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import AwareDatetime, Field

from bot.domain.frozen_value import FrozenValue


class Severity(StrEnum):
    """How urgent something is, most urgent first."""

    PAGE = "page"
    ACT = "act"
    KNOW = "know"

    @property
    def rank(self) -> int:
        """Where it stands in a list: 0 for `page`."""
        return list(Severity).index(self)


SIGNS: Final = {Severity.PAGE: "🚨", Severity.ACT: "🟠", Severity.KNOW: "🔵"}
WORDS: Final = {Severity.PAGE: "Page", Severity.ACT: "Act", Severity.KNOW: "Know"}
"""What leads a message, by its severity."""


def highest(severities: Iterable[Severity]) -> Severity:
    """Return the most urgent of some; `know` of none.

    >>> str(highest([Severity.KNOW, Severity.PAGE, Severity.ACT])), str(highest([]))
    ('page', 'know')
    """
    return min(severities, key=lambda each: each.rank, default=Severity.KNOW)


KEPT_IDS: Final = 200
"""How many messages a thread remembers of its alert; an older one counts as known."""


class AlertState(StrEnum):
    """What an alert says: it fires, it ended, somebody deals with it, or nothing that anybody has to act on."""

    FIRING = "firing"
    RESOLVED = "resolved"
    ACKNOWLEDGED = "acknowledged"
    INFO = "info"


class Alert(FrozenValue):
    """One message of an alert tool; without `text` the value of `alert` in events.ndjson.

    Attributes:
        tool: the tool's name in small letters, `pagerduty`; "" where neither the message nor the settings name one.
        name: the alert's name as the tool writes it, without its state.
        fingerprint: equal for messages about the same alert on the same thing, whatever their times, counts and
            measured values; other things have other fingerprints.
        severity: the tool's own field, else `act`.
        service: what the tool's fields name as the service, project or repository; "" where they name none.
        text: everything a person can read in the message; not written to disk.
    """

    tool: str
    state: AlertState
    name: str
    fingerprint: str
    severity: Severity = Severity.ACT
    service: Annotated[str, Field(exclude_if=operator.not_)] = ""
    text: Annotated[str, Field(exclude=True)] = ""

    @property
    def is_firing(self) -> bool:
        """Whether it fires, as far as was said."""
        return self.state is AlertState.FIRING

    @property
    def urgency(self) -> Severity:
        """How urgent its thread is: nobody is rung for an alert that fires no more."""
        return Severity.ACT if self.severity is Severity.PAGE and not self.is_firing else self.severity


class ThreadAlert(Alert):
    """The alert of a thread: its latest state, how often it fired and when.

    Attributes:
        count: messages that said it fires; edits of one message count once.
        first_at: when it was first said to fire.
        last_at: when it was last said to fire.
        changed_at: when its state last changed.
        message_ids: the Slack ts of the messages about it, the latest last; the newest 200.
    """

    count: int = 1
    first_at: AwareDatetime
    last_at: AwareDatetime
    changed_at: AwareDatetime
    message_ids: tuple[str, ...] = ()

    @classmethod
    def of_first(cls, said: Alert, message_id: str, at: datetime) -> Self:
        """Return the alert of a new thread, whose first message was written at `at`."""
        times = {"first_at": at, "last_at": at, "changed_at": at}
        count = int(said.state is AlertState.FIRING)
        return cls(**dict(said), **times, count=count, message_ids=(message_id,))

    def after(self, said: Alert, message_id: str, at: datetime, *, is_edit: bool = False) -> Self:
        """Return the alert after one more message about it, or after an edit of one; itself where nothing changes.

        Its state is that of the newest message. Messages may come late, and twice.

        Args:
            said: what the message says of the alert.
            message_id: the Slack ts of the message.
            at: when that was said.
            is_edit: whether a message that may be known says this by now.
        """
        is_known = message_id in self.message_ids or self._is_forgotten(message_id)
        is_newest = float(message_id) >= float(self.message_ids[-1])
        if is_known and not (is_edit and is_newest):
            return self
        changes: dict[str, object] = {}
        is_firing = said.state is AlertState.FIRING
        if not is_known:
            ids = sorted((*self.message_ids, message_id), key=float)
            changes["message_ids"] = tuple(ids[-KEPT_IDS:])
            if is_firing:
                changes |= {
                    "count": self.count + 1,
                    "first_at": min(self.first_at, at),
                    "last_at": max(self.last_at, at),
                }
        if is_newest and said.state is not self.state:
            changes |= {"state": said.state, "changed_at": at}
        if is_newest and is_firing:
            changes["severity"] = said.severity
        return self.model_copy(update=changes)

    def _is_forgotten(self, message_id: str) -> bool:
        return len(self.message_ids) >= KEPT_IDS and float(message_id) < float(self.message_ids[0])
