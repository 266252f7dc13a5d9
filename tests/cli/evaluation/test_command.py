"""`triage eval` as somebody types it: offline, with a model, with a history, and where something is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.storage.files.file_engine import FileStore
from bot.domain.threads import Resolution
from tests.casework.four_weeks import live_four_weeks
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


def test_all_three_parts_are_measured_without_a_key(terminal: Terminal) -> None:
    """Each figure with its count; the table and the JSON say the same."""
    done = terminal.eval("--codebase", "shop", "--questions", "q.ndjson")
    assert done.returncode == 0, done.stderr
    assert "right file cited                    2 of 2 (100 %)" in done.stdout
    assert "no draft where nothing answers      1 of 1 (100 %)" in done.stdout
    assert "no draft was decided yet: not enough data" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "question 3 of 3 …" in done.stderr
    found = terminal.measured("--questions", "q.ndjson")
    assert found["questions"]["cited"] == {"hits": 2, "of": 2}
    kinds = found["planted"]["kinds"]
    assert kinds["citation: commit does not exist"] == {
        "checks": 2,
        "validator": 0,
        "passed": 0,
        "unknown": 0,
    }
    assert kinds["statement: negated"]["passed"] > 0
    assert found["planted"]["refused_unharmed"]["hits"] == 0
    assert terminal.measured("--questions", "q.ndjson")["planted"] == found["planted"]
    assert {one.name for one in terminal.home.iterdir()} == {"index", "runs"}


def test_without_questions_the_other_parts_are_measured(terminal: Terminal) -> None:
    """And it is said what to type; errors are planted in drafts about files."""
    done = terminal.eval("--codebase", "shop", "--limit", "2")
    assert done.returncode == 0
    assert "Next: triage eval --questions FILE" in done.stdout
    assert "searches, a file each" in done.stdout
    assert terminal.measured("--limit", "2")["questions"] is None


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


def test_with_a_model_its_runs_are_estimated_and_counted(terminal: Terminal, server: ModelServer) -> None:
    """The validator is asked about what the code checks let through; the cost is known."""
    terminal.env |= {"ANTHROPIC_API_KEY": "sk-scripted-0123456789abcdef", "ANTHROPIC_BASE_URL": server.url}
    done = terminal.eval("--codebase", "shop", "--questions", "q.ndjson", "--model", "--limit", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert "about 6 runs of a model at most" in done.stderr
    found = json.loads(done.stdout)
    assert found["investigator"].startswith("claude")
    assert found["questions"]["cited"] == {"hits": 1, "of": 1}
    assert found["questions"]["answers"][0]["cost_usd"] > 0
    assert found["planted"]["kinds"]["citation: lines moved"]["checks"] == 1
    assert (terminal.home / "spend.ndjson").is_file()


def test_what_people_decided_is_counted(terminal: Terminal) -> None:
    """Of the data directory, with a star where there is too little."""
    live_four_weeks(FileStore(terminal.home), datetime.now(UTC), {3: Resolution.DISMISSED}, drafts=5, investigator="m")
    done = terminal.eval("--codebase", "shop", "--limit", "1")
    assert "model high" in done.stdout
    assert "* fewer than 20 drafts: not enough data" in done.stdout
    counts = terminal.measured("--limit", "1")["history"]["model_high"]
    assert (counts["approved"], counts["dismissed"], counts["drafts"]) == (4, 1, 5)


def test_cards_say_what_was_measured_here(terminal: Terminal) -> None:
    """Once it is enough; for another codebase than the team's it is refused."""
    (terminal.folder / "triage.yml").write_text("codebase: shop\nops_channel: C0OPS\n")
    live_four_weeks(FileStore(terminal.home), datetime.now(UTC), drafts=24, investigator="m")
    done = terminal.eval("--questions", "q.ndjson", "--calibrate")
    assert done.returncode == 0, done.stderr
    assert "Cards say so of each kind with 20 drafts or more" in done.stdout
    assert json.loads((terminal.home / "calibration.json").read_text())["people"]["model_high"]["approved"] == 24
    refused = terminal.eval("--codebase", "shop", "--calibrate")
    assert (refused.returncode, "the codebases of triage.yml" in refused.stderr) == (2, True)
