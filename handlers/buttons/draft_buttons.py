"""Clicks on a draft, on its card or on App Home, and submits of its dialogues; hand-overs, patches and notes beside it.

The result is shown where the person clicked: on the card, in private beside it what the card does not show, or on top
of their App Home. A patch's dialogue opens empty and is filled once permission is certain, as that of the evidence is
(docs/decisions/slack-views.md); the pull request that a click wants is written down and carried out elsewhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from slack_bolt import Ack
from slack_sdk import WebClient
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.draft_actions import context_modal, dismiss_modal, edit_modal, note_modal, prefill, same_as_modal
from blocks.cards.evidence_modal import MAX_CITATIONS, evidence_modal, loading_modal
from blocks.cards.fix_view import diff_fits, diff_modal, loading_diff
from blocks.cards.incoming_alert import hand_over_modal
from bot.casework.alerts import HandOvers
from bot.casework.approvers import Approvers
from bot.casework.checks.addresses import EvidenceReader
from bot.casework.clicks import DraftClick, OnCard
from bot.casework.decisions import Decisions, check_context
from bot.casework.fix_service import Fixes
from bot.casework.notes import Notes
from bot.domain.citations.links import LinkTo
from bot.domain.notes import NoteSource
from bot.domain.text.sanitize import check_whole
from bot.domain.threads import check_thread_id
from bot.errors import InputError, ProviderError, StoreError, TriageError, Unconfirmed
from bot.intake.message_text import read_message
from bot.ports.threads import Threads
from handlers.answers import Ephemeral
from handlers.buttons.decision_handler import (
    Body,
    Click,
    DecisionHandler,
    Listener,
    Say,
    field_of,
    for_a_person,
    say_beside,
    text_of,
)
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


class HandOverButtons:
    """The listeners; the dialogue opens at once, and is filled with whom it offers then."""

    def __init__(self, hand_overs: HandOvers, approvers: Approvers, *, say: Say) -> None:
        self._hand_overs = hand_overs
        on = DecisionHandler(approvers, say, read=ids.decode_dialogue, refusal=NOT_YOURS)
        opened = on.opens(lambda click, one: hand_over_modal(one, from_home=click.is_from_home), fill=self._filled)
        self.actions: Mapping[str, Listener] = {
            ids.HAVE_IT: on.decides(lambda click, one: hand_overs.take(one, by=click.user)),
            ids.HAND_TO: opened,
        }
        self.views: Mapping[str, Listener] = {
            ids.HAND_VIEW: on.submits(self._hand, block=ids.OTHER),
        }

    def _filled(self, click: Click, one: DraftClick) -> View:
        return hand_over_modal(one, self._hand_overs.choices(one), from_home=click.is_from_home)

    def _hand(self, click: Click, one: DraftClick, chosen: str | None) -> str:
        """Hand it to the person that was named, else to what was chosen from the list."""
        return self._hand_overs.hand(one, text_of(click.view, ids.PERSON) or chosen or "", by=click.user)


BELOW = "The diff is too long for this window: it is whole, as a file, in the card's thread."
NOT_BELOW = "The diff is too long for this window, and Slack did not take it as a file now. Try again in a minute."


class FixButtons:
    """The listeners of a patch's buttons."""

    def __init__(self, fixes: Fixes, approvers: Approvers, *, say: Say, known_secrets: Collection[str]) -> None:
        self._fixes, self._known_secrets = fixes, known_secrets
        self._on = on = DecisionHandler(approvers, say, read=ids.THREAD_PART.decode, refusal=NOT_YOURS)
        self.views: Mapping[str, Listener] = {}
        self.actions: Mapping[str, Listener] = {
            ids.VIEW_DIFF: on.opens(lambda *_: loading_diff(), fill=self._diff),
            ids.OPEN_FIX: on.decides(self._open),
        }

    def _open(self, click: Click, one: ids.ThreadPart) -> str:
        """Have a draft pull request opened."""
        return self._fixes.open(one.thread_id, one.digest, by=click.user, team=click.team, name=click.name)

    def _diff(self, _: Click, one: ids.ThreadPart) -> View:
        """Show the diff, or where the whole of it stands."""
        state, patch = self._fixes.proposed(one.thread_id, one.digest)
        if diff_fits(patch):
            return diff_modal(patch, self._known_secrets)
        try:
            self._fixes.show_whole(state, patch)
        except ProviderError:
            return diff_modal(patch, self._known_secrets, remark=NOT_BELOW)
        return diff_modal(patch, self._known_secrets, remark=BELOW)


NOT_YOURS_TO_SAVE = "Only approvers may save notes. Ask somebody in the ops channel, or ask to be added to `approvers`."


class NoteButtons:
    """The listeners; `menu` are those of the card's menu."""

    def __init__(self, notes: Notes, approvers: Approvers, *, say: Say, team: str) -> None:
        self._notes, self._team = notes, team
        on = DecisionHandler(approvers, say, read=ids.decode_note, refusal=NOT_YOURS_TO_SAVE)
        remember = on.opens(self._of_thread)
        self.menu: Mapping[str, Listener] = {ids.SAVE_NOTE: on.opens(self._proposal), ids.REMEMBER: remember}
        self.actions: Mapping[str, Listener] = {ids.REMEMBER: remember}  # the button of cards of earlier releases
        self.views: Mapping[str, Listener] = {
            ids.SAVE_NOTE_VIEW: on.submits(self._save(is_proposal=True), block=ids.NOTE, check=self._checked),
            ids.REMEMBER_VIEW: on.submits(self._save(is_proposal=False), block=ids.NOTE, check=self._checked),
        }
        self._open_message = on.opens(self._of_message)

    def remember_this(self, ack: Ack, body: Body, client: WebClient) -> None:
        """Open the dialogue on a message that somebody chose the shortcut of."""
        channel, message = body.get("channel") or {}, body.get("message") or {}
        place = ids.MessageValue(self._team, str(channel.get("id")), str(message.get("ts")))
        self._open_message(ack=ack, body=body, action={"value": ids.MESSAGE.encode(place)}, client=client)

    def _proposal(self, click: Click, source: NoteSource) -> View:
        return note_modal(ids.SAVE_NOTE_VIEW, _metadata(click), self._notes.proposed(source.thread_id or ""))

    def _of_thread(self, click: Click, source: NoteSource) -> View:
        return note_modal(ids.REMEMBER_VIEW, _metadata(click), self._notes.of_thread(source.thread_id or ""))

    def _of_message(self, click: Click, _: NoteSource) -> View:
        message: dict[str, Any] = click.body.get("message") or {}
        return note_modal(ids.REMEMBER_VIEW, str(click.value), self._notes.offered(read_message(message)))

    def _checked(self, _: NoteSource, typed: str | None) -> str:
        return self._notes.check_words(typed or "")

    def _save(self, *, is_proposal: bool) -> Callable[[Click, NoteSource, str | None], str]:
        def save(click: Click, source: NoteSource, words: str | None) -> str:
            return self._notes.save(source, words or "", by=click.user, is_proposal=is_proposal)

        return save


def _metadata(click: Click) -> str:
    """Return the value of what was clicked, which says whether that was on App Home."""
    return ids.encode_dialogue(ids.CLICK.decode(click.value), from_home=click.is_from_home)
