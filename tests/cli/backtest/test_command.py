"""`triage backtest` as somebody types it: a set of our own whose figures may not fall, the page, marks, a model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from tests.builders import an_event
from tests.cli.backtest.channel import make_channel
from tests.cli.typed import Said, typed
from tests.model_server import ModelServer, load_script

SCRIPTS = Path(__file__).parents[2] / "model_server" / "scripts"


class Terminal:
    """The channel and its code, and a data directory that nothing may be written to but by name."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "home"
        self.repo, self.export = make_channel(folder)
        self.env = {"PATH": "/usr/bin:/bin", "TRIAGE_HOME": str(self.home)}

    def type(self, *words: str, env: dict[str, str] | None = None) -> Said:
        return typed(["backtest", "export.zip", "--codebase", "shop", *words], self.folder, {**self.env, **(env or {})})

    def measured(self, *words: str, env: dict[str, str] | None = None) -> dict[str, Any]:
        done = self.type("--json", *words, env=env)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal without a config and without a key."""
    return Terminal(tmp_path)


def test_the_figures_of_our_own_channel_do_not_fall(terminal: Terminal) -> None:
    """Drafted at the commit of the time, and right by each structure that tells; what nobody answered is not known.

    No key is used, and nothing but the journal is written.
    """
    found = terminal.measured(env={"ANTHROPIC_API_KEY": "sk-never-used", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"})
    standings = found["standings"]
    assert (found["questions"], found["failed"], standings["unknown"]) == (9, 0, 1)
    assert standings["right"] >= 6
    assert standings["wrong"] == 0
    assert found["shares"]["passed"]["hits"] >= 7
    assert found["classes"]["ambient"] >= 1
    assert (found["cost_usd"], [path.name for path in terminal.home.iterdir()]) == (0, ["backtest"])
    drafts = found["drafts"]
    assert ["MAX_ATTEMPTS = 3" in drafts[1]["draft"], "MAX_ATTEMPTS = 5" in drafts[-1]["draft"]] == [True, True]
    because = {why.partition(" ")[2].split(" commit")[0] for one in drafts for _, why in one["known"]}
    assert {"links", "names it"} <= because


def test_a_second_run_goes_on_and_its_page_counts_marks(terminal: Terminal) -> None:
    """What is done is taken from the journal beside the page; a mark is read as the page saved it."""
    assert terminal.type("--html", "out.html", "--limit", "3").returncode == 0
    before = (terminal.folder / "out.backtest.ndjson").read_bytes()
    mark = {"chat_id": "C0HELP", "message_id": "1769817600.000100", "classification": "ambient", "right": False}
    (terminal.folder / "marks.ndjson").write_text(json.dumps(mark) + "\n")
    done = terminal.type("--html", "out.html", "--limit", "4", "--marks", "marks.ndjson")
    assert "going on: 3 of 4 questions are done" in done.stderr
    assert (terminal.folder / "out.backtest.ndjson").read_bytes().startswith(before)
    assert (terminal.folder / "out.html").stat().st_mode & 0o777 == 0o600
    assert "right, of questions whose answer is known" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.full
def test_many_questions_are_shared_out_and_come_back_in_order(terminal: Terminal) -> None:
    """Read from an events.ndjson; every process has its own copy of the code."""
    journal = NdjsonJournal(terminal.folder / "events.ndjson")
    for number in range(30):
        event = an_event(f"what is MAX_ATTEMPTS, part {number}?", ts=f"{1_768_000_000 + 60_000 * number}.000100")
        journal.append(event.model_dump(mode="json"))
    done = typed(["backtest", "events.ndjson", "--codebase", "shop", "--json"], terminal.folder, terminal.env)
    drafts = json.loads(done.stdout)["drafts"]
    assert [one["message_id"] for one in drafts] == [
        f"{1_768_000_000 + 60_000 * number}.000100" for number in range(30)
    ]
    assert ["MAX_ATTEMPTS = 3" in one["draft"] for one in (drafts[0], drafts[-1])] == [True, False]
    assert all("MAX_ATTEMPTS = " in one["draft"] for one in drafts)


@pytest.mark.full
def test_a_killed_run_leaves_no_process_and_the_next_one_goes_on(terminal: Terminal) -> None:
    """The processes that investigate hold the output open, so its end says that all of them have ended."""
    events, kept = terminal.folder / "events.ndjson", terminal.folder / "out.backtest.ndjson"
    for number in range(60):
        event = an_event(f"what is MAX_ATTEMPTS, part {number}?", ts=f"{1_768_000_000 + 60_000 * number}.000100")
        NdjsonJournal(events).append(event.model_dump(mode="json"))
    words = ("backtest", "events.ndjson", "--codebase", "shop", "--html", "out.html")
    command, path = [sys.executable, "-m", "bot", *words], {"PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(
        command, cwd=terminal.folder, env={**terminal.env, **path}, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stderr is not None
        shown = ""
        while "2 of 60 questions" not in shown:
            shown += run.stderr.read(1)
        run.kill()
        run.stderr.read()
    done = len(kept.read_text().splitlines())
    assert 0 < done < 60
    assert f"going on: {done} of 60" in typed(words, terminal.folder, terminal.env).stderr


@pytest.mark.full
def test_a_model_drafts_within_its_budget(terminal: Terminal) -> None:
    """What is left of the money is spent by the next run, none of it twice."""
    key = {"ANTHROPIC_API_KEY": "sk-scripted-0123456789abcdef"}
    assert "--model and --max-usd go together" in terminal.type("--model", "claude-sonnet-5", env=key).stderr
    asked = ("--model", "claude-sonnet-5", "--html", "out.html", "--limit", "3")
    with ModelServer(load_script(SCRIPTS / "pass.yml")) as server:
        env = {**key, "ANTHROPIC_BASE_URL": server.url}
        stopped = terminal.type(*asked, "--max-usd", "0.0001", env=env)
        assert (stopped.returncode, "a higher --max-usd goes on" in " ".join(stopped.stderr.split())) == (0, True)
        found = terminal.measured(*asked, "--max-usd", "9", env=env)
        assert (found["shares"]["drafted"]["hits"], found["failed"], found["investigator"]) == (3, 0, "claude-sonnet-5")
        assert 0 < found["cost_usd"] < 9
        calls = len(server.requests)
        assert terminal.measured(*asked, "--max-usd", "9", env=env)["cost_usd"] == found["cost_usd"]
        assert len(server.requests) == calls
