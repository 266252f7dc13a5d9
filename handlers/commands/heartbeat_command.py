"""`/triage heartbeat …`: lists, switches, paces, starts and explains sessions.

Listing is for everybody; a change, and reading what a beat found, needs an approver or the session's owner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.views.heartbeat_view import list_blocks, log_blocks, message_blocks, why_blocks
from blocks.views.help_view import unknown_text, unknown_verb, usage_blocks
from bot.casework.approvers import Approvers
from bot.domain.commands.command_specs import command_names
from bot.domain.heartbeats.session_state import ChangedBy
from bot.errors import InputError
from bot.heartbeat.schedule.session_controls import SessionControls, rows
from bot.heartbeat.schedule.session_wording import beside_ok_today
from bot.heartbeat.sessions.owners import Owners, OwnerZones
from bot.heartbeat.sessions.session_inbox import SessionInbox
from bot.heartbeat.sessions.session_registry import BeatLog, Session, SessionMemory, SessionRegistry
from bot.ports import Clock
from handlers.commands.dispatcher import TypedCommand, reject_extra_words

NAME: Final = "heartbeat"
LOG_LINES: Final = 15
WHY_BEATS: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class HeartbeatCommand:
    """Answers `/triage heartbeat …`; a Command of handlers/commands."""

    sessions: SessionRegistry
    owners: Owners
    store: SessionMemory
    controls: SessionControls
    inbox: SessionInbox
    record: BeatLog
    zones: OwnerZones
    approvers: Approvers
    clock: Clock

    def __call__(self, typed: TypedCommand) -> list[Block]:
        """Return the answer; raises InputError and StoreError."""
        verb = typed.line.word(1) or "list"
        if verb == "list":
            found = rows(self.sessions, self.store, self.zones, self.record, self.clock.now())
            return list_blocks(found, self.clock.now())
        if verb not in command_names(NAME):
            return self._unknown(verb)
        session = self.sessions.get(typed.line.word(2))
        if verb in ("log", "why"):
            return self._told(verb, session, may_read=self._may(session, typed))
        self.approvers.require(
            *typed.who,
            f"Only approvers and the owner of {session.id} may do that.",
            owner=self.owners.claim(session, typed.user_id),
            next_step="See /triage heartbeat list",
        )
        reject_extra_words(f"{NAME} {verb}", typed.line.words[2:])
        return message_blocks(self._done(verb, session, "".join(typed.line.words[3:]), typed))

    def _unknown(self, verb: str) -> list[Block]:
        """Say what may have been meant: `heartbeat shop off` has its words in the wrong order."""
        if all(session.id != verb for session in self.sessions.all()):
            return unknown_verb(NAME, verb)
        near = [f"{NAME} {one} {verb}" for one in ("why", "run")]
        return usage_blocks(NAME, unknown_text(verb, near, after=NAME))

    def _told(self, verb: str, session: Session, *, may_read: bool) -> list[Block]:
        if verb == "log":
            return log_blocks(session.id, self.record.recent(session.id, LOG_LINES), may_read=may_read)
        now, zone = self.clock.now(), self.zones.zone_name(session)
        remarks = beside_ok_today(self.record, session.id, now, zone, may_read=may_read)
        latest = self.record.recent(session.id, WHY_BEATS)
        return why_blocks(session.id, latest, may_read=may_read, beside_ok=remarks)

    def _done(self, verb: str, session: Session, interval: str, typed: TypedCommand) -> str:
        by = ChangedBy(id=typed.user_id, name=typed.user_name, at=self.clock.now())
        if verb == "every":
            if not interval:
                raise InputError("How often?", next_step=f"Type /triage heartbeat every {session.id} 15m")
            return self.controls.pace(session.id, interval.lower(), by)
        if verb == "assign":
            return self.inbox.assign(session.id, typed.line.words_after(3), by)
        if verb == "run":
            return self.controls.run(session.id)
        return self.controls.switch(session.id, by, on=verb == "on")

    def _may(self, session: Session, typed: TypedCommand) -> bool:
        return self.approvers.allow(*typed.who, owner=self.owners.claim(session, typed.user_id))
