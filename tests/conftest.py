"""What every test may ask for: a real local-slack server, shared by the run and wiped before each test."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bot.errors import ConfigError, ProviderError
from demo.binary import cache_folder, ensure_binary
from demo.slack_server import LocalSlack
from demo.workspace import DEMO
from tests.crashes.table import pytest_terminal_summary as pytest_terminal_summary
from tests.hands import Control
from tests.order import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.warden import guard_run
from tests.workspaces import empty

EXAMPLES = 25
_ANY_MACHINE = settings(  # no deadline: a busy machine is no bug, and pytest-timeout ends what hangs
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("triage", _ANY_MACHINE, max_examples=EXAMPLES, derandomize=True)  # what failed fails again
settings.register_profile("full", _ANY_MACHINE, max_examples=4 * EXAMPLES)  # `make test-full` chooses it
settings.load_profile("triage")


def pytest_collection() -> None:
    """What is collected stays until the end: looking through it for garbage again and again took half of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Have garbage collected again, of what the tests make."""
    gc.freeze()
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Leave nothing behind, however the run ends: no process, no database, no folder."""
    if not hasattr(config, "workerinput"):  # for its workers, too
        guard_run()


@pytest.fixture(scope="session", autouse=True)
def _no_proxies() -> None:
    """slack_sdk sends loopback requests through HTTP_PROXY and ignores NO_PROXY."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]


@pytest.fixture(scope="session", autouse=True)
def _ordinary_signals() -> None:
    """Behind `nohup` or `&` these are ignored; what a test starts would inherit that, but no handler."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.fixture(scope="session")
def slack_binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The local-slack binary, fetched once per machine; without it the test is skipped, on CI it fails."""
    override = os.environ.get("TRIAGE_LOCAL_SLACK")
    try:
        return ensure_binary(cache_folder(os.environ), override=Path(override) if override else None)
    except (ConfigError, ProviderError) as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no local-slack: {error}")


@pytest.fixture(scope="session")
def slack_server(slack_binary: Path) -> Iterator[LocalSlack]:
    """One server for the whole run, on a free port; tests ask for `slack` instead."""
    with LocalSlack(slack_binary, DEMO, env=os.environ) as server:
        yield server


@pytest.fixture
def slack(slack_server: LocalSlack) -> LocalSlack:
    """The server without messages, modals or bots; ids and timestamps go on counting, so none comes twice."""
    with Control(slack_server.url) as control:
        empty(control)
    return slack_server


@pytest.fixture
def control(slack: LocalSlack) -> Iterator[Control]:
    """The hands of the people in that workspace."""
    with Control(slack.url) as control:
        yield control
