"""What nobody clicked, over one database: a second replica ends automatic replies, and votes count once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from blocks import ids
from bot.domain.questions.autonomy_record import Arming
from bot.ports.collections import AUTONOMY, SingleDocument
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, ENG, HELP, OPS
from tests.casework.four_weeks import AT_WORK, live_four_weeks
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.shop import SHOP
from tests.journeys.test_models import KEY, SCRIPTS
from tests.kept import Kept
from tests.model_server import ModelServer, load_script
from tests.replicas.fleet import Fleet

pytestmark = pytest.mark.full

ASKED = f"<@{DEMO.bot_id}> Where in the code are session cookies signed?"


@pytest.fixture
def fleet(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[Fleet]:
    """Replicas of a team with four good weeks behind it, armed; their models are sure and right."""
    shop = make_repo(tmp_path / "shop", SHOP)
    fleet = Fleet(slack, control, tmp_path, shop, autonomy="on", working_hours=AT_WORK)
    kept = Kept(fleet.home(1), fleet.url)
    store, now = kept.store, datetime.now(UTC)
    live_four_weeks(store, now, team=DEMO.team_id, channel=ENG.channel_id)
    armed = Arming(armed_by=ANA.user_id, armed_at=now)
    SingleDocument(store.documents, AUTONOMY).update(armed.model_dump(mode="json"))
    kept.close()
    yield fleet
    fleet.end()


def test_a_second_replica_ends_automatic_replies_and_a_vote_counts_once(fleet: Fleet, control: Control) -> None:
    """One alone sends; beside another every draft waits, and the ops channel hears why, once."""
    with ModelServer(load_script(SCRIPTS / "pass.yml")) as models:
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": models.url}
        fleet.start(1, environment=environment)
        first = control.say(HELP.channel_id, CHLOE.user_id, ASKED)
        (reply,) = control.wait_for(lambda: fleet.replies(first), "the automatic reply", channel=OPS.channel_id)
        fleet.start(2, environment=environment)
        second = control.say(HELP.channel_id, ANA.user_id, ASKED)
        fleet.draft(second)
        assert fleet.replies(second) == []
        control.wait_for(lambda: told(control, "Automatic replies are off: 1 other process"), "why it is off")
        for label in (ids.NOT_HELPFUL, ids.HELPFUL, ids.NOT_HELPFUL):
            element = find_element(reply, label)
            assert element is not None
            control.click(HELP.channel_id, reply["ts"], CHLOE.user_id, **element.click_fields())
        control.wait_for(lambda: "1 not helpful" in fleet.shown(first), "the vote on the card", channel=OPS.channel_id)
        control.wait_for(lambda: told(control, "not helpful"), "the approvers to be told")
    assert len(told(control, "Automatic replies are off")) == 1
    assert len(fleet.replies(first)) == 1


def told(control: Control, words: str) -> list[str]:
    """Return what the ops channel was told in these words, cards aside."""
    shown = (shown_text(message) for message in control.messages(OPS.channel_id))
    return [text for text in shown if words in text and "asked in" not in text]
