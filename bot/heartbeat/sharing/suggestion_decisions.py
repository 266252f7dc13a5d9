"""How suggestions are sent, and what becomes of them: accepted, added to the session's own playbook; else remembered.

What is to be done is on file before it is done, and doing it twice changes nothing, so that a crash in between costs
neither a decision nor a second line. Who may decide is asked by the caller. A model decides with tools: the master's
chooses among offers, a worker's on what it was offered. Ids are all it can name; to whom a suggestion goes, what task
it carries and whose playbook changes is settled by code.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Final

from pydantic import Field

from bot.agent.tools.base import Arguments, Tool, ToolProblem
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind
from bot.domain.playbook import Playbook, parse
from bot.domain.playbooks.playbook_edits import add, move_task
from bot.domain.playbooks.playbook_entries import task_id
from bot.domain.sharing.suggestions import (
    SUGGESTION_ID,
    DecidedBy,
    Suggestion,
    SuggestionStatus,
    check_keys,
    decision_lines,
)
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.run.beat_record import BeatView, PlaybookEdit
from bot.heartbeat.sessions.session_registry import Session, SessionMemory, SessionRegistry
from bot.ports import Clock, DecisionLog
from bot.ports.collections import Collection

log = logging.getLogger(__name__)

_SEND: Final = "Send one of `suggestions_to_send` to its session, by its id, and nothing else; say why."
_ACCEPT: Final = "Accept one of `suggestions_for_you`: its task is added to your own HEARTBEAT.md. Say why."
_REJECT: Final = "Reject one of `suggestions_for_you`: it is not offered again. Say why."


@dataclass(frozen=True, slots=True)
class SuggestionDecisions:
    """Sends suggestions and carries out decisions on them, one at a time."""

    sessions: SessionRegistry
    states: SessionMemory
    suggestions: Collection[Suggestion]
    decisions: DecisionLog
    clock: Clock
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    @property
    def master(self) -> Session | None:
        """The master session, if there is one."""
        return next((session for session in self.sessions.all() if session.is_master), None)

    def send(self, suggestion: Suggestion) -> Suggestion:
        """Put a new suggestion on file, then into its session's inbox unless a human reads it first.

        Raises:
            InputError: it was offered before.
            StoreError: the disk refuses; where it is on file the rest is done later.
        """
        with self._one_at_a_time:
            if not self.suggestions.add(suggestion.id, suggestion):
                raise InputError(f"{suggestion.id} was offered before")
            return self._settled(suggestion)

    def decide(
        self, offer: Suggestion, status: SuggestionStatus, by: DecidedBy, why: str = "", *, has_read: bool = False
    ) -> Suggestion:
        """Accept or reject: add the task to its session's playbook, or remember that the session does not want it.

        `has_read` says that a human saw a quarantined one as data.

        Raises:
            Conflict: somebody has decided; it says who.
            InputError: it is quarantined and nobody has read it, or the playbook does not take it; it waits as before.
            StoreError: the disk refuses; where the decision is on file it is carried out later.
        """

        def decided(now: Suggestion) -> Suggestion:
            after = now.decided(status, by, self.clock.now(), why)
            if status is SuggestionStatus.ACCEPTED:
                if now.quarantine and not has_read:
                    raise InputError(f"{now.id} was not accepted: it is quarantined; read it as data first.")
                with suppress(StoreError):
                    with_suggested(playbook_of(self.sessions.get(now.to)).peek() or parse(""), now)
            return after

        with self._one_at_a_time:
            return self._settled(self.suggestions.change(offer.id, decided))

    def settle(self) -> None:
        """Carry out what is on file and not carried out: by a process that died, or while the disk refused."""
        with self._one_at_a_time:
            for suggestion in self.suggestions.all():
                try:
                    if suggestion.settled_at is None:
                        self._settled(suggestion)
                except (InputError, StoreError) as error:
                    action = {"action": "suggestion_unsettled"}
                    log.warning("%s is not carried out: %s", suggestion.id, error, extra=action)

    def _settled(self, suggestion: Suggestion) -> Suggestion:
        """Carry out what the status says and write it down; a second time changes nothing."""
        if suggestion.status is SuggestionStatus.OPEN:
            self.states.send(_message(suggestion, self.master))
        if suggestion.status is SuggestionStatus.ACCEPTED:
            playbook_of(self.sessions.get(suggestion.to)).change(lambda now: with_suggested(now, suggestion))
        for mark, line in decision_lines(suggestion):
            self.decisions.note(mark, line)
        return self.suggestions.evolve(suggestion.id, settled_at=self.clock.now())


def _message(suggestion: Suggestion, master: Session | None) -> InboxMessage:
    """Return a suggestion as its session's inbox holds it."""
    said = {"id", "to", "tier", "task", "from_", "reason", "moves_from"}
    return InboxMessage(
        at=suggestion.at,
        from_=master.id if master else suggestion.from_,
        to=suggestion.to,
        kind=MessageKind.SUGGESTION,
        text=f"{suggestion.id}: a {suggestion.tier} task is suggested: {suggestion.task}",
        data={"suggestion": suggestion.model_dump(mode="json", include=said, by_alias=True)},
    )


def with_suggested(playbook: Playbook, suggestion: Suggestion) -> Playbook:
    """Return the playbook with what was suggested; unchanged where the check stands there, whoever put it there.

    Raises:
        InputError: the playbook cannot take it, or the task to be moved is gone.
    """
    tier, keys = suggestion.tier, check_keys(suggestion.task)
    if suggestion.moves_from is None:
        is_there = any(keys <= check_keys(task.text, *task.details) for _, task in playbook.all_tasks)
        return playbook if is_there else add(playbook, tier, suggestion.task)
    standing = {where: task for where, task in playbook.all_tasks if task_id(task.text) == task_id(suggestion.task)}
    if suggestion.moves_from in standing:
        return move_task(playbook, standing[suggestion.moves_from], tier)
    if tier not in standing:
        raise InputError(f"{suggestion.task!r} is no {suggestion.moves_from} task any more; somebody changed that.")
    return playbook


class Choice(Arguments):
    """Arguments of all three tools."""

    suggestion: Annotated[str, Field(pattern=SUGGESTION_ID.pattern)]
    reason: Annotated[str, Field(min_length=1, max_length=300)]


def sharing_tools(
    send: Callable[[Suggestion], Suggestion], decisions: SuggestionDecisions, view: BeatView
) -> list[Tool]:
    """Return the tools a beat has a use for; `send` is Pollination's."""
    by = DecidedBy(f"session:{view.session.id}", f"the model of {view.session.id}")

    def reject(offer: Suggestion, why: str) -> None:
        decisions.decide(offer, SuggestionStatus.REJECTED, by, why)

    def accept(offer: Suggestion, why: str) -> None:
        decisions.decide(offer, SuggestionStatus.ACCEPTED, by, why)
        moved_from = offer.moves_from
        view.edits.append(PlaybookEdit("moved" if moved_from else "added", offer.tier, offer.task, moved_from))

    def choose(among: Sequence[Suggestion], act: Callable[[Suggestion, str], object], choice: Choice) -> str:
        chosen = next((one for one in among if one.id == choice.suggestion), None)
        if chosen is None:
            raise ToolProblem("no suggestion for this session has that id")
        try:
            act(chosen, choice.reason)
        except (InputError, StoreError) as error:
            raise ToolProblem(str(error)) from error
        return "Done."

    offers, offered = view.exchange.offers, view.exchange.offered
    tools = (
        ("send_message", _SEND, offers, lambda offer, _: send(offer)),
        ("accept_suggestion", _ACCEPT, offered, accept),
        ("reject_suggestion", _REJECT, offered, reject),
    )
    return [
        Tool(name=name, description=does, arguments=Choice, call=partial(choose, among, act))
        for name, does, among, act in tools
        if among
    ]
