"""`triage demo` as a newcomer and as a machine run it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import pytest
import requests

from tests import fork_server
from tests.cli.typed import Said, typed
from tests.fork_server import ForkedProcess
from tests.gitrepo import make_repo
from tests.hands import LIMIT_S
from tests.journeys.shop import RETRIES
from tests.tables import each_row


@pytest.fixture(autouse=True)
def _binary(slack_binary: Path) -> None:
    """The demo needs the server's binary; the fixture says so where it cannot be had."""


def run(*args: str) -> subprocess.CompletedProcess[str]:
    """Run the demo to its end."""
    return fork_server.run("tests.journeys.hasty", "demo", *args, env=os.environ)


@contextmanager
def begun(*args: str, env: Mapping[str, str] = os.environ) -> Iterator[tuple[ForkedProcess, IO[str]]]:
    """Start a demo and give what it prints; it is killed in the end."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as said:
        with os.fdopen(writing, "w") as stdout:
            process = fork_server.start("tests.journeys.hasty", "demo", *args, env=env, stdout=stdout)
        try:
            yield process, said
        finally:
            process.kill()
            process.wait()


def refused(folder: Path, *args: str) -> Said:
    """Ask for a demo that is refused with exit code 2 before it is started."""
    done = typed(["demo", *args], folder, os.environ)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    return done


def test_headless_answers_a_given_question_and_reports_it_as_json(shop: Path) -> None:
    """One JSON object on stdout with the agreed keys; exit code 0 only because the reply stands."""
    done = run("--headless", "--json", "--codebase", str(shop), "--question", RETRIES)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["ok"]
    assert set(facts) == {
        "ok",
        "question",
        "thread_id",
        "investigator",
        "verdict",
        "rounds",
        "draft",
        "evidence_refs",
        "posted_text",
        "card_s",
        "reply_s",
        "heartbeat",
    }
    assert facts["question"] == RETRIES
    assert (facts["investigator"], facts["verdict"], facts["rounds"]) == ("offline", "pass", 1)
    assert facts["evidence_refs"][0]["ref"].startswith("shop/retry.py:")
    assert "backoff" in facts["posted_text"]
    assert facts["heartbeat"]["acknowledged"] is True
    assert facts["heartbeat"]["alert_s"] > 0


def test_headless_finds_a_question_of_its_own(shop: Path) -> None:
    """It asks about what the codebase defines, and shows the alert of a heartbeat."""
    done = run("--headless", "--codebase", str(shop))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "clicks Approve" in done.stdout
    assert "a heartbeat alert waits in ana's DMs" in done.stdout
    assert "clicks Acknowledge" in done.stdout


def test_headless_asks_nothing_where_nothing_is_described(tmp_path: Path) -> None:
    """It says how to ask, and that no reply stands."""
    bare = make_repo(
        tmp_path / "bare", {"go.py": "def go():\n    return 1\n", "tables.sql": "CREATE TABLE a (b INT);\n"}
    )
    done = run("--headless", "--json", "--codebase", str(bare))
    facts = json.loads(done.stdout)
    assert (done.returncode, facts["ok"], facts["question"]) == (1, False, None)
    assert "--question" in facts["error"]


@pytest.mark.full
def test_a_home_that_a_demo_wrote_may_be_used_again(shop: Path, tmp_path: Path) -> None:
    """What the first one left does not stop the second one."""
    for _ in range(2):
        done = run("--headless", "--codebase", str(shop), "--home", str(tmp_path / "home"))
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_statement_is_put_to_the_bot_as_a_mention(shop: Path) -> None:
    """The rules alone would not take it for a question."""
    done = run("--headless", "--json", "--codebase", str(shop), "--question", "backoff delays payment gateway")
    facts = json.loads(done.stdout)
    assert facts["ok"], done.stdout
    assert facts["question"] == "backoff delays payment gateway"


def test_an_unanswerable_question_ends_with_an_honest_no(shop: Path) -> None:
    """Nothing in the code answers: no reply, exit code 1, and the reason is said."""
    done = run("--headless", "--json", "--codebase", str(shop), "--question", "who won the chess olympiad in 1972?")
    facts = json.loads(done.stdout)
    assert done.returncode == 1
    assert not facts["ok"]
    assert "no draft; ask about a name in the code with --question" in facts["error"]


def _unfolded(text: str) -> str:
    """Return text without the line ends that make it fit the screen."""
    return " ".join(text.split())


@each_row("files, says", [(None, "no git checkout"), ({}, "no text file")])
def test_a_codebase_that_cannot_serve_is_named(tmp_path: Path, files: dict[str, str] | None, says: str) -> None:
    """The error says what is wrong with the folder and what to do; exit code 2, nothing is started."""
    folder = tmp_path / "code"
    folder.mkdir()
    if files is not None:
        make_repo(folder, files)
    done = refused(tmp_path, "--headless", "--codebase", str(folder))
    assert says in _unfolded(done.stderr)


@each_row(
    "option, says",
    [
        ("--port=99999", "99999 is not in the range 0<=x<=65535"),
        ("--question= ", "--question is empty"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_at_once(tmp_path: Path, option: str, says: str) -> None:
    """Before anything is read or started; exit code 2."""
    done = refused(tmp_path, "--headless", option)
    assert says in _unfolded(done.stderr)


@pytest.mark.parametrize("below", ["", "home", "home/triage.yml/file"])
def test_a_home_that_cannot_be_written_is_named(shop: Path, tmp_path: Path, below: str) -> None:
    """A file in its place or on the way to it, or a folder where its config goes: one line and exit code 2."""
    (tmp_path / "home" / "triage.yml").mkdir(parents=True)
    (tmp_path / "home" / "triage.yml" / "file").write_text("")
    home = tmp_path / below if below else Path("/etc/passwd")
    done = refused(tmp_path, "--headless", "--codebase", str(shop), "--home", str(home))
    assert f"cannot write {home / 'triage.yml'}: " in _unfolded(done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("number", "options", "sign"),
    [
        (signal.SIGTERM, ["--headless"], "index "),
        (signal.SIGINT, ["--headless"], "asks in #help"),
        pytest.param(signal.SIGTERM, ["--headless"], "asks in #help", marks=pytest.mark.full),
        pytest.param(signal.SIGHUP, ["--headless"], "asks in #help", marks=pytest.mark.full),
        pytest.param(signal.SIGHUP, ["--no-browser"], "Ctrl-C ends it", marks=pytest.mark.full),
    ],
)
def test_a_demo_that_is_told_to_end_leaves_nothing(
    shop: Path, tmp_path: Path, number: signal.Signals, options: list[str], sign: str
) -> None:
    """No folder, no process, whatever it was doing."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    env = {**os.environ, "TMPDIR": str(temporary)}
    with begun(*options, "--codebase", str(shop), env=env) as (process, said):
        assert any(sign in line for line in said)
        assert list(temporary.glob("triage-demo-*"))
        assert str(temporary) in processes()
        process.send_signal(number)
        said.read()
        assert process.wait(LIMIT_S) == (0 if sign == "Ctrl-C ends it" else 128 + number)
    assert list(temporary.iterdir()) == []
    deadline = time.monotonic() + LIMIT_S
    while str(temporary) in processes() and time.monotonic() < deadline:
        pass
    assert str(temporary) not in processes()


def processes() -> str:
    """Return the command lines of everything that runs; the server's and its keeper's name their config's folder."""
    return subprocess.run(["ps", "-eww", "-o", "args="], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)])
def test_ending_the_demo_leaves_no_process_behind(shop: Path, number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM stop the bot and the server, and the page is gone."""
    with begun("--no-browser", "--codebase", str(shop)) as (process, said):
        line = next(line for line in said if "http://" in line)
        url = re.search(r"http://\S+", line)
        assert url is not None
        page = requests.get(url[0], timeout=LIMIT_S)
        assert page.ok
        process.send_signal(number)
        said.read()
        assert process.wait(LIMIT_S) == 0
    with suppress(requests.RequestException):  # the port may be somebody else's by now
        assert requests.get(url[0], timeout=LIMIT_S).text != page.text


def test_a_real_config_is_never_overwritten(shop: Path, tmp_path: Path) -> None:
    """A home with somebody's triage.yml is refused."""
    home = tmp_path / "home"
    home.mkdir()
    config = home / "triage.yml"
    config.write_text("codebase: ~/src/shop\n")
    done = refused(tmp_path, "--headless", "--codebase", str(shop), "--home", str(home))
    assert "stays as it is" in done.stderr
    assert config.read_text() == "codebase: ~/src/shop\n"


def test_the_example_shows_a_draft_that_a_second_model_passed() -> None:
    """Played by a script that says so; sent back once, approved, posted."""
    done = run("--headless", "--json", "--example")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["investigator"], facts["verdict"], facts["rounds"]) == ("script-not-a-model", "bounce-then-pass", 2)
    assert "A script of the demo wrote this" in facts["posted_text"]
