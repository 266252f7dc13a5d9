"""Proposals: a mention that wants a playbook changed becomes a card; a click carries it out, and the asker hears once.

Each step is saved before the next begins and can be repeated, so that a bot that died goes on where it was: a card is
looked for before it is posted, an edit that was made is not made again, and the line in the thread is looked for where
it was about to be posted.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.domain.events import Event, MessageType
from bot.domain.playbook import Playbook
from bot.domain.playbook_numbers import Numbered
from bot.domain.proposals import Proposal, Standing, applied, proposal_id, standing_task, tasks_named
from bot.domain.tiers import Tier
from bot.domain.wishes import Verb, Wish, read_wish
from bot.errors import InputError, ProviderError, StoreError
from bot.heartbeat.playbook_file import playbook_of
from bot.heartbeat.refused_commands import not_allowed
from bot.heartbeat.registry import Sessions
from bot.heartbeat.task_wording import flat
from bot.ports import Clock, Person, ProposalChat, ProposalStore, Workspace

log = logging.getLogger(__name__)

_SPOKEN: Final = frozenset({MessageType.TEXT, MessageType.THREAD_REPLY})


class Proposals:
    """Takes wishes from the queue and decisions from the card; `say` speaks in the ops channel.

    `require_private` raises where the ops channel is not private any more.
    """

    def __init__(
        self,
        sessions: Sessions,
        store: ProposalStore,
        chat: ProposalChat,
        workspace: Workspace,
        clock: Clock,
        *,
        bot_user_id: str,
        allow_external: bool,
        say: Callable[[str], None],
        require_private: Callable[[], None],
    ) -> None:
        self._sessions, self._store, self._chat = sessions, store, chat
        self._workspace, self._clock, self._bot_user_id = workspace, clock, bot_user_id
        self._allow_external, self._say, self._require_private = allow_external, say, require_private
        self._settling = threading.Lock()

    def takes(self, payload: Mapping[str, Any]) -> bool:
        """Whether a job is a mention that wants a playbook changed; such a one is not investigated."""
        return "event" in payload and self._wish(Event.model_validate(payload["event"])) is not None

    def handle(self, payload: Mapping[str, Any]) -> None:
        """Show a wish on a card, once however often the job is done; raises ProviderError and StoreError."""
        event = Event.model_validate(payload["event"])
        wish = self._wish(event)
        if wish is None:
            return
        known = self._store.get(proposal_id(event.team_id, event.chat_id, event.message_id))
        if known is None:
            person = self._workspace.person(event.sender.id)
            if (person.is_guest or person.is_external) and not self._allow_external:
                log.info("ignored a guest's wish", extra={"action": "guest_ignored"})
                return
            known = self._proposed(event, wish, person)
        if known is not None and known.standing is Standing.OPEN:
            self._show(known)

    def choose(self, given: str, session_id: str) -> None:
        """Note which session a proposal is for; raises InputError where it is not one of its choices."""

        def chosen(now: Proposal) -> Proposal:
            if now.standing is not Standing.OPEN or session_id not in now.choices:
                raise InputError("This cannot be chosen any more; nothing happened.")
            found = self._named(session_id, now.wanted, now.tier) if now.verb is not Verb.ADD else []
            return _bound(now, found).evolve(session=session_id)

        self._show(self._store.change(given, chosen))

    def accept(self, given: str, session_id: str, by: str) -> str:
        """Carry a proposal out and tell the asker; returns what to tell the one who clicked.

        Raises:
            InputError: somebody decided already, the card shows another session, or the task is not there any more.
            StoreError: the decision could not be stored.
        """
        proposal = self._open(given, session_id)
        if proposal.verb is not Verb.ADD and standing_task(self._playbook(session_id), proposal) is None:
            raise InputError(f"{proposal.task!r} is not in the playbook any more; somebody changed it. Reject this.")
        self._store.change(given, lambda now: now.decided(Standing.ACCEPTED, by, self._clock.now()))
        self._settle(given)
        return self._told(given)

    def reject(self, given: str, by: str) -> str:
        """Leave everything as it is."""
        self._store.change(given, lambda now: now.decided(Standing.REJECTED, by, self._clock.now()))
        self._settle(given)
        return ""

    def session_of(self, given: str) -> str | None:
        """Return the session a proposal is for; raises InputError for what is no proposal."""
        proposal = self._store.get(given)
        if proposal is None:
            raise InputError("This proposal is not on file any more; nothing happened.")
        return proposal.session

    def settle(self) -> None:
        """Finish what decisions led to and could not be finished: after a crash, and while chat or disk refuse."""
        for proposal in self._store.unsettled():
            if proposal.standing is not Standing.OPEN:
                self._settle(proposal.id)

    def _wish(self, event: Event) -> Wish | None:
        is_spoken = event.msg_type in _SPOKEN and event.sender.type == "user" and self._bot_user_id in event.mentions
        names = {session.id: session.name for session in self._sessions.all()} if is_spoken else {}
        return read_wish(event.content, names) if names else None

    def _proposed(self, event: Event, wish: Wish, person: Person) -> Proposal | None:
        """Return a new proposal on file; None, said in the ops channel, where no playbook has what it is about."""
        choices = self._candidates(event, wish)
        permalink = self._workspace.permalink(event.chat_id, event.message_id)
        found = {one: self._named(one, wish.task, wish.tier) for one in choices} if wish.verb is not Verb.ADD else {}
        if wish.verb is not Verb.ADD:
            choices = tuple(one for one in choices if len(found[one]) == 1) or choices
            if (len(choices) == 1 and len(found[choices[0]]) != 1) or not any(found.values()):
                self._say(_not_found(wish, choices, found, person, permalink))
                return None
        session = choices[0] if len(choices) == 1 else None
        proposal = Proposal(
            id=proposal_id(event.team_id, event.chat_id, event.message_id),
            verb=wish.verb,
            wanted=wish.task,
            task=wish.task,
            tier=wish.tier,
            session=session,
            choices=choices,
            asked_by=event.sender.id,
            words=event.content,
            chat_id=event.chat_id,
            thread_ts=event.thread_id or event.message_id,
            permalink=permalink,
            at=self._clock.now(),
        )
        return self._store.put(_bound(proposal, found.get(session or "", [])) if session else proposal)

    def _candidates(self, event: Event, wish: Wish) -> tuple[str, ...]:
        """Return the sessions that may be meant: those named, else those of the channel, else all."""
        everywhere = self._sessions.all()
        of_channel = tuple(session.id for session in everywhere if event.chat_id in session.channels)
        return wish.names or of_channel or tuple(session.id for session in everywhere)

    def _named(self, session_id: str, words: str, unless_in: Tier | None) -> list[Numbered]:
        """Return the tasks that words may mean, but for those that stand where they shall go; none of a bad file."""
        try:
            return [one for one in tasks_named(self._playbook(session_id), words) if one.tier is not unless_in]
        except StoreError:
            log.warning("a playbook could not be read", extra={"action": "playbook_unread"}, exc_info=True)
            return []

    def _playbook(self, session_id: str) -> Playbook:
        return playbook_of(self._sessions.get(session_id)).read()

    def _open(self, given: str, session_id: str) -> Proposal:
        proposal = self._store.get(given)
        if proposal is None or proposal.session != session_id:
            raise InputError("The card shows another session by now; look again.")
        proposal.decided(Standing.ACCEPTED, "", self._clock.now())
        return proposal

    def _show(self, proposal: Proposal) -> None:
        """Bring the card in line; where it stands is on file, or is looked for, before it is posted."""
        place = (proposal.card_channel, proposal.card_ts)
        if proposal.card_ts is None:
            self._require_private()
            found = self._chat.find(proposal) or (None, None)
            proposal = proposal.evolve(card_channel=found[0], card_ts=found[1])
        channel, ts = self._chat.show(proposal)
        if place != (channel, ts):
            self._store.change(proposal.id, lambda now: now.evolve(card_channel=channel, card_ts=ts))

    def _settle(self, given: str) -> None:
        """Carry a decision out as far as disk and chat allow now."""
        with self._settling:
            try:
                self._carry_out(given)
            except (ProviderError, StoreError) as error:
                log.warning("a proposal is settled later: %s", error, extra={"action": "proposal_later"})

    def _carry_out(self, given: str) -> None:
        proposal = self._store.get(given)
        if proposal is None or proposal.settled_at is not None:
            return
        if proposal.standing is Standing.ACCEPTED and proposal.said_intent is None:
            proposal = self._edit(proposal)
        self._chat.show(proposal)
        if proposal.standing is Standing.ACCEPTED and proposal.said_ts is None:
            self._tell_asker(proposal)
        self._store.change(given, lambda now: now.evolve(settled_at=self._clock.now()))

    def _edit(self, proposal: Proposal) -> Proposal:
        """Edit the playbook; what it refuses for good is shown on the card, and nobody is told that it was done."""
        try:
            session = self._sessions.get(proposal.session or "")
            file = playbook_of(session)
            file.read()
            file.change(lambda now: applied(now, proposal))
        except InputError as error:
            problem = str(error)
            return self._store.change(proposal.id, lambda now: now.evolve(standing=Standing.FAILED, problem=problem))
        log.info("a proposal was carried out", extra={"action": "proposal_done", "session": session.id})
        return proposal

    def _tell_asker(self, proposal: Proposal) -> None:
        """Say it in the thread once: the intent is on disk first, and where it was, the line is looked for."""
        said = self._chat.find_said(proposal) if proposal.said_intent is not None else None
        if said is None:
            intent = self._clock.now()
            self._store.change(proposal.id, lambda now: now.evolve(said_intent=now.said_intent or intent))
            said = self._chat.say_done(proposal)
        self._store.change(proposal.id, lambda now: now.evolve(said_ts=said))

    def _told(self, given: str) -> str:
        now = self._store.get(given)
        if now is None or now.settled_at is None:
            return "Accepted. Disk or chat did not take all of it yet; it is tried again every minute."
        return f"It could not be done: {now.problem}" if now.standing is Standing.FAILED else ""


def commands_not_allowed(sessions: Sessions, proposal: Proposal) -> list[str]:
    """Return the commands of a task to add that its session does not let run without a model."""
    if proposal.verb is not Verb.ADD or proposal.session is None:
        return []
    try:
        session = sessions.get(proposal.session)
    except InputError:  # it was taken out of triage.yml since
        return []
    return [" ".join(argv) for argv in not_allowed(session, proposal.task)]


def _bound(proposal: Proposal, found: list[Numbered]) -> Proposal:
    """Return it bound to the one task its words name."""
    if proposal.verb is Verb.ADD:
        return proposal
    if len(found) != 1:
        raise InputError(f"{len(found) or 'No'} tasks there say {proposal.wanted!r}; use /triage tiers instead.")
    [one] = found
    return proposal.evolve(task=flat(one.task.text), task_id=one.task.id, from_tier=one.tier)


def _not_found(
    wish: Wish,
    choices: tuple[str, ...],
    found: Mapping[str, list[Numbered]],
    person: Person,
    permalink: str | None,
) -> str:
    several = next((one for one in choices if len(found[one]) > 1), None)
    where = f" ({permalink})" if permalink else ""
    what = (
        f"no task of {', '.join(choices[:5])} says that, or it stands there already"
        if several is None
        else f"several tasks of {several} say that"
    )
    return (
        f"{person.name} asked to {wish.verb} “{wish.task}”{where}, but {what}. "
        f"Next: /triage tiers {several or choices[0]}"
    )
