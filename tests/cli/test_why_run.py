"""`triage why --run`: the record of one run, whether a disk or a database has it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot.__main__ import main
from bot.cli.data_directory import store_at
from tests.postgres import new_database


@pytest.fixture(params=["files", "postgres"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep a run, and return the data directory; with a database the folder on this machine is gone."""
    home = tmp_path / "home"
    monkeypatch.setenv("TRIAGE_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    if request.param == "postgres":
        from bot.adapters.storage.postgres.database import Database

        url = new_database()
        Database(url).close()  # as a start does, it makes the tables
        monkeypatch.setenv("TRIAGE_DATABASE_URL", url)
    home.mkdir()
    folder = home / "runs" / "r1"
    folder.mkdir(parents=True)
    for name, text in {
        "trace.json": '{"run_id": "r1"}',
        "transcript.md": "# Asked\x1b[31m\n",
        "run.log": "ended\n",
    }.items():
        (folder / name).write_text(text)
    store_at(home, is_reader=False).runs.publish("runs/r1")
    if request.param == "postgres":
        shutil.rmtree(folder)
    return home


@pytest.mark.usefixtures("home")
def test_the_record_of_a_run_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """What was said and the log as plain text, for programs the trace; its path may be typed too."""
    assert main(["why", "--run", "runs/r1"]) == 0
    assert capsys.readouterr().out == "# Asked[31m\n\nended\n"
    assert main(["why", "--run", "r1", "--json"]) == 0
    assert capsys.readouterr().out == '{"run_id": "r1"}\n'


@pytest.mark.parametrize("run", ["r2", "..", "", "r"])
@pytest.mark.usefixtures("home")
def test_a_run_of_which_nothing_was_kept_is_refused(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And those with such a name are named."""
    assert main(["why", "--run", run]) == 1
    said = capsys.readouterr().err
    assert "nothing was kept of a run" in said
    assert ("there are r1" in said) == (run == "r")
