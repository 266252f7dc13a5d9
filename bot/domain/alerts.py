"""An alert of a monitoring tool, read from the message it posted; and what a thread keeps of it. Pure.

`bot/intake/alerts.py` reads an Alert. Decisions are made on its fields, never on its text.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, Field

from bot.domain.frozen_value import FrozenValue
from bot.domain.severity import Severity


class AlertState(StrEnum):
    """What an alert says: it fires, it ended, somebody deals with it, or nothing that anybody has to act on."""

    FIRING = "firing"
    RESOLVED = "resolved"
    ACKNOWLEDGED = "acknowledged"
    INFO = "info"


class Alert(FrozenValue):
    """One message of an alert tool; without `text` the value of `alert` in events.ndjson.

    Attributes:
        tool: the tool's name in lower case, `grafana`; "" where neither the message nor the settings name one.
        name: the alert's name as the tool writes it, without its state.
        fingerprint: equal for messages about the same alert on the same thing, whatever their times, counts and
            measured values; other things have other fingerprints.
        severity: the tool's own field, else `act`.
        text: everything a person can read in the message; not written to disk.
    """

    tool: str
    state: AlertState
    name: str
    fingerprint: str
    severity: Severity = Severity.ACT
    text: Annotated[str, Field(exclude=True)] = ""


class ThreadAlert(Alert):
    """The alert of a thread: its latest state, how often it fired and when.

    Attributes:
        count: messages that said it fires; edits of one message count once.
        first_at: when it was first said to fire.
        last_at: when it was last said to fire.
        changed_at: when its state last changed.
        message_ids: the Slack ts of the messages about it, the latest last.
    """

    count: int = 1
    first_at: AwareDatetime
    last_at: AwareDatetime
    changed_at: AwareDatetime
    message_ids: tuple[str, ...] = ()
