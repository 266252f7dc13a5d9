"""The dialogue that edits a tier of a playbook as text: the buttons of the list open it, its submit saves it.

A playbook is for approvers and the session's owner. The dialogue stays open while it is saved: it shows the text while
Slack is asked who may, and then what became of it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from slack_bolt import Ack, BoltContext
from slack_sdk import WebClient
from slack_sdk.models.views import View

from blocks import ids
from blocks.text.splitting import INPUT_CHARS
from blocks.views.tiers_view import refused_modal, saved_modal, saving_modal, tier_modal
from bot.casework.approvers import Approvers
from bot.domain.text.sanitize import check_whole
from bot.domain.tiers import Tier
from bot.errors import InputError, ProviderError, TriageError
from bot.heartbeat.playbooks.task_commands import TaskCommands, TextChanged
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_registry import Session, SessionRegistry
from handlers.buttons.decision_handler import DecisionHandler, Listener, Say, errors_in
from handlers.clicks import Body, Click, field_of
from handlers.transport.answered import wait_until_answered
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

NOT_YOURS: Final = "Only approvers and the session's owner may see and change its tasks."


@dataclass(frozen=True, kw_only=True, slots=True)
class TierClick:
    """A tier of a session, and the mark of the text that the editor was opened on."""

    session: Session
    tier: Tier
    base: str


def editor(desk: TaskCommands, session_id: str, tier: Tier) -> View:
    """Return the dialogue that edits a tier; raises InputError where it is too long for Slack's editor."""
    editing = desk.editing(session_id, tier)
    if len(editing.text) > INPUT_CHARS:
        raise InputError(
            f"The {tier} tasks of {session_id} have {len(editing.text):,} characters and Slack's editor holds "
            f"{INPUT_CHARS:,}; use add, remove and move, or edit HEARTBEAT.md itself."
        )
    return tier_modal(editing)


class TierButtons:
    """The listeners of the list's buttons and of the dialogue."""

    def __init__(
        self, sessions: SessionRegistry, owners: Owners, desk: TaskCommands, approvers: Approvers, *, say: Say
    ) -> None:
        self._sessions, self._owners, self._desk = sessions, owners, desk
        self._on = DecisionHandler(approvers, say, read=self._read, refusal=NOT_YOURS, owner=self._owner)
        opens = self._on.opens(lambda _, one: editor(desk, one.session.id, one.tier))
        self.actions: Mapping[str, Listener] = {f"{ids.EDIT_TIER}:{tier}": opens for tier in Tier}
        self.views: Mapping[str, Listener] = {ids.TIER_VIEW: self._submit}

    def _read(self, value: object) -> TierClick:
        session_id, tier, base = ids.decode_tier(value)
        return TierClick(session=self._sessions.get(session_id), tier=tier, base=base)

    def _owner(self, click: Click, one: TierClick, asks: bool) -> str:
        owners = self._owners
        return owners.claim(one.session, click.user) if asks else owners.claim_unasked(one.session, click.user)

    def _submit(self, ack: Ack, body: Body, view: Body, context: BoltContext, client: WebClient) -> None:
        """Save the edited tier: acknowledged with the text still in sight, then Slack is asked who may.

        What is wrong with the text is said in the dialogue, to whoever seemed allowed to see the tier.
        """
        click = Click.submitted(body, view)
        block, text = _typed(view)
        try:
            one = self._read(click.value)
            check_whole(text)
            if self._on.probably(click, one):
                self._desk.check_edit(one.session.id, one.tier, text, one.base)
        except TextChanged as changed:
            _show_both(ack, changed, block, text)
        except TriageError as error:
            ack(**errors_in(block, error))
        else:
            ack(response_action="update", view=saving_modal(one.session.id, one.tier, text).to_dict())
            wait_until_answered(context)
            _turn(client, view, self._saved(click, one, text))

    def _saved(self, click: Click, one: TierClick, text: str) -> View:
        """Change the playbook if whoever submitted may; the text goes back to them if not. Returns what to show."""
        try:
            self._on.require(click, one)
            changes = self._desk.edit(one.session.id, one.tier, text, one.base, click.user)
        except TriageError as error:
            self._on.refuse(click, error, typed=text)
            return refused_modal(one.session.id, one.tier, str(error), text)
        log.info("a tier was edited", extra={"action": "tier_edited", "session": one.session.id, "tier": one.tier})
        return saved_modal(one.session.id, one.tier, changes)


def _show_both(ack: Ack, changed: TextChanged, block: str, text: str) -> None:
    """Show how the tier reads now above what was typed; where it is too long for the editor, only say so."""
    if len(changed.now.text) > INPUT_CHARS:
        ack(**errors_in(block, InputError(f"{changed} Copy your text, and open the list again.")))
        return
    ack(response_action="update", view=tier_modal(changed.now, typed=text).to_dict())


def _turn(client: WebClient, view: Body, shown: View) -> None:
    """Show what became of it in the dialogue, unless it was closed meanwhile."""
    try:
        with translate_slack_errors("update the dialogue"):
            client.views_update(view_id=str(view.get("id") or ""), view=shown)
    except ProviderError:
        log.info("a dialogue was not updated", extra={"action": "dialogue_unfilled"}, exc_info=True)


def _typed(view: Body) -> tuple[str, str]:
    """Return the editor's block and what stands in it; an emptied editor is an empty tier."""
    values = (view.get("state") or {}).get("values") or {}
    block = next((name for name in values if str(name).startswith(ids.TIER_TEXT)), ids.TIER_TEXT)
    value = (field_of(view, block) or {}).get("value")
    return block, value if isinstance(value, str) else ""
