"""`/triage heartbeat …`: lists, switches, paces, starts and explains sessions.

Listing is for everybody; a change, and reading what a beat found, needs an approver or the session's owner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.views.answers import answer_blocks
from blocks.views.help_view import unknown_text, unknown_verb, usage_blocks
from bot.casework.approvers import Approvers
from bot.domain.commands.command_specs import command_names
from bot.domain.heartbeats.session_state import ChangedBy
from bot.heartbeat.schedule.session_controls import SessionControls
from bot.heartbeat.sessions.session_registry import Owners
from bot.ports import Clock
from handlers.commands.dispatcher import TypedCommand, reject_extra_words

NAME: Final = "heartbeat"


@dataclass(frozen=True, kw_only=True, slots=True)
class HeartbeatCommand:
    """Answers `/triage heartbeat …`; a Command of handlers/commands."""

    controls: SessionControls
    owners: Owners
    approvers: Approvers
    clock: Clock

    def __call__(self, typed: TypedCommand) -> list[Block]:
        """Return the answer; raises InputError and StoreError."""
        line, now = typed.line, self.clock.now()
        verb = line.word(1) or "list"
        if verb == "list":
            return answer_blocks(self.controls.listed(now))
        if verb not in command_names(NAME):
            return self._unknown(verb)
        session = self.controls.sessions.get(line.word(2))
        owner = self.owners.claim(session, typed.user_id)
        if verb not in ("log", "why"):
            refusal = f"Only approvers and the owner of {session.id} may do that."
            self.approvers.require(*typed.who, refusal, owner=owner, next_step="See /triage heartbeat list")
            reject_extra_words(f"{NAME} {verb}", line.words[2:])
        words = line.words_after(3) if verb == "assign" else " ".join(line.words[3:])
        by = ChangedBy(id=typed.user_id, name=typed.user_name, at=now)
        may_read = self.approvers.allow(*typed.who, owner=owner)
        return answer_blocks(self.controls.answer(verb, session.id, words, by, may_read=may_read))

    def _unknown(self, verb: str) -> list[Block]:
        """Say what may have been meant: `heartbeat shop off` has its words in the wrong order."""
        if all(session.id != verb for session in self.controls.sessions.all()):
            return unknown_verb(NAME, verb)
        near = [f"{NAME} {one} {verb}" for one in ("why", "run")]
        return usage_blocks(NAME, unknown_text(verb, near, after=NAME))
