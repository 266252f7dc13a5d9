"""`/triage heartbeat …`: sessions listed, switched, paced, started and explained.

Listing is for everybody; what changes something needs an approver or the session's owner, and so does reading what a
beat found. Reads the disk and asks Slack nothing.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Final

from slack_sdk.models.blocks import Block

from blocks.heartbeat_list import list_blocks, log_blocks, said_blocks, usage_blocks, why_blocks
from bot.casework.approvers import Approvers
from bot.domain.overrides import Setter
from bot.errors import InputError, StoreError
from bot.heartbeat.controls import Controls
from bot.heartbeat.overview import rows
from bot.heartbeat.record import BeatLog
from bot.heartbeat.registry import Sessions
from bot.heartbeat.session import Session
from bot.heartbeat.zones import Zones
from bot.ports import Clock, SessionStore

VERBS: Final = ("list", "on", "off", "every", "run", "log", "why")
LOG_LINES: Final = 15
WHY_BEATS: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class HeartbeatCommand:
    """Answers `/triage heartbeat …`; a Command of handlers/commands."""

    sessions: Sessions
    store: SessionStore
    controls: Controls
    record: BeatLog
    zones: Zones
    approvers: Approvers
    clock: Clock
    team_id: str

    def __call__(self, body: dict[str, Any]) -> list[Block]:
        """Return the answer, whatever was typed."""
        words = str(body.get("text") or "").split()[1:]
        verb, *arguments = words or ["list"]
        try:
            return self._answer(verb.lower(), arguments, body)
        except (InputError, StoreError) as error:
            return said_blocks(str(error))

    def _answer(self, verb: str, arguments: list[str], body: dict[str, Any]) -> list[Block]:
        if verb == "list":
            found = rows(self.sessions, self.store, self.zones, self.record, self.clock.now())
            return list_blocks(found, self.clock.now())
        if verb not in VERBS:
            near = difflib.get_close_matches(verb, VERBS, n=2)
            meant = f" Did you mean {' or '.join(near)}?" if near else ""
            return usage_blocks(None if verb == "help" else f"There is no /triage heartbeat {verb[:40]}.{meant}")
        session = self.sessions.get(arguments[0] if arguments else "")
        if verb in ("log", "why"):
            return self._told(verb, session, may_read=self._may(session, body))
        if not self._may(session, body):
            raise InputError(f"Only approvers and the owner of {session.id} may do that. See /triage heartbeat list")
        return said_blocks(self._done(verb, session, arguments[1:], body))

    def _told(self, verb: str, session: Session, *, may_read: bool) -> list[Block]:
        if verb == "log":
            return log_blocks(session.id, self.record.recent(session.id, LOG_LINES), may_read=may_read)
        return why_blocks(session.id, self.record.recent(session.id, WHY_BEATS), may_read=may_read)

    def _done(self, verb: str, session: Session, arguments: list[str], body: dict[str, Any]) -> str:
        by = Setter(id=str(body.get("user_id")), name=str(body.get("user_name") or "somebody"), at=self.clock.now())
        if verb == "every":
            if not arguments:
                raise InputError(f"How often? Type /triage heartbeat every {session.id} 15m")
            return self.controls.pace(session.id, arguments[0], by)
        if verb == "run":
            return self.controls.run(session.id)
        return self.controls.switch(session.id, by, on=verb == "on")

    def _may(self, session: Session, body: dict[str, Any]) -> bool:
        user, team = str(body.get("user_id")), str(body.get("team_id"))
        return (team == self.team_id and user == session.owner) or self.approvers.probably(user, team)
