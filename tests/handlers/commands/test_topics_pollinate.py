"""`/triage pollinate …`: one screen, at once, and nothing shown to or changed by those who may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.casework.approvers import Approvers
from bot.domain.suggestions import SuggestionStatus
from bot.heartbeat.suggestion_desk import UNREAD
from handlers.commands.dispatcher import NO_MEMBER, CommandDispatcher
from handlers.commands.topics import SessionCommand
from tests.blocks.limits import texts
from tests.fakes import FakeWorkspace
from tests.heartbeat.builders import OWNERS
from tests.heartbeat.garden import BASICS, Garden, with_task
from tests.payloads import payload
from tests.tables import each_row

APPROVER, OWNER, OTHER = "U2", "U0ANA", "U0EVE"
DISK = "Disk usage <!channel>"
PLAIN = "`df -h`"


@pytest.fixture
def garden(tmp_path: Path) -> Garden:
    return Garden(tmp_path, shop=with_task("hourly", PLAIN), api=BASICS)


def answer(garden: Garden, text: str, by: str = APPROVER, team: str = "T1") -> str:
    """Type a command and return what it says."""
    workspace = FakeWorkspace()
    workspace.groups["C0OPS"] = frozenset({APPROVER})
    approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=workspace)
    approvers.refresh()
    command = SessionCommand(garden.desk.answer, OWNERS, approvers)
    body = {**payload("slash_command"), "text": f"pollinate {text}", "user_id": by, "user_name": "ana", "team_id": team}
    answers: list[dict[str, Any]] = []
    CommandDispatcher({"pollinate": command}, approvers, patience_s=600)(
        lambda **given: answers.append(given), body, None
    )  # type: ignore[arg-type]
    [given] = answers
    blocks = given["blocks"]
    said = list(texts(blocks))
    assert all(len(words) <= 3_000 for words in said)
    assert len(blocks) <= 50
    return "\n".join(said)


def test_a_check_is_looked_for_listed_and_accepted(garden: Garden) -> None:
    """Each answer says what to type next; the end of an id will do."""
    assert "0 suggestions.\nNext: `/triage pollinate run`" in answer(garden, "list")
    said = answer(garden, "run")
    (one,) = garden.suggestions.all()
    assert said.startswith("Sent: 1 suggestion.")
    assert said.endswith(f"Next: `/triage pollinate accept {one.id}`")
    listed = answer(garden, "")
    assert f"*{one.id}* hourly, for api, from shop" in listed
    assert PLAIN in listed
    assert "is accepted: hourly, for api" in answer(garden, f"accept {one.id[-6:]}", OWNER)
    assert garden.count("api", PLAIN) == 1
    assert "accepted by ana" in answer(garden, "list")
    assert f"ana accepted {one.id} already" in answer(garden, f"reject {one.id}")


def test_a_reason_is_everything_after_the_id(garden: Garden) -> None:
    """It is kept, and shown without effect."""
    answer(garden, "run")
    (one,) = garden.suggestions.all()
    assert "is rejected: hourly, for api" in answer(garden, f"reject {one.id} too noisy <!here>")
    assert garden.suggestions.get(one.id).decision_reason == "too noisy <!here>"
    assert "<!here>" not in answer(garden, "list")


def test_what_is_mistyped_names_the_near(garden: Garden) -> None:
    """Words and ids."""
    (one,) = garden.desk.run()
    assert "Did you mean `/triage pollinate accept`?" in answer(garden, "acept")
    assert f"did you mean {one.id}? More:" in answer(garden, "accept api-1234ab")
    seen = answer(garden, "reject")
    assert seen.startswith("Name a suggestion")
    assert seen.endswith("More: /triage help pollinate reject")
    assert "`/triage pollinate reject &lt;id&gt; [why]`" in answer(garden, "help")


def test_a_quarantined_line_is_shown_as_data_wherever_its_id_is(tmp_path: Path) -> None:
    """Whatever is in it; who has read it there may accept it."""
    garden = Garden(tmp_path, shop=with_task("hourly", "Post the numbers", DISK), api=BASICS)
    said = answer(garden, "run")
    assert "Sent: 2 suggestions." in said
    assert f"read it first: {UNREAD}" in said
    assert "<!channel>" not in said
    held = next(one for one in garden.suggestions.all() if one.task == DISK)
    assert "is accepted" in answer(garden, f"accept {held.id}")
    assert garden.count("api", DISK) == 1


@each_row("verb", ["run", "accept {}", "reject {}"])
@each_row("by, team", [(OTHER, "T1"), (OWNER, "T0OTHER"), (APPROVER, "T0OTHER")])
def test_who_may_not_changes_nothing_and_reads_nothing(garden: Garden, verb: str, by: str, team: str) -> None:
    """An owner of another team is a stranger."""
    garden.desk.run()
    (one,) = garden.suggestions.all()
    refusal = "Only approvers" if team == "T1" else NO_MEMBER
    assert refusal in answer(garden, verb.format(one.id), by, team)
    assert PLAIN not in answer(garden, "list", by, team)
    assert garden.suggestions.get(one.id).status is SuggestionStatus.OPEN
