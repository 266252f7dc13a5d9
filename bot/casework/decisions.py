"""Carries out what a human decides about a draft: approve, edit, dismiss, re-investigate, add context.

Every decision names its draft (thread, version, hash) and counts once: it is a function of the thread, saved by
compare-and-set (`_decide`), and whoever comes second is told who was first. The caller checks who may decide, at the
click and again at the submit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, NoReturn

from bot.casework.checks.validation import Validator, changes_of_validation
from bot.casework.clicks import (
    About,
    DraftClick,
    OnCard,
    is_bound,
    is_of_candidate,
    is_of_draft,
    is_of_edit,
    is_of_new_draft,
    is_of_run,
    is_of_run_under_way,
    last_decision,
    who_decided,
)
from bot.casework.escalations import Escalations
from bot.casework.posting.freshness import StillStands, check_outbound, find_changes
from bot.casework.posting.replies import Replies
from bot.casework.thread_service import ThreadService
from bot.casework.twins import Twins, joinable
from bot.casework.waiting_drafts import acknowledge
from bot.domain.drafts import (
    edit_draft,
    keep_human_text,
    offered_candidates,
    propose_draft,
    use_candidate,
    use_new_draft,
)
from bot.domain.secrets import redact
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import check_whole, has_visible
from bot.domain.threads import HumanContext, PendingReason, Resolution, Round, ThreadState, ThreadStatus
from bot.domain.waits import Doubt, DoubtCode
from bot.errors import CodebaseUnreadable, Conflict, InputError
from bot.ports import ChatMessage

Change = Callable[[ThreadState], ThreadState]

log = logging.getLogger(__name__)

CODE_UNREADABLE: Final = (
    "Not posted: triage cannot read the git repository of the codebase, so it cannot check that the quoted lines are "
    "still there. Whoever runs triage finds the reason with `triage doctor`; approve again once it is mended."
)


class Decisions:
    """Carries out what approvers click; raises InputError (Conflict) with a text for the one who clicked.

    `checks` prove what somebody chooses among the results of a search.
    """

    def __init__(
        self,
        service: ThreadService,
        replies: Replies,
        still_stands: StillStands,
        escalations: Escalations,
        twins: Twins,
        checks: Validator,
    ) -> None:
        self._service, self._replies, self._still_stands = service, replies, still_stands
        self._escalations, self._twins, self._checks = escalations, twins, checks

    def acknowledge(self, thread_id: str, *, by: str) -> None:
        """Note that somebody deals with a question that pages, so that it rings no more; raises StoreError."""
        acknowledge(self._service, thread_id, by=by)

    def approve(self, click: DraftClick, *, by: str) -> str:
        """Post the draft, unless something changed that the card did not show; returns what happened.

        With `click.twins` also in the threads of the twins that the card showed.
        """
        try:
            return self._approve(click, by)
        except CodebaseUnreadable as error:
            log.warning("an approval waits for the codebase: %s", error, extra={"action": "code_unreadable"})
            raise InputError(CODE_UNREADABLE) from error

    def _approve(self, click: DraftClick, by: str) -> str:
        if self._settled(click, by):
            return OnCard("Posted.")
        state = self._bound(click)
        messages = self._service.workspace.thread(state.chat_id, state.thread_ts)
        if self._replies.adopt_standing(state, messages):
            return "This reply was already in the thread, so nothing was posted again. The card shows it."
        doubts = self._doubts(state, messages)
        if len(doubts) > click.seen:
            self._service.store.amend(state.thread_id, lambda now: now.with_doubts(doubts))
            self._service.cards.show_card(state.thread_id)
            count = len(doubts) - click.seen
            return f"Not posted yet: {counted(count, 'thing')} changed since this draft. The card lists what."
        twins = self._twins.answerable(state, click.twins)
        try:
            self._replies.post(state, by=by, twins=twins)
        except Conflict as error:
            raise Conflict(who_decided(self._service.store.latest(state.thread_id))) from error
        return self._said_posted(state, click, twins)

    def take_out(self, click: DraftClick) -> str:
        """Make a twin a thread of its own; returns what happened."""
        return self._twins.part(click.thread_id)

    def joinable(self, click: DraftClick) -> list[tuple[ThreadState, timedelta]]:
        """Return the open threads that may ask the same as a waiting one, and how old each is; the newest first."""
        state, now = self._bound(click), self._service.clock.now()
        return [(one, max(timedelta(), now - one.started_at)) for one in joinable(self._service.store, state)]

    def join(self, click: DraftClick, first_id: str, *, by: str) -> str:
        """Have a waiting question answered with another one, because somebody says that it asks the same."""
        self._twins.join(self._bound(click), first_id, by=by)
        return "Joined. The other question's card names this one and offers to answer there, too."

    def _said_posted(self, state: ThreadState, click: DraftClick, twins: Sequence[str]) -> str:
        """Return where a draft was posted, and where not."""
        wanted = sum(not twin.is_apart for twin in state.twins[: click.twins])
        if not wanted:
            return OnCard("Posted.")
        ended = [self._service.store.last_closed(twin) for twin in twins]
        count = sum(one is not None and one.posted_message_id is not None for one in ended)
        said = f"Posted here and in {count} of {wanted} other threads."
        if later := len(twins) - count:
            said += f" Slack did not take {later} yet; triage tries again, or gives them a card of their own."
        if changed := wanted - len(twins):
            said += f" In {changed} something changed meanwhile: they get a card of their own."
        return said

    def check_reply(self, text: str) -> None:
        """Refuse words that must not leave, from the words alone; raises InputError."""
        check_outbound(text, self._service.known_secrets)

    def edit(self, click: DraftClick, text: str, *, by: str) -> DraftClick:
        """Replace the draft's words; returns the click that stands for the new draft. Touches nothing but the disk.

        While the draft is made anew they stand until somebody chooses, and the new one comes beside them.
        """
        self.check_reply(text)
        at = self._service.clock.now()
        state = self._bound(click, about=is_of_edit, running=True)
        if text != state.draft_pending:

            def edited(now: ThreadState) -> ThreadState:
                return edit_draft(now, text, by=by).evolve(last_event_at=at)

            state = self._save(click, edited, about=is_of_edit, running=True)
        return replace(click, version=state.draft_version, draft_hash=state.clicked_hash, twins=0)

    def refresh_card(self, click: DraftClick) -> str:
        """Show an edited draft on the card."""
        self._service.cards.show_card(click.thread_id)
        return OnCard("Saved. The card shows your version.")

    def use_new(self, click: DraftClick, *, by: str) -> str:
        """Propose the investigator's new draft instead of a human's text, which is kept on record; posts nothing."""
        at = self._service.clock.now()
        self._decide(click, lambda now: use_new_draft(now, by=by, at=at), about=is_of_new_draft)
        return OnCard(
            "The card shows the new draft; the text it replaced is kept with the thread. Nothing was posted yet."
        )

    def use_mine(self, click: DraftClick, *, by: str) -> str:
        """Drop the investigator's new draft beside a human's text; posts nothing."""
        at = self._service.clock.now()
        self._decide(click, lambda now: keep_human_text(now, by=by, at=at), about=is_of_new_draft)
        return OnCard("The card keeps the text that a human wrote. Nothing was posted yet.")

    def use_candidate(self, click: DraftClick, *, by: str) -> str:
        """Propose what else the search found, proved anew, beside a human's text if one stands; posts nothing.

        Raises ProviderError when git cannot read what it cites.
        """
        state = self._decide(click, lambda now: self._with_candidate(now, click, by), about=is_of_candidate)
        where = "beside the text that a human wrote" if state.has_edited_draft else "as the draft"
        return OnCard(f"The card shows it {where}. Nothing was posted yet.")

    def _with_candidate(self, now: ThreadState, click: DraftClick, by: str) -> ThreadState:
        """Return the thread with a candidate as the investigator's draft, judged by the checks."""
        assert now.investigator_return is not None
        ret = use_candidate(now.investigator_return, offered_candidates(now)[click.draft_hash])
        proposed = propose_draft(now, ret.draft_reply).evolve(
            draft_decided_by=by,
            last_event_at=self._service.clock.now(),
            investigator_return=ret,
            rounds=(*now.rounds, Round(round=now.investigator_round + 1, investigator_return=ret, chosen_by=by)),
        )
        validation = self._checks.validate(proposed, run_id="")
        proved = changes_of_validation(proposed, validation, run_id=now.validator_task_id)
        reason = PendingReason.APPROVAL if validation.passed else PendingReason.DISAGREEMENT
        return proposed.evolve(pending_reason=reason, **proved)

    def dismiss(self, click: DraftClick, *, by: str, reason: str | None) -> str:
        """Close the thread without a reply, also from under an investigation: what it finds is dropped.

        Without a reason, and once a person has answered in the thread, it is superseded: nothing is said of the draft.
        """
        reason = redact(reason) if reason and has_visible(check_whole(reason)) else None
        at = self._service.clock.now()

        def dismissed(now: ThreadState) -> ThreadState:
            answered_by = None if reason else now.answered_by
            ending = Resolution.SUPERSEDED if answered_by else Resolution.DISMISSED
            why = f"dismissed by <@{by}>{f'; <@{answered_by}> had answered' if answered_by else ''}"
            return now.close(ending, at=at, why=why, by=by, dismiss_reason=reason)

        closed = self._save(click, dismissed, running=True)
        if closed.resolution is Resolution.DISMISSED:
            self._twins.dismiss(closed, click.twins, why=closed.status_history[-1].why, by=by)
        self._service.cards.try_to_finish(click.thread_id)
        return OnCard("Dismissed. Nothing was posted.")

    def stop(self, click: DraftClick, *, by: str) -> str:
        """End the run under way, which notices within a second; what was drafted until then is kept, unchecked."""
        at, why = self._service.clock.now(), f"stopped by <@{by}>"

        def stopped(now: ThreadState) -> ThreadState:
            ret = now.investigator_return
            kept = propose_draft(now, ret.draft_reply) if ret and ret.draft_reply.strip() else now
            return kept.transition(ThreadStatus.PENDING_USER, at=at, why=why, by=by, reason=PendingReason.STOPPED)

        state = self._save(click, stopped, about=is_of_run_under_way, running=True)
        if state.status_history[-1].from_ is ThreadStatus.ESCALATED:
            self._escalations.end(state.thread_id)
        self._service.cards.show_card(state.thread_id)
        return "Stopped. The card shows the cost, and its thread what was read until then."

    def reinvestigate(self, click: DraftClick, *, by: str) -> str:
        """Send the question back to the investigator."""
        at, why = self._service.clock.now(), f"<@{by}> asked for another investigation"
        self._decide(click, lambda now: now.reopened(at=at, why=why))
        return OnCard("Investigating again.")

    def escalate(self, click: DraftClick, *, by: str) -> str:
        """Send the question to a long investigation outside the bot."""
        self._decide(click, lambda now: self._escalations.by_hand(now, by))
        return OnCard(
            "A long investigation starts. The card says how to watch it, and shows its draft when it is done."
        )

    def add_context(self, click: DraftClick, text: str, *, by: str) -> str:
        """Record what the asker and the code do not say; a waiting draft is made anew with it.

        Context typed while a run was under way counts also when its draft has come meanwhile.
        """
        note = HumanContext(by=by, at=self._service.clock.now(), text=check_context(text))

        def noted(now: ThreadState) -> ThreadState:
            told = now.evolve(human_context=(*now.human_context, note))
            if now.status is ThreadStatus.PENDING_USER:
                return told.reopened(at=note.at, why=f"<@{by}> added context")
            return told.in_doubt((*told.doubts, Doubt(code=DoubtCode.CONTEXT, by=by)))

        self._decide(click, noted, about=is_of_run, running=True)
        return OnCard("Noted. The investigator will use it.")

    def _decide(
        self, click: DraftClick, change: Change, *, about: About = is_of_draft, running: bool = False
    ) -> ThreadState:
        """Apply a decision to the thread as it is now, have a worker go on if that is wanted, and show the card."""
        state = self._save(click, change, about=about, running=running)
        if state.status in (ThreadStatus.INVESTIGATING, ThreadStatus.ESCALATED):
            self._service.queue(click.thread_id)
        self._service.cards.show_card(click.thread_id)
        return state

    def _save(
        self, click: DraftClick, change: Change, *, about: About = is_of_draft, running: bool = False
    ) -> ThreadState:
        """Apply a decision and store it, if the click is bound to the thread as it is now; raises Conflict if not."""
        state = self._service.store.amend(
            click.thread_id, lambda now: change(now) if is_bound(click, now, about, running) else None
        )
        return state if state is not None else self._refuse(click, about)

    def _bound(self, click: DraftClick, *, about: About = is_of_draft, running: bool = False) -> ThreadState:
        """Return the thread if the click is bound to it as it is now; raises Conflict if not."""
        state = self._service.store.get(click.thread_id)
        return state if state is not None and is_bound(click, state, about, running) else self._refuse(click, about)

    def _refuse(self, click: DraftClick, about: About = is_of_draft) -> NoReturn:
        """Tell who clicked why their click counts for nothing, and have the card show how the thread stands."""
        state = self._service.store.get(click.thread_id)
        if state is not None and not state.is_open:
            self._service.cards.try_to_finish(state.thread_id)
        elif state is not None and not state.post_intent:
            if not about(click, state):
                self._service.cards.show_card(state.thread_id)
                raise Conflict(
                    f"This card was out of date, so nothing happened. {last_decision(state)}The card has been "
                    "refreshed: read it and click again."
                )
            if state.status is not ThreadStatus.PENDING_USER:
                raise Conflict("The investigation is still running; the card will offer its draft when it is done.")
        raise Conflict(who_decided(self._service.store.latest(click.thread_id)))

    def _doubts(self, state: ThreadState, messages: Sequence[ChatMessage]) -> tuple[Doubt, ...]:
        if state.draft_pending is None:
            raise InputError("There is no draft to post; add context, or write the reply with Edit.")
        check_outbound(state.draft_pending, self._service.known_secrets)
        changes = find_changes(self._service, state, self._still_stands, messages)
        if any(change.is_hard for change in changes):
            raise InputError(f"Not posted: {changes[0].text}. Dismiss the card, or fix that first.")
        return state.with_doubts(changes).doubts

    def _settled(self, click: DraftClick, by: str) -> bool:
        """Whether the click brought an unconfirmed post of this very draft to its end."""
        state = self._service.store.get(click.thread_id)
        if state is None or not state.is_open or state.post_intent is None:
            return False
        if state.post_intent.draft_hash != click.draft_hash:
            return False
        try:
            self._replies.settle(state, clicked_by=by)
        except Conflict as error:
            raise Conflict(who_decided(self._service.store.latest(click.thread_id))) from error
        return True


def check_context(text: str) -> str:
    """Return what somebody added, without the blanks around it.

    Raises:
        InputError: there is nothing to read in it, or it cannot be stored.
    """
    if not has_visible(check_whole(text)):
        raise InputError("The context is empty; write what the investigator should know.")
    return text.strip()
