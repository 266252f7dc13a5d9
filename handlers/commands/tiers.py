"""`/triage tiers …`: a session's tasks, listed and changed; the dialogue that edits a tier as text.

Listing is for everybody; changing needs an approver or the session's owner. A dialogue opens on what is remembered of
who may, and its submit asks for good. Whatever a click carries is read as hostile.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from slack_bolt import Ack
from slack_sdk import WebClient
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from blocks import ids
from blocks.heartbeat_list import said_blocks
from blocks.tiers import (
    EDITOR_CHARS,
    answer_blocks,
    due_blocks,
    saved_modal,
    tasks_blocks,
    tier_modal,
    tiers_usage_blocks,
)
from bot.casework.approvers import Approvers
from bot.domain.playbook_numbers import ListChanged
from bot.domain.tiers import Tier
from bot.errors import InputError, ProviderError, TriageError
from bot.heartbeat.registry import Sessions
from bot.heartbeat.session import Session
from bot.heartbeat.task_desk import Answer, TaskDesk, TextChanged
from bot.heartbeat.task_words import parse_number, parse_tier
from bot.intake.prose import unescape
from handlers.messenger import Ephemeral
from handlers.transport import translated

log = logging.getLogger(__name__)

Body = dict[str, Any]
VERBS: Final = ("add", "remove", "move", "edit", "due")
NOT_YOURS: Final = "Only approvers and the session's owner may change its tasks."

OpenView = Callable[[str, View], None]


def view_opener(client: WebClient) -> OpenView:
    """Return what opens a dialogue for a trigger; it raises ProviderError where Slack refuses."""

    def open_view(trigger_id: str, view: View) -> None:
        with translated("open the dialogue"):
            client.views_open(trigger_id=trigger_id, view=view)

    return open_view


@dataclass(frozen=True, kw_only=True, slots=True)
class Tiers:
    """Answers `/triage tiers …` (a Command of handlers/commands) and listens to its buttons and its dialogue."""

    sessions: Sessions
    desk: TaskDesk
    approvers: Approvers
    team_id: str
    open_view: OpenView
    tell: Ephemeral

    def __call__(self, body: Body) -> list[Block]:
        """Return the answer, whatever was typed."""
        words = str(body.get("text") or "").split()[1:]
        try:
            return self._answer(words, body)
        except TriageError as error:
            return said_blocks(str(error))

    def open_edit(self, ack: Ack, body: Body, action: Body) -> None:
        """Open the editor of a tier from the list."""
        ack()
        try:
            session_id, tier, _ = ids.decode_tier(action.get("value"))
            self._open(self.sessions.get(session_id), tier, body)
        except TriageError as error:
            log.info("a dialogue did not open: %s", error, extra={"action": "dialogue_refused"})
            self._tell(body, str(error))

    def submit(self, ack: Ack, body: Body, view: Body) -> None:
        """Save the edited tier; what is wrong is said in the dialogue, where what was typed still stands."""
        block, text = _typed(view)
        try:
            session_id, tier, base = ids.decode_tier(view.get("private_metadata"))
            session = self.sessions.get(session_id)
            if not self._may_for_good(session, body):
                raise InputError(NOT_YOURS)
            changes = self.desk.edit(session.id, tier, text, base)
        except TextChanged as changed:
            self._show_both(ack, changed, block, text)
        except TriageError as error:
            ack(response_action="errors", errors={block: str(error)[:1_900]})
        else:
            log.info("a tier was edited", extra={"action": "tier_edited", "session": session.id, "tier": tier})
            ack(response_action="update", view=saved_modal(session.id, tier, changes).to_dict())

    def _answer(self, words: list[str], body: Body) -> list[Block]:
        if not words or words[0].lower() == "help":
            return tiers_usage_blocks(None if words else "Name a session.")
        session = self.sessions.get(words[0].lower())
        if len(words) == 1:
            may = self._may(session, body)
            return tasks_blocks(self.desk.listed(session.id, _who(body)), may_edit=may)
        verb, *rest = words[1].lower(), *words[2:]
        if verb == "due":
            return due_blocks(self.desk.look(session.id))
        if verb not in VERBS:
            near = difflib.get_close_matches(verb, VERBS, n=2)
            meant = f" Did you mean {' or '.join(near)}?" if near else ""
            return tiers_usage_blocks(f"There is no /triage tiers {session.id} {verb[:40]}.{meant}")
        if not self._may(session, body):
            raise InputError(f"{NOT_YOURS} To see them: /triage tiers {session.id}")
        if verb == "edit":
            tier = parse_tier(rest[0] if rest else "", session.id)
            self._open(session, tier, body)
            return said_blocks(f"The {tier} tasks of {session.id} are open in a dialogue.")
        try:
            return answer_blocks(self._done(verb, session, rest, body))
        except ListChanged as changed:
            now = self.desk.listed(session.id, _who(body))
            return [*said_blocks(str(changed)), *tasks_blocks(now, may_edit=True)]

    def _done(self, verb: str, session: Session, rest: list[str], body: Body) -> Answer:
        by, first = _who(body), rest[0] if rest else ""
        if verb == "add":
            tier = parse_tier(first, session.id)
            return self.desk.add(session.id, tier, _after(body, session, verb, first), by)
        number = parse_number(first, session.id)
        if verb == "remove":
            return self.desk.remove(session.id, number, by)
        return self.desk.move(session.id, number, parse_tier(rest[1] if len(rest) > 1 else "", session.id), by)

    def _open(self, session: Session, tier: Tier, body: Body) -> None:
        if not self._may(session, body):
            raise InputError(NOT_YOURS)
        editing = self.desk.editing(session.id, tier)
        if len(editing.text) > EDITOR_CHARS:
            raise InputError(
                f"The {tier} tasks of {session.id} have {len(editing.text):,} characters and Slack's editor holds "
                f"{EDITOR_CHARS:,}; use add, remove and move, or edit HEARTBEAT.md itself."
            )
        self.open_view(str(body.get("trigger_id")), tier_modal(editing))

    def _show_both(self, ack: Ack, changed: TextChanged, block: str, text: str) -> None:
        """Show how the tier reads now above what was typed; where it is too long for the editor, only say so."""
        if len(changed.now.text) > EDITOR_CHARS:
            ack(response_action="errors", errors={block: f"{changed} Copy your text, and open the list again."})
            return
        ack(response_action="update", view=tier_modal(changed.now, typed=text).to_dict())

    def _may(self, session: Session, body: Body) -> bool:
        user, team = _who(body), _team(body)
        return self._is_owner(session, user, team) or self.approvers.probably(user, team)

    def _may_for_good(self, session: Session, body: Body) -> bool:
        user, team = _who(body), _team(body)
        return self._is_owner(session, user, team) or self.approvers.allow(user, team)

    def _is_owner(self, session: Session, user: str, team: str) -> bool:
        return bool(session.owner) and (user, team) == (session.owner, self.team_id)

    def _tell(self, body: Body, text: str) -> None:
        channel = str((body.get("channel") or {}).get("id") or (body.get("container") or {}).get("channel_id") or "")
        try:
            self.tell(channel, _who(body), text)
        except ProviderError:
            log.exception("could not answer a click", extra={"action": "answer_failed"})


def _after(body: Body, session: Session, verb: str, tier: str) -> str:
    """Return what was typed after the tier, in its own spacing."""
    rest = str(body.get("text") or "").strip()
    for word in ("tiers", session.id, verb, tier):
        rest = rest[len(word) :].lstrip() if rest.lower().startswith(word.lower()) else rest
    return unescape(rest)


def _typed(view: Body) -> tuple[str, str]:
    """Return the editor's block and what stands in it; an emptied editor is an empty tier."""
    values = (view.get("state") or {}).get("values") or {}
    block = next((name for name in values if str(name).startswith(ids.TIER_TEXT)), ids.TIER_TEXT)
    value = ((values.get(block) or {}).get(ids.INPUT) or {}).get("value")
    return block, value if isinstance(value, str) else ""


def _who(body: Body) -> str:
    user = body.get("user")
    return str((user.get("id") if isinstance(user, dict) else None) or body.get("user_id") or "")


def _team(body: Body) -> str:
    """Return the team of whoever typed or clicked."""
    user, team = body.get("user"), body.get("team")
    of_user = user.get("team_id") if isinstance(user, dict) else None
    return str(of_user or (team.get("id") if isinstance(team, dict) else None) or body.get("team_id") or "")
