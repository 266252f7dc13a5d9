"""`/triage tiers …`: a session's tasks, listed and changed.

What a playbook says and changing it is for approvers and the session's owner; everybody may see what is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.views.answers import answer_blocks
from blocks.views.help_view import unknown_text, usage_blocks
from bot.casework.approvers import Approvers
from bot.domain.commands.command_specs import command_names
from bot.domain.text.did_you_mean import near_ones
from bot.heartbeat.playbooks.task_answers import MAX_NAMED, TaskAnswers, which_answer
from bot.heartbeat.sessions.session_registry import Owners, SessionRegistry
from handlers.commands.dispatcher import TypedCommand, reject_extra_words

NAME: Final = "tiers"
NO_TASKS_OF_YOURS: Final = "Only approvers and the session's owner may see and change its tasks."


@dataclass(frozen=True, kw_only=True, slots=True)
class TiersCommand:
    """Answers `/triage tiers …`; a Command of handlers/commands."""

    sessions: SessionRegistry
    owners: Owners
    answers: TaskAnswers
    approvers: Approvers

    def __call__(self, typed: TypedCommand) -> list[Block]:
        """Return the answer; raises TriageError for what cannot be done."""
        line, known = typed.line, [session.id for session in self.sessions.all()]
        name, verb = line.word(1), line.word(2)
        if not name:
            return answer_blocks(which_answer(known))
        if name in command_names(NAME) and name not in known:
            near = [f"{NAME} {one} {name}" for one in known[:MAX_NAMED]]
            return usage_blocks(NAME, unknown_text(name, near, after=NAME))
        session = self.sessions.get(name)
        if verb and verb not in command_names(NAME):
            near = [f"{NAME} {session.id} {one}" for one in near_ones(verb, command_names(NAME))]
            return usage_blocks(NAME, unknown_text(verb, near, after=f"{NAME} {session.id}"))
        if verb != "due":
            owner, due = self.owners.claim(session, typed.user_id), f"What is due: /triage tiers {session.id} due"
            self.approvers.require(*typed.who, NO_TASKS_OF_YOURS, owner=owner, next_step=due)
        if verb:
            reject_extra_words(f"{NAME} {verb}", line.words[3:])
        words = [word.lower() for word in line.words[3:5]]
        return answer_blocks(self.answers.answer(session.id, verb, words, line.words_after(4), typed.user_id))
