"""Who has a thread: taken or handed over once, told once, and a page ends by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from blocks import ids
from blocks.cards.incoming_alert import hand_over_click
from bot.casework.approvers import Approvers
from bot.domain.returns import CodeOwner
from bot.errors import Conflict, InputError, ProviderError, Unavailable
from bot.ports import Person
from handlers.buttons.draft_buttons import NOT_YOURS
from handlers.buttons.hand_over_buttons import HandOverButtons
from tests.builders import THREAD_ID, a_return
from tests.casework.office import ANN, BEN, Office, crash_everywhere
from tests.casework.test_alerts import told
from tests.fakes import Faults

CARL = "U3"


def paged(folder: Path, faults: Faults | None = None) -> Office:
    """Return an office in which an alert rings."""
    office = Office(folder, faults=faults, pages={"again_after": "10m"})
    office.arrive(told())
    office.work()
    return office


def test_whoever_has_it_ends_the_ringing(tmp_path: Path) -> None:
    """The first of two clicks on one card counts; the other is told who has it."""
    office = paged(tmp_path)
    [state] = office.store.threads()
    click = hand_over_click(state)
    office.hand_overs.take(click, by=BEN)
    with pytest.raises(Conflict, match="<@U2> has it"):
        office.hand_overs.take(click, by=CARL)
    [state] = office.store.threads()
    assert (state.assignee, state.handed, state.paging.acknowledged_by) == (BEN, None, BEN)
    office.clock.advance(3_600)
    office.pages.tick()
    assert office.page_chat.said == []


def test_what_is_handed_over_is_told_and_shown(tmp_path: Path) -> None:
    """A person, or a group; whoever has it may hand it on."""
    office = paged(tmp_path)
    office.workspace.groups["S1"] = frozenset({CARL})
    for to in (CARL, "S1"):
        [state] = office.store.threads()
        assert "direct message" in office.hand_overs.hand(hand_over_click(state), to, by=BEN)
    assert [one for one, _ in office.page_chat.said] == [CARL, "S1"]
    office.hand_overs.tick()
    assert len(office.page_chat.said) == 2


@pytest.mark.parametrize("to", ["", "C0OPS", "S0EMPTY", "U0GUEST", "<!channel>"])
def test_only_a_member_or_a_group_of_members_gets_it(tmp_path: Path, to: str) -> None:
    """What a dialogue sends is not believed."""
    office = paged(tmp_path)
    office.workspace.people["U0GUEST"] = Person(user_id="U0GUEST", name="Gus", is_guest=True)
    office.workspace.groups["S0EMPTY"] = frozenset()
    [state] = office.store.threads()
    with pytest.raises(InputError):
        office.hand_overs.hand(hand_over_click(state), to, by=BEN)
    assert office.store.threads() == [state]


def test_a_chat_that_is_away_is_told_later_and_a_refusal_is_said(tmp_path: Path) -> None:
    """Who has it is known at once."""
    office = paged(tmp_path)
    for error, untold in ((Unavailable("away"), True), (ProviderError("user_disabled"), False)):
        office.page_chat.refuses[CARL] = error
        [state] = office.store.threads()
        office.hand_overs.hand(hand_over_click(state), CARL, by=BEN)
        [state] = office.store.threads()
        assert state.handed is not None
        assert state.handed.is_told is not untold
    assert "user_disabled" in office.messenger.told[-1]


def test_wherever_it_dies_whoever_gets_it_is_told_once(tmp_path: Path) -> None:
    """Before and after the record, and before and after the message."""

    def handed(office: Office) -> None:
        office.arrive(told())
        office.work()
        [state] = office.store.threads()
        office.hand_overs.hand(hand_over_click(state), CARL, by=BEN)

    def begun(faults: Faults) -> Office:
        return Office(tmp_path, faults=faults)

    for point, office in crash_everywhere(begun, handed):
        office.restart()
        office.clock.advance(60)
        office.hand_overs.tick()
        handed_to = [state.assignee for state in office.store.threads()]
        assert len(office.page_chat.said) == (handed_to == [CARL]), point


def test_a_replica_leaves_it_to_the_click_to_tell(tmp_path: Path) -> None:
    """Two that look for the message at the same time would both post it."""
    office = paged(tmp_path)
    office.page_chat.refuses[CARL] = Unavailable("away")
    [state] = office.store.threads()
    office.hand_overs.hand(hand_over_click(state), CARL, by=BEN)
    office.page_chat.refuses.clear()
    office.hand_overs.tick()
    assert office.page_chat.said == []
    office.clock.advance(60)
    office.hand_overs.tick()
    assert [one for one, _ in office.page_chat.said] == [CARL]


def test_the_dialogue_offers_owners_groups_and_colleagues(tmp_path: Path) -> None:
    """An owner whom the chat does not know is not offered; nobody stands there twice."""
    owners = (CodeOwner(name="Ben", email="ben@acme.example"), CodeOwner(name="Gone", email="gone@acme.example"))
    office = Office(tmp_path, a_return(owners=owners)).asked()
    office.workspace.mails["ben@acme.example"] = BEN
    office.workspace.groups |= {"S1": frozenset({CARL}), "C0OPS": frozenset({ANN, BEN})}
    state = office.store.get(THREAD_ID)
    assert state is not None
    offered = office.hand_overs.choices(hand_over_click(state))
    assert [one.place_id for one in offered] == [BEN, "S1", ANN]


def test_only_approvers_take_or_hand_over(tmp_path: Path) -> None:
    """At the click and at the submit; nobody else changes who has it."""
    office, said = paged(tmp_path), list[str]()
    office.workspace.groups["C0OPS"] = frozenset({BEN})
    approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=office.workspace)
    buttons = HandOverButtons(office.hand_overs, approvers, say=lambda click, text, typed=None: said.append(text))
    [state] = office.store.threads()
    value = ids.CLICK.encode(hand_over_click(state))
    view = {"private_metadata": value, "state": {"values": {ids.PERSON: {ids.INPUT: {"selected_user": CARL}}}}}
    for user in (ANN, BEN):
        body = {"user": {"id": user, "team_id": "T1"}, "channel": {"id": "C0OPS"}}
        buttons.views[ids.HAND_VIEW](ack=lambda **_: None, body=body, view=view)
    [state] = office.store.threads()
    assert said[0] == NOT_YOURS
    assert (state.assignee, state.handed and state.handed.by) == (CARL, BEN)
    body = {"user": {"id": ANN, "team_id": "T1"}, "channel": {"id": "C0OPS"}}
    buttons.actions[ids.HAVE_IT](ack=lambda **_: None, body=body, action={"value": value}, client=None)
    assert office.store.threads() == [state]
