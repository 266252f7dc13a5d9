"""`/triage pollinate …`: makes, lists, accepts and rejects suggestions.

Approvers see and decide on all of them, an owner on those for their own sessions, nobody else on any. The cards follow
within seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.views.answers import answer_blocks
from blocks.views.help_view import unknown_verb
from bot.domain.answers import Answer, sentence
from bot.domain.commands.command_specs import command_names
from bot.domain.sharing.suggestions import DecidedBy
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.suggestion_answers import decide_suggestion, list_suggestions, send_suggestions
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
        return answer_blocks(self._answer(verb, typed))

    def _answer(self, verb: str, typed: TypedCommand) -> Answer:
        """Return the answer to those who may ask; for others the list is not empty but closed, and no id is named."""
        actions, line = self.actions, typed.line
        if verb == "run":
            actions.approvers.require(*typed.who, "Only approvers may send suggestions.", next_step=WHO_APPROVES)
            return send_suggestions(self.pollination)
        mine = frozenset(one.id for one in actions.sessions.all() if actions.owners.includes(one, typed.user_id))
        is_owner = bool(mine) and actions.approvers.allow(*typed.who, owner=typed.user_id)
        if verb == "list":
            known, sees_all = actions.store.all(), actions.approvers.allow(*typed.who)
            theirs = [one for one in known if sees_all or (is_owner and one.to in mine)]
            closed = known and not theirs
            return sentence(f"{NO_SUGGESTION_OF_YOURS} {WHO_APPROVES}") if closed else list_suggestions(theirs)
        if not is_owner:
            actions.approvers.require(*typed.who, NO_SUGGESTION_OF_YOURS)
        found = actions.decisions.find(line.word(2))
        actions.require(*typed.who, found)
        by = DecidedBy(typed.user_id, typed.user_name)
        return decide_suggestion(actions.decisions, verb, found, line.words_after(3), by)
