"""Replicas whose clocks are more than five minutes apart: nothing is lost or said twice, and people are told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from blocks import ids
from demo.slack_server import LocalSlack
from demo.workspace import CHLOE, OPS
from tests import fork_server
from tests.crashes.moments import after
from tests.crashes.steps import INTENT
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.shop import RETRIES, SESSIONS, SHOP, TIMEOUTS
from tests.replicas.fleet import Fleet
from tests.replicas.test_outages import LIMIT_S, answered_once

pytestmark = pytest.mark.full

APART_S: Final = 330


@pytest.fixture
def fleet(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[Fleet]:
    """Replicas that are all killed at the end."""
    fleet = Fleet(slack, control, tmp_path, make_repo(tmp_path / "shop", SHOP))
    yield fleet
    fleet.end()


def doctor(fleet: Fleet, number: int) -> str:
    """Return what `triage doctor` and `triage status` say beside a replica."""
    said = [fork_server.run("bot", command, env=fleet.environment(number)).stdout for command in ("doctor", "status")]
    return "\n".join(said)


@pytest.mark.parametrize("ahead_s", [APART_S, -APART_S])
def test_a_reply_that_was_approved_by_a_wrong_clock_is_posted_once_by_another(
    fleet: Fleet, control: Control, ahead_s: int
) -> None:
    """Its owner dies before the post; the next one counts by the same time, so that nobody has to approve again."""
    wrong = ("tests.replicas.wrong_clock", str(ahead_s))
    fleet.start(1, program=("tests.crashes.victim", after(INTENT).as_argument(), *wrong))
    control.wait_for(lambda: "the database's" in control.transcript(OPS.channel_id), "the line", timeout_s=LIMIT_S)
    first = fleet.ask(SESSIONS, CHLOE.user_id)
    card = fleet.draft(first)
    fleet.click(card, ids.APPROVE)
    control.wait_for(lambda: fleet.running[1].poll() is not None, "the death")
    fleet.start(2)
    control.wait_for(lambda: fleet.replies(first), "the reply", timeout_s=LIMIT_S)
    fleet.start(1, program=wrong)
    for question in (RETRIES, TIMEOUTS):
        answered_once(fleet, control, fleet.ask(question, CHLOE.user_id))
    assert (len(fleet.cards(first)), len(fleet.replies(first))) == (1, 1)
    side = "ahead of" if ahead_s > 0 else "behind"

    def is_named() -> bool:
        """Whether both say so; on a busy machine a check of the doctor may have too little time."""
        said = " ".join(doctor(fleet, 2).split())
        found = re.search(r"the clock of [^:]* is 3[23]\d s ahead of that of", said)
        return found is not None and f"clock 5 min {side} the database's" in said

    control.wait_for(is_named, "the wrong clock to be named", timeout_s=LIMIT_S)
