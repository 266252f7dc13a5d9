"""Learns who may decide, for one team after the other: together they stay well under what Slack allows.

Listing a user group is a request of Tier 2, 20 a minute for the whole app; a team without groups costs none of them.
Source: https://docs.slack.dev/reference/methods/usergroups.users.list
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Final, Protocol

from bot.ports import Clock

EVERY: Final = timedelta(minutes=1)
"""How often a team is asked for at most; with more than ten groups in all teams its turn comes later."""
GROUPS_AT_ONCE: Final = 8.0
GROUPS_PER_S: Final = 1 / 6


class AskedApprovers(Protocol):
    """The approvers of a team."""

    @property
    def group_count(self) -> int:
        """How many user groups `refresh` lists."""
        ...

    def refresh(self) -> None:
        """Learn who may decide."""
        ...


class ApproverRounds:
    """The approvers of all teams, who may come and go; those who were asked for longest ago come first."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asked: dict[str, tuple[AskedApprovers, datetime | None]] = {}  # in the order of their turns
        self._room, self._room_at = GROUPS_AT_ONCE, clock.now()
        self._lock = threading.Lock()

    def add(self, team: str, approvers: AskedApprovers) -> None:
        """Ask for a team from now on, before those who were asked for already."""
        with self._lock:
            self._asked = {team: (approvers, None), **self._asked}

    def remove(self, team: str) -> None:
        """Ask for a team no more."""
        with self._lock:
            self._asked.pop(team, None)

    def tick(self) -> None:
        """Ask for every team whose turn it is, as far as there is room; what has no room waits for the next tick."""
        while (approvers := self._next()) is not None:
            approvers.refresh()

    def _next(self) -> AskedApprovers | None:
        with self._lock:
            now = self._clock.now()
            passed_s = max(0.0, (now - self._room_at).total_seconds())
            self._room, self._room_at = min(GROUPS_AT_ONCE, self._room + passed_s * GROUPS_PER_S), now
            for team, (approvers, asked_at) in self._asked.items():
                if asked_at is not None and timedelta() <= now - asked_at < EVERY:
                    continue
                # one that has more groups than ever have room is asked for once the room is full
                if approvers.group_count > self._room and self._room < GROUPS_AT_ONCE:
                    continue
                self._room -= approvers.group_count
                del self._asked[team]
                self._asked[team] = approvers, now
                return approvers
            return None
