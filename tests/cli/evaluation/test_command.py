"""`triage eval` as somebody types it: offline, with a model, and where something is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import Said, typed
from tests.gitrepo import make_repo
from tests.journeys.shop import RETRIES, SESSIONS, SHOP
from tests.model_server import ModelServer, load_script

SCRIPTS = Path(__file__).parents[2] / "model_server" / "scripts"
QUESTIONS = [
    {"ask": SESSIONS, "files": ["shop/sessions.py"]},
    {"ask": RETRIES, "files": ["shop/retry.py"]},
    {"ask": "Who won the regatta?", "files": []},
]


class Terminal:
    """The shop's code, a data directory, and a file of three questions."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "home"
        make_repo(folder / "shop", SHOP)
        (folder / "q.ndjson").write_text("".join(f"{json.dumps(one)}\n" for one in QUESTIONS))
        self.env = {"PATH": "/usr/bin:/bin", "TRIAGE_HOME": str(self.home)}

    def eval(self, *words: str, stdin: str = "") -> Said:
        return typed(["eval", *words], self.folder, self.env, stdin)

    def measured(self, *words: str) -> dict[str, Any]:
        done = self.eval("--codebase", "shop", "--json", *words)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal without a config and without a key."""
    return Terminal(tmp_path)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A provider whose investigator reads what it cites, and whose validator lets everything pass."""
    with ModelServer(load_script(SCRIPTS / "pass.yml")) as server:
        yield server


def test_what_cannot_be_measured_says_what_to_do(terminal: Terminal) -> None:
    """Before anything is asked."""
    (terminal.folder / "bad.ndjson").write_text('{"ask": "a?", "files": []}\n{"ask": "b?", "files": ["nope.py"]}\n')
    bad = terminal.eval("--codebase", "shop", "--questions", "bad.ndjson")
    assert (bad.returncode, "question 2: not committed in the codebase: nope.py" in bad.stderr) == (2, True)
    assert terminal.eval("--questions", "q.ndjson").returncode == 2
    nowhere = terminal.eval("--codebase", "nowhere")
    assert (nowhere.returncode, "nowhere is no" in " ".join(nowhere.stderr.split())) == (2, True)
    (terminal.folder / "triage.yml").write_text("budget: {per_day_usd: much}\n")
    broken = terminal.eval("--codebase", "shop", "--questions", "q.ndjson")
    assert (broken.returncode, "budget" in broken.stderr) == (2, True)
    (terminal.folder / "triage.yml").unlink()
    assert "set ANTHROPIC_API_KEY" in terminal.eval("--codebase", "shop", "--model").stderr


def test_a_key_alone_asks_no_model(terminal: Terminal) -> None:
    """The address leads nowhere: whoever called it would fail."""
    terminal.env |= {"ANTHROPIC_API_KEY": "sk-scripted-0123456789abcdef", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
    found = terminal.measured("--questions", "q.ndjson")
    assert (found["investigator"], found["questions"]["passed"]["hits"]) == (
        "no model asked, search and code checks alone",
        2,
    )
