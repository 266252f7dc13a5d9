"""What becomes of a suggestion: accepted, it is added to the session's own playbook; rejected, it is remembered.

The decision is on file before it is carried out, and carrying it out twice changes nothing, so that a crash in between
costs neither the decision nor a second line. Who may decide is asked by the caller.
"""

from __future__ import annotations

import logging
import threading
from typing import Final

from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import add_task, move_task
from bot.domain.playbooks.playbook_entries import PlaybookEntry, task_id
from bot.domain.sharing.suggestion_wording import decision_line, decision_mark
from bot.domain.sharing.suggestions import DecidedBy, Suggestion, SuggestionStatus, is_same_task
from bot.domain.text.did_you_mean import near_ones
from bot.domain.tiers import Tier
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.run.playbook_editor import MAX_TASKS
from bot.heartbeat.sessions.session_registry import SessionRegistry
from bot.ports import Clock, DecisionLog
from bot.ports.collections import Collection

log = logging.getLogger(__name__)

READ_IT_FIRST: Final = "it is quarantined; read it as data first"


class SuggestionDecisions:
    """Carries out decisions on suggestions, one at a time."""

    def __init__(
        self, sessions: SessionRegistry, suggestions: Collection[Suggestion], decisions: DecisionLog, clock: Clock
    ) -> None:
        self._sessions, self._suggestions, self._decisions, self._clock = sessions, suggestions, decisions, clock
        self._one_at_a_time = threading.Lock()

    def find(self, name: str) -> Suggestion:
        """Return the suggestion of an id, or of the end of one; raises InputError with the near ones."""
        known = self._suggestions.all()
        meant = [one for one in known if one.id == name] or [one for one in known if one.id.endswith(f"-{name}")]
        if len(meant) == 1:
            return meant[0]
        waiting = [one.id for one in known if one.is_waiting]
        near = near_ones(name, waiting, cutoff=0.5) or waiting[:3]
        hint = f"did you mean {' or '.join(near)}?" if near else "nothing waits"
        raise InputError(f"there is no suggestion {name[:60]!r}; {hint}" if name else f"name a suggestion; {hint}")

    def accept(
        self, suggestion_id: str, by: DecidedBy, reason: str | None = None, *, has_read: bool = False
    ) -> Suggestion:
        """Add the task to its session's playbook; `has_read` says that a human saw a quarantined one as data.

        Raises:
            Conflict: somebody has decided; it says who.
            InputError: there is no such suggestion, it is quarantined and nobody has read it, or the playbook does not
                take it; it waits as before.
            StoreError: the disk refuses; where the decision is on file it is carried out later.
        """

        def accepted(now: Suggestion) -> Suggestion:
            after = now.decided(SuggestionStatus.ACCEPTED, by, self._clock.now(), reason)
            if now.status is SuggestionStatus.QUARANTINED and not has_read:
                raise InputError(f"{now.id} was not accepted: {READ_IT_FIRST}.")
            return after

        with self._one_at_a_time:
            return self._settled(self._suggestions.change(suggestion_id, accepted))

    def reject(self, suggestion_id: str, by: DecidedBy, reason: str | None = None) -> Suggestion:
        """Remember that the session does not want it; raises as `accept` does."""
        with self._one_at_a_time:
            return self._settled(
                self._suggestions.change(
                    suggestion_id, lambda now: now.decided(SuggestionStatus.REJECTED, by, self._clock.now(), reason)
                )
            )

    def settle(self) -> None:
        """Carry out what was decided and not carried out: by a process that died, or while the disk refused."""
        with self._one_at_a_time:
            for suggestion in self._suggestions.all():
                if suggestion.settled_at is None and suggestion.status is not SuggestionStatus.OPEN:
                    self._try(suggestion)

    def _try(self, suggestion: Suggestion) -> None:
        try:
            self._settled(suggestion)
        except (InputError, StoreError) as error:
            log.warning("%s is not carried out: %s", suggestion.id, error, extra={"action": "suggestion_unsettled"})

    def _settled(self, suggestion: Suggestion) -> Suggestion:
        """Carry a decision out and write it down; one that the playbook does not take is taken back."""
        if suggestion.status is SuggestionStatus.ACCEPTED:
            try:
                self._add(suggestion)
            except InputError:
                self._suggestions.change(suggestion.id, Suggestion.undecided)
                raise
        self._decisions.note(decision_mark(suggestion), decision_line(suggestion))
        return self._suggestions.change(suggestion.id, lambda now: now.evolve(settled_at=self._clock.now()))

    def _add(self, suggestion: Suggestion) -> None:
        session = self._sessions.get(suggestion.to)
        playbook_of(session).change(lambda playbook: with_suggested(playbook, suggestion))


def with_suggested(playbook: Playbook, suggestion: Suggestion) -> Playbook:
    """Return the playbook with what was suggested; unchanged where it stands there already, whoever put it there.

    Raises:
        InputError: the playbook cannot take it, or the task to be moved is gone.
    """
    tier = suggestion.tier
    if suggestion.moves_from is None:
        there = any(is_same_task(task.text, suggestion.task) for each in Tier for task in playbook.tasks(each))
        return playbook if there else add_task(_with_room(playbook, tier), tier, suggestion.task)
    task = _standing(playbook, suggestion.moves_from, suggestion.task)
    if task is not None:
        return move_task(_with_room(playbook, tier), task, tier)
    if _standing(playbook, tier, suggestion.task) is None:
        raise InputError(f"{suggestion.task!r} is no {suggestion.moves_from} task any more; somebody changed that.")
    return playbook


def _standing(playbook: Playbook, tier: Tier, text: str) -> PlaybookEntry | None:
    return next((task for task in playbook.tasks(tier) if task.id == task_id(text)), None)


def _with_room(playbook: Playbook, tier: Tier) -> Playbook:
    if len(playbook.tasks(tier)) >= MAX_TASKS:
        raise InputError(f"The {tier} tier holds {MAX_TASKS} tasks, which is enough; remove one first.")
    return playbook
