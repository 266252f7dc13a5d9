"""The real server starts, says why it could not, and never outlives us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

from bot.errors import ProviderError
from demo.slack_server import LocalSlack
from demo.workspace import DEMO

_PARENT = """
import os, sys, time
from pathlib import Path
from demo.slack_server import LocalSlack
from demo.workspace import DEMO
with LocalSlack(Path(sys.argv[1]), DEMO, env=os.environ) as slack:
    print(slack.url, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def own_binary(slack_binary: Path, tmp_path: Path) -> Path:
    """The server under a name of the test's own, by which its processes are found; it takes a free port itself."""
    link = tmp_path / "local-slack-of-the-test"
    link.symlink_to(slack_binary)
    return link


def _answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/_control/state", timeout=60).ok
    except requests.RequestException:
        return False


def _living(binary: Path) -> list[str]:
    """Return the processes, zombies aside, of a server and of whoever keeps it."""
    listed = subprocess.run(["ps", "-eww", "-o", "stat=,pid=,args="], capture_output=True, text=True, check=True)
    lines = [line for line in listed.stdout.splitlines() if f"{binary} --config" in line]
    return [line for line in lines if not line.startswith("Z")]


def _gone(binary: Path) -> None:
    """Return once no process of a server lives."""
    while _living(binary):
        time.sleep(0.05)


def test_it_answers_inside_the_block_and_is_gone_after(own_binary: Path) -> None:
    """Entering starts it; leaving ends server and keeper."""
    with LocalSlack(own_binary, DEMO) as slack:
        assert _answers(slack.url)
        assert _living(own_binary)
    _gone(own_binary)


def test_only_this_machine_reaches_it_and_no_page_of_another_site(slack: LocalSlack) -> None:
    """Drafts quote the code of whoever runs the demo, and whoever reaches the server may approve them."""
    state = f"{slack.url}/_control/state"
    with pytest.raises(requests.ConnectionError):
        requests.get(state.replace("localhost", "127.0.0.2"), timeout=60)
    asked = [{}, {"Origin": "http://localhost:8000"}, {"Origin": "https://evil.example"}, {"Host": "evil.example"}]
    assert [requests.get(state, headers=each, timeout=60).status_code for each in asked] == [200, 200, 403, 403]
    opened = {"Origin": "https://evil.example", "Connection": "Upgrade", "Upgrade": "websocket"}
    assert requests.get(f"{slack.url}/ui", headers=opened, timeout=60).status_code == 403


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_it_does_not_outlive_its_parent(own_binary: Path, number: signal.Signals) -> None:
    """Neither a kill that nobody can catch nor a Ctrl-C leaves a server or its keeper behind."""
    argv = [sys.executable, "-c", _PARENT, str(own_binary)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().startswith("http")
        assert _living(own_binary)
        parent.send_signal(number)
        parent.wait(120)
    _gone(own_binary)


def test_a_killed_keeper_leaves_no_server(own_binary: Path) -> None:
    """If somebody kills the keeper alone, leaving the block still ends the server."""
    with LocalSlack(own_binary, DEMO) as slack:
        keeper = next(line for line in _living(own_binary) if "keeper.py" in line)
        os.kill(int(keeper.split()[1]), signal.SIGKILL)
        assert _answers(slack.url)
    _gone(own_binary)


@pytest.mark.full  # the grace of 3 s runs out
def test_a_server_that_ignores_sigterm_is_killed(tmp_path: Path, own_binary: Path) -> None:
    """Stopping is certain: after the grace time comes SIGKILL, for its children as well."""
    stubborn = tmp_path / "local-slack"
    stubborn.write_text(f"#!/bin/sh\ntrap '' TERM\n{own_binary} \"$@\"\nsleep 600\n")
    stubborn.chmod(0o755)
    with LocalSlack(stubborn, DEMO, env=os.environ):
        assert _living(own_binary)
    _gone(own_binary)
    _gone(stubborn)


def test_no_secret_and_no_proxy_reaches_the_server(tmp_path: Path) -> None:
    """Of the caller's environment only harmless names are passed on."""
    nosy = tmp_path / "local-slack"
    nosy.write_text("#!/bin/sh\nenv\nexit 1\n")
    nosy.chmod(0o755)
    env = {"PATH": os.defpath, "ANTHROPIC_API_KEY": "sk-secret", "HTTPS_PROXY": "http://proxy"}
    with pytest.raises(ProviderError) as caught, LocalSlack(nosy, DEMO, env=env):
        pass
    assert "PATH=" in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert "proxy" not in str(caught.value)
