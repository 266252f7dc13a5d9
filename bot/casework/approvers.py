"""Who may decide: the configured people and groups, else everybody in the ops channel.

Fails closed: where the chat cannot say, nobody may. An empty list means nobody. Guests, bots,
deactivated people and those of other workspaces never may.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from bot.errors import ProviderError
from bot.ports import Person, Workspace

log = logging.getLogger(__name__)

ROLL_CALL: Final = 50
"""How many people a list is checked for, a request each at most once a minute."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Roll:
    """Who may decide as last heard, and where that comes from; `configured` is None for all of the ops channel."""

    people: frozenset[str]
    configured: tuple[str, ...] | None
    ops_channel: str


class Approvers:
    """Answers for one team and one ops channel."""

    def __init__(
        self, configured: tuple[str, ...] | None, *, ops_channel: str, team_id: str, workspace: Workspace
    ) -> None:
        self._configured, self._ops_channel, self._team_id = configured, ops_channel, team_id
        self._workspace = workspace
        self._known: frozenset[str] = frozenset()
        self._barred: frozenset[str] = frozenset()

    def allow(self, user_id: str, team_id: str) -> bool:
        """Whether this user of this team may decide, asked of the chat now."""
        if team_id != self._team_id:
            return False
        try:
            if _never_may(self._workspace.person(user_id)):
                self._barred |= {user_id}
                return False
            self._barred -= {user_id}
            self._known = self._everybody()
        except ProviderError:
            log.exception("cannot tell who may approve; nobody may", extra={"action": "approvers_unknown"})
            return False
        return user_id in self._known

    def probably(self, user_id: str, team_id: str) -> bool:
        """Whether this user seemed allowed when last asked, without a request: enough to open a dialogue, no more.

        That a listed person is a guest, say, is known from `allow` only.
        """
        return team_id == self._team_id and user_id in self._known - self._barred

    def roll(self) -> Roll:
        """Return who may decide, for a list; of the first `ROLL_CALL` of them those who never may are left out."""
        known = sorted(self._known)
        people = [user for user in known[:ROLL_CALL] if not self._never(user)] + known[ROLL_CALL:]
        return Roll(people=frozenset(people), configured=self._configured, ops_channel=self._ops_channel)

    def refresh(self) -> None:
        """Learn who may decide, for `probably`; keeps the last answer where the chat cannot say."""
        try:
            self._known = self._everybody()
        except ProviderError:
            log.warning("cannot list who may approve", extra={"action": "approvers_unknown"}, exc_info=True)

    def _never(self, user_id: str) -> bool:
        """Whether a person is known never to decide; one the chat cannot tell of is not."""
        try:
            return _never_may(self._workspace.person(user_id))
        except ProviderError:
            return False

    def _everybody(self) -> frozenset[str]:
        if self._configured is None:
            return self._workspace.members(self._ops_channel)
        groups = [name for name in self._configured if name.startswith("S")]
        people = frozenset(self._configured) - frozenset(groups)
        return people.union(*(self._workspace.members(group) for group in groups))


def _never_may(person: Person) -> bool:
    return person.is_bot or person.is_guest or person.is_external or person.is_deactivated
