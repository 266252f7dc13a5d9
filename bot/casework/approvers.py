"""Who may decide: the configured people and groups, else everybody in the ops channel.

Fails closed: where the chat cannot say, nobody may. An empty list means nobody. Guests, bots,
deactivated people and those of other workspaces never may.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from bot.errors import InputError, ProviderError
from bot.ports import Person, Workspace, is_stranger

log = logging.getLogger(__name__)

ROLL_CALL: Final = 50
"""How many people a list is checked for, a request each at most once a minute."""


UNKNOWN: Final = "Slack does not say now who may do this, so nothing was done. Try again in a minute."
"""What somebody is told whose permission nobody could look up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ApproverList:
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
        self._members: frozenset[str] = frozenset()
        self._barred: frozenset[str] = frozenset()

    def require(self, user_id: str, team_id: str, refusal: str, *, owner: str = "", next_step: str = "") -> None:
        """Return if this user of this team may decide, asked of the chat now and never from memory.

        `owner` is the user id of a session's owner, who may decide on what is theirs; "" for nobody.

        Raises:
            InputError: they may not (`refusal` and `next_step`), or the chat cannot say.
        """
        try:
            allowed = self._asked(user_id, team_id, owner)
        except ProviderError as error:
            log.exception("cannot tell who may approve; nobody may", extra={"action": "approvers_unknown"})
            raise InputError(UNKNOWN) from error
        if not allowed:
            raise InputError(refusal, next_step=next_step)

    def allow(self, user_id: str, team_id: str, *, owner: str = "") -> bool:
        """Whether `require` would return; False where the chat cannot say."""
        try:
            self.require(user_id, team_id, "", owner=owner)
        except InputError:
            return False
        return True

    def probably(self, user_id: str, team_id: str, *, owner: str = "") -> bool:
        """Whether this user seemed allowed when last asked, without a request: enough to open a dialogue, no more.

        That a listed person is a guest, say, is known from `require` only.
        """
        known = self._known | ({owner} if owner else frozenset())
        return team_id == self._team_id and user_id in known - self._barred

    def may_see(self, user_id: str, team_id: str) -> bool:
        """Whether this user may be shown drafts unasked: as of the last minute, and not where the chat cannot say."""
        if not self.probably(user_id, team_id):
            return False
        try:
            return not may_never_decide(self._workspace.person(user_id))
        except ProviderError:
            log.warning("cannot tell who may see drafts", extra={"action": "approvers_unknown"}, exc_info=True)
            return False

    def belongs(self, user_id: str, team_id: str) -> bool:
        """Whether a user is of the team, as of the last minute: somebody who may decide, or of its ops channel."""
        return user_id in self._known | self._members and self.knows(user_id, team_id)

    def knows(self, user_id: str, team_id: str) -> bool:
        """Whether somebody is a full member of our workspace or of a sister workspace, as of the last minute.

        Enough to see counts, so where the chat cannot say, whoever comes from our workspace is taken for one.
        """
        try:
            return is_member(self._workspace.person(user_id), team_id, self._team_id)
        except ProviderError:
            log.warning("cannot tell whether this is a member", extra={"action": "member_unknown"}, exc_info=True)
            return team_id == self._team_id

    def roll(self) -> ApproverList:
        """Return who may decide, for a list; of the first `ROLL_CALL` of them those who never may are left out."""
        known = sorted(self._known)
        people = [user for user in known[:ROLL_CALL] if not self._never(user)] + known[ROLL_CALL:]
        return ApproverList(people=frozenset(people), configured=self._configured, ops_channel=self._ops_channel)

    def paged(self) -> tuple[str, ...]:
        """Return whom a page mentions: the listed approvers, else `channel` for everybody in the ops channel."""
        return self._configured or ("channel",)

    def replace(self, configured: tuple[str, ...] | None) -> None:
        """Go by another list from now on; who is on it seems allowed only once the chat has said so."""
        self._configured, self._known = configured, frozenset()
        self.refresh()

    def refresh(self) -> None:
        """Learn who may decide, for `probably`; keeps the last answer where the chat cannot say."""
        try:
            self._known = self._everybody()
            self._members = self._known if self._configured is None else self._workspace.members(self._ops_channel)
        except ProviderError:
            log.warning("cannot list who may approve", extra={"action": "approvers_unknown"}, exc_info=True)

    def _asked(self, user_id: str, team_id: str, owner: str) -> bool:
        """Ask the chat; raises ProviderError if it cannot say."""
        person = self._workspace.person(user_id, fresh=True)
        if not is_member(person, team_id, self._team_id):
            self._barred |= {user_id}
            return False
        self._barred -= {user_id}
        if owner and user_id == owner:
            return True
        self._known = self._everybody()
        return user_id in self._known

    def _never(self, user_id: str) -> bool:
        """Whether a person is known never to decide; one the chat cannot tell of is not."""
        try:
            return may_never_decide(self._workspace.person(user_id))
        except ProviderError:
            return False

    def _everybody(self) -> frozenset[str]:
        if self._configured is None:
            return self._workspace.members(self._ops_channel)
        groups = [name for name in self._configured if name.startswith("S")]
        people = frozenset(self._configured) - frozenset(groups)
        return people.union(*(self._workspace.members(group) for group in groups))


def is_member(person: Person, team_id: str, our_team_id: str) -> bool:
    """Whether a click of `team_id` is this person's, and they are a full member: an id is unique in its team only.

    A sister workspace of an Enterprise Grid is another team and the same company.
    """
    return not may_never_decide(person) and (team_id == our_team_id or team_id in person.team_ids)


def may_never_decide(person: Person) -> bool:
    """Whether nobody of this kind decides anything, whatever list they stand on."""
    return is_stranger(person) or person.is_bot or person.is_deactivated
