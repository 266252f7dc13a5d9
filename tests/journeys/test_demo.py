"""`triage demo` as a newcomer and as a machine run it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from tests.gitrepo import make_repo
from tests.journeys.shop import RETRIES

DEMO = [sys.executable, "-m", "bot", "demo"]


@pytest.fixture(autouse=True)
def _binary(slack_binary: Path) -> None:
    """The demo needs the server's binary; the fixture says so where it cannot be had."""


def run(*args: str) -> subprocess.CompletedProcess[str]:
    """Run the demo to its end."""
    return subprocess.run([*DEMO, *args], capture_output=True, text=True, timeout=100)


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
    assert (facts["investigator"], facts["verdict"], facts["rounds"]) == ("offline", "pass", 1)
    assert facts["evidence_refs"][0]["ref"].startswith("shop/retry.py:")
    assert "backoff" in facts["posted_text"]


def test_headless_finds_a_question_of_its_own(shop: Path) -> None:
    """Without a question it asks about what the codebase defines, and prints a transcript with times."""
    done = run("--headless", "--codebase", str(shop))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "clicks Approve" in done.stdout


def test_a_statement_is_put_to_the_bot_as_a_mention(shop: Path) -> None:
    """A question without any sign of one still reaches the bot: it is addressed by name."""
    done = run("--headless", "--json", "--codebase", str(shop), "--question", "backoff delays payment gateway")
    assert json.loads(done.stdout)["ok"], done.stdout


def test_an_unanswerable_question_ends_with_an_honest_no(shop: Path) -> None:
    """Nothing in the code answers: no reply, exit code 1, and the reason is said."""
    done = run("--headless", "--json", "--codebase", str(shop), "--question", "who won the chess olympiad in 1972?")
    facts = json.loads(done.stdout)
    assert done.returncode == 1
    assert not facts["ok"]
    assert "no draft" in facts["error"]


@pytest.mark.parametrize(
    ("files", "says"), [(None, "no git checkout"), ({}, "no text file")], ids=["no repository", "no file"]
)
def test_a_codebase_that_cannot_serve_is_named(tmp_path: Path, files: dict[str, str] | None, says: str) -> None:
    """The error says what is wrong with the folder and what to do; exit code 2, nothing is started."""
    folder = tmp_path / "code"
    folder.mkdir()
    if files is not None:
        make_repo(folder, files)
    done = run("--headless", "--codebase", str(folder))
    assert done.returncode == 2
    assert says in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ending_the_demo_leaves_no_process_behind(shop: Path, number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM stop the bot and the server, and the page is gone."""
    process = subprocess.Popen(
        [*DEMO, "--no-browser", "--codebase", str(shop)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    line = next(line for line in process.stdout if "http://" in line)
    url = re.search(r"http://\S+", line)
    assert url is not None
    assert requests.get(url[0], timeout=5).ok
    process.send_signal(number)
    assert process.wait(20) == 0
    with pytest.raises(requests.ConnectionError):
        requests.get(url[0], timeout=5)
