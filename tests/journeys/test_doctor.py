"""`triage doctor` beside a bot that really runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from demo.control import Control
from demo.slack_server import LocalSlack
from tests import fork_server
from tests.gitrepo import make_repo
from tests.journeys.office import Office, environment_of

pytestmark = pytest.mark.journey


def test_a_running_bot_is_well(slack: LocalSlack, control: Control, tmp_path: Path) -> None:
    """Every check, within seconds, by exit code and as JSON; once it has stopped the doctor says so."""
    office = Office(slack, control, tmp_path / "home", make_repo(tmp_path / "code", {"a.py": "A = 1\n"}))
    environ = {**os.environ, **environment_of(slack, office.home)}

    def doctor() -> tuple[int, dict[str, bool]]:
        done = fork_server.run("bot", "doctor", "--json", env=environ, cwd=tmp_path)
        said = json.loads(done.stdout)
        return done.returncode, {check["name"]: check["ok"] for check in said["checks"]}

    office.bot.start()
    try:
        code, found = doctor()
    finally:
        office.bot.stop()
    assert (code, [name for name, ok in found.items() if not ok]) == (0, [])
    code, found = doctor()
    assert (code, [name for name, ok in found.items() if not ok]) == (1, ["bot", "connection"])
