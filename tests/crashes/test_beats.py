"""Killed at every step of a beat, started again: what it found is told once, and its line is written once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA
from tests.crashes.life import Life
from tests.crashes.moments import Moment, after, before
from tests.crashes.proxy import withholding_proxy
from tests.crashes.steps import met
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.beat_office import CHECK, HELD_PY, Watched, sessions_of, watched
from tests.journeys.office import write_config
from tests.journeys.shop import SHOP
from tests.journeys.test_screened_beats import KEY, SCREENED, decision, receipts, script
from tests.model_server import ModelServer, Turn
from tests.model_server.script import Call

Record = Callable[[str, object], None]

STATE = r"put sessions watched .*"
RUN, PAID, FOUND = r"run .*check\.py", STATE + r'"paid": \{', STATE + r'"findings": \{"watched/'
POSTED, NOTED, ENDED = r"post .*triage_alert:", STATE + r'"reference": "\d', STATE + r'"last_run": "\d'
LINE, DONE = "append heartbeats ", "done heartbeat "
TASKS = f"- [ ] The check: `{CHECK}`\n- [ ] a-case: do the deploys look healthy?\n- [ ] b-case: does the shop?"


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatStep:
    """One place to die: a moment, a call that Slack never answers, or what is held: the check or a model's turn.

    `cards` and `lines` stand by then; `is_paid`: the full run has been, and is not to be paid again.
    """

    name: str
    kill: Moment | None = None
    withheld: str | None = None
    held: str = ""
    cards: int = 0
    lines: int = 0
    is_paid: bool = True


STEPS = (
    BeatStep(name="beat: not queued", kill=before("enqueue heartbeat "), is_paid=False),
    BeatStep(name="beat: before the commands", kill=before(RUN), is_paid=False),
    BeatStep(name="beat: during a command", held="check", is_paid=False),
    BeatStep(name="beat: during the pre-screen", held="screen", is_paid=False),
    BeatStep(name="beat: during the full run", held="beat", is_paid=False),
    BeatStep(name="beat: report not saved", kill=before(PAID), is_paid=False),
    BeatStep(name="beat: report saved", kill=after(PAID)),
    BeatStep(name="beat: finding saved, not posted", kill=after(FOUND)),
    BeatStep(name="beat: posted, not answered", withheld=POSTED, cards=1),
    BeatStep(name="beat: posted, not noted", kill=before(NOTED), cards=1),
    BeatStep(name="beat: first noted", kill=after(NOTED), cards=1),
    BeatStep(name="beat: second not posted", kill=before(POSTED, nth=2), cards=1),
    BeatStep(name="beat: second posted, not noted", kill=before(NOTED, nth=2), cards=2),
    BeatStep(name="beat: told, folder not published", kill=before("publish runs/beat-"), cards=2),
    BeatStep(name="beat: no line", kill=before(LINE), cards=2),
    BeatStep(name="beat: line written", kill=after(LINE), cards=2, lines=1),
    BeatStep(name="beat: end not saved", kill=before(ENDED), cards=2, lines=1),
    BeatStep(name="beat: end saved", kill=after(ENDED), cards=2, lines=1),
    BeatStep(name="beat: job not removed", kill=before(DONE), cards=2, lines=1),
)
SAMPLE = ("beat: during a command", "beat: second posted, not noted")


@pytest.fixture
def place(tmp_path: Path) -> Watched:
    """A checkout with a command that may be held, and two tasks in which a model finds something."""
    place = watched(tmp_path, "watched", tasks=TASKS)
    (place.cwd / "check.py").write_text(HELD_PY)
    return place


@pytest.fixture
def server(place: Watched, step: BeatStep) -> Iterator[ModelServer]:
    """A cheap model that escalates, and a dear one that finds two things."""
    check, *cases = receipts(place)
    found = [
        {**case, "result": "finding", "finding": {"key": "down", "severity": "act", "text": f"Down: {n}"}}
        for n, case in enumerate(cases)
    ]
    call = Call(name="finish_beat", input={"receipts": [check, *found], "message": "", "status": "ok"})
    screen = {"": Turn(text=decision("escalate", place), holds=step.held == "screen")}
    with ModelServer(script(screen, {"": Turn(calls=(call,), holds=step.held == "beat")})) as server:
        yield server


@pytest.fixture
def life(
    slack: LocalSlack, control: Control, tmp_path: Path, place: Watched, server: ModelServer, database: str | None
) -> Iterator[Life]:
    """A fresh home behind the proxy, in which a beat of the clock's is asked for."""
    shop = make_repo(tmp_path / "shop", SHOP)
    config = write_config(tmp_path / "home", shop, sessions=sessions_of(place, **SCREENED))
    models = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
    with withholding_proxy(slack.api_url) as proxy:
        life = Life(slack, control, proxy, config, environment=models, database=database)
        life.kept.store.documents.put("wakes", f"{place.id}.interval", {}, version=0)
        yield life
        life.close()


def cards(life: Life) -> list[str]:
    """Return the alerts that Ana has, by what they say."""
    channel = life.control.direct_messages(ANA.user_id)
    return sorted(shown_text(each) for each in life.control.messages(channel)) if channel else []


def begun(server: ModelServer, role: str) -> int:
    """Return how many conversations a model was asked into."""
    return sum(entry["role"] == role and len(entry["body"]["messages"]) == 1 for entry in server.requests)


def dies(life: Life, place: Watched, server: ModelServer, step: BeatStep) -> None:
    """Have the bot die at a step, by itself or while something is held that goes on then."""
    if not step.held:
        life.dies(step.name, decision="none")
        return
    is_held = (place.cwd / "begun").exists if step.held == "check" else lambda: begun(server, step.held) == 1
    life.control.wait_for(is_held, f"{step.held} to be held")
    life.end()
    (place.cwd / "hold").unlink(missing_ok=True)
    server.released.set()


@pytest.mark.parametrize(("engine", "step"), met(STEPS, *SAMPLE) + met(STEPS, engine="postgres"))
def test_what_a_beat_found_is_told_once_wherever_the_bot_dies(
    life: Life, place: Watched, server: ModelServer, engine: str, step: BeatStep, record_property: Record
) -> None:
    """Two findings, two cards, one line and a stamp; a full run that has reported is not paid again."""
    record_property("crash_step", f"{engine}, {step.name}")
    if step.held == "check":
        (place.cwd / "hold").touch()
    life.start(step.kill, step.withheld)
    dies(life, place, server, step)
    assert (len(cards(life)), len(life.kept.records("heartbeats"))) == (step.cards, step.lines)
    life.start()
    life.control.wait_for(
        lambda: life.kept.records("heartbeats") and not life.left()["jobs"], "the beat's line, and nothing to do"
    )
    life.stop()
    [line] = life.kept.records("heartbeats")
    assert (line["reason"], line["result"], line["prescreen"]) == ("interval", "sent", "escalate")
    assert [re.findall(r"Down: \d", card) for card in cards(life)] == [["Down: 0"], ["Down: 1"]]
    assert begun(server, "beat") == 1 or not step.is_paid
    assert "Last quick: (never)" not in place.playbook
    assert life.left()["corrupt"] == []
