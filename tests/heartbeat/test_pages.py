"""A page rings again until somebody has it, and is escalated once; restarts and clicks included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.domain.alerts import Severity
from bot.domain.heartbeats.alerts import CLOSING, BeatOutcome, finding_digest
from bot.domain.heartbeats.beats import Finding
from bot.domain.paging import MAX_RINGS
from bot.domain.tiers import Tier
from bot.errors import ProviderError, Unavailable
from bot.heartbeat.pages import FindingResponses, Rings
from bot.heartbeat.session_registry import SessionMemory, SessionRegistry
from bot.ports.collections import OVERRIDES
from tests.fakes import FakeClock, FakeWorkspace, MemoryStore, in_memory
from tests.heartbeat.builders import AT, alert_router
from tests.heartbeat.clockwork import session_settings
from tests.heartbeat.surface import FakeSurface
from tests.tables import each_row

DOWN = Finding(key="shop/web/down", task="web", text="Production is down.", severity=Severity.PAGE)
RED = Finding(key="shop/ci/red", task="ci", text="Main is red.", severity=Severity.ACT)
DIGEST = finding_digest(DOWN.key)


class Night:
    """A session of Ann's whose beats found something; nothing beats again, only the clock goes on."""

    def __init__(self, cwd: Path, **beat: Any) -> None:
        self.disk = MemoryStore()
        self.clock, self.store, self.slack = FakeClock(AT), SessionMemory(self.disk), FakeSurface()
        settings = {"again_after": "10m", **beat}
        self.sessions = SessionRegistry({"shop": session_settings(cwd, **settings)}, in_memory(OVERRIDES))
        self.workspace = FakeWorkspace()
        self.ops: list[str] = []
        self.start()

    def start(self) -> None:
        """Begin a new process on the same disk."""
        self.delivery = alert_router({"slack": self.slack}, self.store, self.clock)
        self.findings = FindingResponses(self.store, self.delivery, self.clock)
        self.rings = Rings(
            self.sessions,
            self.store,
            self.delivery,
            self.workspace,
            self.clock,
            say=self.ops.append,
        )

    def beat(self, *findings: Finding, removed: str = "") -> None:
        """Have a beat find these; the check `removed` is not made any more."""
        standing = frozenset({"web", "ci"} - {removed})
        at = self.clock.now()
        outcome = BeatOutcome(findings=findings, checked=standing, standing=standing, at=at, tier=Tier.QUICK)
        self.delivery.deliver(self.sessions.get("shop"), outcome)

    def after(self, minutes: float) -> list[str]:
        """Let time pass, a tick each minute; return who was rung meanwhile."""
        before = len(self.slack.sent)
        for _ in range(int(minutes)):
            self.clock.advance(60)
            self.rings.tick()
        return [to for to, _ in self.slack.sent[before:]]


@pytest.fixture
def night(tmp_path: Path) -> Night:
    return Night(tmp_path)


def test_a_page_rings_again_once_every_while_and_nothing_else_does(night: Night) -> None:
    """Each ring is a message of its own; no beat is needed for it."""
    night.beat(DOWN, RED)
    assert night.after(9) == []
    assert night.after(1) == ["U0ANN"]
    assert night.after(20) == ["U0ANN", "U0ANN"]
    last = night.slack.sent[-1][1]
    assert (last.text, last.finding and last.finding.rings) == (DOWN.text, 3)


@pytest.mark.parametrize("stop", ["acknowledge", "fix", "snooze", "resolved"])
def test_whoever_has_it_stops_the_rings(night: Night, stop: str) -> None:
    """A snooze only until it is over."""
    night.beat(DOWN)
    night.after(10)
    if stop == "snooze":
        night.findings.snooze("shop", DIGEST, "1 h")
    elif stop == "resolved":
        night.beat()
    else:
        getattr(night.findings, stop)("shop", DIGEST, by="U0ANN")
    assert night.after(55) == []
    assert bool(night.after(60)) is (stop == "snooze")


def test_a_restart_neither_silences_a_page_nor_rings_it_twice(night: Night) -> None:
    """When it rang last is on disk."""
    night.beat(DOWN)
    night.after(10)
    night.start()
    assert night.after(9) == []
    assert night.after(1) == ["U0ANN"]


def test_a_ring_that_failed_is_made_at_the_next_tick(night: Night) -> None:
    """Only a confirmed one is remembered."""
    night.beat(DOWN)
    night.slack.refuses = ProviderError("Slack is away")
    assert night.after(12) == []
    night.slack.refuses = None
    assert night.after(1) == ["U0ANN"]


def test_a_click_that_its_card_does_not_show_yet_is_shown_at_the_next_tick(night: Night) -> None:
    """Once: Slack had no time for it, or the bot died after it was on file."""
    night.beat(DOWN)
    night.findings.acknowledge("shop", DIGEST, by="U0ANN")
    night.slack.refuses = Unavailable("too many messages at once")
    night.after(1)
    night.slack.refuses = None
    night.after(1)
    shown = [alert.finding.acknowledged_by for _, alert in night.slack.updated if alert.finding]
    assert shown[-1] == "U0ANN"
    night.after(1)
    assert len(night.slack.updated) == len(shown)


def endings_said(night: Night) -> list[list[str]]:
    """Return which findings' ends each line below a card named."""
    named = [[each.key for each in alert.findings if each.is_ending_unsaid] for _, alert in night.slack.updated]
    return [keys for keys in named if keys]


@pytest.mark.parametrize("is_tick_first", [False, True])
def test_how_a_finding_ended_is_said_once_though_a_tick_and_a_beat_look_at_once(
    night: Night, is_tick_first: bool
) -> None:
    """Each sees that nothing below the card says it, and only one says it; the other leaves it to that one."""
    night.beat(DOWN)
    if is_tick_first:
        night.slack.refuses = Unavailable("Slack is away")
        night.beat()
        night.slack.refuses = None
        night.clock.advance(CLOSING.total_seconds())
        night.slack.meanwhile = night.beat
        night.rings.tick()
    else:
        night.slack.meanwhile = night.rings.tick
        night.beat()
    night.after(5)
    assert endings_said(night) == [[DOWN.key]]
    assert not night.store.load("shop").findings[DOWN.key].is_unshown


def test_what_a_process_claimed_to_say_and_died_is_said_by_the_next(night: Night) -> None:
    """By a tick, without another beat, once the claim is old."""

    def die() -> None:
        raise KeyboardInterrupt

    night.beat(DOWN)
    night.slack.meanwhile = die
    with pytest.raises(KeyboardInterrupt):
        night.beat()
    night.start()
    night.rings.tick()
    assert endings_said(night) == []
    night.after(5)
    assert endings_said(night) == [[DOWN.key]]


def test_what_was_claimed_together_is_said_together_though_more_of_the_list_ended_since(night: Night) -> None:
    """The line may stand there already, and is known by whose ends it names."""
    many = [RED.evolve(key=f"shop/ci/{n}", task="ci", text=f"Number {n} is red.") for n in range(8)]
    night.beat(*many)
    listed = sorted(key for key, each in night.store.load("shop").findings.items() if each.is_listed)
    by_key = {each.key: each for each in many}
    night.slack.refuses = Unavailable("Slack is away")
    night.beat(*(by_key[key] for key in by_key if key != listed[0]))
    night.clock.advance(10)
    night.beat(*(by_key[key] for key in by_key if key not in listed[:2]))
    night.slack.refuses = None
    night.after(5)
    assert endings_said(night) == [[listed[0]], [listed[1]]]


def test_a_page_that_could_not_be_said_when_it_was_found_is_said_without_another_beat(night: Night) -> None:
    """Slack was away for a moment, and the next beat may be hours away; that one says nothing twice."""
    night.slack.refuses = Unavailable("Slack is away")
    night.beat(DOWN, RED)
    night.slack.refuses = None
    assert night.after(9) == []
    assert night.after(1) == ["U0ANN"]
    night.beat(DOWN)
    assert [alert.text for _, alert in night.slack.sent] == [DOWN.text]


def test_a_beat_that_sees_it_still_does_not_ring_beside_the_rings(night: Night) -> None:
    """A ring counts as said."""
    night.beat(DOWN)
    night.after(10)
    rung = len(night.slack.sent)
    night.beat(DOWN)
    assert len(night.slack.sent) == rung


def test_a_page_that_rings_after_its_snooze_is_not_said_again_by_the_next_beat(night: Night) -> None:
    """The ring ended the snooze."""
    night.beat(DOWN)
    night.findings.snooze("shop", DIGEST, "1 h")
    assert night.after(61) == ["U0ANN"]
    night.beat(DOWN)
    assert len(night.slack.sent) == 2


def test_after_many_rings_the_window_counts_again(night: Night) -> None:
    """Nobody's phone rings for ever."""
    night.beat(DOWN)
    assert len(night.after(10 * (MAX_RINGS + 5))) == MAX_RINGS


def test_a_session_that_cannot_be_read_silences_no_other(tmp_path: Path) -> None:
    """Its folder belongs to somebody else, say; the page of the next one rings."""
    night = Night(tmp_path)
    settings = {name: session_settings(tmp_path, again_after="10m") for name in ("broken", "shop")}
    night.sessions.replace(settings)
    night.beat(DOWN)
    night.disk.documents.unreadable = {"broken"}
    assert night.after(10) == ["U0ANN"]


def test_no_interval_no_rings(tmp_path: Path) -> None:
    """`again_after: null`."""
    night = Night(tmp_path, again_after=None)
    night.beat(DOWN)
    assert night.after(100) == []


@each_row("then", ["U0BOSS", "S0ONCALL", "C0OPS"])
def test_a_page_nobody_acknowledged_is_escalated_once(tmp_path: Path, then: str) -> None:
    """After the owner's second chance; where that card stands is remembered, and it is brought up to date."""
    night = Night(tmp_path, then=then)
    night.beat(DOWN)
    assert night.after(10) == ["U0ANN"]
    assert sorted(night.after(10)) == sorted(["U0ANN", then])
    assert "nobody has acknowledged this for 20 min" in night.slack.sent[-1][1].notes[0]
    assert night.after(30) == ["U0ANN"] * 3
    night.start()
    night.beat()
    assert {place for (place, _), _ in night.slack.updated} == {"D-U0ANN", f"D-{then}"}


def becomes_a_page(night: Night) -> None:
    """Have something wait for hours that is no page, and then is one."""
    night.beat(DOWN.evolve(severity=Severity.ACT))
    night.after(300)
    night.beat(DOWN)


def is_put_back(night: Night) -> None:
    """Have a page ring until nobody is told any more, its check removed, and put back."""
    night.beat(DOWN)
    night.after(300)
    night.beat(removed="web")
    assert night.after(60) == []
    night.beat(DOWN)


@each_row("begins", [becomes_a_page, is_put_back])
def test_a_page_that_begins_to_wait_anew_gives_its_owner_both_chances(
    tmp_path: Path, begins: Callable[[Night], None]
) -> None:
    """Neither the rings of before nor the time when it was found count; `then` is told after that, once."""
    night = Night(tmp_path, then="U0BOSS")
    begins(night)
    assert night.after(19) == ["U0ANN"]
    assert sorted(night.after(1)) == ["U0ANN", "U0BOSS"]
    assert set(night.after(30)) == {"U0ANN"}


def test_a_page_that_was_put_off_is_told_to_its_owner_first(tmp_path: Path) -> None:
    """As its snooze ends; `then` is told if the next ring is in vain, too."""
    night = Night(tmp_path, then="U0BOSS")
    night.beat(DOWN)
    night.after(15)
    night.findings.snooze("shop", DIGEST, "1 h")
    assert night.after(60) == ["U0ANN"]
    assert night.after(9) == []
    assert sorted(night.after(1)) == ["U0ANN", "U0BOSS"]


def test_a_session_that_tells_nobody_escalates_nothing(tmp_path: Path) -> None:
    """`deliver: none` is for the log alone."""
    night = Night(tmp_path, then="U0BOSS", deliver={"mode": "none"})
    night.beat(DOWN)
    assert night.after(60) == []


def test_who_is_told_next_is_told_though_the_owner_cannot_be_reached(tmp_path: Path) -> None:
    """A page that reached nobody is the one that matters most; their card, too, says how it ended."""
    night = Night(tmp_path, then="U0BOSS")
    night.slack.unreachable = {"U0ANN"}
    night.beat(DOWN)
    assert night.after(25) == ["U0BOSS"]
    night.beat()
    assert [place for (place, _), _ in night.slack.updated] == ["D-U0BOSS"]


def test_who_is_told_next_is_told_though_the_owner_was_reached_once_and_is_not_any_more(tmp_path: Path) -> None:
    """The group lost its members, or the person left: each ring fails, and that stops nothing."""
    night = Night(tmp_path, then="U0BOSS")
    night.beat(DOWN)
    night.slack.unreachable = {"U0ANN"}
    assert night.after(25) == ["U0BOSS"]


def test_the_ops_channel_hears_once_that_nobody_could_be_told_next(tmp_path: Path) -> None:
    """It is tried again, and told as soon as it can be."""
    night = Night(tmp_path, then="S0ONCALL")
    night.beat(DOWN)
    night.slack.unreachable = {"S0ONCALL"}
    assert set(night.after(60)) == {"U0ANN"}
    assert len(night.ops) == 1
    assert "could not be told to `S0ONCALL`" in night.ops[0]
    night.slack.unreachable = set()
    assert "S0ONCALL" in night.after(1)


def test_a_clock_that_was_set_back_does_not_hold_up_the_escalation(tmp_path: Path) -> None:
    """The rings are counted, whatever time it was."""
    night = Night(tmp_path, then="U0BOSS")
    night.beat(DOWN)
    night.clock.advance(-86_400)
    assert "U0BOSS" in night.after(25)
    [escalated] = [alert for to, alert in night.slack.sent if to == "U0BOSS"]
    assert "nobody has acknowledged this for 10 min" in escalated.notes[0]


def test_who_acknowledges_while_a_page_rings_is_not_passed_over(tmp_path: Path) -> None:
    """Nobody else is told of it a moment later."""
    night = Night(tmp_path, then="U0BOSS")
    night.beat(DOWN)
    night.after(19)
    night.slack.meanwhile = lambda: night.findings.acknowledge("shop", DIGEST, by="U0ANN")
    assert night.after(30) == ["U0ANN"]


def test_a_channel_everybody_can_read_is_not_told(tmp_path: Path) -> None:
    """The ops channel hears why, once."""
    night = Night(tmp_path, then="C0PUBLIC")
    night.beat(DOWN)
    assert set(night.after(60)) == {"U0ANN"}
    assert len(night.ops) == 1
    assert "it is not private" in night.ops[0]


def test_a_click_while_a_ring_is_on_its_way_is_shown(night: Night) -> None:
    """The new card was drawn before it."""
    night.beat(DOWN)
    night.slack.meanwhile = lambda: night.findings.acknowledge("shop", DIGEST, by="U0ANN")
    assert night.after(10) == ["U0ANN"]
    finding = night.slack.updated[-1][1].finding
    assert finding is not None
    assert finding.acknowledged_by == "U0ANN"
    assert night.after(60) == []
