"""`/triage tiers …`: a session's tasks, listed and changed; the dialogue that edits a tier as text.

What a playbook says and changing it is for approvers and the session's owner; everybody may see what is due. A
button's dialogue opens on what is remembered of who may, and its submit asks for good. Clicks are read as hostile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from slack_bolt import Ack, BoltContext
from slack_sdk import WebClient
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from blocks import ids
from blocks.views.heartbeat_view import message_blocks
from blocks.views.help_view import unknown_text, usage_blocks
from blocks.views.tiers_view import (
    EDITOR_CHARS,
    answer_blocks,
    due_blocks,
    refused_modal,
    saved_modal,
    saving_modal,
    tasks_blocks,
    tier_modal,
)
from bot.casework.approvers import Approvers
from bot.domain.commands.command_specs import command_names
from bot.domain.playbooks.playbook_edits import ListChanged
from bot.domain.text.did_you_mean import near_ones
from bot.domain.text.sanitize import check_whole
from bot.domain.tiers import Tier
from bot.errors import InputError, ProviderError, TriageError
from bot.heartbeat.playbooks.task_commands import TaskAnswer, TaskCommands, TextChanged
from bot.heartbeat.playbooks.task_list import parse_number, parse_tier
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_registry import Session, SessionRegistry
from handlers.answers import Ephemeral, answer
from handlers.clicks import clicking_person
from handlers.commands.typed_command import TypedCommand, reject_extra_words
from handlers.dialogues import errors_in, give_back
from handlers.transport.answered import wait_until_answered
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

Body = dict[str, Any]
NAME: Final = "tiers"
MAX_NAMED: Final = 10
NOT_YOURS: Final = "Only approvers and the session's owner may see and change its tasks."

OpenView = Callable[[str, View], None]
UpdateView = Callable[[str, View], None]


def view_opener(client: WebClient) -> OpenView:
    """Return what opens a dialogue for a trigger; it raises ProviderError where Slack refuses."""

    def open_view(trigger_id: str, view: View) -> None:
        with translate_slack_errors("open the dialogue"):
            client.views_open(trigger_id=trigger_id, view=view)

    return open_view


def view_updater(client: WebClient) -> UpdateView:
    """Return what changes an open dialogue by its id; it raises ProviderError where Slack refuses."""

    def update_view(view_id: str, view: View) -> None:
        with translate_slack_errors("update the dialogue"):
            client.views_update(view_id=view_id, view=view)

    return update_view


class Edit(NamedTuple):
    """What was submitted: the text of a tier, and the mark of the text it replaces."""

    tier: Tier
    text: str
    base: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TiersCommand:
    """Answers `/triage tiers …` (a Command of handlers/commands) and listens to its buttons and its dialogue."""

    sessions: SessionRegistry
    owners: Owners
    desk: TaskCommands
    approvers: Approvers
    open_view: OpenView
    update_view: UpdateView
    tell: Ephemeral
    ops_channel: str

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
            return due_blocks(self.desk.list_tasks(session.id))
        if verb and verb not in command_names(NAME):
            near = [f"{NAME} {session.id} {one}" for one in near_ones(verb, command_names(NAME))]
            return usage_blocks(NAME, unknown_text(verb, near, after=f"{NAME} {session.id}"))
        refusal = f"{NOT_YOURS} What is due: /triage tiers {session.id} due"
        self.approvers.require(*typed.who, refusal, owner=self.owners.claim(session, typed.user_id))
        return self._answer(session, verb, typed)

    def open_edit(self, ack: Ack, body: Body, action: Body) -> None:
        """Open the editor of a tier from the list."""
        ack()
        try:
            session_id, tier, _ = ids.decode_tier(action.get("value"))
            self._open(self.sessions.get(session_id), tier, body)
        except TriageError as error:
            log.info("a dialogue did not open: %s", error, extra={"action": "dialogue_refused"})
            self._tell(body, str(error))

    def submit(self, ack: Ack, body: Body, view: Body, context: BoltContext) -> None:
        """Save the edited tier: acknowledged with the text still in sight, then Slack is asked who may.

        What is wrong with the text is said in the dialogue, to whoever seemed allowed to see the tier.
        """
        block, text = _typed(view)
        try:
            session_id, tier, base = ids.decode_tier(view.get("private_metadata"))
            session = self.sessions.get(session_id)
            check_whole(text)
            if self.approvers.probably(
                *clicking_person(body), owner=self.owners.claim_unasked(session, clicking_person(body)[0])
            ):
                self.desk.check_edit(session.id, tier, text, base)
        except TextChanged as changed:
            self._show_both(ack, changed, block, text)
        except TriageError as error:
            ack(**errors_in(block, error))
        else:
            ack(response_action="update", view=saving_modal(session.id, tier, text).to_dict())
            wait_until_answered(context)
            self._save(body, view, session, Edit(tier, text, base))

    def _save(self, body: Body, view: Body, session: Session, edit: Edit) -> None:
        """Change the playbook if whoever submitted may; the text goes back to them if not."""
        try:
            self.approvers.require(
                *clicking_person(body), NOT_YOURS, owner=self.owners.claim(session, clicking_person(body)[0])
            )
            changes = self.desk.edit(session.id, edit.tier, edit.text, edit.base, clicking_person(body)[0])
        except TriageError as error:
            log.info("an edited tier was refused: %s", error, extra={"action": "click_refused"})
            self._turn(view, refused_modal(session.id, edit.tier, str(error), edit.text))
            give_back(self.tell, self.ops_channel, clicking_person(body)[0], str(error), edit.text)
        else:
            log.info("a tier was edited", extra={"action": "tier_edited", "session": session.id, "tier": edit.tier})
            self._turn(view, saved_modal(session.id, edit.tier, changes))

    def _turn(self, view: Body, shown: View) -> None:
        """Show what became of it in the dialogue, unless it was closed meanwhile."""
        try:
            self.update_view(str(view.get("id") or ""), shown)
        except ProviderError:
            log.info("a dialogue was not updated", extra={"action": "dialogue_unfilled"}, exc_info=True)

    def _which_session(self) -> str:
        known = [session.id for session in self.sessions.all()]
        if not known:
            return "No sessions are configured; add one under `sessions:` in triage.yml."
        more = f" and {len(known) - MAX_NAMED} more: `/triage heartbeat list`" if len(known) > MAX_NAMED else ""
        return f"Which session? {', '.join(f'`/triage tiers {one}`' for one in known[:MAX_NAMED])}{more}"

    def _answer(self, session: Session, verb: str, typed: TypedCommand) -> list[Block]:
        if not verb:
            return tasks_blocks(self.desk.listed(session.id, typed.user_id), may_edit=True)
        reject_extra_words(f"{NAME} {verb}", typed.line.words[3:])
        if verb == "edit":
            tier = parse_tier(typed.line.word(3), session.id)
            self._show_editor(session, tier, typed.trigger_id)
            return message_blocks(f"The {tier} tasks of {session.id} are open in a dialogue.")
        try:
            return answer_blocks(self._done(verb, session, typed))
        except ListChanged as changed:
            now = self.desk.listed(session.id, typed.user_id)
            return [*message_blocks(str(changed)), *tasks_blocks(now, may_edit=True)]

    def _done(self, verb: str, session: Session, typed: TypedCommand) -> TaskAnswer:
        by, first = typed.user_id, typed.line.word(3)
        if verb == "add":
            tier = parse_tier(first, session.id)
            return self.desk.add(session.id, tier, typed.line.words_after(4), by)
        number = parse_number(first, session.id)
        if verb == "remove":
            return self.desk.remove(session.id, number, by)
        return self.desk.move(session.id, number, parse_tier(typed.line.word(4), session.id), by)

    def _open(self, session: Session, tier: Tier, body: Body) -> None:
        user = clicking_person(body)[0]
        if not self.approvers.probably(*clicking_person(body), owner=self.owners.claim_unasked(session, user)):
            self.approvers.require(*clicking_person(body), NOT_YOURS, owner=self.owners.claim(session, user))
        self._show_editor(session, tier, str(body.get("trigger_id")))

    def _show_editor(self, session: Session, tier: Tier, trigger_id: str) -> None:
        editing = self.desk.editing(session.id, tier)
        if len(editing.text) > EDITOR_CHARS:
            raise InputError(
                f"The {tier} tasks of {session.id} have {len(editing.text):,} characters and Slack's editor holds "
                f"{EDITOR_CHARS:,}; use add, remove and move, or edit HEARTBEAT.md itself."
            )
        self.open_view(trigger_id, tier_modal(editing))

    def _show_both(self, ack: Ack, changed: TextChanged, block: str, text: str) -> None:
        """Show how the tier reads now above what was typed; where it is too long for the editor, only say so."""
        if len(changed.now.text) > EDITOR_CHARS:
            ack(**errors_in(block, InputError(f"{changed} Copy your text, and open the list again.")))
            return
        ack(response_action="update", view=tier_modal(changed.now, typed=text).to_dict())

    def _tell(self, body: Body, text: str) -> None:
        channel = str((body.get("channel") or {}).get("id") or (body.get("container") or {}).get("channel_id") or "")
        answer(self.tell, channel, clicking_person(body)[0], text)


def _typed(view: Body) -> tuple[str, str]:
    """Return the editor's block and what stands in it; an emptied editor is an empty tier."""
    values = (view.get("state") or {}).get("values") or {}
    block = next((name for name in values if str(name).startswith(ids.TIER_TEXT)), ids.TIER_TEXT)
    value = ((values.get(block) or {}).get(ids.INPUT) or {}).get("value")
    return block, value if isinstance(value, str) else ""
