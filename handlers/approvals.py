"""Clicks on a draft, on its card or on App Home, and submits of its dialogues: who may, then what they decided.

Dialogues open before any request, because a trigger expires after 3 s; the submit is where permission is checked for
good.  Source: https://docs.slack.dev/interactivity/handling-user-interaction
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
from blocks.modals import context_modal, dismiss_modal, edit_modal, prefill
from bot.casework.approvers import Approvers
from bot.casework.decisions import Click, Decisions
from bot.errors import InputError, ProviderError, TriageError, Unconfirmed
from bot.ports import ThreadStore
from handlers.answers import Answers
from handlers.evidence import EvidenceDialogue
from handlers.transport import translated
from handlers.who import who

log = logging.getLogger(__name__)

Body = dict[str, Any]
NOT_YOURS = "Only approvers may do this. Ask somebody in the ops channel, or have yourself added to `approvers`."


class Approvals:
    """The listeners of a draft's buttons; every answer goes to the one who clicked, and to nobody else."""

    def __init__(
        self,
        decisions: Decisions,
        approvers: Approvers,
        store: ThreadStore,
        *,
        evidence: EvidenceDialogue,
        answers: Answers,
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
        """Keep the edited words, then post them unless asked not to; what is wrong is said in the dialogue."""
        only_save = bool((_field(view, ids.ONLY_SAVE) or {}).get("selected_options"))
        text = _text(view, ids.REPLY)
        try:
            click, by = self._authorised(body, view)
            edited = self._decisions.edit(click, self._words(click, text))
        except TriageError as error:
            ack(response_action="errors", errors={ids.REPLY: _for_a_person(error)})
            return
        ack()
        if only_save:
            self._decide(body, lambda _: self._decisions.show(edited))
        else:
            self._decide(body, lambda _: self._post_edited(edited, by))

    def submit_dismiss(self, ack: Ack, body: Body, view: Body) -> None:
        """Dismiss the draft, with the reason if there is one."""
        reason = _text(view, ids.REASON)
        self._submit(
            ack, body, view, ids.REASON, lambda click, by: self._decisions.dismiss(click, by=by, reason=reason)
        )

    def submit_context(self, ack: Ack, body: Body, view: Body) -> None:
        """Hand the context to the investigator."""
        text = _text(view, ids.CONTEXT) or ""
        self._submit(ack, body, view, ids.CONTEXT, lambda click, by: self._decisions.add_context(click, text, by=by))

    def _submit(self, ack: Ack, body: Body, view: Body, block: str, decide: Callable[[Click, str], str]) -> None:
        """Check permission for good and close the dialogue, then decide; Slack waits 3 s for the first part."""
        try:
            click, by = self._authorised(body, view)
        except TriageError as error:
            ack(response_action="errors", errors={block: _for_a_person(error)})
            return
        ack()
        self._decide(body, lambda _: decide(click, by), typed=_text(view, block))

    def _post_edited(self, edited: Click, by: str) -> str:
        """Post the edited draft; where that fails the card shows it, so that the words are not lost from sight."""
        try:
            return self._decisions.approve(edited, by=by)
        except TriageError:
            with suppress(ProviderError):
                self._decisions.show(edited)
            raise

    def _authorised(self, body: Body, view: Body) -> tuple[Click, str]:
        if not self._may(body):
            raise InputError(NOT_YOURS)
        return ids.decode_dialogue(view.get("private_metadata")), body["user"]["id"]

    def _decide(self, body: Body, decide: Callable[[str], str], *, typed: str | None = None) -> None:
        if not self._may(body):
            self._answer(body, NOT_YOURS)
            return
        try:
            self._answer(body, decide(body["user"]["id"]))
        except TriageError as error:
            log.info("a click was refused: %s", error, extra={"action": "click_refused"})
            kept = f"\nYou wrote: {typed}" if typed else ""
            self._answer(body, _for_a_person(error) + kept)

    def _open(self, body: Body, client: WebClient, value: object, build: Callable[..., View]) -> None:
        """Open a dialogue without a request before it; a dialogue that shows a draft opens for approvers only."""
        try:
            self._require_probably(body)
            view = build(ids.decode_click(value), from_home=ids.is_from_home(body))
            with translated("open the dialogue"):
                client.views_open(trigger_id=body["trigger_id"], view=view)
        except TriageError as error:
            log.info("a dialogue did not open: %s", error, extra={"action": "dialogue_refused"})
            self._answer(body, _for_a_person(error))

    def _require_probably(self, body: Body) -> None:
        """Refuse, without a request, whoever did not seem allowed when last asked."""
        if not self._approvers.probably(*who(body)):
            raise InputError(NOT_YOURS)

    def _show_evidence(self, body: Body, client: WebClient, click: Click) -> None:
        """Show the citations; there is no submit to check permission at, so it is asked in full before any is shown."""
        try:
            self._require_probably(body)
            view_id = self._evidence.open(client, body["trigger_id"])
        except TriageError as error:
            log.info("the evidence did not open: %s", error, extra={"action": "dialogue_refused"})
            self._answer(body, _for_a_person(error))
            return
        if self._may(body):
            self._evidence.fill(client, view_id, click.thread_id)
        else:
            self._evidence.refuse(client, view_id, NOT_YOURS)

    def _editor(self, click: Click, *, from_home: bool) -> View:
        return edit_modal(click, self._draft_of(click), from_home=from_home)

    def _words(self, click: Click, typed: str | None) -> str:
        """Return what was typed; the whole draft where the editor came back as it was shown."""
        state = self._store.get(click.thread_id)
        draft = (state.draft_pending if state else None) or ""
        return draft if typed is None or typed == prefill(draft) else typed

    def _draft_of(self, click: Click) -> str:
        state = self._store.get(click.thread_id)
        if state is None or not state.is_open:
            raise InputError("This thread is closed; there is nothing left to edit.")
        return state.draft_pending or ""

    def _may(self, body: Body) -> bool:
        return self._approvers.allow(*who(body))

    def _answer(self, body: Body, text: str) -> None:
        self._answers.say(body, text, self._question_of(body))

    def _question_of(self, body: Body) -> str:
        """Return the question that a click is about; nothing to who may not read it."""
        thread_id = ids.clicked_thread(body)
        if thread_id is None or not self._approvers.probably(*who(body)):
            return ""
        state = self._store.get(thread_id) or self._store.last_closed(thread_id)
        return state.question if state else ""


def _field(view: Body, block: str) -> Body | None:
    """Return the state of a dialogue's input, or None if the dialogue has no such input."""
    found = view.get("state", {}).get("values", {}).get(block, {}).get(ids.INPUT)
    return found if isinstance(found, dict) else None


def _text(view: Body, block: str) -> str | None:
    """Return what was typed, or None where the input was left as it was."""
    value = (_field(view, block) or {}).get("value")
    return value if isinstance(value, str) else None


def _for_a_person(error: TriageError) -> str:
    if isinstance(error, Unconfirmed):
        return (
            "Slack did not confirm the post, so it may stand in the thread or not. You need not click again: within a "
            "minute triage looks there, then posts what is missing, or gives you the card back and says why."
        )
    return str(error)[:1_900]
