"""A beat that dies at any step after its full run goes on from there: paid once, told once, one true line."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.domain.heartbeats.beats import Action, BeatReport, BeatResult, Envelope, Wake
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind
from bot.domain.jobs import RunBeat
from bot.domain.playbook import add, parse
from bot.domain.tiers import Tier
from bot.heartbeat.playbook_file import PlaybookFile
from bot.heartbeat.run.beat_record import BeatView
from tests.fakes import Crash, Faults
from tests.heartbeat.builders import AT
from tests.heartbeat.room import COST, SCREEN_COST, BeatRoom, Scripted, report, screened

RED = {"result": "finding", "evidence": "Main is red.", "finding": "main-red"}


def daily(folder: Path, faults: Faults | None = None) -> BeatRoom:
    """Return a room whose daily tier is due and whose run finds something."""
    room = BeatRoom(folder, report("Main is red.", **RED), faults=faults)
    room.write_playbook(daily_due=True)
    return room


def points_of_a_beat(folder: Path) -> list[str]:
    """Return every effect of a beat from its full run on."""
    folder.mkdir()
    faults = Faults()
    room = daily(folder, faults)
    began: list[int] = []
    room.full.steps = [lambda view: began.append(len(faults.points)) or report("Main is red.", **RED)(view)]
    room.beat()
    return faults.points[began[0] :]


def dies_and_is_run_again(room: BeatRoom, faults: Faults, at: int) -> Envelope:
    """Crash the beat at a point counted from its run on, start again hours later, return its line."""
    first = room.full.steps[0]

    def armed(view: BeatView) -> BeatReport:
        faults.crash_at = len(faults.points) + at
        return first(view)  # type: ignore[no-any-return]

    room.full.steps = [armed]
    with pytest.raises(Crash):
        room.beats.run_beat(RunBeat(session_id="shop", slot=AT, wake=Wake.INTERVAL))
    faults.crash_at = None
    room.clock.advance(7_200)
    room.beats.run_beat(RunBeat(session_id="shop", slot=AT, wake=Wake.INTERVAL))
    return room.log.recent("shop", 1)[0]


def test_a_death_at_any_step_after_the_run_costs_no_second_one(tmp_path: Path) -> None:
    """Its tier, wake, cost and what was sent are those of the one run, whenever the process died."""
    points = points_of_a_beat(tmp_path / "whole")
    assert len(points) >= 10
    for at in range(2, len(points) + 1):  # at the first one the report is not on disk yet
        folder = tmp_path / str(at)
        folder.mkdir()
        room = daily(folder, faults := Faults())
        line = dies_and_is_run_again(room, faults, at)
        where = f"died at point {at}, {points[at - 1]}"
        assert len(room.full.views) == 1, where
        assert len(room.journal.lines) == 1, where
        assert (line.tier, line.reason, line.result) == (Tier.DAILY, Wake.INTERVAL, BeatResult.SENT), where
        assert (line.ts, line.usage.cost_usd, line.preview) == (AT, COST.cost_usd, "Main is red."), where
        assert room.state.spent.usd == pytest.approx(COST.cost_usd), where
        assert parse(room.playbook).stamps.daily == AT, where
        assert room.state.paid is None, where
        assert len(room.surface.texts) <= 2, where  # found again by its mark where the surface can look


def test_the_next_beat_is_one_of_its_own(tmp_path: Path) -> None:
    """What was kept is gone with the record."""
    room = daily(tmp_path, faults := Faults())
    dies_and_is_run_again(room, faults, 4)
    room.full.steps = [report()]
    assert room.beat(slot=room.clock.now().isoformat()).tier is Tier.HOURLY
    assert len(room.full.views) == 2


def test_what_a_cheap_model_said_before_stays_on_record(tmp_path: Path) -> None:
    """With what it cost."""
    screen, faults = Scripted(screened("escalate")), Faults()
    room = BeatRoom(tmp_path, report("Main is red.", **RED), screen=screen, faults=faults)
    line = dies_and_is_run_again(room, faults, 4)
    assert len(screen.views) == 1
    assert line.prescreen is Action.ESCALATE
    assert line.usage.triage_usage is not None
    assert line.usage.triage_usage.cost_usd == SCREEN_COST.cost_usd


def test_what_came_since_the_run_is_another_beats(tmp_path: Path) -> None:
    """A task somebody added has no receipt and needs none; mail was shown to nobody; new output is news."""
    room = daily(tmp_path, faults := Faults())
    first = room.full.steps[0]

    def run(view: BeatView) -> BeatReport:
        PlaybookFile(room.cwd).change(lambda now: add(now, Tier.QUICK, "A new one"))
        message = InboxMessage(at=AT, from_="ops", to="shop", kind=MessageKind.REPORT, text="hello")
        room.store.send(message)
        return first(view)  # type: ignore[no-any-return]

    room.full.steps = [run]
    line = dies_and_is_run_again(room, faults, 6)
    assert "no receipt" not in line.preview
    assert parse(room.playbook).stamps.daily == AT
    assert [message.text for message in room.store.inbox("shop")] == ["hello"]
    assert room.state.last_run == AT
    assert room.state.last_run == AT < room.clock.now() - timedelta(hours=1)


def test_a_playbook_that_took_the_place_of_the_one_looked_at_is_not_stamped(tmp_path: Path) -> None:
    """What somebody wrote while the bot was down, nobody has looked into."""
    room = daily(tmp_path, faults := Faults())
    first = room.full.steps[0]

    def armed(view: BeatView) -> BeatReport:
        faults.crash_at = len(faults.points) + 2
        return first(view)  # type: ignore[no-any-return]

    room.full.steps = [armed]
    with pytest.raises(Crash):
        room.beats.run_beat(RunBeat(session_id="shop", slot=AT, wake=Wake.INTERVAL))
    faults.crash_at = None
    (room.cwd / "HEARTBEAT.md").write_text(
        "# Timestamps\n- Last quick: (never)\n- Last hourly: (never)\n- Last daily: (never)\n\n"
        "# Daily Tasks\n- [ ] Look at something else\n"
    )
    room.beats.run_beat(RunBeat(session_id="shop", slot=AT, wake=Wake.INTERVAL))
    assert room.state.paid is None
    assert parse(room.playbook).stamps.daily is None
