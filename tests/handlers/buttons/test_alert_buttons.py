"""The buttons of an alert: who may, who is answered, what the card shows in the end, hostile values refused."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from blocks import ids
from blocks.cards.alert_card import alert_blocks
from bot.casework.approvers import Approvers
from bot.domain.heartbeats.alerts import Alert, OpenFinding, Place, finding_digest
from bot.domain.heartbeats.beats import Delivered, Wake
from bot.errors import InputError, ProviderError
from bot.heartbeat.pages import FindingResponses
from bot.heartbeat.session_registry import Session, SessionMemory, SessionRegistry
from bot.ports.collections import OVERRIDES
from handlers.buttons.alert_buttons import NOT_YOUR_ALERT as NOT_YOURS
from handlers.buttons.alert_buttons import AlertActions, AlertButtons
from handlers.buttons.decision_handler import say_beside
from tests.fakes import FakeClock, FakeWorkspace, MemoryStore, in_memory
from tests.heartbeat.builders import AT, OWNERS, alert_router
from tests.heartbeat.clockwork import session_settings
from tests.payloads import payload
from tests.tables import each_row

ANA, BEN, EVE = "U0ANA", "U2", "U0EVE"
KEY = "shop/ci/main-red"
VALUE = ids.FINDING.encode(ids.FindingValue("shop", finding_digest(KEY)))
CHANGING = [ids.ACKNOWLEDGE, ids.FIXED, ids.SNOOZE, ids.RUN_NOW, ids.INVESTIGATE, ids.OPEN_PLAYBOOK]


class Edge:
    """The listeners over a session of Ana's with one open finding; Ben may approve, Eve is nobody."""

    def __init__(self, folder: Path, **beat: Any) -> None:
        self.clock, self.storage = FakeClock(AT), MemoryStore()
        self.store = SessionMemory(self.storage)
        self.clock.advance(600)
        self.store.save("shop", lambda state: state.with_findings(FINDING))
        workspace = FakeWorkspace()
        workspace.groups["C0OPS"] = frozenset({BEN})
        approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=workspace)
        approvers.refresh()
        self.playbook = folder / "HEARTBEAT.md"
        self.playbook.write_text("# Heartbeat\n\n## Quick Tasks\n\n- [ ] Look\n")
        self.told: list[tuple[str, str, str]] = []
        self.shown: list[tuple[Place, Alert]] = []
        self.woken: list[tuple[str, Wake]] = []
        self.asked: list[tuple[str, str]] = []
        self.opened: list[dict[str, Any]] = []
        self.acks = 0
        self.trouble: ProviderError | None = None
        self.expired = self.mute = False
        desk = AlertActions(
            owners=OWNERS,
            sessions=SessionRegistry(
                {"shop": session_settings(folder, owner=ANA, name="Shop", **beat)},
                in_memory(OVERRIDES),
            ),
            findings=FindingResponses(self.store, alert_router({"slack": self}, self.store, self.clock), self.clock),
            wake=self._wake,
            ask=self._ask,
        )
        self.listeners = AlertButtons(desk, approvers, say=say_beside(self._tell, "C0OPS"))

    def press(
        self, name: str, value: object = VALUE, *, by: str = ANA, team: str = "T1", channel: str = "D0ANA"
    ) -> None:
        """Click, as Slack tells of it; for a snooze `value` is the chosen option's."""
        body = payload("block_actions")
        body["user"] = {**body["user"], "id": by, "team_id": team}
        body["channel"], body["container"]["channel_id"] = {"id": channel, "name": "directmessage"}, channel
        action: dict[str, Any] = {**body["actions"][0], "value": value}
        if name == ids.SNOOZE:
            chosen = f"1 h!{value}" if value == VALUE else value
            action = {"type": "static_select", "action_id": ids.SNOOZE, "selected_option": {"value": chosen}}
        self.listeners.actions[name](self._ack, body, action, self)

    @property
    def finding(self) -> OpenFinding:
        return self.store.load("shop").findings[KEY]

    @property
    def last_word(self) -> str:
        return self.told[-1][2]

    def views_open(self, *, trigger_id: str, view: Any) -> None:
        """Be Slack's client."""
        if self.expired:
            raise SlackApiError("refused", {"ok": False, "error": "expired_trigger_id"})
        self.opened.append({"trigger_id": trigger_id, **view.to_dict()})

    def _ack(self, **_: Any) -> None:
        self.acks += 1

    def _tell(self, *words: str) -> None:
        if self.mute:
            raise ProviderError("user_not_in_channel")
        self.told.append(words)  # type: ignore[arg-type]

    def send(self, to: str, alert: Alert) -> list[Place]:
        """Be the surface, of which no click sends anything."""
        raise AssertionError((to, alert))

    def update(self, at: Place, alert: Alert) -> None:
        """Be the surface that shows the cards of Ana's session."""
        self.shown.append((at, alert))
        if self.trouble:
            raise self.trouble

    def _wake(self, session_id: str, wake: Wake) -> str:
        self.woken.append((session_id, wake))
        return "A check of shop is queued."

    def _ask(self, session: Session, finding: OpenFinding, by: str) -> str:
        if self.trouble:
            raise self.trouble
        self.asked.append((f"{session.id}: {finding.text}", by))
        return "Asked in <#C0OPS>."


FINDING = OpenFinding(key=KEY, task="ci", text="Main is red.", first_at=AT, last_at=AT)


@pytest.fixture
def edge(tmp_path: Path) -> Edge:
    return Edge(tmp_path)


def test_an_acknowledgement_is_on_the_card_that_was_clicked(edge: Edge) -> None:
    """The owner is answered by the card alone."""
    edge.press(ids.ACKNOWLEDGE)
    assert edge.finding.acknowledged_by == ANA
    [(place, alert)] = edge.shown
    assert place == ("D0ANA", "1800000000.000001")
    assert "<@U0ANA> acknowledged it" in repr([block.to_dict() for block in alert_blocks(alert)])
    assert (edge.told, edge.acks) == ([], 1)


TELEGRAM = Delivered(mode="explicit", channel="telegram", to="77")


@pytest.mark.parametrize(
    ("by", "channel", "follows"), [(ANA, "D0ANA", True), (ANA, "C0OPS", False), (BEN, "D0BEN", False)]
)
def test_alerts_follow_the_owner_to_where_they_acted_last(edge: Edge, by: str, channel: str, follows: bool) -> None:
    """In private only: no channel, and nobody else's messages, is where a session's owner is told."""
    edge.store.save("shop", lambda state: state.evolve(last_place=TELEGRAM, last_owner=ANA))
    edge.press(ids.ACKNOWLEDGE, by=by, channel=channel)
    here = Delivered(mode="last", channel="slack", to=ANA)
    assert edge.store.load("shop").last_place == (here if follows else TELEGRAM)


def test_an_approver_may_act_for_the_owner(edge: Edge) -> None:
    """Somebody has to when she sleeps."""
    edge.press(ids.FIXED, by=BEN)
    assert edge.finding.fixed_by == BEN


@each_row("name", CHANGING)
@each_row("by, team", [(EVE, "T1"), (ANA, "T2"), (BEN, "T2"), ("", "T1")])
def test_nobody_else_may_do_anything(edge: Edge, name: str, by: str, team: str) -> None:
    """Not a stranger, nor who has the owner's id in another workspace; the state stays as it was."""
    before = edge.store.load("shop")
    edge.told.clear()
    acks = edge.acks
    edge.press(name, by=by, team=team)
    assert edge.store.load("shop") == before
    assert (edge.shown, edge.woken, edge.asked, edge.opened) == ([], [], [], [])
    assert edge.told == [("D0ANA", by, NOT_YOURS)]
    assert edge.acks == acks + 1


@each_row("name", CHANGING)
@each_row(
    "value",
    [
        "",
        None,
        7,
        "shop",
        "shop|",
        f"../../etc|{finding_digest(KEY)}",
        f"SHOP|{finding_digest(KEY)}",
        f"gone|{finding_digest(KEY)}",
        f"{VALUE}|more",
        "x" * 5_000,
        ["shop"],
    ],
)
def test_a_value_that_is_not_ours_does_nothing_and_is_answered(edge: Edge, name: str, value: object) -> None:
    """In words, never with a traceback."""
    before = edge.store.load("shop")
    edge.told.clear()
    edge.press(name, value)
    assert edge.store.load("shop") == before
    assert (edge.shown, edge.woken, edge.asked, edge.opened) == ([], [], [], [])
    assert len(edge.told) == 1


@pytest.mark.parametrize("name", [ids.ACKNOWLEDGE, ids.FIXED, ids.SNOOZE])
@pytest.mark.parametrize("ended", [{"fixed_by": BEN}, {"resolved_at": AT}])
def test_who_comes_late_is_told_that_it_closed_and_sees_how(edge: Edge, name: str, ended: dict[str, Any]) -> None:
    """Nothing changes; the card that was behind is brought up to date."""
    edge.store.save("shop", lambda state: state.with_findings(FINDING.evolve(**ended)))
    before = edge.store.load("shop")
    edge.press(name)
    assert edge.store.load("shop") == before
    assert "closed already" in edge.last_word
    [(_, alert)] = edge.shown
    assert not [block for block in alert_blocks(alert) if block.type == "actions"]


def test_of_two_who_acknowledge_the_second_is_told_of_the_first(edge: Edge) -> None:
    """The first keeps it."""
    edge.press(ids.ACKNOWLEDGE, by=BEN)
    edge.press(ids.ACKNOWLEDGE)
    assert edge.finding.acknowledged_by == BEN
    assert edge.last_word == "<@U2> has already acknowledged this."


@pytest.mark.parametrize(("words", "hours"), [("1 h", 1), ("4 h", 4), ("24 h", 24)])
def test_a_snooze_lasts_as_long_as_was_chosen(edge: Edge, words: str, hours: int) -> None:
    """From the click on."""
    edge.press(ids.SNOOZE, f"{words}!{VALUE}")
    assert edge.finding.snoozed_until == edge.clock.now() + timedelta(hours=hours)
    assert edge.last_word == f"Snoozed for {words}. Checks keep running."


def test_run_now_asks_as_a_person_asks(edge: Edge) -> None:
    """And says what becomes of it."""
    edge.press(ids.RUN_NOW)
    assert edge.woken == [("shop", Wake.ON_DEMAND)]
    assert edge.last_word == "A check of shop is queued."


def test_investigate_asks_about_the_finding_in_the_name_of_who_clicked(edge: Edge) -> None:
    """Whatever becomes of the alert."""
    edge.press(ids.INVESTIGATE, by=BEN)
    assert edge.asked == [("shop: Main is red.", BEN)]
    assert edge.last_word == "Asked in <#C0OPS>."
    [(_, alert)] = edge.shown
    assert f"<@{BEN}> started an investigation" in str([block.to_dict() for block in alert_blocks(alert)])


def test_the_playbook_is_shown_as_it_stands(edge: Edge) -> None:
    """In a dialogue opened with the click's own trigger."""
    edge.press(ids.OPEN_PLAYBOOK)
    [view] = edge.opened
    assert view["trigger_id"] == "111.222.abc"
    assert "- [ ] Look" in str(view["blocks"])


def test_without_an_owner_nobody_is_one(tmp_path: Path) -> None:
    """An empty id is no id."""
    edge = Edge(tmp_path)
    with pytest.raises(InputError):
        ids.FINDING.decode("|")
    edge.press(ids.ACKNOWLEDGE, by="", team="T1")
    assert edge.finding.acknowledged_by is None


def test_whom_a_page_is_escalated_to_may_have_it_and_every_card_shows_it(tmp_path: Path) -> None:
    """The owner's card and the copies are brought up to date with the one that was clicked."""
    edge = Edge(tmp_path, then="U0BOSS")
    copies = (("D0BOSS", "7.1"), ("D0BEN", "7.2"))
    edge.store.save("shop", lambda s: s.with_findings(FINDING.evolve(place="D0ANA", reference="7.0", copies=copies)))
    edge.press(ids.ACKNOWLEDGE, by="U0BOSS", channel="D0BOSS")
    assert edge.finding.acknowledged_by == "U0BOSS"
    assert {place for (place, _), _ in edge.shown} == {"D0ANA", "D0BOSS", "D0BEN"}
