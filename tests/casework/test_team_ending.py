"""What a team that is gone left open is closed, and what nobody had begun with is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.casework.team_ending import MAX_LINKS, end_team
from bot.errors import ProviderError, Unavailable
from tests.builders import an_event
from tests.casework.office import Office

WHY = "the team pay is no longer in triage.yml"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Nothing is asked yet."""
    return Office(tmp_path)


def _ask(office: Office, count: int) -> None:
    for number in range(count):
        office.arrive(an_event(f"Where is limit {number} set?", f"17000000{number:02d}.000001"))


def test_questions_that_waited_are_named_by_links_and_dropped(office: Office) -> None:
    """Ten of them; of the others the number is told."""
    _ask(office, MAX_LINKS + 3)
    end = end_team(office.desk, WHY)
    assert (end.closed, end.dropped, office.jobs.unclaimed()) == (0, MAX_LINKS + 3, [])
    [said] = office.messenger.told
    assert said.startswith(f"Nobody looks into 13 questions that waited, because {WHY}: https://acme.slack.com/")
    assert (said.count("https://"), said.endswith(" and 3 more.")) == (MAX_LINKS, True)


def test_while_slack_is_away_they_stay_in_the_queue(office: Office) -> None:
    """The next start tells of them; a channel that refuses for good does not keep them."""
    _ask(office, 1)
    office.messenger.line_refused = Unavailable("Slack could not be reached")
    with pytest.raises(Unavailable):
        end_team(office.desk, WHY)
    assert len(office.jobs.unclaimed()) == 1
    office.messenger.line_refused = ProviderError("Slack could not tell the ops channel: is_archived")
    assert end_team(office.desk, WHY).dropped == 1
    assert office.jobs.unclaimed() == []
