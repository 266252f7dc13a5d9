"""What a team that is gone left open is closed, and what nobody had begun with is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.composition.removed_teams import end_team
from bot.domain.fixes import Fix, FixStatus
from bot.domain.returns import ProposedPatch
from bot.ports.feature_collections import FIXES
from tests.builders import THREAD_ID, an_event
from tests.casework.office import BEN, Office
from tests.fakes import in_memory

WHY = "the team pay is no longer in triage.yml"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Nothing is asked yet."""
    return Office(tmp_path)


def _ask(office: Office, count: int) -> None:
    for number in range(count):
        office.arrive(an_event(f"Where is limit {number} set?", f"17000000{number:02d}.000001"))


def test_questions_that_waited_are_counted_and_dropped(office: Office) -> None:
    """And said in one sentence."""
    _ask(office, 3)
    end = end_team(office.service, in_memory(FIXES), "pay")
    assert (end.closed, end.dropped, office.jobs.unclaimed()) == (0, 3, [])
    assert end.words().endswith("3 waiting questions were dropped.")


@pytest.mark.parametrize("is_open", [True, False])
def test_a_draft_pr_that_is_not_open_yet_is_given_up(office: Office, is_open: bool) -> None:
    """Its card says so, whether its thread was open or not; one that stands on the code host stays."""
    office.asked()
    if not is_open:
        office.decisions.dismiss(office.click(), by=BEN, reason=None)
    [card] = office.messenger.cards
    fixes, shown = in_memory(FIXES), len(card.shown)
    patch = ProposedPatch(title="Raise it", diff="--- a/a\n+++ b/a\n", rationale="")
    asked = {"question": "why?", "asked_by": BEN, "asked_by_name": "ben", "asked_in_team": "T1"}
    wanted = Fix(thread_id=THREAD_ID, patch=patch, commit="1" * 40, asked_at=office.clock.now(), **asked)
    stands = wanted.evolve(thread_id="T1.C1.1700000000.000009", status=FixStatus.OPEN)
    for fix in (wanted.evolve(pushed=("2" * 40,)), stands):
        fixes.add(fix.id, fix)
    end_team(office.service, fixes, "pay")
    given_up = fixes.get(wanted.id)
    assert given_up.status is FixStatus.REFUSED
    assert given_up.refusal is not None
    assert given_up.refusal.text == (
        f"Nobody opens it any more, because {WHY}. Its commit may stand on the branch `{wanted.branch}`."
    )
    assert fixes.get(stands.id).status is FixStatus.OPEN
    assert len(card.shown) == shown + 1
