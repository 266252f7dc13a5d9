"""`triage investigate`: a question at the terminal, and the long run of a thread as the bot starts it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.storage.files.file_leases import FileLeases
from bot.agent.model_run import RunFailed, RunTimedOut
from bot.casework.investigate.assignment import Assignment
from bot.casework.long_run import EscalationFolder, EscalationRequest
from bot.cli.local_investigation import failure_json
from bot.config.settings import Settings
from bot.domain.questions.rubrics import question_type_of
from bot.domain.returns import Usage
from bot.ports.collections import HOME
from tests import fork_server
from tests.casework.runner import answered
from tests.gitrepo import commit_files, make_repo
from tests.journeys.shop import SESSIONS, SHOP
from tests.model_server import ModelServer, load_script

SCRIPTS = Path(__file__).parents[1] / "model_server" / "scripts"
KEY = "sk-scripted-0123456789abcdef"


class Terminal:
    """A codebase, a data directory, and a command line; no chat anywhere."""

    def __init__(self, folder: Path) -> None:
        self.home, self.codebase = folder / "home", make_repo(folder / "shop", SHOP)
        self.home.mkdir()
        self.config = folder / "triage.yml"
        self.config.write_text(f"codebase: {self.codebase}\nops_channel: C0OPS\n")
        self.env = {"PATH": "/usr/bin:/bin", "TRIAGE_HOME": str(self.home)}

    def with_models(self, url: str) -> None:
        self.env |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url}

    def triage(self, *args: str) -> subprocess.CompletedProcess[str]:
        return fork_server.run("bot", "investigate", *args, env=self.env, cwd=self.home)

    def ask(self, question: str, *args: str) -> subprocess.CompletedProcess[str]:
        return self.triage(question, "--config", str(self.config), *args)

    def request(self, *, spend_usd: float | None = 1.0, **settings: Any) -> EscalationFolder:
        folder = EscalationFolder(self.home / "escalations" / "T1.C1.1.2")
        kind = question_type_of(SESSIONS)
        assignment = Assignment(question=SESSIONS, question_type=kind, rubric="Be exact.", round=1, spent_usd=0.5)
        block = {"codebase": str(self.codebase), "ops_channel": "C0OPS", **settings}
        folder.open(
            EscalationRequest(
                run_id="T1.C1.1.2-e1",
                assignment=assignment,
                settings=Settings.model_validate(block),
                spend_usd=spend_usd,
            )
        )
        return folder

    def long_run(self, folder: EscalationFolder) -> subprocess.CompletedProcess[str]:
        return self.triage("--escalation", str(folder.path))

    def spent(self) -> list[dict[str, Any]]:
        path = self.home / "spend.ndjson"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """One terminal, offline."""
    return Terminal(tmp_path)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A provider whose investigator reads what it cites."""
    with ModelServer(load_script(SCRIPTS / "pass.yml")) as server:
        yield server


def test_a_question_is_answered_offline(terminal: Terminal) -> None:
    """Draft, evidence with its mark, verdict and record on stdout; how it goes on stderr."""
    done = terminal.ask(SESSIONS)
    assert done.returncode == 0, done.stderr
    assert "`shop/sessions.py:" in done.stdout
    assert "\n  ✓ shop/sessions.py:" in done.stdout
    assert "Search result, not an answer · " in done.stdout
    assert "validated" not in done.stdout
    assert "investigating with offline" in done.stderr
    record = done.stdout.split("record: ")[1].strip()
    assert (terminal.home / record / "trace.json").exists()


def test_a_question_nothing_answers_says_what_it_needs(terminal: Terminal) -> None:
    """Exit code 1, and no talk of checks where there was nothing to check."""
    done = terminal.ask("What is the meaning of zebra quux?")
    assert done.returncode == 1
    assert "Needed to answer this" in done.stdout
    assert "? needs context" in done.stdout


def test_json_of_a_failed_run_names_the_limit_of_time() -> None:
    """Which one expired, and both as configured; another failure has its reason alone."""
    late = RunTimedOut("silent", usage=Usage(input_tokens=7), timeout_kind="stall", timeout_s=300.0, stall_s=60.0)
    facts = json.loads(failure_json(SESSIONS, late))
    assert (facts["passed"], facts["error"], facts["usage"]["input_tokens"]) == (False, "silent", 7)
    assert (facts["timeout_kind"], facts["timeout_s"], facts["stall_s"]) == ("stall", 300.0, 60.0)
    assert "timeout_kind" not in json.loads(failure_json(SESSIONS, RunFailed("away", usage=Usage())))


def test_json_is_one_object(terminal: Terminal, server: ModelServer) -> None:
    """With the returns as they are on disk."""
    terminal.with_models(server.url)
    facts = json.loads(terminal.ask(SESSIONS, "--json").stdout)
    assert (facts["passed"], facts["investigator"]) == (True, "claude-opus-5-5")
    assert facts["validator_return"]["verdict"] == "pass"
    assert facts["investigator_return"]["evidence_refs"][0]["commit"]
    assert facts["usage"]["cost_usd"] > 0


def test_a_long_run_leaves_an_answer_its_record_and_its_cost(terminal: Terminal, server: ModelServer) -> None:
    """Beside a running bot, which holds the lock; `.done` says that it is over."""
    terminal.with_models(server.url)
    lock, folder = FileLeases(terminal.home).take(HOME), terminal.request()
    done = terminal.long_run(folder)
    lock.release()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("0 tool calls · thinking: ")
    assert '1 tool call · search_code {"query": ' in done.stdout
    assert done.stdout.splitlines()[-1] == "answered, confidence high, 1 citations"
    ret = folder.returned()
    assert ret is not None
    assert ret.draft_reply.startswith("This is done in")
    assert folder.is_done()
    trace = json.loads((terminal.home / "runs" / "T1.C1.1.2-e1" / "trace.json").read_text())
    assert trace["ledger"]["reads"]
    assert [entry["run_id"] for entry in terminal.spent()] == ["T1.C1.1.2-e1"]
    assert KEY not in done.stdout


def test_a_request_is_taken_once(terminal: Terminal, server: ModelServer) -> None:
    """Whoever comes second leaves everything as it is."""
    terminal.with_models(server.url)
    folder = terminal.request()
    assert folder.claim()
    done = terminal.long_run(folder)
    assert done.returncode == 1
    assert "was begun already" in done.stderr
    assert (folder.is_done(), folder.returned(), server.requests) == (False, None, [])


def test_a_long_run_keeps_to_the_share_it_was_given(terminal: Terminal, server: ModelServer) -> None:
    """It stops before it exceeds it, says so in its last line, and is over."""
    terminal.with_models(server.url)
    folder = terminal.request(spend_usd=0.001)
    done = terminal.long_run(folder)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("failed: spend limit of")
    assert (folder.is_done(), folder.returned(), server.requests) == (True, None, [])


def test_a_long_run_has_its_own_limit_of_time_and_not_the_short_ones(terminal: Terminal) -> None:
    """A hard cap of under a second does not touch it; its own does, and it says so."""
    cap, asked = {"hard_cap_runtime_min": 0.001}, {"enabled": True}
    with ModelServer(load_script(SCRIPTS / "pass.yml")) as server:
        terminal.with_models(server.url)
        assert terminal.long_run(terminal.request(investigator=cap, escalation=asked)).returncode == 0
        short = terminal.request(escalation={"time_limit_min": 0.001})
        done = terminal.long_run(short)
    assert done.stdout.splitlines()[-1] == "failed: the run reached its limit of 0.06 s"
    assert (short.is_done(), short.returned()) == (True, None)


def test_another_harness_answers_in_its_own_words(terminal: Terminal) -> None:
    """Its output is the transcript; code makes the return of it, and there is no ledger."""
    said = json.dumps({"type": "result", "result": json.dumps(answered()), "total_cost_usd": 0.25})
    command = [sys.executable, "-c", f"import sys; print('reading', len(sys.stdin.read()) > 0); print({said!r})"]
    folder = terminal.request(escalation={"command": [*command, "{rubric}"]})
    done = terminal.long_run(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "reading True\n" in done.stdout
    ret = folder.returned()
    assert ret is not None
    assert ret.evidence_refs[0].commit is not None
    trace = json.loads((terminal.home / "runs" / "T1.C1.1.2-e1" / "trace.json").read_text())
    assert trace["ledger"] is None
    assert [(entry["run_id"], entry["cost_usd"]) for entry in terminal.spent()] == [("T1.C1.1.2-e1", 0.25)]


def test_a_folder_without_a_request_is_refused(terminal: Terminal) -> None:
    """Nothing is made up."""
    done = terminal.triage("--escalation", str(terminal.home / "escalations" / "none"))
    assert done.returncode == 1
    assert "holds no request" in done.stderr


def test_one_of_several_codebases_that_git_cannot_read_is_named_and_left_out(tmp_path: Path) -> None:
    """The others are searched; of a single codebase the command fails."""
    terminal = Terminal(tmp_path)
    broken = make_repo(tmp_path / "infra", {"a.yml": "x: 1\n"})
    (broken / ".git" / "HEAD").unlink()
    both = f"codebases: {{shop: {{path: {terminal.codebase}}}, infra: {{path: {broken}}}}}\nops_channel: C0OPS\n"
    terminal.config.write_text(both)
    done = terminal.ask(SESSIONS)
    assert done.returncode == 0
    assert "Not searched: infra: all, because git cannot read the repository" in done.stdout
    assert f"not searched: infra: codebase: the .git of {broken} is damaged" in done.stderr
    assert "Traceback" not in done.stderr
    terminal.config.write_text(f"codebase: {broken}\nops_channel: C0OPS\n")
    assert terminal.ask(SESSIONS).returncode == 1


def test_what_the_search_could_not_read_is_said(tmp_path: Path) -> None:
    """On the screen and in the JSON; the draft comes all the same."""
    terminal = Terminal(tmp_path)
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    commit_files(terminal.codebase, {"docs/guide.md": pointer})
    words = "1 file whose text is in Git LFS only, docs/guide.md"
    assert f"Not searched: {words}" in terminal.ask(SESSIONS).stdout
    assert json.loads(terminal.ask(SESSIONS, "--json").stdout)["investigator_return"]["not_searched"] == words
