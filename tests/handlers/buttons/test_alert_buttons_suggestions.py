"""The card of a suggestion: who may decides, what is quarantined is read first, and the card follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from bot.casework.approvers import Approvers
from bot.domain.suggestions import Suggestion, SuggestionStatus
from bot.heartbeat.suggestion_desk import NOT_YOURS, SuggestionDesk
from bot.ports.feature_collections import SUGGESTIONS
from handlers.buttons.alert_buttons import SuggestionButtons
from handlers.buttons.decision_handler import say_beside
from tests.fakes import MemoryDecisionLog, in_memory
from tests.gallery.offers import OFFER, QUARANTINED
from tests.handlers.buttons.test_draft_buttons import RecordedClient
from tests.heartbeat.builders import OWNERS
from tests.heartbeat.clockwork import Clockwork
from tests.payloads import payload
from tests.tables import each_row

APPROVER, OWNER, OTHER = "U2", "U0ANN", "U0EVE"


class ShownCards:
    """Which suggestions were shown."""

    def __init__(self) -> None:
        self.shown: list[Suggestion] = []

    def show(self, suggestion: Suggestion) -> None:
        self.shown.append(suggestion)


class Edge:
    """The listeners over two suggestions for the shop, one of them quarantined."""

    def __init__(self, folder: Path) -> None:
        hours = {"start": "00:00", "end": "24:00", "timezone": "UTC"}
        works = Clockwork(folder, "shop", every="30m", active_hours=hours)
        works.workspace.groups["C0OPS"] = frozenset({APPROVER})
        approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=works.workspace)
        approvers.refresh()
        self.store, self.cards = in_memory(SUGGESTIONS), ShownCards()
        for one in (OFFER, QUARANTINED):
            given = one.id.replace("shop-api", "shop")
            self.store.add(given, one.evolve(to="shop", id=given))
        self.told: list[str] = []
        self.client, self.acks = RecordedClient([]), list[dict[str, Any]]()
        decisions = SuggestionDesk(works.sessions, works.store, self.store, MemoryDecisionLog(), works.clock)
        say = say_beside(lambda _channel, _user, text: self.told.append(text), "C0OPS")
        self.buttons = SuggestionButtons(decisions, OWNERS, self.cards, approvers, say=say)  # type: ignore[arg-type]

    def press(self, action_id: str, value: object, by: str = APPROVER) -> None:
        body = payload("block_actions")
        body["user"] = {**body["user"], "id": by, "team_id": "T1"}
        self.buttons.actions[action_id](lambda **_: None, body, {"value": value}, self.client)

    def submit(self, callback_id: str, value: object, typed: str | None = None, by: str = APPROVER) -> None:
        body = payload("view_submission")
        body["user"] = {**body["user"], "id": by, "team_id": "T1"}
        values = {ids.REASON: {ids.INPUT: {"type": "plain_text_input", "value": typed}}}
        view = {"private_metadata": value, "state": {"values": values}}
        self.buttons.views[callback_id](lambda **answer: self.acks.append(answer), body, view)

    def status(self, suggestion_id: str) -> SuggestionStatus:
        return self.store.get(suggestion_id).status


CLEAN, HELD = (one.id.replace("shop-api", "shop") for one in (OFFER, QUARANTINED))


@pytest.fixture
def edge(tmp_path: Path) -> Edge:
    return Edge(tmp_path)


@pytest.mark.parametrize("by", [APPROVER, OWNER])
def test_approvers_and_the_owner_accept(edge: Edge, by: str) -> None:
    """The card follows; whoever comes second is told who was first."""
    edge.press(ids.ACCEPT_SUGGESTION, CLEAN, by)
    assert (edge.status(CLEAN), edge.told) == (SuggestionStatus.ACCEPTED, [])
    assert [one.status for one in edge.cards.shown] == [SuggestionStatus.ACCEPTED]
    edge.press(ids.ACCEPT_SUGGESTION, CLEAN)
    assert "already" in edge.told[-1]


def test_nobody_else_opens_or_decides(edge: Edge) -> None:
    """Neither at the button nor at the submit; what was typed comes back."""
    edge.press(ids.ACCEPT_SUGGESTION, CLEAN, OTHER)
    edge.press(ids.REJECT_SUGGESTION, CLEAN, OTHER)
    assert (edge.told, edge.client.opened) == ([NOT_YOURS, NOT_YOURS], [])
    edge.submit(ids.REJECT_VIEW, CLEAN, "no", OTHER)
    assert edge.told[-1] == f"{NOT_YOURS}\nYou wrote:\n```\nno\n```"
    assert edge.status(CLEAN) is SuggestionStatus.OPEN


def test_what_is_quarantined_is_added_by_a_human(edge: Edge) -> None:
    """Its card shows it as data, and its button asks once more."""
    edge.press(ids.ACCEPT_SUGGESTION, HELD)
    assert edge.status(HELD) is SuggestionStatus.ACCEPTED


def test_a_rejection_keeps_its_reason_and_half_characters_are_said_in_the_dialogue(edge: Edge) -> None:
    """It stays open with what was typed."""
    edge.submit(ids.REJECT_VIEW, CLEAN, "half \ud83d")
    assert list(edge.acks[-1]["errors"]) == [ids.REASON]
    edge.submit(ids.REJECT_VIEW, CLEAN, "we do that by hand")
    assert (edge.acks[-1], edge.store.get(CLEAN).reason) == ({}, OFFER.reason)
    assert edge.status(CLEAN) is SuggestionStatus.REJECTED


@each_row("value", [None, "", "shop-00", "../../x", "shop-123456"])
def test_a_value_that_is_none_of_ours_decides_nothing(edge: Edge, value: object) -> None:
    """And the one who clicked hears so."""
    edge.told.clear()
    edge.press(ids.ACCEPT_SUGGESTION, value)
    edge.submit(ids.REJECT_VIEW, value, "no")
    assert (len(edge.told), list(edge.acks[-1]["errors"])) == (1, [ids.REASON])
    assert edge.cards.shown == []
