"""The bot is told to stop while a model thinks: it ends at once, and nothing is lost or counted."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from blocks import ids
from bot.errors import Unavailable
from demo.headless import find_element
from demo.slack_server import LocalSlack
from demo.workspace import CHLOE, HELP, OPS
from handlers.transport.slack_clients import TIMEOUT_S, translate_slack_errors
from tests import fork_server
from tests.fork_server import ForkedProcess
from tests.hands import LIMIT_S, Control
from tests.journeys.home_files import list_files
from tests.journeys.office import App, Office, environment_of, load_settings, read_environment, write_config
from tests.journeys.shop import SESSIONS
from tests.journeys.slow_proxy import slow_proxy
from tests.journeys.test_crashes import _cards, _draft
from tests.journeys.test_models import KEY, SCRIPTS
from tests.model_server import ModelServer, load_script

STOP_S = 300.0
"""More than it takes on any machine, and less than a silent model is waited for here."""
STALL_S = 600


@contextmanager
def thinking(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path, *, api_url: str | None = None
) -> Iterator[tuple[ForkedProcess, IO[str], str]]:
    """Run a bot whose model has fallen silent over a question; yields process, its output, and the question's ts."""
    home = tmp_path / "home"
    config = write_config(home, shop, investigator={"stall_s": STALL_S})
    with ModelServer(load_script(SCRIPTS / "stall.yml")) as server:
        env = _environment(slack, home, server) | ({"SLACK_API_URL": api_url} if api_url else {})
        reader, writer = os.pipe()
        with os.fdopen(writer, "wb") as output:
            process = fork_server.start("tests.journeys.hasty", "run", "--config", str(config), env=env, stdout=output)
        try:
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            ts = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
            control.wait_for(lambda: server.requests, "the model to be asked", channel=OPS.channel_id)
            with os.fdopen(reader, encoding="utf-8") as said:
                yield process, said, ts
        finally:
            process.kill()
            process.wait()


def test_a_stop_interrupts_a_silent_model_and_hands_the_question_back(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Exit code 0; the job waits, its attempt not counted, and the next start answers it."""
    home = tmp_path / "home"
    with thinking(slack, control, tmp_path, shop) as (process, _, ts):
        process.terminate()
        assert process.wait(STOP_S) == 0
        [job] = [json.loads(path.read_text()) for path in list_files(home / "queue", "user_*.json")]
        assert (job["attempts"], job["failures"]) == (0, [])
        [state] = [json.loads(path.read_text()) for path in list_files(home / "state", f"*{ts}.json")]
        assert (state["status"], state["investigator_round"]) == ("investigating", 0)
        log = next((home / "runs").glob("*/run.log")).read_text()
        assert "the bot stopped" in log
        control.wait_for(lambda: not control.modals.is_bot_connected(), "the socket to close")
    with ModelServer(load_script(SCRIPTS / "pass.yml")) as server:
        config = str(home / "triage.yml")
        again = fork_server.start(
            "tests.journeys.hasty", "run", "--config", config, env=_environment(slack, home, server)
        )
        try:
            _draft(control, ts)
        finally:
            again.terminate()
            assert again.wait(STOP_S) == 0


@pytest.mark.parametrize("second", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)])
def test_a_second_signal_ends_it_at_once(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path, second: signal.Signals
) -> None:
    """By that signal, whatever the first one still waits for: here for the answer to a click, which Slack holds."""
    with (
        slow_proxy(slack.api_url, method="chat.postEphemeral", marker=CHLOE.user_id) as proxy,
        thinking(slack, control, tmp_path, shop, api_url=proxy.url) as (process, said, ts),
    ):
        card = control.wait_for(lambda: next(iter(_cards(control, ts)), None), "the card", channel=OPS.channel_id)
        button = find_element(card, ids.DISMISS)
        assert button is not None
        control.click(OPS.channel_id, card["ts"], CHLOE.user_id, **button.click_fields())
        assert proxy.held.wait(LIMIT_S)
        process.terminate()
        assert any(line.startswith("stopping:") for line in said)
        process.send_signal(second)
        assert process.wait(STOP_S) == -second


def test_a_stop_waits_little_for_a_slack_that_never_answers(office: Office) -> None:
    """A call that begins after it is given up sooner than one of the bot at work, and made once only."""
    access = office.bot.process.slack
    api_url = access.client.base_url
    gaps = office.home / "slack" / "gaps.json"
    office.control.wait_for(
        lambda: gaps.is_file() and not json.loads(gaps.read_text()).get("gaps"), "the look back, which asks as well"
    )
    with socket.create_server(("127.0.0.1", 0)) as silent:
        access.hurry()
        for client in (access.client, access.history_client, access.posting):
            assert client.timeout < TIMEOUT_S
        access.client.timeout = 0.2
        access.client.base_url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(Unavailable), translate_slack_errors("tell who we are"):
            access.client.auth_test()
        silent.accept()[0].close()
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.accept()
    access.client.base_url = api_url


def _environment(slack: LocalSlack, home: Path, server: ModelServer) -> dict[str, str]:
    model = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
    return {**os.environ, **environment_of(slack, home), **model}


def test_a_bot_that_was_built_and_never_started_can_be_stopped(slack: LocalSlack, tmp_path: Path, shop: Path) -> None:
    """A start that a signal broke off leaves nobody who writes to the data directory; the next one may begin."""
    home = tmp_path / "home"
    settings = load_settings(write_config(home, shop))
    environment = read_environment(environment_of(slack, home))
    for _ in range(2):
        App(settings, environment).stop()
