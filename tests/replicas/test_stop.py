"""*Stop* is clicked at a replica that does not run the investigation, and a replica dies with its steps on show."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import CHLOE, OPS
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.shop import SESSIONS, SHOP
from tests.journeys.test_live_work import SLOW
from tests.journeys.test_models import KEY
from tests.model_server import ModelServer, load_script
from tests.replicas.fleet import Fleet

pytestmark = pytest.mark.full

NOTICED_S = 5.0
"""Two seconds, the provider's own look at its connection, and a busy machine."""


@pytest.fixture
def fleet(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[Fleet]:
    """Replicas that are all killed at the end."""
    fleet = Fleet(slack, control, tmp_path, make_repo(tmp_path / "shop", SHOP))
    yield fleet
    fleet.end()


@pytest.fixture
def model(tmp_path: Path) -> Iterator[ModelServer]:
    """A model that thinks until it is stopped."""
    script = tmp_path / "slow.yml"
    script.write_text(SLOW.replace("THOUGHTS", "I look at sessions first. " * 60))
    with ModelServer(load_script(script)) as server:
        yield server


def steps_of(control: Control) -> list[str]:
    """Return what the messages with the steps of runs show."""
    said = control.messages(OPS.channel_id)
    live = [m for m in said if any("triage_live:" in str(b.get("block_id")) for b in m.get("blocks") or [])]
    return list(map(shown_text, live))


def test_stop_at_the_edge_ends_what_the_worker_spends(fleet: Fleet, control: Control, model: ModelServer) -> None:
    """The provider is hung up on at once and asked nothing more; the card says who stopped it and what it cost.

    A worker that is killed meanwhile leaves its steps behind: whoever takes the run over folds them, and shows its own.
    """
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
    fleet.start(1, only="edge")
    fleet.start(2, only="work", environment=environment)
    ts = fleet.ask(SESSIONS, CHLOE.user_id)
    control.wait_for(lambda: "Reading" in "".join(steps_of(control)), "the steps")
    fleet.kill(2)
    fleet.start(3, only="work", environment=environment)
    control.wait_for(lambda: "Reading" in "".join(steps_of(control)[1:]), "the steps of the second run")
    assert "Investigating: interrupted" in steps_of(control)[0]
    asked, held = len(model.requests), model.hung_up
    fleet.click(fleet.cards(ts)[0], ids.STOP)
    begun = time.monotonic()
    control.wait_for(lambda: model.hung_up > held, "the provider to be hung up on")
    took_s = time.monotonic() - begun
    print(f"\nhung up on {took_s:.1f} s after the click")
    assert took_s < NOTICED_S
    control.wait_for(lambda: "steps, stopped" in steps_of(control)[1], "the steps to be folded")
    control.wait_for(lambda: "$" in fleet.shown(ts), "the card to say what it cost")
    assert (len(steps_of(control)), len(model.requests)) == (2, asked)
    assert "stopped" in fleet.shown(ts)
