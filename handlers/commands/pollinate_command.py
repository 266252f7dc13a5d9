"""`/triage pollinate …`: makes, lists, accepts and rejects suggestions.

Approvers see and decide on all of them, an owner on those for their own sessions, nobody else on any. The cards follow
within seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.cards.playbook_cards import suggestion_list, unread_blocks
from blocks.views.answers import message_blocks
from blocks.views.help_view import unknown_verb
from bot.domain.commands.command_specs import command_names
from bot.domain.sharing.suggestions import ANYWAY, DecidedBy, accepted, ran, rejected
from bot.errors import InputError
from bot.heartbeat.sharing.pollination import Pollination
from handlers.buttons.playbook_buttons import NO_SUGGESTION_OF_YOURS, SuggestionActions
from handlers.commands.casework_commands import WHO_APPROVES
from handlers.commands.dispatcher import TypedCommand, reject_extra_words

NAME: Final = "pollinate"


@dataclass(frozen=True, kw_only=True, slots=True)
class PollinateCommand:
    """Answers `/triage pollinate …`; a Command of handlers/commands."""

    actions: SuggestionActions
    pollination: Pollination

    def __call__(self, typed: TypedCommand) -> list[Block]:
        """Return the answer; raises InputError and StoreError."""
        verb = typed.line.word(1) or "list"
        if verb not in command_names(NAME):
            return unknown_verb(NAME, verb)
        reject_extra_words(f"{NAME} {verb}", typed.line.words[2:])
        if verb == "list":
            return self._list(typed)
        if verb == "run":
            self.actions.approvers.require(*typed.who, "Only approvers may send suggestions.", next_step=WHO_APPROVES)
            return message_blocks(ran(self.pollination.run()))
        return self._decided(verb, typed)

    def _list(self, typed: TypedCommand) -> list[Block]:
        """List what this person may decide on; for anybody else the list is not empty but closed."""
        known = self.actions.store.all()
        owned = self._owned(typed)
        theirs = known if self.actions.approvers.allow(*typed.who) else [one for one in known if one.to in owned]
        if known and not theirs:
            return message_blocks(f"{NO_SUGGESTION_OF_YOURS} {WHO_APPROVES}")
        return suggestion_list(theirs)

    def _decided(self, verb: str, typed: TypedCommand) -> list[Block]:
        decisions, line = self.actions.decisions, typed.line
        if not self._owned(typed):  # before any id is named: the near ones are not for everybody
            self.actions.approvers.require(*typed.who, NO_SUGGESTION_OF_YOURS)
        found = decisions.find(line.word(2))
        self.actions.require(*typed.who, found)
        by = DecidedBy(typed.user_id, typed.user_name)
        if verb == "reject":
            return message_blocks(rejected(decisions.reject(found.id, by, line.words_after(3) or None)))
        if line.words[3:] and line.word(3) != ANYWAY:
            raise InputError(
                "Nothing was changed: accept takes the id and no more.",
                next_step=f"/triage pollinate accept {found.id}",
            )
        if found.is_unread and line.word(3) != ANYWAY:
            return unread_blocks(found)
        return message_blocks(accepted(decisions.accept(found.id, by, has_read=bool(found.quarantine))))

    def _owned(self, typed: TypedCommand) -> frozenset[str]:
        """Return the sessions that belong to whoever typed; none to an owner who has become a guest, say."""
        user, owners = typed.user_id, self.actions.owners
        mine = frozenset(one.id for one in self.actions.sessions.all() if owners.includes(one, user))
        return mine if mine and self.actions.approvers.allow(*typed.who, owner=user) else frozenset()
