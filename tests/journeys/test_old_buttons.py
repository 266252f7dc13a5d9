"""Buttons of features that are gone, on cards that an earlier version posted: a click says so, and changes nothing.

The cards stand in the old installation (tests/old_home): a proposal, a note to be looked at again, and
the tiers of a playbook in a private answer. So does the job of a spoken order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from blocks import ids
from demo.headless import find_element, shown_text
from demo.workspace import ANA
from tests.hands import Json
from tests.journeys.company import PAY_OPS
from tests.journeys.old_office import Reopened, reopened
from tests.old_home import codebase
from tests.old_home.restore import messages

BUTTONS: Final = {
    "Accept of a proposal": ("CDN cache", "triage_accept_proposal"),
    "Reject of a proposal": ("CDN cache", "triage_reject_proposal"),
    "Still true of a note": ("Is this note still true?", "triage_still_true"),
    "Retire of a note": ("Is this note still true?", "triage_retire"),
    "Edit of a tier": ("/triage tiers", "triage_edit_tier:hourly"),
}
GONE: Final = re.compile(r"no longer|\bgone\b|removed|any ?more|not known", re.IGNORECASE)
"""How a sentence may say that there is no such thing now."""


@pytest.fixture(scope="module")
def old(slack_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reopened]:
    """The old installation, taken over; nothing is about to be checked or answered by itself."""
    with reopened(tmp_path_factory.mktemp("old"), slack_binary, in_database=False) as office:
        office.card_of(codebase.ORDER, offering=ids.DISMISS)
        office.control.wait_for(lambda: no_job_waits(office), "what was under way to end", channel=PAY_OPS.channel_id)
        yield office


def no_job_waits(office: Reopened) -> bool:
    """Whether payments has no job of people that waits or runs."""
    with office.kept("payments") as kept:
        return kept.jobs("") + kept.jobs("running") == 0


def kept(old: Reopened) -> dict[str, str]:
    """Return what the buttons used to change: the tasks of playbooks, and notes."""
    files = [*(old.restored.place / name / "HEARTBEAT.md" for name in codebase.WATCHED)]
    tasks = {path.parent.name: "".join(re.findall(r"- \[.\] (.*\n)", path.read_text())) for path in files}
    return tasks | {str(path): path.read_text() for path in old.home.rglob("memory/**/*.md")}


def shown(old: Reopened) -> set[tuple[str, str]]:
    """Return what Ana reads in the ops channel, by message."""
    seen = old.control.messages(PAY_OPS.channel_id)
    return {(one["ts"], shown_text(one)) for one in seen if one.get("ephemeral_to") in (None, ANA.user_id)}


@pytest.mark.parametrize(("words", "action"), BUTTONS.values(), ids=BUTTONS)
def test_a_button_of_what_is_gone_says_so(old: Reopened, words: str, action: str) -> None:
    """The card, or an answer to who clicked, has new words that say it; no dialogue opens; nothing is changed."""
    card: Json = next(one for one in messages() if words in one["text"] and find_element(one, action))
    button = find_element(card, action)
    assert button is not None
    before, stored = shown(old), kept(old)
    old.control.click(PAY_OPS.channel_id, card["ts"], ANA.user_id, **button.click_fields())
    old.control.wait_for(
        lambda: any(GONE.search(text) for _, text in shown(old) - before),
        f"{action} to be called gone",
        timeout_s=30,
        channel=PAY_OPS.channel_id,
    )
    assert old.control.modals.current() is None
    assert kept(old) == stored


def test_a_spoken_order_that_waited_is_answered_as_a_question(old: Reopened) -> None:
    """Its job is not lost: the message has a card that people can decide on, and no proposal."""
    old.card_of(codebase.ORDER, offering=ids.DISMISS)
    marks = [str(one.get("blocks")) for one in old.control.messages(PAY_OPS.channel_id)]
    assert not [one for one in marks if "triage_proposal:" in one and "disk" in one.lower()]
