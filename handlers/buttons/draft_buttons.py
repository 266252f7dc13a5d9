"""Clicks on a draft, on its card or on App Home, and submits of its dialogues.

The result is shown where the person clicked: on the card, in private beside it what the card does not show, or on top
of their App Home.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress

from slack_bolt import Ack
from slack_sdk import WebClient
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.draft_actions import context_modal, dismiss_modal, edit_modal, prefill, same_as_modal
from blocks.cards.evidence_modal import MAX_CITATIONS, evidence_modal, loading_modal
from bot.casework.approvers import Approvers
from bot.casework.checks.shown_evidence import EvidenceReader
from bot.casework.decisions import Decisions, DraftClick, OnCard, check_context
from bot.domain.citations.links import LinkTo
from bot.domain.text.sanitize import check_whole
from bot.domain.threads import check_thread_id
from bot.errors import InputError, ProviderError, StoreError, TriageError, Unconfirmed
from bot.ports.threads import Threads
from handlers.answers import Ephemeral
from handlers.buttons.decision_handler import DecisionHandler, Listener, for_a_person, say_beside
from handlers.clicks import Body, Click, field_of
from handlers.home import HomeTab

log = logging.getLogger(__name__)

GONE = "This thread is no longer stored."

NOT_YOURS = "Only approvers may do this. Ask somebody in the ops channel, or ask to be added to `approvers`."


class ClickReplies:
    """Speaks to one person at a time; since a click may have changed what waits, all open pages follow at once."""

    def __init__(
        self, tell: Ephemeral, home: HomeTab, store: Threads, approvers: Approvers, *, ops_channel: str
    ) -> None:
        self._beside, self._home = say_beside(tell, ops_channel), home
        self._store, self._approvers = store, approvers

    def say(self, click: Click, text: str, *, typed: str | None = None) -> None:
        """Answer a click or a submit; a chat that does not take the answer is logged.

        On App Home the answer names the question, for who may read it; beside the card nobody has to be told what the
        card shows. What was `typed` in vain is given back in the ops channel, or in private to who is not there.
        """
        if click.is_from_home:
            self._home.say(*click.who, text, self._question_of(click))
        if typed or not (click.is_from_home or isinstance(text, OnCard)):
            self._beside(click, text, typed=typed)
        if not click.is_from_home:
            self._home.refresh()

    def _question_of(self, click: Click) -> str:
        """Return the question that a click is about; nothing to who may not read it."""
        thread_id = ids.clicked_thread(click.value)
        if thread_id is None or not self._approvers.probably(*click.who):
            return ""
        state = self._store.latest(thread_id)
        return state.question if state else ""


def draft_evidence(store: Threads, reader: EvidenceReader, link_to: LinkTo, thread_id: str) -> View:
    """Return the dialogue with the citations of a thread, open or closed; raises InputError where it is gone."""
    state = store.latest(thread_id)
    if state is None:
        raise InputError(GONE)
    found, ret = reader.citations(state, at_most=MAX_CITATIONS), state.investigator_return
    return evidence_modal(thread_id, found, link_to, left_out=(len(ret.evidence_refs) if ret else 0) - len(found))


class DraftButtons:
    """The listeners of a draft's buttons; `evidence` makes the dialogue with its citations, `more` are menu entries."""

    def __init__(
        self,
        decisions: Decisions,
        approvers: Approvers,
        store: Threads,
        *,
        evidence: Callable[[str], View],
        answers: ClickReplies,
        more: Mapping[str, Listener],
    ) -> None:
        self._decisions, self._store = decisions, store
        self._on = on = DecisionHandler(
            approvers,
            answers.say,
            read=ids.decode_dialogue,
            refusal=NOT_YOURS,
            explain=_for_a_person,
            on_permitted=self._acknowledge,
        )
        add_context = on.opens(lambda click, draft: context_modal(draft, from_home=click.is_from_home))
        shared: Mapping[str, Listener] = {
            ids.REINVESTIGATE: on.decides(lambda click, draft: decisions.reinvestigate(draft, by=click.user)),
            ids.ADD_CONTEXT: add_context,
        }
        self._menu: Mapping[str, Listener] = {
            **shared,
            ids.ESCALATE: on.decides(lambda click, draft: decisions.escalate(draft, by=click.user)),
            ids.SHOW_EVIDENCE: on.opens(lambda *_: loading_modal(), fill=lambda _, draft: evidence(draft.thread_id)),
            **more,
        }
        self.actions: Mapping[str, Listener] = {**shared, **self._buttons(on), ids.MORE: self._more}
        self.views: Mapping[str, Listener] = self._dialogues(on)

    def _buttons(self, on: DecisionHandler[DraftClick]) -> dict[str, Listener]:
        decisions = self._decisions
        approve = on.decides(lambda click, draft: decisions.approve(draft, by=click.user))
        return {
            ids.APPROVE: approve,
            ids.ANSWER_TOO: approve,
            ids.NOT_SAME: on.decides(lambda _, draft: decisions.take_out(draft)),
            ids.SAME_AS: on.opens(self._others),
            ids.EDIT: on.opens(self._editor),
            ids.USE_MINE: on.decides(lambda click, draft: decisions.use_mine(draft, by=click.user)),
            ids.USE_NEW: on.decides(lambda click, draft: decisions.use_new(draft, by=click.user)),
            ids.USE_THIS: on.decides(lambda click, draft: decisions.use_candidate(draft, by=click.user)),
            ids.DISMISS: on.opens(lambda click, draft: dismiss_modal(draft, from_home=click.is_from_home)),
            ids.STOP: on.decides(lambda click, draft: decisions.stop(draft, by=click.user)),
        }

    def _dialogues(self, on: DecisionHandler[DraftClick]) -> dict[str, Listener]:
        decisions = self._decisions
        return {
            ids.EDIT_VIEW: on.submits(self._edit, block=ids.REPLY, check=self._words),
            ids.DISMISS_VIEW: on.submits(
                lambda click, draft, reason: decisions.dismiss(draft, by=click.user, reason=reason),
                block=ids.REASON,
                check=lambda _, reason: reason and check_whole(reason),
            ),
            ids.CONTEXT_VIEW: on.submits(
                lambda click, draft, text: decisions.add_context(draft, text or "", by=click.user),
                block=ids.CONTEXT,
                check=lambda _, text: check_context(text or ""),
            ),
            ids.SAME_AS_VIEW: on.submits(
                lambda click, draft, other: decisions.join(draft, other or "", by=click.user),
                block=ids.OTHER,
                check=lambda _, other: check_thread_id(other or ""),
            ),
        }

    def _more(self, ack: Ack, body: Body, action: Body, client: WebClient) -> None:
        """Carry out a choice of the overflow menu, as if it were a button."""
        click = Click.of(body, action)
        choice, value = ids.split_option(click.value)
        listener = self._menu.get(choice)
        if listener is None:
            ack()
            self._on.say(click, "This entry is from another version of triage; nothing was changed.")
        else:
            listener(ack=ack, body=body, action={"value": value}, client=client)

    def _edit(self, click: Click, draft: DraftClick, words: str | None) -> str:
        """Keep the edited words, then post them unless asked not to.

        Once they are kept they are not given back; where posting fails the card shows them.
        """
        only_save = bool((field_of(click.view, ids.ONLY_SAVE) or {}).get("selected_options"))
        edited = self._decisions.edit(draft, words or "", by=click.user)
        try:
            return self._decisions.refresh_card(edited) if only_save else self._decisions.approve(edited, by=click.user)
        except TriageError as error:
            log.info("an edited draft was not posted: %s", error, extra={"action": "click_refused"})
            with suppress(ProviderError):
                self._decisions.refresh_card(edited)
            return _for_a_person(error)

    def _acknowledge(self, click: Click, draft: DraftClick) -> None:
        """Note who deals with a page; a disk that refuses that does not hold up what they clicked."""
        try:
            self._decisions.acknowledge(draft.thread_id, by=click.user)
        except StoreError:
            log.warning("not noted who has a page", extra={"action": "page_unacknowledged"}, exc_info=True)

    def _editor(self, click: Click, draft: DraftClick) -> View:
        """Return the editor on the draft as it is now."""
        state = self._store.get(draft.thread_id)
        if state is None or not state.is_open:
            raise InputError("This thread is closed; there is nothing left to edit.")
        return edit_modal(draft, state.draft_pending or "", from_home=click.is_from_home)

    def _others(self, click: Click, draft: DraftClick) -> View:
        """Return the choice of the question that asks the same."""
        others = self._decisions.joinable(draft)
        if not others:
            raise InputError("No other question is open that could ask the same.")
        return same_as_modal(draft, others, from_home=click.is_from_home)

    def _words(self, click: DraftClick, typed: str | None) -> str:
        """Return what was typed, or the draft where it came back as shown; refuses what must not be posted."""
        state = self._store.get(click.thread_id)
        draft = (state.draft_pending if state else None) or ""
        words = draft if typed is None or typed == prefill(draft) else typed
        self._decisions.check_reply(words)
        return words


def _for_a_person(error: TriageError) -> str:
    if isinstance(error, Unconfirmed):
        return (
            "Slack did not confirm the post. Do not click again: within a minute triage checks the thread, then posts "
            "what is missing or reopens the card and says why."
        )
    return for_a_person(error)
