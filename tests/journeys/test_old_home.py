"""A data directory of an earlier version is taken over whole: nothing lost, set aside or rung again.

tests/data/home-2026-11-22 was written by the program as it stood before its modules were renamed: one thread answered,
one draft waiting with a job for its thread in the queue, one alert acknowledged.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import FileEngine
from bot.composition.state_move import Side, move
from bot.composition.storage_engine import open_database
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, ENG, HELP
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.beat_office import ALWAYS, CHECK, CHECK_PY, BeatOffice, Watched
from tests.journeys.shop import SESSIONS, TIMEOUTS
from tests.postgres import new_database

OLD = Path(__file__).parents[1] / "data" / "home-2026-11-22"
ANSWERED, WAITING = "1795336979.000001", "1795336979.000009"


def _taken_over(folder: Path) -> tuple[Path, dict[str, Watched]]:
    """Put the old directory and its two checkouts where a new process finds them."""
    home = Path(shutil.copytree(OLD / "home", folder / "home"))
    home.chmod(0o700)
    journal = home / "heartbeats.ndjson"
    journal.write_text(journal.read_text().replace("@TMP@", str(folder)))
    places = {}
    for name in ("api", "web"):
        cwd = make_repo(folder / name, {"check.py": CHECK_PY, ".gitignore": "HEARTBEAT.md\nstate\n"})
        for file in ("HEARTBEAT.md", "state"):
            shutil.copy(OLD / name / file, cwd / file)
        places[name] = Watched(id=name, cwd=cwd)
    return home, places


def _sessions(places: dict[str, Watched]) -> dict[str, object]:
    beat = {"every": "7d", "active_hours": ALWAYS, "commands": [CHECK]}
    return {name: {"cwd": str(place.cwd), "owner": ANA.user_id, "heartbeat": beat} for name, place in places.items()}


def _through_a_database(home: Path) -> Path:
    """Move a data directory into a database, and back into another directory."""
    database_url = new_database()
    back = home.with_name("back")
    for here in (home, back):
        with closing(open_database(database_url, here)) as engine:
            sides = [Side(FileEngine(here), str(here)), Side(engine, "the database")]
            source, target = sides if here == home else reversed(sides)
            move(source, target, here, print)
    return back


@pytest.mark.parametrize("way", [lambda home: home, _through_a_database], ids=["as it is", "through a database"])
def test_what_an_earlier_version_left_is_taken_over(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path, way: Callable[[Path], Path]
) -> None:
    """The waiting draft gets its card, the answered thread stays answered, the acknowledged alert stays quiet."""
    home, places = _taken_over(tmp_path)
    home = way(home)
    waiting = json.loads(next((home / "state").glob("*.json")).read_text())
    lines = {path.name: len(path.read_text().splitlines()) for path in home.glob("*.ndjson")}
    office = BeatOffice(slack, control, home, shop, sessions=_sessions(places))
    office.bot.start()
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        assert WAITING in str(waiting)
        office.card(WAITING, "payment gateway")
        assert office.beat(places["api"])["silent"] is True, "its alert was acknowledged"
        assert office.alerts() == []
        assert len(list(office.replies.records())) == 1
        assert office.posted(ANSWERED) == []
        control.wait_for(lambda: not list((home / "queue").rglob("*.json")), "the job of its format to be done")
    finally:
        office.bot.stop()
    assert not list(home.rglob("*.corrupt"))
    assert len(office.closed(ANSWERED)) == 1
    for name, before in lines.items():
        assert len((home / name).read_text().splitlines()) >= before, f"{name} lost lines"
    records = [path.name for folder in ("state", "closed") for path in (home / folder).rglob("*.json")]
    assert any(name.startswith(f"{DEMO.team_id}.{HELP.channel_id}.{WAITING}") for name in records)


def test_what_was_asked_while_an_early_version_was_replaced_is_answered(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """It kept no record of gaps and of its connection; its journal says whom it heard."""
    home, places = _taken_over(tmp_path)
    shutil.rmtree(home / "slack")
    asked = {HELP.channel_id: TIMEOUTS, ENG.channel_id: SESSIONS}
    asked = {place: control.say(place, CHLOE.user_id, text) for place, text in asked.items()}
    last = max(map(float, asked.values()))
    control.wait_for(lambda: time.time() >= int(last) + 1, "its second to end: the bot reads from a whole one")
    office = BeatOffice(slack, control, home, shop, sessions=_sessions(places))
    office.bot.start()
    try:
        for place, ts in asked.items():
            office.card(ts, channel=place)
    finally:
        office.bot.stop()
