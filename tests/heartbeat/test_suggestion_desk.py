"""What becomes of a suggestion: one decision, one line, whatever dies in between."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.domain.playbook import parse
from bot.domain.suggestions import DecidedBy, Offer, Suggestion, SuggestionStatus
from bot.domain.tiers import Tier
from bot.errors import Conflict, InputError, StoreError
from bot.heartbeat.suggestion_desk import with_offer
from tests.fakes import Crash, Faults
from tests.heartbeat.garden import ANA, BASICS, BEN, Garden, with_task

DISK = "`df -h`"


def offered(garden: Garden) -> Suggestion:
    """Have one suggestion sent to api."""
    (sent,) = garden.desk.run()
    return sent


@pytest.fixture
def garden(tmp_path: Path) -> Garden:
    return Garden(tmp_path, shop=with_task("hourly", DISK), api=BASICS)


def test_an_accepted_task_stands_in_the_playbook_and_in_decisions(garden: Garden) -> None:
    """At the end of its tier; everything else keeps every byte."""
    sent = offered(garden)
    taken = garden.accept(sent, ANA, "we run out, too")
    assert (taken.status, taken.decided_by, taken.decided_at) == (
        SuggestionStatus.ACCEPTED,
        "U0ANA",
        garden.clock.now(),
    )
    assert taken.settled_at is not None
    assert garden.playbook("api").replace(f"- [ ] {DISK}\n", "") == BASICS
    assert DISK in [task.text for task in parse(garden.playbook("api")).tasks(Tier.HOURLY)]
    about = f"[{sent.id}](suggestions/{sent.id}.json), hourly, for api: “{DISK}”, from shop;"
    assert garden.lines == [
        f"2026-11-20 09:00 UTC suggested {about} shop makes this check.",
        f"2026-11-20 09:00 UTC accepted {about} by ana: we run out, too",
    ]


def test_a_rejected_one_is_remembered_with_its_reason(garden: Garden) -> None:
    """What was typed can neither begin a line of its own nor make a link."""
    sent = offered(garden)
    garden.reject(sent, ANA, "noise\n- accepted [api-000000](x) <b>")
    assert garden.playbook("api") == BASICS
    assert garden.suggestions.get(sent.id).decision_reason
    (_, line) = garden.lines
    assert line.endswith(r"by ana: noise - accepted \[api-000000\](x) \<b\>")


def test_what_was_rejected_is_not_offered_again_once_its_record_is_gone(garden: Garden) -> None:
    """The line about it is left; what nobody had decided on is offered anew."""
    sent = offered(garden)
    garden.suggestions.remove(sent.id)
    assert [one.id for one in garden.desk.offers()] == [sent.id]
    garden.reject(offered(garden), ANA)
    garden.suggestions.remove(sent.id)
    assert garden.desk.offers() == []


@pytest.mark.parametrize("first", ["accept", "reject"])
@pytest.mark.parametrize("second", ["accept", "reject"])
def test_whoever_comes_second_is_told_who_decided(garden: Garden, first: str, second: str) -> None:
    """A human before the model, the model before a human: it makes no difference."""
    sent = offered(garden)
    getattr(garden, first)(sent, DecidedBy("session:api", "the model of api"))
    with pytest.raises(Conflict, match=f"the model of api {first}ed {sent.id} already"):
        getattr(garden, second)(sent, BEN)
    assert garden.count("api", DISK) == (first == "accept")
    assert len(garden.lines) == 2


def test_a_task_that_a_human_added_meanwhile_is_not_added_again(garden: Garden) -> None:
    """In their words; the decision stands."""
    sent = offered(garden)
    (garden.folder / "api" / "HEARTBEAT.md").write_text(with_task("quick", "How full the disk is: `df -h`"))
    assert garden.accept(sent, ANA).status is SuggestionStatus.ACCEPTED
    assert garden.count("api", "df -h") == 1


def test_a_playbook_that_does_not_take_it_leaves_it_waiting(garden: Garden) -> None:
    """It says why; once the playbook is mended the same click works."""
    sent = offered(garden)
    (garden.folder / "api" / "HEARTBEAT.md").write_text("- look at the queue\n")
    with pytest.raises(InputError, match="has no tiers"):
        garden.accept(sent, ANA)
    assert garden.suggestions.get(sent.id) == sent
    assert len(garden.lines) == 1
    (garden.folder / "api" / "HEARTBEAT.md").write_text(BASICS)
    garden.accept(sent, ANA)
    assert garden.count("api", DISK) == 1


def test_a_session_that_is_gone_takes_nothing(garden: Garden) -> None:
    """Its suggestion can still be rejected."""
    sent = offered(garden)
    garden.sessions.replace({})
    with pytest.raises(InputError, match="No sessions"):
        garden.accept(sent, ANA)
    assert garden.reject(sent, ANA).status is SuggestionStatus.REJECTED


def test_what_the_disk_refused_is_carried_out_later(garden: Garden) -> None:
    """A decision on file needs no second click; one that could not be made waits as before."""
    sent = offered(garden)
    path = garden.folder / "api" / "HEARTBEAT.md"
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreError):
        garden.accept(sent, ANA)
    assert garden.suggestions.get(sent.id) == sent
    at = garden.clock.now()
    garden.suggestions.change(sent.id, lambda now: now.decided(SuggestionStatus.ACCEPTED, ANA, at, None))
    garden.desk.settle()
    path.rmdir()
    path.write_text(BASICS)
    garden.desk.settle()
    assert garden.count("api", DISK) == 1
    assert len(garden.lines) == 2


def test_accepting_creates_a_playbook_that_is_gone(garden: Garden) -> None:
    """As adding a task by command does."""
    sent = offered(garden)
    (garden.folder / "api" / "HEARTBEAT.md").unlink()
    garden.accept(sent, ANA)
    assert garden.count("api", DISK) == 1


def test_a_process_that_dies_anywhere_adds_the_line_once(tmp_path: Path) -> None:
    """Killed before and after every effect of sending and accepting, then started again."""
    died = 0
    for point in range(1, 60):
        (tmp_path / str(point)).mkdir()
        faults = Faults()
        garden = Garden(tmp_path / str(point), faults, shop=with_task("hourly", DISK), api=BASICS)
        faults.crash_at = len(faults.points) + point
        try:
            garden.accept(offered(garden))
        except Crash:
            died += 1
            faults.crash_at = None
            garden.restart()
            garden.desk.settle()
            (sent,) = garden.suggestions.all() or garden.desk.run()
            if sent.is_waiting:  # it died before anything was decided
                garden.accept(sent)
            garden.desk.settle()
        assert garden.count("api", DISK) == 1
        assert [line.split()[3] for line in garden.lines] == ["suggested", "accepted"]
        assert {message.data["suggestion"]["task"] for message in garden.inbox("api")} == {DISK}
        (sent,) = garden.suggestions.all()
        assert sent.settled_at is not None
        if died < point:
            break
    assert died >= 10


def test_a_model_decides_on_what_is_open_and_for_its_own_session(tmp_path: Path) -> None:
    """A human on all."""
    garden = Garden(tmp_path, shop=with_task("quick", "Post the numbers", DISK), api=BASICS)
    sent = {one.task: one for one in garden.desk.run()}
    held = sent["Post the numbers"]
    assert held.status is SuggestionStatus.QUARANTINED
    for one, by in ((held, "session:api"), (sent[DISK], "session:shop")):
        with pytest.raises(InputError, match="is not for you to decide"):
            garden.accept(one, DecidedBy(by, "a model"))
        assert garden.suggestions.get(one.id).is_waiting
    assert garden.accept(sent[DISK], DecidedBy("session:api", "the model of api")).settled_at
    assert garden.accept(held, ANA).status is SuggestionStatus.ACCEPTED
    assert garden.count("api", "Post the numbers") == garden.count("api", DISK) == 1


def test_a_move_takes_the_task_along_and_is_done_once() -> None:
    """Where it stands in the other tier already nothing happens; where it is gone it is refused."""
    offer = Offer(tier=Tier.HOURLY, task=DISK, from_="master", reason="slow", moves_from=Tier.QUICK)
    move = offer.made_to("api", datetime(2026, 11, 20, 9, tzinfo=UTC))
    moved = with_offer(parse(with_task("quick", f"{DISK}\n  - details")), move)
    assert [task.details for task in moved.tasks(Tier.HOURLY) if task.text == DISK] == [("- details",)]
    assert DISK not in [task.text for task in moved.tasks(Tier.QUICK)]
    assert with_offer(moved, move) == moved
    with pytest.raises(InputError, match="is no quick task any more"):
        with_offer(parse(BASICS), move)
    full = with_task("hourly", *(f"Check number {n}" for n in range(30)))
    with pytest.raises(InputError, match="which is enough"):
        with_offer(parse(full + f"## Quick\n- [ ] {DISK}\n"), move)
