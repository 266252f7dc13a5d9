"""Proposals: a mention that wants a playbook changed becomes a card; a click carries it out, and the asker hears once.

Each step is saved before the next begins and can be repeated, so that a bot that died goes on where it was: a card is
looked for before it is posted, an edit that was made is not made again, and the line in the thread is looked for where
it was about to be posted.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial

from bot.domain.jobs import PlaybookRequested
from bot.domain.playbook import parse
from bot.domain.playbooks.playbook_requests import RequestVerb
from bot.domain.playbooks.proposals import (
    Proposal,
    ProposalStatus,
    apply_proposal,
    is_carried_out,
    proposal_id,
    standing_task,
)
from bot.errors import InputError, ProviderError, StoreError, Unavailable
from bot.heartbeat.playbooks.playbook_file import Removals, playbook_of
from bot.heartbeat.playbooks.proposal_matching import ProposalMatcher
from bot.heartbeat.sessions.session_registry import SessionRegistry
from bot.ports import Clock, ProposalChat
from bot.ports.chat import may_still_arrive
from bot.ports.collections import Collection

log = logging.getLogger(__name__)


class ProposalService:
    """Takes wishes from the queue and decisions from the card.

    `require_private` raises where the ops channel is not private any more.
    """

    def __init__(
        self,
        proposing: ProposalMatcher,
        store: Collection[Proposal],
        chat: ProposalChat,
        clock: Clock,
        *,
        require_private: Callable[[], None],
        removals: Removals,
    ) -> None:
        self._proposing, self._sessions = proposing, proposing.sessions
        self._store, self._chat, self._clock = store, chat, clock
        self._require_private, self._removals = require_private, removals
        self._settling = threading.Lock()

    def propose_change(self, work: PlaybookRequested) -> None:
        """Show a wish on a card, once however often the job is done; raises ProviderError and StoreError."""
        event = work.event
        known = self._store.find(proposal_id(event.team_id, event.chat_id, event.message_id))
        if known is None and (new := self._proposing.proposal_of(event, work.request)) is not None:
            self._store.add(new.id, new)
            known = new
        if known is not None and known.standing is ProposalStatus.OPEN:
            self._show(known)

    def choose(self, given: str, session_id: str) -> None:
        """Note which session a proposal is for; raises InputError where it is not one of its choices."""

        def chosen(now: Proposal) -> Proposal:
            if now.standing is not ProposalStatus.OPEN or session_id not in now.choices:
                raise InputError("This can no longer be chosen; nothing was changed.")
            return self._proposing.bound(now, session_id)

        self._show(self._store.change(given, chosen))

    def accept(self, given: str, session_id: str, by: str) -> str:
        """Carry a proposal out and tell the asker; returns what to tell the one who clicked.

        Raises:
            InputError: somebody decided already, the card shows another session, or the task is not there any more.
            StoreError: the decision could not be stored.
        """
        proposal = self._open(given, session_id)
        playbook = playbook_of(self._sessions.get(session_id)).peek() or parse("")
        if proposal.verb is not RequestVerb.ADD and standing_task(playbook, proposal) is None:
            raise InputError(f"{proposal.task!r} is not in the playbook any more; somebody changed it. Reject this.")
        self._store.change(given, lambda now: now.decided(ProposalStatus.ACCEPTED, by, self._clock.now()))
        self._settle(given)
        return self._told(given)

    def reject(self, given: str, by: str) -> str:
        """Leave everything as it is."""
        self._store.change(given, lambda now: now.decided(ProposalStatus.REJECTED, by, self._clock.now()))
        self._settle(given)
        return ""

    def session_of(self, given: str) -> str | None:
        """Return the session a proposal is for; raises InputError for what is no proposal."""
        return self._store.get(given).session

    def settle(self) -> None:
        """Finish what decisions led to and could not be finished: after a crash, and while chat or disk refuse."""
        for proposal in self._store.all():
            if proposal.settled_at is None and proposal.standing is not ProposalStatus.OPEN:
                self._settle(proposal.id)

    def _open(self, given: str, session_id: str) -> Proposal:
        proposal = self._store.find(given)
        if proposal is None or proposal.session != session_id:
            raise InputError("The card shows another session by now; look again.")
        proposal.decided(ProposalStatus.ACCEPTED, "", self._clock.now())
        return proposal

    def _show(self, proposal: Proposal) -> None:
        """Bring the card in line, and note where it stands."""
        place = (proposal.card_channel, proposal.card_ts)
        if proposal.card_ts is None:
            self._require_private()
        channel, ts = self._chat.show(proposal)
        if place != (channel, ts):
            self._store.evolve(proposal.id, card_channel=channel, card_ts=ts)

    def _settle(self, given: str) -> None:
        """Carry a decision out as far as disk and chat allow now."""
        with self._settling:
            try:
                self._carry_out(given)
            except (ProviderError, StoreError) as error:
                log.warning("a proposal is settled later: %s", error, extra={"action": "proposal_later"})

    def _carry_out(self, given: str) -> None:
        proposal = self._store.find(given)
        if proposal is None or proposal.settled_at is not None:
            return
        if proposal.standing is ProposalStatus.ACCEPTED and proposal.said_intent is None:
            proposal = self._edit(proposal)
        self._chat.show(proposal)
        if proposal.standing is ProposalStatus.ACCEPTED and proposal.said_ts is None:
            self._tell_asker(proposal)
            if (told := self._store.find(given)) is not None and told.problem:
                self._chat.show(told)
        self._store.evolve(given, settled_at=self._clock.now())

    def _edit(self, proposal: Proposal) -> Proposal:
        """Edit the playbook; what it refuses for good is shown on the card, and nobody is told that it was done."""
        try:
            session = self._sessions.get(proposal.session or "")
            file = playbook_of(session)
            before = file.read() if proposal.verb is RequestVerb.ADD else file.peek()
            after = file.change(lambda now: apply_proposal(now, proposal))
        except InputError as error:
            return self._store.evolve(proposal.id, standing=ProposalStatus.FAILED, problem=str(error))
        if before is not None:
            self._removals.note_removals(session.id, before, after, by=proposal.decided_by or "", at=self._clock.now())
        log.info("a proposal was carried out", extra={"action": "proposal_done", "session": session.id})
        return proposal

    def _tell_asker(self, proposal: Proposal) -> None:
        """Say it in the thread once: the intent is on disk first, and where it was, the line is looked for.

        Long after the decision it is said only while it is still so: somebody may have changed the playbook again.
        A thread that takes no line, because it or its channel is gone, is no reason to ask again for ever.
        """
        intent, now = proposal.said_intent, self._clock.now()
        try:
            said = self._chat.find_said(proposal) if intent is not None else None
            if said is None and intent is not None and may_still_arrive(intent, now):
                raise Unavailable("the line may still be on its way")
            if said is None:
                late = proposal.evolve(said_intent=now)
                if late.is_said_late and not self._is_still_so(proposal):
                    problem = "the asker was not told: the playbook was changed again before that could be said"
                    self._store.evolve(proposal.id, problem=problem)
                    return
                said = self._chat.say_done(self._store.change(proposal.id, partial(_claimed, intent, now)))
        except Unavailable:
            raise
        except ProviderError as error:
            self._store.evolve(proposal.id, problem=f"the asker could not be told: {error}")
        else:
            self._store.evolve(proposal.id, said_ts=said)

    def _is_still_so(self, proposal: Proposal) -> bool:
        try:
            playbook = playbook_of(self._sessions.get(proposal.session or "")).peek()
        except InputError:  # the session was taken out of triage.yml
            return False
        return playbook is not None and is_carried_out(playbook, proposal)

    def _told(self, given: str) -> str:
        now = self._store.find(given)
        if now is None or now.settled_at is None:
            return "Accepted. Writing it to disk or to the chat failed; triage tries again every minute."
        if now.standing is ProposalStatus.FAILED:
            return f"It could not be done: {now.problem}"
        return f"Done, but {now.problem}" if now.problem else ""


def commands_not_allowed(sessions: SessionRegistry, proposal: Proposal) -> list[str]:
    """Return the commands of a task to add that its session does not let run without a model."""
    if proposal.verb is not RequestVerb.ADD or proposal.session is None:
        return []
    try:
        session = sessions.get(proposal.session)
    except InputError:  # it was taken out of triage.yml since
        return []
    return [" ".join(argv) for argv in session.refused_commands(proposal.task)]


def _claimed(seen: datetime | None, now: datetime, proposal: Proposal) -> Proposal:
    """Return a proposal whose asker is told now; raises Unavailable where another replica has begun to."""
    if proposal.said_intent != seen:
        raise Unavailable("the asker is being told just now")
    return proposal.evolve(said_intent=now)
