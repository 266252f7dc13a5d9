"""One number says which release this is, wherever it is shown."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bot.__main__ import main
from bot.release import program_version

ROOT = Path(__file__).parents[1]
RELEASE = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", re.MULTILINE)


def test_the_version_is_that_of_the_project_and_of_the_newest_notes() -> None:
    """Whatever pip noted when the checkout was installed."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert program_version() == version
    notes = RELEASE.findall((ROOT / "CHANGELOG.md").read_text())
    assert notes[0] == version
    assert notes == sorted(notes, key=lambda one: tuple(map(int, one.split("."))), reverse=True)


def test_the_command_prints_it() -> None:
    """And nothing else."""
    done = subprocess.run([sys.executable, "-m", "bot", "--version"], capture_output=True, text=True, timeout=180)
    assert (done.returncode, done.stdout) == (0, f"triage {program_version()}\n")


def test_it_is_printed_before_the_bot_is_loaded() -> None:
    """Loading takes a second of the processor."""
    code = "import sys; from bot.__main__ import main; main(['--version']); sys.exit('bot.ports' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0


def test_what_stands_behind_it_is_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    """`--version --json` once said that there is no `--version`."""
    assert main(["--version", "--json"]) == 0
    assert capsys.readouterr().out == f"triage {program_version()}\n"
