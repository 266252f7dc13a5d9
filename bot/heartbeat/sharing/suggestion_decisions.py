"""What becomes of a suggestion: accepted, it is added to the session's own playbook; rejected, it is remembered.

The decision is on file before it is carried out, and carrying it out twice changes nothing, so that a crash in between
costs neither the decision nor a second line. Who may decide is asked by the caller. A model decides with tools: the
master's chooses among offers, a worker's on what it was offered. Ids are all it can name; to whom a suggestion goes,
what task it carries and whose playbook changes is settled by code.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Annotated, Final

from pydantic import Field

from bot.agent.tools.base import Arguments, Tool, ToolProblem
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import add_task, move_task
from bot.domain.playbooks.playbook_entries import PlaybookEntry, id_of_task
from bot.domain.sharing.suggestions import (
    SUGGESTION_ID,
    DecidedBy,
    Suggestion,
    SuggestionStatus,
    decision_line,
    decision_mark,
    is_same_task,
)
from bot.domain.text.did_you_mean import near_ones
from bot.domain.tiers import Tier
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.run.beat_view import BeatView, EditKind, PlaybookEdit
from bot.heartbeat.run.playbook_editor import with_room
from bot.heartbeat.sessions.session_registry import SessionRegistry
from bot.heartbeat.sharing.pollination import Pollination
from bot.ports import Clock, DecisionLog
from bot.ports.collections import Collection

log = logging.getLogger(__name__)

READ_IT_FIRST: Final = "it is quarantined; read it as data first"

_SEND = (
    "Send one of `suggestions_to_send` to its session, by its id; your reason stays in this beat's record. "
    "Nothing else can be sent."
)
_ACCEPT = "Accept one of `suggestions_for_you`: its task is added to your own HEARTBEAT.md. Say why."
_REJECT = "Reject one of `suggestions_for_you`: it is not offered again. Say why."

_Id = Annotated[str, Field(pattern=SUGGESTION_ID.pattern)]
_Why = Annotated[str, Field(min_length=1, max_length=300)]


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

        return self._decide(suggestion_id, SuggestionStatus.ACCEPTED, by, reason, has_read=has_read)

    def reject(self, suggestion_id: str, by: DecidedBy, reason: str | None = None) -> Suggestion:
        """Remember that the session does not want it; raises as `accept` does."""
        return self._decide(suggestion_id, SuggestionStatus.REJECTED, by, reason, has_read=True)

    def _decide(
        self, suggestion_id: str, status: SuggestionStatus, by: DecidedBy, reason: str | None, *, has_read: bool
    ) -> Suggestion:
        def decided(now: Suggestion) -> Suggestion:
            after = now.decided(status, by, self._clock.now(), reason)
            if now.status is SuggestionStatus.QUARANTINED and not has_read:
                raise InputError(f"{now.id} was not accepted: {READ_IT_FIRST}.")
            return after

        with self._one_at_a_time:
            return self._settled(self._suggestions.change(suggestion_id, decided))

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
        return self._suggestions.evolve(suggestion.id, settled_at=self._clock.now())

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
        there = any(is_same_task(task.text, suggestion.task) for _, task in playbook.all_tasks)
        return playbook if there else add_task(with_room(playbook, tier), tier, suggestion.task)
    task = _standing(playbook, suggestion.moves_from, suggestion.task)
    if task is not None:
        return move_task(with_room(playbook, tier), task, tier)
    if _standing(playbook, tier, suggestion.task) is None:
        raise InputError(f"{suggestion.task!r} is no {suggestion.moves_from} task any more; somebody changed that.")
    return playbook


def _standing(playbook: Playbook, tier: Tier, text: str) -> PlaybookEntry | None:
    return next((task for task in playbook.tasks(tier) if task.id == id_of_task(text)), None)


class Choice(Arguments):
    """Arguments of all three tools."""

    suggestion: _Id
    reason: _Why


class SharingTools:
    """Makes the tools of one beat."""

    def __init__(self, pollination: Pollination, decisions: SuggestionDecisions) -> None:
        self._pollination, self._decisions = pollination, decisions

    def tools_for(self, view: BeatView) -> list[Tool]:
        """Return the tools this beat has a use for."""

        def tool(name: str, description: str, act: Callable[[BeatView, Choice], str]) -> Tool:
            return Tool(name=name, description=description, arguments=Choice, call=lambda c: _answer(act, view, c))

        decide = [
            tool("accept_suggestion", _ACCEPT, self._accept),
            tool("reject_suggestion", _REJECT, self._reject),
        ]
        send = [tool("send_message", _SEND, self._send)]
        return [*(send if view.exchange.offers else []), *(decide if view.exchange.offered else [])]

    def _send(self, view: BeatView, choice: Choice) -> str:
        offer = next((each for each in view.exchange.offers if each.id == choice.suggestion), None)
        if offer is None:
            raise ToolProblem("no suggestion to send has that id")
        return f"Sent to {self._pollination.send(offer).to}."

    def _accept(self, view: BeatView, choice: Choice) -> str:
        taken = self._decisions.accept(_own(view, choice).id, _by(view), choice.reason)
        what = EditKind.MOVE_TASK if taken.moves_from else EditKind.ADD_TASK
        at = taken.decided_at or view.started_at
        view.edits.made.append(
            PlaybookEdit(what=what, text=taken.task, at=at, tier=taken.tier, before=taken.moves_from)
        )
        return "Accepted: it is in your playbook."

    def _reject(self, view: BeatView, choice: Choice) -> str:
        return f"{self._decisions.reject(_own(view, choice).id, _by(view), choice.reason).id} is not offered again."


def _answer(act: Callable[[BeatView, Choice], str], view: BeatView, choice: Choice) -> str:
    try:
        return act(view, choice)
    except (InputError, StoreError) as error:
        raise ToolProblem(str(error)) from error


def _own(view: BeatView, choice: Choice) -> Suggestion:
    found = next((each for each in view.exchange.offered if each.id == choice.suggestion), None)
    if found is None or found.to != view.session.id:
        raise ToolProblem("no suggestion for this session has that id")
    return found


def _by(view: BeatView) -> DecidedBy:
    return DecidedBy(f"session:{view.session.id}", f"the model of {view.session.id}")
