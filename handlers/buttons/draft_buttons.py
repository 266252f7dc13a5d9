"""What came of a click is said where its person is: beside the card in the ops channel, or on top of their App Home.

Show evidence: a dialogue that opens at once and empty, then says what the citations stand on.

A trigger expires after 3 s, while permission is two requests and a citation some 30 ms of git (docs/decisions/
evidence-dialogue.md). So nothing precedes the opening, and nothing of the draft is in it before permission is certain.

Clicks on a draft, on its card or on App Home, and submits of its dialogues: who may, then what they decided.

Dialogues open before any request, because a trigger expires after 3 s, and close before any; then permission is asked
for good.  Source: https://docs.slack.dev/interactivity/handling-user-interaction
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from slack_bolt import Ack
from slack_sdk import WebClient
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.draft_card import LinkTo
from blocks.modals.draft_modals import context_modal, dismiss_modal, edit_modal, prefill
from blocks.modals.evidence_modal import MAX_CITATIONS, evidence_modal, loading_modal, unavailable_modal
from bot.casework.approvers import Approvers
from bot.casework.checks.evidence_reader import EvidenceReader
from bot.casework.decisions import Decisions, DraftClick, check_context
from bot.domain.text.sanitize import check_whole
from bot.errors import InputError, ProviderError, StoreError, TriageError, Unconfirmed
from bot.ports import ThreadStore
from handlers.answers import Ephemeral
from handlers.clicks import clicking_person
from handlers.dialogues import errors_in, field_of, give_back, text_of
from handlers.home import HomeTab
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

Body = dict[str, Any]


class ClickReplies:
    """Speaks to one person at a time; since a click may have changed what waits, all open pages follow at once."""

    def __init__(self, tell: Ephemeral, home: HomeTab, *, ops_channel: str) -> None:
        self._tell, self._home, self._ops_channel = tell, home, ops_channel

    def say(self, body: Body, text: str, about: str = "", *, typed: str | None = None) -> None:
        """Answer a click or a submit; a chat that does not take the answer is logged.

        `about` is the question it is about, for who may approve; beside the card nobody has to be told. `typed` is what
        was submitted in vain: it is given back in the ops channel, or in private to who is not there.
        """
        user, team = clicking_person(body)
        at_home = ids.is_from_home(body)
        if at_home:
            self._home.say(user, team, text, about)
        if typed or not at_home:
            give_back(self._tell, self._ops_channel, user, text, typed)
        if not at_home:
            self._home.refresh()


GONE = "This thread is not on file any more."


class EvidenceDialogue:
    """Opens the dialogue and fills it."""

    def __init__(self, store: ThreadStore, reader: EvidenceReader, link_to: LinkTo) -> None:
        self._store, self._reader, self._link_to = store, reader, link_to

    def open(self, client: WebClient, trigger_id: str) -> str:
        """Open the dialogue, still empty, and return its id; raises ProviderError."""
        with translate_slack_errors("open the evidence"):
            answer: Any = client.views_open(trigger_id=trigger_id, view=loading_modal())
        return str(answer["view"]["id"])

    def fill(self, client: WebClient, view_id: str, thread_id: str) -> None:
        """Show the citations of a thread, open or closed."""
        state = self._store.get(thread_id) or self._store.last_closed(thread_id)
        if state is None:
            self.refuse(client, view_id, GONE)
            return
        found = self._reader.citations(state, at_most=MAX_CITATIONS)
        ret = state.investigator_return
        view = evidence_modal(
            thread_id,
            found,
            self._link_to,
            left_out=(len(ret.evidence_refs) if ret else 0) - len(found),
            patch=ret.proposed_patch if ret else None,
            known_secrets=self._reader.known_secrets,
        )
        self._update(client, view_id, view)

    def refuse(self, client: WebClient, view_id: str, why: str) -> None:
        """Say why there is nothing to see."""
        self._update(client, view_id, unavailable_modal(why))

    def _update(self, client: WebClient, view_id: str, view: View) -> None:
        try:
            with translate_slack_errors("show the evidence"):
                client.views_update(view_id=view_id, view=view)
        except ProviderError:  # it was closed meanwhile, as a rule
            log.info("a dialogue was not filled", extra={"action": "dialogue_unfilled"}, exc_info=True)


NOT_YOURS = "Only approvers may do this. Ask somebody in the ops channel, or have yourself added to `approvers`."


class DraftButtons:
    """The listeners of a draft's buttons; every answer goes to the one who clicked, and to nobody else."""

    def __init__(
        self,
        decisions: Decisions,
        approvers: Approvers,
        store: ThreadStore,
        *,
        evidence: EvidenceDialogue,
        answers: ClickReplies,
    ) -> None:
        self._decisions, self._approvers, self._store = decisions, approvers, store
        self._evidence, self._answers = evidence, answers

    def approve(self, ack: Ack, body: Body, action: Body) -> None:
        """Post the draft."""
        ack()
        self._decide(body, lambda by: self._decisions.approve(ids.decode_click(action.get("value")), by=by))

    def open_edit(self, ack: Ack, body: Body, action: Body, client: WebClient) -> None:
        """Open the editor on the draft as it is now."""
        ack()
        self._open(body, client, action.get("value"), self._editor)

    def open_dismiss(self, ack: Ack, body: Body, action: Body, client: WebClient) -> None:
        """Ask for a reason before dismissing."""
        ack()
        self._open(body, client, action.get("value"), dismiss_modal)

    def open_context(self, ack: Ack, body: Body, action: Body, client: WebClient) -> None:
        """Ask for what the code does not say."""
        ack()
        self._open(body, client, action.get("value"), context_modal)

    def reinvestigate(self, ack: Ack, body: Body, action: Body) -> None:
        """Start over."""
        ack()
        self._decide(body, lambda by: self._decisions.reinvestigate(ids.decode_click(action.get("value")), by=by))

    def more(self, ack: Ack, body: Body, action: Body, client: WebClient) -> None:
        """Carry out a choice of the overflow menu."""
        ack()
        try:
            choice, click = ids.decode_option((action.get("selected_option") or {}).get("value"))
        except InputError as error:
            self._answer(body, str(error))
            return
        if choice == ids.REINVESTIGATE:
            self._decide(body, lambda by: self._decisions.reinvestigate(click, by=by))
        elif choice == ids.ESCALATE:
            self._decide(body, lambda by: self._decisions.escalate(click, by=by))
        elif choice == ids.ADD_CONTEXT:
            self._open(body, client, ids.encode_click(click), context_modal)
        elif choice == ids.SHOW_EVIDENCE:
            self._show_evidence(body, client, click)
        elif choice == ids.SAVE_NOTE:
            self._decide(body, lambda by: self._decisions.save_note(click, by=by))
        else:
            self._answer(body, "This entry is from another version of triage; nothing happened.")

    def submit_edit(self, ack: Ack, body: Body, view: Body) -> None:
        """Keep the edited words, then post them unless asked not to; words that must not leave stay in the dialogue."""
        only_save = bool((field_of(view, ids.ONLY_SAVE) or {}).get("selected_options"))
        text = text_of(view, ids.REPLY)
        try:
            click = ids.decode_dialogue(view.get("private_metadata"))
            words = self._words(click, text)
            self._decisions.check_reply(words)
        except TriageError as error:
            ack(**errors_in(ids.REPLY, error))
            return
        ack()
        self._edit(body, click, words, only_save=only_save)

    def submit_dismiss(self, ack: Ack, body: Body, view: Body) -> None:
        """Dismiss the draft, with the reason if there is one."""
        reason = text_of(view, ids.REASON)
        self._submit(
            ack,
            body,
            view,
            ids.REASON,
            check_whole,
            lambda click, by: self._decisions.dismiss(click, by=by, reason=reason),
        )

    def submit_context(self, ack: Ack, body: Body, view: Body) -> None:
        """Hand the context to the investigator."""
        text = text_of(view, ids.CONTEXT) or ""
        self._submit(
            ack,
            body,
            view,
            ids.CONTEXT,
            check_context,
            lambda click, by: self._decisions.add_context(click, text, by=by),
        )

    def _submit(
        self,
        ack: Ack,
        body: Body,
        view: Body,
        block: str,
        check: Callable[[str], object],
        decide: Callable[[DraftClick, str], str],
    ) -> None:
        """Close the dialogue unless its words alone are refused; then ask who may, and decide."""
        typed = text_of(view, block)
        try:
            click = ids.decode_dialogue(view.get("private_metadata"))
            check(typed or "")
        except TriageError as error:
            ack(**errors_in(block, error))
            return
        ack()
        self._decide(body, lambda by: decide(click, by), typed=typed)

    def _edit(self, body: Body, click: DraftClick, words: str, *, only_save: bool) -> None:
        """Keep the words if whoever submitted them may, else give them back; then show or post what was kept."""
        try:
            by = self._permitted(body)
            edited = self._decisions.edit(click, words)
        except TriageError as error:
            self._refuse(body, error, typed=words)
            return
        self._carry_out(
            body, lambda: self._decisions.refresh_card(edited) if only_save else self._post_edited(edited, by)
        )

    def _post_edited(self, edited: DraftClick, by: str) -> str:
        """Post the edited draft; where that fails the card shows it, so that the words are not lost from sight."""
        try:
            return self._decisions.approve(edited, by=by)
        except TriageError:
            with suppress(ProviderError):
                self._decisions.refresh_card(edited)
            raise

    def _permitted(self, body: Body) -> str:
        """Return who clicked or submitted, if they may, asked of Slack now; they deal with it. Raises InputError."""
        self._approvers.require(*clicking_person(body), NOT_YOURS)
        self._acknowledge(body)
        return clicking_person(body)[0]

    def _acknowledge(self, body: Body) -> None:
        """Note who deals with a page; a disk that refuses that does not hold up what they clicked."""
        thread_id = ids.clicked_thread(body)
        try:
            if thread_id is not None:
                self._decisions.acknowledge(thread_id, by=clicking_person(body)[0])
        except StoreError:
            log.warning("not noted who has a page", extra={"action": "page_unacknowledged"}, exc_info=True)

    def _decide(self, body: Body, decide: Callable[[str], str], *, typed: str | None = None) -> None:
        """Ask who may, then do what they decided; `typed` goes back to them where it is refused."""
        self._carry_out(body, lambda: decide(self._permitted(body)), typed=typed)

    def _carry_out(self, body: Body, work: Callable[[], str], *, typed: str | None = None) -> None:
        try:
            said = work()
        except TriageError as error:
            self._refuse(body, error, typed=typed)
        else:
            self._answer(body, said)

    def _refuse(self, body: Body, error: TriageError, *, typed: str | None) -> None:
        log.info("a click was refused: %s", error, extra={"action": "click_refused"})
        self._answer(body, _for_a_person(error), typed=typed)

    def _open(self, body: Body, client: WebClient, value: object, build: Callable[..., View]) -> None:
        """Open a dialogue without a request before it; a dialogue that shows a draft opens for approvers only."""
        try:
            self._require_probably(body)
            view = build(ids.decode_click(value), from_home=ids.is_from_home(body))
            with translate_slack_errors("open the dialogue"):
                client.views_open(trigger_id=body["trigger_id"], view=view)
            self._acknowledge(body)
        except TriageError as error:
            log.info("a dialogue did not open: %s", error, extra={"action": "dialogue_refused"})
            self._answer(body, _for_a_person(error))

    def _require_probably(self, body: Body) -> None:
        """Refuse, without a request, whoever did not seem allowed when last asked."""
        self._approvers.require_probably(*clicking_person(body), NOT_YOURS)

    def _show_evidence(self, body: Body, client: WebClient, click: DraftClick) -> None:
        """Show the citations; there is no submit to check permission at, so it is asked in full before any is shown."""
        try:
            self._require_probably(body)
            view_id = self._evidence.open(client, body["trigger_id"])
        except TriageError as error:
            log.info("the evidence did not open: %s", error, extra={"action": "dialogue_refused"})
            self._answer(body, _for_a_person(error))
            return
        try:
            self._permitted(body)
        except InputError as error:
            self._evidence.refuse(client, view_id, str(error))
        else:
            self._evidence.fill(client, view_id, click.thread_id)

    def _editor(self, click: DraftClick, *, from_home: bool) -> View:
        return edit_modal(click, self._draft_of(click), from_home=from_home)

    def _words(self, click: DraftClick, typed: str | None) -> str:
        """Return what was typed; the whole draft where the editor came back as it was shown."""
        state = self._store.get(click.thread_id)
        draft = (state.draft_pending if state else None) or ""
        return draft if typed is None or typed == prefill(draft) else typed

    def _draft_of(self, click: DraftClick) -> str:
        state = self._store.get(click.thread_id)
        if state is None or not state.is_open:
            raise InputError("This thread is closed; there is nothing left to edit.")
        return state.draft_pending or ""

    def _answer(self, body: Body, text: str, *, typed: str | None = None) -> None:
        self._answers.say(body, text, self._question_of(body), typed=typed)

    def _question_of(self, body: Body) -> str:
        """Return the question that a click is about; nothing to who may not read it."""
        thread_id = ids.clicked_thread(body)
        if thread_id is None or not self._approvers.probably(*clicking_person(body)):
            return ""
        state = self._store.get(thread_id) or self._store.last_closed(thread_id)
        return state.question if state else ""


def _for_a_person(error: TriageError) -> str:
    if isinstance(error, Unconfirmed):
        return (
            "Slack did not confirm the post, so it may stand in the thread or not. You need not click again: within a "
            "minute triage looks there, then posts what is missing, or gives you the card back and says why."
        )
    return str(error)[:1_900]
