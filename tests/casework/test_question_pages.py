"""A question that pages rings again until somebody deals with it, and is escalated once; restarts included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.domain.alerts import Severity
from bot.domain.paging import MAX_RINGS
from bot.domain.threads import ThreadState, ThreadStatus
from bot.errors import ProviderError
from tests.builders import THREAD_ID, an_event
from tests.casework.office import ANN, BEN, Office, crash_everywhere
from tests.fakes import Faults
from tests.tables import each_row

DOWN = "prod is down!!"
CARL = "U3"


def asked(folder: Path, text: str = DOWN, **more: Any) -> Office:
    """Return an office in which Ann asked something a minute ago."""
    pages = {"again_after": "10m", "then": "U0BOSS"} | more.pop("pages", {})
    office = Office(folder, pages=pages, **more)
    office.arrive(an_event(text))
    office.work()
    return office


def after(office: Office, minutes: int) -> list[str]:
    """Let time pass, a tick each minute; return who was reached meanwhile."""
    before = len(office.page_chat.said)
    for _ in range(minutes):
        office.clock.advance(60)
        office.pages.tick()
    return [to for to, _ in office.page_chat.said[before:]]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return asked(tmp_path)


def test_a_page_rings_again_once_every_while_and_is_escalated_once(office: Office) -> None:
    """Each ring has its number; who is told next hears of it with the second one."""
    assert after(office, 9) == []
    assert after(office, 1) == ["ops"]
    assert after(office, 10) == ["ops", "U0BOSS"]
    assert after(office, 20) == ["ops", "ops"]
    assert [what for to, what in office.page_chat.said if to == "ops"] == [f"ring {n} of {DOWN}" for n in range(1, 5)]
    assert [int(each.total_seconds()) // 60 for each in office.page_chat.waited] == [10, 20, 20, 30, 40]
    assert (office.state.paging.rings, office.state.paging.escalated_to) == (4, "U0BOSS")


@each_row("text, pages", [("why five?", {}), (DOWN, {"again_after": None})])
def test_what_does_not_page_rings_never(tmp_path: Path, text: str, pages: dict[str, Any]) -> None:
    """An ordinary question, and `again_after: null`."""
    assert after(asked(tmp_path, text, pages=pages), 60) == []


def test_after_many_rings_it_is_quiet(tmp_path: Path) -> None:
    """Nobody's phone rings for ever; without `then` nobody else is told."""
    office = asked(tmp_path, pages={"then": None}, expire_after=None)
    assert after(office, 10 * (MAX_RINGS + 5)) == ["ops"] * MAX_RINGS


def taken_up(office: Office) -> None:
    office.decisions.acknowledge(THREAD_ID, by=BEN)


def answered(office: Office) -> None:
    office.says("rolled back, it answers again", sender=BEN)


def said_ok(office: Office) -> None:
    office.says("ok", sender=BEN)


def dismissed(office: Office) -> None:
    office.decisions.dismiss(office.click(), by=BEN, reason=None)


@pytest.mark.parametrize("stop", [taken_up, answered, said_ok, dismissed])
def test_whoever_deals_with_it_stops_the_rings(office: Office, stop: Callable[[Office], None]) -> None:
    """A click, an approver's answer or "ok" in the thread, and the end of the thread."""
    after(office, 10)
    stop(office)
    assert after(office, 60) == []


def asker_urges(office: Office) -> None:
    office.says("still down!", sender=ANN)


def me_too(office: Office) -> None:
    office.says("same here", sender=CARL)


@pytest.mark.parametrize("word", [asker_urges, me_too])
def test_words_of_the_asker_and_of_others_stop_nothing(office: Office, word: Callable[[Office], None]) -> None:
    """They say that it is still down, not that somebody looks."""
    word(office)
    assert after(office, 10) == ["ops"]


def test_an_approver_who_writes_during_the_investigation_is_heard_at_once(tmp_path: Path) -> None:
    """Its thread's job waits for the run to end; the acknowledgement does not."""
    office = Office(tmp_path, pages={"again_after": "10m"})
    office.pausing.pause(by=BEN, name="ben")
    office.arrive(an_event(DOWN))
    office.do_work(office.jobs.claim().work)  # type: ignore[union-attr]
    office.queue(an_event("on it", "1795165300.000100", thread_id=THREAD_ID.split(".", 2)[2], sender={"id": BEN}))
    assert office.state.paging.acknowledged_by == BEN


def test_an_approver_who_asks_does_not_acknowledge_their_own_question(tmp_path: Path) -> None:
    """Nor does whoever pointed the bot to it, with that mention."""
    office = asked(tmp_path)
    office.approvers |= {ANN}
    office.store.put(office.state.evolve(opened_by_message_id="1795165300.000100"))
    office.pages.hear(an_event("look into this", "1795165300.000100", sender={"id": BEN}), THREAD_ID)
    office.says("anybody?", sender=ANN)
    assert after(office, 10) == ["ops"]


@each_row("then", ["U0BOSS", "S0ONCALL", "G0WAR"])
def test_who_was_told_next_may_say_in_the_thread_that_they_have_it(tmp_path: Path, then: str) -> None:
    """The person, a member of the group, somebody in the private channel; not before they were told."""
    office = asked(tmp_path, pages={"then": then})
    office.workspace.private |= {"G0WAR"}
    office.workspace.groups.update(dict.fromkeys(("S0ONCALL", "G0WAR"), frozenset({"U0BOSS"})))
    office.says("I am here", sender="U0BOSS")
    after(office, 19)
    assert office.state.paging.acknowledged_by is None
    after(office, 2)
    office.says("I have it", sender="U0BOSS")
    assert office.state.paging.acknowledged_by == "U0BOSS"
    assert after(office, 30) == []


@each_row("sender", [ANN, CARL])
def test_a_later_message_in_the_thread_makes_it_a_page(tmp_path: Path, sender: str) -> None:
    """Whoever writes it: what began as an ordinary question may turn out to be an outage."""
    office = asked(tmp_path, "why is checkout slow?")
    office.says(DOWN, sender=sender)
    assert office.state.severity is Severity.PAGE
    assert after(office, 1) == ["ops"]
    office.says("still so, prod is down!!", sender=sender)
    assert after(office, 8) == []


def test_pages_that_are_due_together_ring_in_one_message(tmp_path: Path) -> None:
    """Ten messages would be ten phone calls; each page keeps its own count."""
    office = Office(tmp_path, pages={"again_after": "10m"})
    for number, part in enumerate("abcdefghij"):
        office.arrive(an_event(f"{DOWN} part {part * 3}", f"17951652{number:02}.000100"))
    office.work()
    assert len(after(office, 10)) == 10
    assert office.page_chat.together == [10]
    assert {state.paging.rings for state in office.service.store.open_threads()} == {1}


def test_who_is_told_next_is_told_though_the_ops_channel_takes_no_ring(office: Office) -> None:
    """A page that reached nobody is the one that matters most."""
    office.page_chat.refuses["ops"] = ProviderError("Slack could not ring again: channel_not_found")
    assert after(office, 25) == ["U0BOSS"]


def test_nothing_is_quoted_in_a_public_ops_channel(office: Office) -> None:
    """The ring waits until it is private again."""
    office.workspace.private.clear()
    assert after(office, 12) == []
    office.workspace.private.add("C0OPS")
    assert after(office, 1) == ["ops"]


def test_a_channel_everybody_can_read_is_not_told(tmp_path: Path) -> None:
    """The ops channel hears why, once."""
    office = asked(tmp_path, pages={"then": "C0PUBLIC"})
    assert set(after(office, 60)) == {"ops"}
    assert [line for line in office.messenger.told if "it is not private" in line] == office.messenger.told
    assert len(office.messenger.told) == 1
    assert office.state.paging.escalated_to is None


def test_the_ops_channel_hears_once_that_nobody_could_be_told_next(tmp_path: Path) -> None:
    """An empty user group, say; it is tried again, and told as soon as somebody is in it."""
    office = asked(tmp_path, pages={"then": "S0ONCALL"})
    office.page_chat.refuses["S0ONCALL"] = ProviderError("the user group S0ONCALL has no members")
    assert set(after(office, 60)) == {"ops"}
    assert [line for line in office.messenger.told if "S0ONCALL has no members" in line] == office.messenger.told
    assert len(office.messenger.told) == 1
    del office.page_chat.refuses["S0ONCALL"]
    assert "S0ONCALL" in after(office, 1)


def test_who_acknowledges_while_a_page_rings_is_not_passed_over(office: Office) -> None:
    """Nobody else is told of it a moment later; the ring is on file."""
    after(office, 19)
    office.page_chat.meanwhile = lambda: taken_up(office)
    assert after(office, 60) == ["ops"]
    assert (office.state.paging.rings, office.state.paging.acknowledged_by) == (2, BEN)


def test_a_page_rings_and_is_escalated_once_whatever_dies_where(tmp_path: Path) -> None:
    """Killed at any effect and started again: what was said is said once, under the same number."""

    def build(faults: Faults) -> Office:
        folder = tmp_path / str(faults.crash_at)
        folder.mkdir()
        return Office(folder, pages={"again_after": "10m", "then": "U0BOSS"}, faults=faults)

    def story(office: Office) -> None:
        office.arrive(an_event(DOWN))
        office.work()
        after(office, 25)

    ends = [(where, office) for where, office in crash_everywhere(build, story) if office.store.threads()]
    assert {where for where, _ in ends} >= {"pages: before", "pages: after"}
    for where, office in ends:
        office.restart()
        after(office, 25)
        assert len(office.page_chat.said) == len(set(office.page_chat.said)), where
        assert [to for to, _ in office.page_chat.said].count("U0BOSS") == 1, where
        numbers = [what for to, what in office.page_chat.said if to == "ops"]
        assert numbers == [f"ring {n} of {DOWN}" for n in range(1, len(numbers) + 1)], where
        assert len(numbers) in (2, 3, 4), where


def test_a_thread_that_is_closed_while_it_rings_stays_closed(office: Office) -> None:
    """And nothing of it fails."""
    office.page_chat.meanwhile = lambda: dismissed(office)
    assert after(office, 60) == ["ops"]
    assert office.ended.status is ThreadStatus.CLOSED


def test_a_post_under_way_does_not_ring(office: Office) -> None:
    """Somebody approved it a moment ago."""
    state = office.state
    intent = {"at": office.clock.now(), "draft_hash": state.draft_hash}
    office.store.put(ThreadState.model_validate({**state.model_dump(), "post_intent": intent}))
    assert after(office, 30) == []
