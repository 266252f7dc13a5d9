"""Who has a thread: an approver takes it, or hands it to a person or a user group, who are told in private.

Each change counts once, and only if the click knew who had the thread until then. Who is to be told is on disk before
the chat hears of it, so that a crash in between delays the message and never doubles it.
"""

from __future__ import annotations

import logging
import re
from typing import Final, NamedTuple

from bot.casework.approvers import may_never_decide
from bot.casework.decisions import DraftClick
from bot.casework.thread_service import ThreadService
from bot.casework.waiting_drafts import is_waiting
from bot.domain.threads import HandOver, ThreadState, hash_draft
from bot.errors import Conflict, InputError, ProviderError, Unavailable
from bot.ports import PageChat
from bot.ports.chat import may_still_arrive

log = logging.getLogger(__name__)

MAX_PEOPLE: Final = 30
"""Members of the ops channel that the dialogue offers; anybody else is looked up there by name."""

_PLACE: Final = re.compile(r"[UWS][A-Z0-9]{1,40}")


class Choice(NamedTuple):
    """Somebody a thread can be handed to: a name, and a Slack user or user group id."""

    label: str
    place_id: str


def clicked_assignee(state: ThreadState) -> str:
    """Return what a click names as who had the thread."""
    return hash_draft(state.assignee or "")


class HandOvers:
    """Carries out the clicks; `chat` tells whoever a thread was handed to."""

    def __init__(self, service: ThreadService, chat: PageChat) -> None:
        self._service, self._workspace, self._chat = service, service.workspace, chat

    def take(self, click: DraftClick, *, by: str) -> None:
        """Note that an approver has the thread; a page rings no more. Raises Conflict where somebody was first."""
        self._assign(click, by, None, by)

    def hand(self, click: DraftClick, to: str, *, by: str) -> str:
        """Give the thread to a person or a group and tell them; returns what happened.

        Raises:
            InputError: nobody is named, or who may not see drafts; Conflict: somebody was first.
        """
        self._check(to)
        state = self._assign(click, to, HandOver(by=by, at=self._service.clock.now()), by)
        if self._tell(state):
            return "Handed over. They have a direct message with the link to this card."
        return "Handed over. Slack did not take the direct message; triage tries again."

    def tick(self) -> None:
        """Tell those who were not told yet, for whom the click itself has had its time."""
        now = self._service.clock.now()
        for state in self._service.store.open_threads():
            given = state.handed
            if given is not None and not given.is_told and not may_still_arrive(given.at, now):
                self._tell(state)

    def choices(self, click: DraftClick) -> list[Choice]:
        """Return whom the dialogue offers: owners of the code that the chat knows, groups, then the ops channel."""
        state = self._service.store.get(click.thread_id)
        ret = state.investigator_return if state else None
        mails = {one.email: one for one in (ret.owners if ret else ()) if one.email}
        owners = [(one, self._workspace.user_of(mail)) for mail, one in mails.items()]
        found = [Choice(f"{one.name}, owns the code", user) for one, user in owners if user]
        found += [Choice(f"@{handle}", group) for group, handle in self._workspace.user_groups()]
        try:
            members = sorted(self._workspace.members(self._service.settings.ops_channel))[:MAX_PEOPLE]
            people = [self._workspace.person(one) for one in members]
        except ProviderError:
            people = []
        known = {one.place_id for one in found}
        return found + [
            Choice(one.name, one.user_id) for one in people if not may_never_decide(one) and one.user_id not in known
        ]

    def _check(self, to: str) -> None:
        if not _PLACE.fullmatch(to):
            raise InputError("Choose a person, a group or an owner.")
        try:
            if to.startswith("S"):
                if not self._workspace.members(to):
                    raise InputError("That user group has no members.")
            elif may_never_decide(self._workspace.person(to, fresh=True)):
                raise InputError("A guest, an app or somebody of another company cannot get it.")
        except ProviderError as error:
            raise InputError(f"Nothing was handed over: {error}") from error

    def _assign(self, click: DraftClick, to: str, handed: HandOver | None, by: str) -> ThreadState:
        at = self._service.clock.now()

        def assigned(now: ThreadState) -> ThreadState | None:
            if not now.is_open or clicked_assignee(now) != click.draft_hash:
                return None
            changed = now.evolve(assignee=to, handed=handed)
            if not is_waiting(now):
                return changed
            return changed.evolve(paging=now.paging.evolve(acknowledged_at=at, acknowledged_by=by))

        state = self._service.store.amend(click.thread_id, assigned)
        self._service.cards.show_card(click.thread_id)
        if state is None:
            now = self._service.store.get(click.thread_id)
            raise Conflict(f"{_who_has(now)} Your click changed nothing; the card shows the current state.")
        return state

    def _tell(self, state: ThreadState) -> bool:
        """Tell the assignee, once; what Slack refuses for good is told to the ops channel instead."""
        try:
            self._chat.hand_over(state)
        except Unavailable:
            log.info("a hand-over is told later", extra={"action": "hand_over_waits"}, exc_info=True)
            return False
        except ProviderError as error:
            log.warning("a hand-over was not told", extra={"action": "hand_over_untold"}, exc_info=True)
            self._service.messenger.tell_ops(f"Handed over, but nobody could be told: {error}")
        told = state.handed
        self._service.store.amend(
            state.thread_id,
            lambda now: (
                now.evolve(handed=told.model_copy(update={"is_told": True}))
                if told is not None and now.handed == told
                else None
            ),
        )
        return True


def _who_has(state: ThreadState | None) -> str:
    if state is None or not state.is_open:
        return "This thread is closed."
    if state.assignee is None:
        return "Nobody has it any more."
    return "A user group has it." if state.assignee.startswith("S") else f"<@{state.assignee}> has it."
