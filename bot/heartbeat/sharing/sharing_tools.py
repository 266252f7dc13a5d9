"""What a model may do between sessions: the master's chooses among offers, a worker's decides on what it was offered.

Ids are all it can name. To whom a suggestion goes, what task it carries and whose playbook changes is settled by code:
no argument says so, and an unknown one is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from pydantic import Field

from bot.agent.tools.base import Arguments, Tool, ToolProblem
from bot.domain.sharing.suggestions import SUGGESTION_ID, DecidedBy, Suggestion
from bot.errors import InputError, StoreError
from bot.heartbeat.run.beat_view import BeatView, EditKind, PlaybookEdit
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions

_SEND = (
    "Send one of `suggestions_to_send` to its session, by its id; your reason stays in this beat's record. "
    "Nothing else can be sent."
)
_ACCEPT = "Accept one of `suggestions_for_you`: its task is added to your own HEARTBEAT.md. Say why."
_REJECT = "Reject one of `suggestions_for_you`: it is not offered again. Say why."

_Id = Annotated[str, Field(pattern=SUGGESTION_ID.pattern)]
_Why = Annotated[str, Field(min_length=1, max_length=300)]


class Choice(Arguments):
    """Arguments of all three tools."""

    suggestion: _Id
    reason: _Why


class SharingTools:
    """Makes the tools of one beat."""

    def __init__(self, pollination: Pollination, desk: SuggestionDecisions) -> None:
        self._pollination, self._desk = pollination, desk

    def tools_for(self, view: BeatView) -> list[Tool]:
        """Return the tools this beat has a use for."""
        send = [Tool(name="send_message", description=_SEND, arguments=Choice, call=lambda c: self._send(view, c))]
        decide = [
            Tool(name="accept_suggestion", description=_ACCEPT, arguments=Choice, call=lambda c: self._accept(view, c)),
            Tool(name="reject_suggestion", description=_REJECT, arguments=Choice, call=lambda c: self._reject(view, c)),
        ]
        return [*(send if view.exchange.offers else []), *(decide if view.exchange.offered else [])]

    def _send(self, view: BeatView, choice: Choice) -> str:
        offer = next((each for each in view.exchange.offers if each.id == choice.suggestion), None)
        if offer is None:
            raise ToolProblem("no suggestion to send has that id")
        return _said(lambda: f"Sent to {self._pollination.send(offer).to}.")

    def _accept(self, view: BeatView, choice: Choice) -> str:
        own = _own(view, choice)

        def accept() -> str:
            taken = self._desk.accept(own.id, _by(view), choice.reason)
            view.edits.made.append(_edit(taken, taken.decided_at or view.started_at))
            return "Accepted: it is in your playbook."

        return _said(accept)

    def _reject(self, view: BeatView, choice: Choice) -> str:
        own = _own(view, choice)
        return _said(lambda: f"{self._desk.reject(own.id, _by(view), choice.reason).id} is not offered again.")


def _own(view: BeatView, choice: Choice) -> Suggestion:
    found = next((each for each in view.exchange.offered if each.id == choice.suggestion), None)
    if found is None or found.to != view.session.id:
        raise ToolProblem("no suggestion for this session has that id")
    return found


def _edit(taken: Suggestion, at: datetime) -> PlaybookEdit:
    """Return the acceptance as one of the beat's own edits."""
    what = EditKind.MOVE_TASK if taken.moves_from else EditKind.ADD_TASK
    return PlaybookEdit(what=what, text=taken.task, at=at, tier=taken.tier, before=taken.moves_from)


def _by(view: BeatView) -> DecidedBy:
    return DecidedBy(f"session:{view.session.id}", f"the model of {view.session.id}")


def _said(act: Callable[[], str]) -> str:
    try:
        return act()
    except (InputError, StoreError) as error:
        raise ToolProblem(str(error)) from error
