"""`/triage tiers …`: a session's tasks, listed and changed.

What a playbook says and changing it is for approvers and the session's owner; everybody may see what is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.views.heartbeat_view import message_blocks
from blocks.views.help_view import unknown_text, usage_blocks
from blocks.views.tiers_view import answer_blocks, due_blocks, tasks_blocks
from bot.casework.approvers import Approvers
from bot.domain.commands.command_specs import command_names
from bot.domain.playbooks.playbook_edits import ListChanged
from bot.domain.text.did_you_mean import near_ones
from bot.heartbeat.playbooks.task_commands import TaskAnswer, TaskCommands
from bot.heartbeat.playbooks.task_list import parse_number, parse_tier
from bot.heartbeat.schedule.session_wording import NO_SESSIONS
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_registry import Session, SessionRegistry
from handlers.commands.dispatcher import TypedCommand, reject_extra_words

NAME: Final = "tiers"
MAX_NAMED: Final = 10
NO_TASKS_OF_YOURS: Final = "Only approvers and the session's owner may see and change its tasks."


@dataclass(frozen=True, kw_only=True, slots=True)
class TiersCommand:
    """Answers `/triage tiers …`; a Command of handlers/commands."""

    sessions: SessionRegistry
    owners: Owners
    tasks: TaskCommands
    approvers: Approvers

    def __call__(self, typed: TypedCommand) -> list[Block]:
        """Return the answer; raises TriageError for what cannot be done."""
        line = typed.line
        if not line.word(1):
            return usage_blocks(NAME, self._which_session())
        known = [session.id for session in self.sessions.all()]
        if line.word(1) in command_names(NAME) and line.word(1) not in known:
            near = [f"{NAME} {one} {line.word(1)}" for one in known[:MAX_NAMED]]
            return usage_blocks(NAME, unknown_text(line.word(1), near, after=NAME))
        session, verb = self.sessions.get(line.word(1)), line.word(2)
        if verb == "due":
            return due_blocks(self.tasks.list_tasks(session.id))
        if verb and verb not in command_names(NAME):
            near = [f"{NAME} {session.id} {one}" for one in near_ones(verb, command_names(NAME))]
            return usage_blocks(NAME, unknown_text(verb, near, after=f"{NAME} {session.id}"))
        owner, due = self.owners.claim(session, typed.user_id), f"What is due: /triage tiers {session.id} due"
        self.approvers.require(*typed.who, NO_TASKS_OF_YOURS, owner=owner, next_step=due)
        return self._answer(session, verb, typed)

    def _which_session(self) -> str:
        known = [session.id for session in self.sessions.all()]
        if not known:
            return NO_SESSIONS
        more = f" and {len(known) - MAX_NAMED} more: `/triage heartbeat list`" if len(known) > MAX_NAMED else ""
        return f"Which session? {', '.join(f'`/triage tiers {one}`' for one in known[:MAX_NAMED])}{more}"

    def _answer(self, session: Session, verb: str, typed: TypedCommand) -> list[Block]:
        if not verb:
            return tasks_blocks(self.tasks.listed(session.id, typed.user_id))
        reject_extra_words(f"{NAME} {verb}", typed.line.words[3:])
        try:
            return answer_blocks(self._done(verb, session, typed))
        except ListChanged as changed:
            now = self.tasks.listed(session.id, typed.user_id)
            return [*message_blocks(str(changed)), *tasks_blocks(now)]

    def _done(self, verb: str, session: Session, typed: TypedCommand) -> TaskAnswer:
        by, first = typed.user_id, typed.line.word(3)
        if verb == "add":
            tier = parse_tier(first, session.id)
            return self.tasks.add(session.id, tier, typed.line.words_after(4), by)
        number = parse_number(first, session.id)
        if verb == "remove":
            return self.tasks.remove(session.id, number, by)
        return self.tasks.move(session.id, number, parse_tier(typed.line.word(4), session.id), by)
