"""The approvers of all teams are asked for in turn, and Slack is never asked for too many groups."""

from __future__ import annotations

from bot.teams import ApproverRounds
from tests.fakes import FakeClock


class Counted:
    """The approvers of a team, who count how often they are asked for."""

    def __init__(self, groups: int) -> None:
        self.group_count, self.asked = groups, 0

    def refresh(self) -> None:
        self.asked += 1


def _minutes(rounds: ApproverRounds, clock: FakeClock, minutes: int, *teams: Counted) -> list[int]:
    """Return how many groups were listed in each minute, with a tick every five seconds."""
    listed = []
    for _ in range(minutes):
        before = sum(team.asked * team.group_count for team in teams)
        for _ in range(12):
            rounds.tick()
            clock.advance(5)
        listed.append(sum(team.asked * team.group_count for team in teams) - before)
    return listed


def test_thirty_teams_with_groups_stay_well_below_twenty_a_minute() -> None:
    """Also in the first one; everybody has had their turn after three."""
    clock = FakeClock()
    rounds, teams = ApproverRounds(clock), [Counted(1) for _ in range(30)]
    for number, team in enumerate(teams):
        rounds.add(f"team-{number}", team)
    listed = _minutes(rounds, clock, 3, *teams)
    assert all(team.asked for team in teams)
    assert max(listed + _minutes(rounds, clock, 30, *teams)) < 20
    asked = [team.asked for team in teams]
    assert max(asked) - min(asked) <= 1


def test_few_teams_are_asked_for_every_minute() -> None:
    """Those without groups whatever the others have; a new one at once."""
    clock = FakeClock()
    rounds, alone, grouped = ApproverRounds(clock), Counted(0), Counted(3)
    rounds.add("alone", alone)
    rounds.add("grouped", grouped)
    _minutes(rounds, clock, 10, alone, grouped)
    assert (alone.asked, grouped.asked) == (10, 10)
    late = Counted(2)
    rounds.add("late", late)
    rounds.tick()
    assert late.asked == 1
    rounds.remove("late")
    _minutes(rounds, clock, 2, alone, grouped)
    assert late.asked == 1


def test_more_groups_than_have_room_are_asked_for_all_the_same() -> None:
    """Less often."""
    clock = FakeClock()
    rounds, many = ApproverRounds(clock), Counted(12)
    rounds.add("many", many)
    assert _minutes(rounds, clock, 4, many).count(12) >= 2
