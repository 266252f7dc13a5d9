"""Signals that come in the middle of each other: none hangs the process, none is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from bot.runtime.signals import SignalQueue

LIMIT_S = 120
STORM = 20_000
CHILD = """
import signal
from bot.runtime.signals import SignalQueue
signals = SignalQueue()
signals.keep(signal.SIGHUP, signal.SIGTERM)
print("ready", flush=True)
came = set()
while signal.SIGTERM not in came:
    came |= signals.wait(0.5)
print(sorted(came), flush=True)
"""


@pytest.fixture
def child():  # type: ignore[no-untyped-def]
    """A process that waits for signals, ready to take them."""
    process = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_storm_of_signals_leaves_the_process_alive(child: subprocess.Popen[str]) -> None:
    """With `threading.Event.set` in the handlers one that interrupts another waits for it for ever."""
    for _ in range(STORM):
        os.kill(child.pid, signal.SIGHUP)
    child.send_signal(signal.SIGTERM)
    said, _ = child.communicate(timeout=LIMIT_S)
    assert said == f"{sorted([int(signal.SIGHUP), int(signal.SIGTERM)])}\n"


def test_each_number_comes_once() -> None:
    """Twenty requests to read a file again are one reading; nothing is left for the next wait."""
    signals = SignalQueue()
    for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM, signal.SIGHUP):
        signals.put(number)
    assert signals.wait(LIMIT_S) == {signal.SIGHUP, signal.SIGTERM}
    assert signals.wait(0) == set()
