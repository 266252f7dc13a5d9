"""What a beat does and does not do, seen from its record, the owner's messages and the places alerts are sent to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, OPS
from tests.cli.typed import typed
from tests.gitrepo import git, make_repo
from tests.hands import Control
from tests.journeys.beat_office import CHECK, BeatOffice, Wake, sessions_of, watched
from tests.journeys.shop import SHOP
from tests.promises.slack_end import slack_end
from tests.workspaces import empty

FAR_EAST = "Pacific/Kiritimati"
TICKING = "import time\nprint(time.strftime('3 of 3 passed at %Y-%m-%d %H:%M:%S UTC', time.gmtime()), end='')\n"
NOSY = "import os, pathlib\npathlib.Path('seen').write_text(' '.join(os.environ))\n"
SECRET_PATH = "hooks-e7a1c0ffee"


class Receiver(ThreadingHTTPServer):
    """Somebody's webhook; `got` holds what was posted to it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        """Its address, of which only the host may be repeated."""
        return f"http://127.0.0.1:{self.server_port}/{SECRET_PATH}"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def receiver() -> Iterator[Receiver]:
    """Listen as long as the block lasts."""
    with Receiver() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


class Garden(BeatOffice):
    """The office that watches a checkout for each of the tests here."""

    def __init__(self, slack: Any, control: Control, folder: Path, hook: Receiver) -> None:
        self.places = {
            name: watched(folder, name)
            for name in ("well", "tracked", "ticking", "east", "told", "quiet", "nosy", "gone")
        }
        self.places["hook"] = watched(folder, "hook", state="bad")
        git(self.places["tracked"].cwd, "add", "--force", "HEARTBEAT.md")
        git(self.places["tracked"].cwd, "commit", "--quiet", "-m", "Track it")
        (self.places["ticking"].cwd / "check.py").write_text(TICKING)
        (self.places["nosy"].cwd / "check.py").write_text(NOSY)
        now = datetime.now(ZoneInfo(FAR_EAST))
        east = {"start": f"{(now.hour + 9) % 24:02}:00", "end": f"{(now.hour + 12) % 24:02}:00", "timezone": "user"}
        own: dict[str, dict[str, Any]] = {
            "east": {"active_hours": east},
            "told": {"visibility": {"show_ok": True}},
            "quiet": {"visibility": {"use_indicator": False}},
            "hook": {"deliver": {"mode": "explicit", "channel": "webhook", "to": hook.url}},
        }
        sessions: dict[str, Any] = {}
        for name, place in self.places.items():
            sessions |= sessions_of(place, **own.get(name, {}))
        shop = make_repo(folder / "shop", SHOP)
        super().__init__(slack, control, folder / "home", shop, sessions=sessions)

    def heartbeat(self, *words: str) -> str:
        """Return what `triage heartbeat …` prints beside the running bot."""
        env = {"TRIAGE_HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        return typed(["heartbeat", *words], self.home, env).stdout


@pytest.fixture(scope="module")
def hook() -> Iterator[Receiver]:
    """Somebody's webhook."""
    with receiver() as hook:
        yield hook


@pytest.fixture(scope="module")
def garden(slack_server: LocalSlack, hook: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Garden]:
    """The bot that the tests here share; Slack says that Ana lives far in the east."""
    with Control(slack_server.url) as control, slack_end(slack_server.api_url) as end:
        end.people[ANA.user_id] = {"tz": FAR_EAST}
        empty(control)
        garden = Garden(end, control, tmp_path_factory.mktemp("garden"), hook)
        garden.bot.start()
        try:
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            yield garden
        finally:
            garden.bot.stop()


def test_a_playbook_that_git_tracks_is_not_worked_and_its_owner_is_told(garden: Garden) -> None:
    """Every contributor could edit it; the record says what to do."""
    place = garden.places["tracked"]
    line = garden.beat(place, result="skipped")
    assert "allow_tracked_playbook" in line["why"]
    assert "(never)" in place.playbook


def test_a_session_without_its_folder_does_not_beat_and_its_owner_is_told_once(garden: Garden) -> None:
    """It goes on when the folder is back."""
    place = garden.places["gone"]
    place.cwd.rename(place.cwd.with_name("elsewhere"))
    try:
        garden.control.wait_for(lambda: [a for a in garden.alerts() if "gone" in shown_text(a)], "Ana to be told")
        assert garden.beat(place)["result"] in ("skipped", "failed")
    finally:
        place.cwd.with_name("elsewhere").rename(place.cwd)
    assert garden.beat(place, result="ok-token")
    assert len([a for a in garden.alerts() if "gone" in shown_text(a)]) == 1


def test_an_output_that_differs_in_clocks_and_durations_alone_is_not_news(garden: Garden) -> None:
    """The next beat of the clock finds nothing changed."""
    place = garden.places["ticking"]
    garden.beat(place, result="ok-token")
    assert garden.beat(place, Wake.INTERVAL, result="ok-empty")["why"] == "probes: nothing changed"
    (place.cwd / "check.py").write_text(TICKING.replace("3 of 3 passed", "2 of 3 passed"))
    assert garden.beat(place, result="ok-token")["changes"]


def test_active_hours_are_those_of_the_owners_time_zone(garden: Garden) -> None:
    """In UTC it would be time."""
    line = garden.beat(garden.places["east"], Wake.INTERVAL, result="skipped")
    assert line["why"].startswith("outside hours: ")


def test_all_is_well_is_said_only_where_show_ok_asks_for_it(garden: Garden) -> None:
    """The owner of the other session is written to by nobody."""
    assert garden.beat(garden.places["well"], result="ok-token")["silent"]
    assert not garden.beat(garden.places["told"], result="sent")["silent"]
    assert garden.alert("told")


def test_without_use_indicator_a_session_shows_no_indicator(garden: Garden) -> None:
    """With it, the lists say how the session stands; the record has it in any case."""
    for name in ("nosy", "quiet"):
        garden.beat(garden.places[name])
    assert (row(garden, "nosy")["status"], row(garden, "quiet")["status"]) == ("ok", "on")


def test_a_beat_by_hand_does_not_move_the_phase_of_the_others(garden: Garden) -> None:
    """When the clock beats next is a matter of the session's name and pace alone."""
    before = row(garden, "quiet")["next_at"]
    garden.beat(garden.places["quiet"])
    assert row(garden, "quiet")["next_at"] == before


def test_a_webhook_is_told_and_its_path_is_kept_nowhere(garden: Garden, hook: Receiver) -> None:
    """Whoever reads record, state or list learns the host at most."""
    line = garden.beat(garden.places["hook"], result="sent")
    assert hook.got
    assert line["delivered"]["channel"] == "webhook"
    kept = [*garden.home.glob("*.ndjson"), *(garden.home / "sessions" / "hook").iterdir()]
    kept += [path for path in garden.home.glob("runs/*hook*/*") if path.is_file()]
    assert garden.home / "heartbeats.ndjson" in kept
    assert [path for path in kept if SECRET_PATH in path.read_text()] == []
    assert SECRET_PATH not in garden.heartbeat("why", "hook") + garden.heartbeat("list")


def test_a_command_of_a_beat_sees_no_token_and_no_key(garden: Garden) -> None:
    """Its environment is the few variables that it needs."""
    place = garden.places["nosy"]
    garden.beat(place)
    seen = (place.cwd / "seen").read_text().split()
    assert seen
    assert not [name for name in seen if name.startswith(("SLACK", "TRIAGE", "ANTHROPIC", "PYTEST"))]


def test_a_command_that_is_not_listed_is_never_run(garden: Garden) -> None:
    """Whatever a playbook asks for: it is named as a task that may not run."""
    place = garden.places["well"]
    (place.cwd / "HEARTBEAT.md").write_text(place.playbook.replace(CHECK, "touch was-run && python3 check.py"))
    try:
        garden.beat(place)
        assert not (place.cwd / "was-run").exists()
    finally:
        (place.cwd / "HEARTBEAT.md").write_text(place.playbook.replace("touch was-run && python3 check.py", CHECK))


def test_a_pace_that_somebody_set_by_command_is_kept_on_file(garden: Garden) -> None:
    """An override wins over triage.yml, and a program beside the bot reads it."""
    garden.control.command(ANA.user_id, OPS.channel_id, "heartbeat every well 20m")
    garden.control.command(ANA.user_id, OPS.channel_id, "heartbeat off told")
    garden.control.wait_for(lambda: row(garden, "told")["status"] == "off", "the session to be off")
    assert row(garden, "well")["every"].startswith("every 20m")


def row(garden: Garden, name: str) -> dict[str, Any]:
    """Return the line of a session in the list for programs."""
    listed = json.loads(garden.heartbeat("list", "--json"))
    found: dict[str, Any] = next(one for one in listed if one["id"] == name)
    return found
