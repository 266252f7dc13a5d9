"""The buttons and dialogues that change a HEARTBEAT.md: of proposals, of suggestions, and of the list of tasks.

Only approvers and the session's owner decide. The dialogue that edits a tier stays open while it is saved: it shows the
text while Slack is asked who may, and then what became of it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from slack_bolt import Ack, BoltContext
from slack_sdk import WebClient
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.playbook_cards import read_modal, reject_modal
from blocks.text.splitting import INPUT_CHARS
from blocks.views.tiers_view import refused_modal, saved_modal, saving_modal, tier_modal
from bot.casework.approvers import Approvers
from bot.domain.sharing.suggestions import DecidedBy, Suggestion
from bot.domain.text.sanitize import check_whole
from bot.domain.tiers import Tier
from bot.errors import InputError, ProviderError, TriageError
from bot.heartbeat.playbooks.proposal_service import ProposalService
from bot.heartbeat.playbooks.task_commands import TaskCommands, TextChanged
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_registry import Session, SessionRegistry
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions
from bot.ports.collections import Collection
from handlers.buttons.decision_handler import DecisionHandler, Listener, Say, errors_in, update_dialogue
from handlers.cards.ops_cards import SuggestionCards
from handlers.clicks import Body, Click, field_of
from handlers.transport.bolt_requests import wait_until_answered

log = logging.getLogger(__name__)

NO_PROPOSAL_OF_YOURS: Final = "Only approvers and the session's owner may decide this."

Given = tuple[str, str]
"""A proposal's id, and the session it is for ("" while none is chosen)."""

NO_SUGGESTION_OF_YOURS = "Only approvers and the owner of the session it is for may decide on a suggestion."

NO_TASKS_OF_YOURS: Final = "Only approvers and the session's owner may see and change its tasks."


class ProposalButtons:
    """The listeners of the card."""

    def __init__(
        self, proposals: ProposalService, sessions: SessionRegistry, owners: Owners, approvers: Approvers, *, say: Say
    ) -> None:
        self._proposals, self._sessions, self._owners = proposals, sessions, owners
        on = DecisionHandler(approvers, say, read=ids.decode_proposal, refusal=NO_PROPOSAL_OF_YOURS, owner=self._owner)
        self.views: Mapping[str, Listener] = {}
        self.actions: Mapping[str, Listener] = {
            ids.ACCEPT_PROPOSAL: on.decides(lambda click, given: proposals.accept(*given, click.user)),
            ids.REJECT_PROPOSAL: on.decides(
                lambda click, given: proposals.reject(given[0], click.user), read=self._on_file
            ),
            ids.CHOOSE_SESSION: on.decides(lambda _, given: proposals.choose(*given)),
        }

    def _on_file(self, value: object) -> Given:
        """Return a proposal with the session it is for by now, whatever its card shows."""
        given, _ = ids.decode_proposal(value)
        return given, self._proposals.session_of(given) or ""

    def _owner(self, click: Click, given: Given, asks: bool) -> str:
        if not given[1]:
            return ""
        session = self._sessions.get(given[1])
        return self._owners.claim(session, click.user, asks=asks)


@dataclass(frozen=True, kw_only=True, slots=True)
class SuggestionActions:
    """What the buttons and the command act on, and who may."""

    sessions: SessionRegistry
    owners: Owners
    store: Collection[Suggestion]
    decisions: SuggestionDecisions
    cards: SuggestionCards
    approvers: Approvers

    def require(self, user: str, team: str, suggestion: Suggestion) -> None:
        """Return if a user may decide, asked of the chat now; raises InputError."""
        self.approvers.require(user, team, NO_SUGGESTION_OF_YOURS, owner=self.claim(user, suggestion, asks=True))

    def claim(self, user: str, suggestion: Suggestion, *, asks: bool) -> str:
        """Return a user if the session it is for is theirs, else ""."""
        try:
            session = self.sessions.get(suggestion.to)
        except InputError:
            return ""
        return self.owners.claim(session, user, asks=asks)

    def show(self, suggestion: Suggestion) -> None:
        """Bring the card after a decision; where the chat refuses, the next tick does."""
        with suppress(ProviderError):
            self.cards.show(suggestion)


class SuggestionButtons:
    """The listeners of the card."""

    def __init__(self, suggestions: SuggestionActions, *, say: Say) -> None:
        self._suggestions = suggestions
        on = DecisionHandler(
            suggestions.approvers, say, read=self._read, refusal=NO_SUGGESTION_OF_YOURS, owner=self._owner
        )
        self.actions: Mapping[str, Listener] = {
            ids.ACCEPT_SUGGESTION: on.decides(
                lambda click, one: self._show(suggestions.decisions.accept(one.id, _by(click)))
            ),
            ids.READ_SUGGESTION: on.opens(lambda _, one: read_modal(_waiting(one))),
            ids.REJECT_SUGGESTION: on.opens(lambda _, one: reject_modal(_waiting(one))),
        }
        self.views: Mapping[str, Listener] = {
            ids.READ_VIEW: on.submits(
                lambda click, one, _: self._show(suggestions.decisions.accept(one.id, _by(click), has_read=True))
            ),
            ids.REJECT_VIEW: on.submits(
                lambda click, one, said: self._show(suggestions.decisions.reject(one.id, _by(click), said)),
                block=ids.REASON,
                check=lambda _, said: said and check_whole(said),
            ),
        }

    def _read(self, value: object) -> Suggestion:
        return self._suggestions.store.get(ids.decode_suggestion(value))

    def _owner(self, click: Click, suggestion: Suggestion, asks: bool) -> str:
        return self._suggestions.claim(click.user, suggestion, asks=asks)

    def _show(self, suggestion: Suggestion) -> None:
        self._suggestions.show(suggestion)


def _waiting(suggestion: Suggestion) -> Suggestion:
    """Return a suggestion that nobody has decided on; raises InputError for another."""
    if not suggestion.is_waiting:
        raise InputError(f"{suggestion.decided_by_name} {suggestion.status} {suggestion.id} already.")
    return suggestion


def _by(click: Click) -> DecidedBy:
    return DecidedBy(click.user, click.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class TierClick:
    """A tier of a session, and the mark of the text that the editor was opened on."""

    session: Session
    tier: Tier
    base: str


def editor(tasks: TaskCommands, session_id: str, tier: Tier) -> View:
    """Return the dialogue that edits a tier; raises InputError where it is too long for Slack's editor."""
    editing = tasks.editing(session_id, tier)
    if len(editing.text) > INPUT_CHARS:
        raise InputError(
            f"The {tier} tasks of {session_id} have {len(editing.text):,} characters and Slack's editor holds "
            f"{INPUT_CHARS:,}; use add, remove and move, or edit HEARTBEAT.md itself."
        )
    return tier_modal(editing)


class TierButtons:
    """The listeners of the list's buttons and of the dialogue."""

    def __init__(
        self, sessions: SessionRegistry, owners: Owners, tasks: TaskCommands, approvers: Approvers, *, say: Say
    ) -> None:
        self._sessions, self._owners, self._tasks = sessions, owners, tasks
        self._on = DecisionHandler(approvers, say, read=self._read, refusal=NO_TASKS_OF_YOURS, owner=self._owner)
        opens = self._on.opens(lambda _, one: editor(tasks, one.session.id, one.tier))
        self.actions: Mapping[str, Listener] = {f"{ids.EDIT_TIER}:{tier}": opens for tier in Tier}
        self.views: Mapping[str, Listener] = {ids.TIER_VIEW: self._submit}

    def _read(self, value: object) -> TierClick:
        session_id, tier, base = ids.decode_tier(value)
        return TierClick(session=self._sessions.get(session_id), tier=tier, base=base)

    def _owner(self, click: Click, one: TierClick, asks: bool) -> str:
        return self._owners.claim(one.session, click.user, asks=asks)

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
                self._tasks.check_edit(one.session.id, one.tier, text, one.base)
        except TextChanged as changed:
            _show_both(ack, changed, block, text)
        except TriageError as error:
            ack(**errors_in(block, error))
        else:
            ack(response_action="update", view=saving_modal(one.session.id, one.tier, text).to_dict())
            wait_until_answered(context)
            update_dialogue(client, str(view.get("id") or ""), self._saved(click, one, text))

    def _saved(self, click: Click, one: TierClick, text: str) -> View:
        """Change the playbook if whoever submitted may; the text goes back to them if not. Returns what to show."""
        try:
            self._on.require(click, one)
            changes = self._tasks.edit(one.session.id, one.tier, text, one.base, click.user)
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


def _typed(view: Body) -> tuple[str, str]:
    """Return the editor's block and what stands in it; an emptied editor is an empty tier."""
    values = (view.get("state") or {}).get("values") or {}
    block = next((name for name in values if str(name).startswith(ids.TIER_TEXT)), ids.TIER_TEXT)
    value = (field_of(view, block) or {}).get("value")
    return block, value if isinstance(value, str) else ""
