"""From a mention to a proposal: which session is meant, which of its tasks, and whether anybody may be asked at all."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.domain.events import Event
from bot.domain.playbook import parse
from bot.domain.playbooks.playbook_edits import NumberedTask
from bot.domain.playbooks.playbook_requests import PlaybookRequest, RequestVerb
from bot.domain.playbooks.proposals import Proposal, proposal_id, tasks_named
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import Tier
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.sessions.session_registry import SessionRegistry
from bot.ports import Clock, Person, Workspace, is_stranger

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProposalMatcher:
    """Makes proposals of wishes; `say` speaks in the ops channel."""

    sessions: SessionRegistry
    workspace: Workspace
    clock: Clock
    allow_external: bool
    say: Callable[[str], None]

    def proposal_of(self, event: Event, wish: PlaybookRequest) -> Proposal | None:
        """Return the proposal a message makes; None for a guest's, and, said in the ops channel, where no task fits.

        Raises:
            ProviderError: the chat cannot say who asks.
        """
        person = self.workspace.person(event.sender.id)
        if is_stranger(person) and not self.allow_external:
            log.info("ignored a guest's wish", extra={"action": "guest_ignored"})
            return None
        choices = self._candidates(event, wish)
        if not choices:  # the last session was taken out of triage.yml since
            return None
        proposal = Proposal(
            id=proposal_id(event.team_id, event.chat_id, event.message_id),
            verb=wish.verb,
            wanted=wish.task,
            task=wish.task,
            tier=wish.tier,
            choices=choices,
            asked_by=event.sender.id,
            words=event.content,
            chat_id=event.chat_id,
            thread_ts=event.thread_id or event.message_id,
            permalink=self.workspace.permalink(event.chat_id, event.message_id),
            at=self.clock.now(),
        )
        if wish.verb is RequestVerb.ADD:
            return proposal.evolve(session=choices[0]) if len(choices) == 1 else proposal
        return self._of_a_task(proposal, person)

    def bound(self, proposal: Proposal, session_id: str) -> Proposal:
        """Return it for one session, bound to the one task there that its words name.

        Raises:
            InputError: none or several do.
        """
        if proposal.verb is RequestVerb.ADD:
            return proposal.evolve(session=session_id)
        found = self._named(session_id, proposal.wanted, proposal.tier)
        if len(found) != 1:
            count = len(found) or "No"
            raise InputError(f"{count} tasks there say {proposal.wanted!r};", next_step="use /triage tiers instead.")
        [one] = found
        return proposal.evolve(
            session=session_id, task=one_line(one.task.text), task_id=one.task.id, from_tier=one.tier
        )

    def _of_a_task(self, proposal: Proposal, person: Person) -> Proposal | None:
        """Return it for the sessions that have the task, bound where that is one."""
        found = {one: self._named(one, proposal.wanted, proposal.tier) for one in proposal.choices}
        fitting = tuple(one for one in proposal.choices if len(found[one]) == 1)
        if not fitting:
            self.say(_not_found(proposal, found, person))
            return None
        narrowed = proposal.evolve(choices=fitting)
        return self.bound(narrowed, fitting[0]) if len(fitting) == 1 else narrowed

    def _candidates(self, event: Event, wish: PlaybookRequest) -> tuple[str, ...]:
        """Return the sessions that may be meant: those named, else those of the channel, else all."""
        everywhere = self.sessions.all()
        of_channel = tuple(session.id for session in everywhere if event.chat_id in session.channels)
        ids = tuple(session.id for session in everywhere)
        return tuple(name for name in wish.names if name in ids) or of_channel or ids

    def _named(self, session_id: str, words: str, unless_in: Tier | None) -> list[NumberedTask]:
        """Return the tasks that words may mean, but for those that stand where they shall go; none of a bad file."""
        try:
            playbook = playbook_of(self.sessions.get(session_id)).peek() or parse("")
        except StoreError:
            log.warning("a playbook could not be read", extra={"action": "playbook_unread"}, exc_info=True)
            return []
        return [one for one in tasks_named(playbook, words) if one.tier is not unless_in]


def _not_found(proposal: Proposal, found: Mapping[str, list[NumberedTask]], person: Person) -> str:
    several = next((one for one in found if len(found[one]) > 1), None)
    where = f" ({proposal.permalink})" if proposal.permalink else ""
    nowhere = f"no task of {', '.join([*found][:5])} says that, or it is there already"
    what = nowhere if several is None else f"several tasks of {several} say that"
    return (
        f"{person.name} asked to {proposal.verb} “{proposal.wanted}”{where}, but {what}. "
        f"Next: /triage tiers {several or next(iter(found))}"
    )
