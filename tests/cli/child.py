"""What tests start as a process of its own: it waits for signals, or a stop in it never ends."""

from __future__ import annotations

import signal
import sys
import threading

from bot.cli.run import SignalQueue, stop_within


def wait_for_signals() -> None:
    """Say when signals are taken, and which ones came until the one that ends it."""
    signals = SignalQueue()
    signals.keep(signal.SIGHUP, signal.SIGTERM)
    print("ready", flush=True)
    came: set[int] = set()
    while signal.SIGTERM not in came:
        came |= signals.wait(0.5)
    print(sorted(map(int, came)), flush=True)


def stop_for_ever() -> None:
    """Stop, in a tenth of a second or never."""
    stop_within(threading.Event().wait, 0.1)


if __name__ == "__main__":
    {"signals": wait_for_signals, "stop": stop_for_ever}[sys.argv[1]]()
