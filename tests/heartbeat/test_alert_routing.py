"""An alert reaches its owner once, is kept up to date in place, and is closed once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import responses

from bot.adapters.notify import WebhookSurface
from bot.domain.heartbeats.alerts import BeatOutcome, OpenFinding, finding_digest
from bot.domain.heartbeats.beats import Delivered, Finding
from bot.domain.heartbeats.session_state import KEPT_OPEN_FINDINGS
from bot.domain.tiers import Tier
from bot.errors import Conflict, InputError, ProviderError, Unconfirmed
from bot.heartbeat.alert_routing import DeliveryResult
from bot.heartbeat.pages import FindingResponses
from bot.heartbeat.session_registry import SessionMemory
from tests.fakes import FakeClock, MemoryStore
from tests.heartbeat.builders import AT, a_session, alert_router
from tests.heartbeat.surface import FakeSurface
from tests.tables import each_row

RED = Finding(key="shop/ci/main-red", task="ci", text="Main is red.")
DISK = Finding(key="shop/disk/full", task="disk", text="The disk is full.")


class Desk:
    """A session, its surfaces and its state."""

    def __init__(self, cwd: Path, **beat: Any) -> None:
        self.session = a_session(cwd, beat=beat)
        self.slack, self.telegram, self.webhook = FakeSurface(), FakeSurface(), FakeSurface()
        self.store = SessionMemory(MemoryStore())
        self.clock = FakeClock(AT)
        surfaces = {"slack": self.slack, "telegram": self.telegram, "webhook": self.webhook}
        self.delivery = alert_router(surfaces, self.store, self.clock)
        self.findings = FindingResponses(self.store, self.delivery, self.clock)

    def beat(
        self,
        *findings: Finding,
        checked: tuple[str, ...] = ("ci", "disk"),
        ok: str = "",
        notes: tuple[str, ...] = (),
        reasoning: str | None = None,
    ) -> DeliveryResult:
        """Deliver what a beat found now."""
        outcome = BeatOutcome(
            findings=findings,
            checked=frozenset(checked),
            standing=frozenset({"ci", "disk", "flags", "other"}),
            at=self.clock.now(),
            tier=Tier.QUICK,
            ok_text=ok,
            notes=notes,
            reasoning=reasoning,
        )
        return self.delivery.deliver(self.session, outcome)

    def later(self, **delta: float) -> None:
        self.clock.advance(timedelta(**delta).total_seconds())

    def state(self, finding: Finding = RED) -> Any:
        return self.store.load("shop").findings[finding.key]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_finding_is_sent_to_the_owner_once(desk: Desk) -> None:
    """The next beat that sees it brings its card up to date and says nothing."""
    sent = desk.beat(RED)
    assert (sent.delivered, sent.silent) == (Delivered(mode="last", channel="slack", to="U0ANA"), False)
    desk.later(minutes=30)
    again = desk.beat(replace_text(RED, "Main is still red."))
    assert again.silent
    assert again.suppressed == (RED.key,)
    assert desk.slack.texts == ["Main is red."]
    assert [alert.text for _, alert in desk.slack.updated] == ["Main is still red."]


def replace_text(finding: Finding, text: str) -> Finding:
    return finding.model_copy(update={"text": text})


def test_the_same_finding_is_said_again_after_the_window_and_not_before(desk: Desk) -> None:
    """A repeat that was suppressed does not make the silence longer."""
    desk.beat(RED)
    desk.later(hours=23, minutes=59)
    assert desk.beat(RED).silent
    desk.later(minutes=1)
    assert not desk.beat(RED).silent


def test_what_is_gone_is_closed_once_and_news_when_it_comes_back(desk: Desk) -> None:
    """The window holds for what stays, not for what returns."""
    desk.beat(RED)
    desk.later(minutes=30)
    desk.beat()
    desk.later(minutes=30)
    desk.beat()
    assert [alert.finding.resolved_at is not None for _, alert in desk.slack.updated if alert.finding] == [True]
    desk.later(minutes=30)
    assert not desk.beat(RED).silent


def test_a_beat_that_did_not_check_the_task_closes_nothing(desk: Desk) -> None:
    """A quick beat knows nothing of what an hourly one found."""
    desk.beat(RED)
    desk.beat(checked=("disk",))
    assert desk.state().is_open
    assert not desk.slack.updated


def test_a_send_that_failed_is_made_again_by_the_next_beat(desk: Desk) -> None:
    """Only a confirmed send is remembered; the problem is told to the caller."""
    for problem in (ProviderError("user_not_found"), Unconfirmed("no answer")):
        desk.slack.refuses = problem
        sent = desk.beat(RED)
        assert (sent.silent, sent.problem) == (True, problem)
    desk.slack.refuses = None
    assert not desk.beat(RED).silent
    assert desk.slack.texts == ["Main is red."]


def test_an_acknowledged_finding_is_not_said_again_even_after_the_window(desk: Desk) -> None:
    """Somebody has it; whoever comes second is told who."""
    desk.beat(RED)
    desk.findings.acknowledge("shop", finding_digest(RED.key), by="U0ANA")
    desk.later(hours=30)
    assert desk.beat(RED).silent
    with pytest.raises(Conflict, match="<@U0ANA> has already acknowledged"):
        desk.findings.acknowledge("shop", finding_digest(RED.key), by="U0BEN")


def test_a_snooze_silences_its_finding_and_rings_again_when_it_is_over(desk: Desk) -> None:
    """Others are said meanwhile; the window does not count for what was snoozed."""
    desk.beat(RED)
    desk.findings.snooze("shop", finding_digest(RED.key), "1 h")
    desk.later(minutes=59)
    assert desk.beat(RED, DISK).suppressed == (RED.key,)
    desk.later(minutes=1)
    desk.beat(RED, DISK)
    assert desk.slack.texts == ["Main is red.", "The disk is full.", "Main is red."]
    desk.later(minutes=5)
    assert desk.beat(RED, DISK).silent


def test_what_was_called_fixed_and_is_seen_again_is_a_new_alert(desk: Desk) -> None:
    """It begins anew, unacknowledged."""
    desk.beat(RED)
    desk.findings.fix("shop", finding_digest(RED.key), by="U0BEN")
    desk.later(minutes=30)
    assert not desk.beat(RED).silent
    assert desk.state().fixed_by is None
    assert desk.state().first_at == desk.clock.now()


def test_a_finding_is_looked_into_once_and_again_only_if_that_could_not_be_asked(desk: Desk) -> None:
    """Two clicks are one question, and one bill; who died between asking and noting it asks the same again."""
    desk.beat(RED)
    asked: list[str] = []

    def ask(found: OpenFinding) -> str:
        asked.append(found.text)
        if len(asked) == 1:
            raise ProviderError("the disk is full")
        return "Asked."

    def click(by: str) -> str:
        return desk.findings.investigate("shop", finding_digest(RED.key), by=by, ask=ask)[1]

    with pytest.raises(ProviderError):
        click("U0ANA")
    assert click("U0BEN") == "Asked."
    with pytest.raises(Conflict, match="<@U0BEN> has already started an investigation"):
        click("U0ANA")
    assert len(asked) == 2


def test_a_button_of_an_alert_that_is_closed_says_how_it_closed(desk: Desk) -> None:
    """Nothing is changed then."""
    desk.beat(RED)
    desk.beat()
    with pytest.raises(Conflict, match="closed already"):
        desk.findings.acknowledge("shop", finding_digest(RED.key), by="U0ANA")
    with pytest.raises(InputError, match="no longer stored"):
        desk.findings.fix("shop", "0" * 16, by="U0ANA")


def test_without_an_owner_there_is_no_route_and_a_channel_is_never_one(tmp_path: Path) -> None:
    """Nobody is told."""
    desk = Desk(tmp_path)
    session = replace(desk.session, owner="")
    assert desk.delivery.route(session, desk.store.load("shop")) is None


def test_an_owner_whose_own_way_is_not_there_is_told_in_slack(tmp_path: Path) -> None:
    """A line about the beats themselves; alerts have no route meanwhile, and the beats say so."""
    desk = Desk(tmp_path)
    deliver = {"mode": "explicit", "channel": "telegram", "to": "77"}
    session = a_session(tmp_path, beat={"deliver": deliver})
    delivery = alert_router({"slack": desk.slack}, desk.store, desk.clock)
    assert delivery.route(session, desk.store.load("shop")) is None
    delivery.tell_owner_or_ops(session, "shop does not beat")
    assert [(to, alert.text) for to, alert in desk.slack.sent] == [("U0ANA", "shop does not beat")]


def test_mode_none_is_a_route_that_only_remembers(tmp_path: Path) -> None:
    """The beat runs, the log has it, nobody is told."""
    desk = Desk(tmp_path, deliver={"mode": "none"})
    assert desk.beat(RED).silent
    assert not desk.slack.sent
    assert desk.state().text == "Main is red."


@each_row("channel, to", [("telegram", "77"), ("slack", "U0OLD")])
def test_who_owns_a_session_now_is_told_and_not_who_did(desk: Desk, channel: Any, to: str) -> None:
    """Wherever the owner before them was last reached."""
    last = Delivered(mode="last", channel=channel, to=to)
    state = desk.store.save("shop", lambda state: state.evolve(last_place=last, last_owner="U0OLD"))
    assert desk.delivery.route(desk.session, state) == Delivered(mode="last", channel="slack", to="U0ANA")


def test_an_owner_is_told_where_they_were_last_reached(tmp_path: Path) -> None:
    """In private, over another surface than Slack."""
    desk = Desk(tmp_path, deliver={"mode": "explicit", "channel": "telegram", "to": "77"})
    desk.beat(RED)
    route = desk.delivery.route(a_session(tmp_path), desk.store.load("shop"))
    assert route == Delivered(mode="last", channel="telegram", to="77")


def test_an_alert_is_closed_where_it_stands_whichever_way_leads_to_its_owner_now(desk: Desk) -> None:
    """In Slack, though the session tells its owner in Telegram by now."""
    desk.beat(RED)
    desk.session = a_session(desk.session.cwd, beat={"deliver": {"mode": "explicit", "channel": "telegram", "to": "7"}})
    desk.beat()
    [(posted, alert)] = desk.slack.updated
    assert (posted[1], alert.severity, desk.telegram.updated) == ("ts1", None, [])


def test_an_explicit_place_is_used_and_a_channel_is_not_remembered_as_private(tmp_path: Path) -> None:
    """`last` goes to private places only."""
    desk = Desk(tmp_path, deliver={"mode": "explicit", "channel": "slack", "to": "C0ENG"})
    desk.beat(RED)
    assert [to for to, _ in desk.slack.sent] == ["C0ENG"]
    assert desk.store.load("shop").last_place is None


def test_a_webhooks_address_is_kept_out_of_state_and_record(tmp_path: Path) -> None:
    """Its path may be a secret."""
    secret = "https://hooks.example.com/T0/very-secret-path"
    desk = Desk(tmp_path, deliver={"mode": "explicit", "channel": "webhook", "to": secret})
    delivery = alert_router({"webhook": WebhookSurface()}, desk.store, desk.clock)
    outcome = BeatOutcome(findings=(RED,), checked=frozenset(), standing=frozenset(), at=AT, tier=None)
    with responses.RequestsMock() as web:
        web.post(secret)
        sent = delivery.deliver(desk.session, outcome)
        assert len(web.calls) == 1
    assert sent.delivered is not None
    assert sent.delivered.to == "https://hooks.example.com"
    assert "very-secret" not in desk.store.load("shop").model_dump_json()


def test_visibility_keeps_alerts_back_and_lets_ok_through(tmp_path: Path) -> None:
    """Each by its own switch."""
    desk = Desk(tmp_path, visibility={"show_alerts": False, "show_ok": True})
    assert desk.beat(RED, ok="Nothing new.").silent
    sent = desk.beat(ok="All is well.")
    assert (sent.silent, sent.says_ok, desk.slack.texts) == (False, True, ["All is well."])


def test_nobody_is_told_that_all_is_well_unless_they_asked(desk: Desk) -> None:
    """Silence means all is well."""
    assert desk.beat(ok="All is well.").silent


@each_row(
    "channel, to, private",
    [
        ("slack", "U1", True),
        ("slack", "D1", True),
        ("slack", "C1", False),
        ("slack", "G1", False),
        ("telegram", "123", True),
        ("telegram", "-1001", False),
        ("telegram", "@all", False),
        ("webhook", "https://x", False),
    ],
)
def test_a_private_place_is_read_by_one_person(channel: Any, to: str, private: bool) -> None:
    """Groups and webhooks are not."""
    assert Delivered(mode="explicit", channel=channel, to=to).is_private is private


def test_a_click_while_the_alert_is_on_its_way_is_not_lost(desk: Desk) -> None:
    """Who is quicker than our note that it was sent has it all the same."""
    desk.slack.meanwhile = lambda: desk.findings.acknowledge("shop", finding_digest(RED.key), by="U0ANA")
    desk.beat(RED)
    assert desk.state().acknowledged_by == "U0ANA"
    assert desk.state().reference == "ts1"


def test_what_is_called_fixed_while_the_alert_is_on_its_way_is_news_when_it_is_seen_again(desk: Desk) -> None:
    """The stamp of the send does not silence it."""
    desk.slack.meanwhile = lambda: desk.findings.fix("shop", finding_digest(RED.key), by="U0ANA")
    desk.beat(RED)
    desk.later(minutes=30)
    desk.beat(RED)
    assert len(desk.slack.sent) == 2


def test_a_click_while_the_card_is_brought_up_to_date_is_on_it_in_the_end(desk: Desk) -> None:
    """The beat paints over it and then paints it again."""
    desk.beat(RED)
    desk.slack.meanwhile = lambda: desk.findings.acknowledge("shop", finding_digest(RED.key), by="U0ANA")
    desk.later(minutes=30)
    desk.beat(RED)
    last = desk.slack.updated[-1][1].finding
    assert last is not None
    assert last.acknowledged_by == "U0ANA"


def test_a_snooze_outlives_a_send_that_failed(desk: Desk) -> None:
    """Rung again, refused: the next beat rings, window or not; the card that is sent shows no snooze."""
    desk.beat(RED)
    desk.findings.snooze("shop", finding_digest(RED.key), "1 h")
    desk.later(hours=2)
    desk.slack.refuses = ProviderError("Slack is away")
    assert str(desk.beat(RED).problem) == "Slack is away"
    desk.slack.refuses = None
    desk.later(minutes=30)
    assert not desk.beat(RED).silent
    shown = desk.slack.sent[-1][1].finding
    assert shown is not None
    assert shown.snoozed_until is None


def many(count: int) -> list[Finding]:
    return [Finding(key=f"shop/ci/n{n}", text=f"Number {n} is red.", task="ci") for n in range(count)]


def test_more_findings_than_are_kept_are_all_said(tmp_path: Path) -> None:
    """A runaway check floods the file no further than its limit; a webhook rings nobody, so it gets each."""
    desk = Desk(tmp_path, deliver={"mode": "explicit", "channel": "webhook", "to": "https://example.com/hook"})
    later = {"first_at": AT, "last_at": AT + timedelta(hours=1)}
    kept = [OpenFinding(key=f"shop/disk/n{n}", task="other", text="Full.", **later) for n in range(KEPT_OPEN_FINDINGS)]
    desk.store.save("shop", lambda state: state.with_findings(*kept))
    desk.beat(*many(3))
    assert len(desk.webhook.sent) == 3
    assert len(desk.store.load("shop").findings) == KEPT_OPEN_FINDINGS


FLAG = Finding(key="shop/flags/f", task="flags", text="Urgent flag: look")


class TestMany:
    """Fifty findings at three in the morning."""

    def test_few_ring_and_the_rest_is_one_list(self, desk: Desk) -> None:
        """The list first, an urgent flag always for itself, and every finding in one place or the other."""
        sent = desk.beat(*many(50), FLAG)
        assert len(desk.slack.sent) == 5
        the_list = desk.slack.sent[0][1]
        assert (len(the_list.listed), the_list.finding) == (47, None)
        assert "47 findings on one list" in the_list.text
        assert "… and 17 more: `/triage heartbeat why shop`" in the_list.text
        alone = [alert.finding.key for _, alert in desk.slack.sent[1:] if alert.finding]
        assert FLAG.key in alone
        assert {*alone, *(each.key for each in the_list.listed)} == {each.key for each in (*many(50), FLAG)}
        assert not sent.silent

    def test_five_at_once_need_no_list(self, desk: Desk) -> None:
        """The list comes where it makes for fewer messages."""
        desk.beat(*many(5))
        assert desk.slack.texts == [each.text for each in many(5)]

    def test_what_was_listed_is_said_again_only_after_the_window(self, desk: Desk) -> None:
        """Like any other finding; meanwhile a beat that sees it changes nothing on the list."""
        desk.beat(*many(10))
        desk.later(hours=1)
        assert desk.beat(*many(10)).silent
        assert all(alert.finding for _, alert in desk.slack.updated)
        desk.later(hours=24)
        desk.beat(*many(10))
        assert len(desk.slack.sent) == 10

    def test_what_is_gone_is_ticked_off_on_its_list_at_once(self, desk: Desk) -> None:
        """One update for however many, and each is closed; what comes back is news."""
        desk.beat(*many(10))
        desk.later(hours=1)
        desk.beat(*many(7))
        [(posted, alert)] = [(posted, alert) for posted, alert in desk.slack.updated if alert.listed]
        assert posted[1] == "ts1"
        assert "3 of 6 findings still open" in alert.text
        gone = [each.key for each in alert.listed if each.resolved_at == desk.clock.now()]
        assert gone == ["shop/ci/n7", "shop/ci/n8", "shop/ci/n9"]
        desk.later(hours=1)
        desk.beat(*many(10))
        assert len(desk.slack.sent) == 5 + 3

    def test_one_that_had_an_alert_of_its_own_is_still_shown_there(self, desk: Desk) -> None:
        """Said again on a list, it is brought up to date and closed where its buttons are."""
        desk.beat(*many(1))
        desk.later(hours=25)
        desk.beat(FLAG, *reversed(many(8)))
        assert "shop/ci/n0" in [each.key for each in desk.slack.sent[1][1].listed]
        desk.later(hours=1)
        desk.beat()
        closed = [p[1] for p, alert in desk.slack.updated if alert.finding and alert.finding.key == "shop/ci/n0"]
        assert set(closed) == {"ts1"}

    def test_one_of_a_list_that_is_said_again_alone_leaves_the_list_as_it_is(self, desk: Desk) -> None:
        """A list is nobody's earlier card, so it is not retired; from then on the new alert is kept up to date."""
        desk.beat(*many(10))
        desk.later(hours=25)
        desk.beat(many(10)[-1])
        sent = desk.slack.sent[-1][1].finding
        assert sent is not None
        assert (sent.key, sent.place, sent.reference) == ("shop/ci/n9", None, None)
        assert not desk.state(many(10)[-1]).is_listed

    def test_a_list_that_cannot_be_sent_leaves_its_findings_unsaid(self, desk: Desk) -> None:
        """The next beat says them."""
        desk.slack.refuses = ProviderError("Slack is away")
        assert str(desk.beat(*many(10)).problem) == "Slack is away"
        desk.slack.refuses = None
        desk.later(minutes=30)
        desk.beat(*many(10))
        assert len(desk.slack.sent) == 5


class TestSmallPrint:
    """What stood under an alert stands there after a click, and after a beat that has nothing to add."""

    def test_a_beat_that_says_nothing_of_itself_leaves_the_notes(self, tmp_path: Path) -> None:
        """The card is drawn again with them; a beat with notes of its own replaces them."""
        desk = Desk(tmp_path)
        desk.beat(RED, notes=("Ran late.",), reasoning="The log says so.")
        desk.later(minutes=30)
        desk.beat(RED)
        shown = desk.slack.updated[-1][1]
        assert (shown.notes, shown.reasoning) == (("Ran late.",), "The log says so.")
        desk.later(minutes=30)
        desk.beat(RED, notes=("Ran early.",))
        assert desk.slack.updated[-1][1].notes == ("Ran early.",)
