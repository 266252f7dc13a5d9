"""Killed at every named step of a run that is shown live and stopped: nothing stays under way, Stop counts once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, HELP, OPS
from tests.crashes.life import Life
from tests.crashes.moments import after, before
from tests.crashes.proxy import withholding_proxy
from tests.crashes.steps import SAVED, UNREACTED, Step, met
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.office import write_config
from tests.journeys.shop import SESSIONS, SHOP
from tests.journeys.test_live_work import SLOW
from tests.journeys.test_models import KEY
from tests.model_server import ModelServer, load_script

NOTED = r'put cards_shown \S+ .*"live": \{'
LIVE = r"post \S+ .*triage_live:"
FOLDED = f"update {OPS.channel_id} .*steps, stopped.*triage_live:"
STOPPED = SAVED + '"pending_reason": "stopped"'
CARD_STOPPED = f"update {OPS.channel_id} .*stopped. by"
INTERRUPTED = "Investigating: interrupted"

RUNNING = (
    Step(name="live: before it is on file", kill=before(NOTED)),
    Step(name="live: on file, not posted", kill=after(NOTED)),
    Step(name="live: posted, not answered", withheld=LIVE),
    Step(name="live: posted, on file", kill=after(NOTED + r'.*"ts": "')),
)
"""Nobody has clicked; the run begins anew."""
STOPPING = (
    Step(name="stop: before it is on file", kill=before(STOPPED)),
    Step(name="stop: on file", kill=after(STOPPED)),
    Step(name="stop: card shown, not answered", withheld=CARD_STOPPED),
    Step(name="stop: before the steps are folded", kill=before(FOLDED)),
    Step(name="stop: folded, not answered", withheld=FOLDED),
    Step(name="stop: first reaction stands", kill=before(UNREACTED)),
)
SAMPLE = ("live: posted, not answered",)


@pytest.fixture
def life(slack: LocalSlack, control: Control, tmp_path: Path, database: str | None) -> Iterator[Life]:
    """A fresh home behind the proxy, with a model that thinks until it is stopped."""
    config = write_config(tmp_path / "home", make_repo(tmp_path / "shop", SHOP))
    script = tmp_path / "slow.yml"
    script.write_text(SLOW.replace("THOUGHTS", "I look at sessions first. " * 60))
    with withholding_proxy(slack.api_url) as proxy, ModelServer(load_script(script)) as models:
        variables = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": models.url}
        life = Life(slack, control, proxy, config, environment=variables, database=database)
        yield life
        life.close()


def steps_of(life: Life) -> list[str]:
    """Return what the messages with the steps of runs show below the card."""
    said = life.control.messages(OPS.channel_id)
    live = [m for m in said if any("triage_live:" in str(b.get("block_id")) for b in m.get("blocks") or [])]
    return list(map(shown_text, live))


def press(life: Life, *, before: int = 0) -> None:
    """Click Stop once the steps of a run can be seen below those of so many runs before."""
    life.control.wait_for(lambda: any("Reading" in one for one in steps_of(life)[before:]), "the steps")
    [card] = life.cards()
    element = find_element(card, ids.STOP)
    assert element is not None
    life.control.click(OPS.channel_id, card["ts"], ANA.user_id, **element.click_fields())


def is_over(life: Life) -> bool:
    """Whether card, steps and reaction say that nobody works on it any more."""
    [card] = life.cards()
    is_shown = "stopped" in shown_text(card) and find_element(card, ids.STOP) is None
    are_folded = all(INTERRUPTED in one or "steps, stopped" in one for one in steps_of(life))
    return is_shown and are_folded and not life.control.reactions(HELP.channel_id, life.ts)


@pytest.mark.parametrize(
    ("engine", "step"), met((*RUNNING, *STOPPING), *SAMPLE) + met((*RUNNING, *STOPPING), engine="postgres")
)
def test_a_run_is_stopped_once_and_its_steps_are_folded_wherever_the_bot_dies(
    life: Life, engine: str, step: Step, record_property: Any
) -> None:
    """A run that nobody stopped begins anew below what is left of the first; a click that is on file is not lost."""
    record_property("crash_step", f"{engine}: {step.name}")
    life.start(step.kill, step.withheld)
    life.ask(SESSIONS)
    if step in STOPPING:
        press(life)
    life.dies(step.name, decision="none")
    shown, is_on_file = len(steps_of(life)), life.left()["status"] == "pending-user"
    life.start()
    if not is_on_file:
        press(life, before=shown)
    life.control.wait_for(lambda: is_over(life), "all to say that it was stopped", channel=OPS.channel_id)
    life.control.wait_for(lambda: not life.left()["jobs"], "the job to be done")
    life.stop()
    assert len(steps_of(life)) == shown + (not is_on_file)
    state = life.kept.document("threads", life.thread_id)
    assert (state["status"], state["pending_reason"]) == ("pending-user", "stopped")
    assert [one.get("live") for one in life.kept.documents("cards_shown")] == [None]
    assert (life.left()["cards"], life.left()["replies"], life.left()["corrupt"]) == (1, 0, [])
