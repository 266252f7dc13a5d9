"""App Home of several teams: each has its part, and nothing is cut in the middle."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from slack_sdk.models.blocks import PlainTextObject

from blocks import ids
from blocks.text.splitting import VIEW_BYTES, size_of
from blocks.views.home_view import HomeData, Notice, TeamHome, home_view
from tests.blocks.limits import view_as_slack_takes_it
from tests.blocks.views.test_home_view import a_draft, a_home, a_row, clicks, of_drafts, text_of
from tests.builders import NOW, a_return
from tests.casework.reports.test_answers import an_overview
from tests.tables import each_row


def a_team(name: str, home: HomeData | None = None, *, may_approve: bool = True) -> TeamHome:
    return TeamHome(name=name, home=home or a_home(an_overview()), may_approve=may_approve)


def page(*teams: TeamHome, user: str = "U2", notice: Notice | None = None) -> dict[str, Any]:
    view = home_view(teams, user=user, notice=notice)
    assert view.to_dict()["type"] == "home"
    view.title = PlainTextObject(text="home")
    found = view_as_slack_takes_it(view)
    assert size_of(found) <= VIEW_BYTES
    return found


def parts(found: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the blocks under each team's header."""
    under: dict[str, list[dict[str, Any]]] = {}
    for block in found["blocks"]:
        if block["type"] == "header":
            under[block["text"]["text"]] = []
        elif under:
            under[list(under)[-1]].append(block)
    return under


def drafts_of(team: int, count: int, **changes: Any) -> HomeData:
    return a_home(drafts=[a_draft(1_000 * team + number, **changes) for number in range(count)])


def test_each_team_has_a_part_with_its_name() -> None:
    """In the file's order, the answer to a click above them all."""
    found = page(a_team("payments"), a_team("platform"), notice=Notice(text="Posted.", at=NOW))
    assert list(parts(found)) == ["Team payments", "Team platform"]
    assert "Posted." in text_of(found["blocks"][0])


def test_who_approves_for_one_team_sees_the_other_in_numbers() -> None:
    """No question, no button, no link."""
    found = page(a_team("payments", drafts_of(1, 2)), a_team("platform", drafts_of(2, 3), may_approve=False))
    mine, other = (json.dumps(part) for part in parts(found).values())
    assert mine.count(ids.APPROVE) == 2
    assert "*3* waiting for a decision" in other
    assert "Only approvers" in other
    assert ids.APPROVE not in other
    assert a_draft().question not in other


def test_a_storm_in_one_team_leaves_the_other_its_drafts() -> None:
    """Whichever comes first in the file."""
    for sizes in ((80, 2), (2, 80)):
        teams = [a_team(f"team-{place}", drafts_of(place, count)) for place, count in enumerate(sizes)]
        found = parts(page(*teams))
        shown = [json.dumps(part).count(ids.APPROVE) for part in found.values()]
        small = sizes.index(2)
        assert shown[small] == 2
        assert shown[1 - small] > 2
        lines = json.dumps(list(found.values())[1 - small])
        assert f"{80 - shown[1 - small]} more wait" in lines


def test_a_team_that_cannot_be_read_hides_no_other() -> None:
    """It is named."""
    found = page(TeamHome(name="payments", home=None, may_approve=True), a_team("platform"))
    assert list(parts(found)) == ["Team platform"]
    assert "Team payments cannot be read" in json.dumps(found)


TEXTS = {"ue": "ü" * 2_500, "s": "short", "emoji": "🎉" * 1_200, "words": "word " * 900}
TEAMS = [[(40, 40, True)] * 12, [(40, 0, True), (1, 40, False), (3, 3, True)], [(0, 0, True)] * 3]


@each_row("teams, kind", [(TEAMS[0], "ue"), (TEAMS[1], "emoji"), (TEAMS[1], "words"), (TEAMS[2], "s")])
def test_any_number_of_everything_fits(teams: list[tuple[int, int, bool]], kind: str) -> None:
    """Within Slack's limits, and every team's number of drafts true."""
    check_all_fits(teams, kind)


@pytest.mark.full
@each_row("teams, kind", product(TEAMS, TEXTS))
def test_any_number_of_any_text_fits(teams: list[tuple[int, int, bool]], kind: str) -> None:
    """Each number with each text."""
    check_all_fits(teams, kind)


def check_all_fits(teams: list[tuple[int, int, bool]], kind: str) -> None:
    """Draw a page for teams with so many drafts and sessions, answered with such a text."""
    answer = a_long(TEXTS[kind])
    homes = [
        a_team(
            f"team-{place}",
            replace(
                a_home(
                    of_drafts(*(drafts := [a_draft(1_000 * place + one, **answer) for one in range(count)])),
                    tuple(a_row(f"t{place}-{one}") for one in range(sessions)),
                ),
                drafts={one.thread_id: one for one in drafts},
            ),
            may_approve=may_approve,
        )
        for place, (count, sessions, may_approve) in enumerate(teams)
    ]
    found = page(*homes, notice=Notice(text="é" * 9_000, at=NOW))
    for (count, _, may_approve), part in zip(teams, parts(found).values(), strict=False):
        said = json.dumps(part)
        assert f"*{count}* waiting" in said
        left = count - len(clicks({"blocks": part}, ids.APPROVE))
        assert not left or not may_approve or f"{left} more wait" in said


def a_long(text: str) -> dict[str, Any]:
    return {"investigator_return": a_return(text)}
