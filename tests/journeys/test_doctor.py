"""`triage doctor` beside a bot that really runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from demo.slack_server import LocalSlack
from tests import fork_server
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.office import Office, environment_of

pytestmark = pytest.mark.journey


def test_a_running_bot_is_well(slack: LocalSlack, control: Control, tmp_path: Path) -> None:
    """Every check, within seconds, by exit code and as JSON; once it has stopped the doctor says so."""
    office = Office(slack, control, tmp_path / "home", make_repo(tmp_path / "code", {"a.py": "A = 1\n"}))
    environ = {**os.environ, **environment_of(slack, office.home)}

    def doctor() -> tuple[int, list[str]]:
        done = fork_server.run("bot", "doctor", "--json", env=environ, cwd=tmp_path)
        return done.returncode, [check["name"] for check in json.loads(done.stdout)["checks"] if not check["ok"]]

    # a machine that is busy may leave it no time for a check
    office.bot.start()
    try:
        control.wait_for(lambda: doctor() == (0, []), "every check to pass")
    finally:
        office.bot.stop()
    control.wait_for(lambda: doctor() == (1, ["bot", "connection"]), "the doctor to miss the bot")
