"""How the demo ends: by Ctrl-C, SIGTERM or the end of its terminal, tidied up behind it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

WAKE_S = 0.5


def on_end(handle: Callable[[int, FrameType | None], object]) -> None:
    """Have SIGTERM and the end of the terminal handled; under `nohup` the latter stays ignored."""
    signal.signal(signal.SIGTERM, handle)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, handle)


def leave(number: int, _frame: FrameType | None) -> NoReturn:
    """Unwind, so that every `with` block tidies up; a second signal may not cut that short."""
    on_end(lambda *_: None)
    raise SystemExit(128 + number)


def stop_event() -> threading.Event:
    """Return what a signal sets from now on."""
    stop = threading.Event()
    on_end(lambda *_: stop.set())
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    return stop


def wait_until(stop: threading.Event) -> None:
    """Wait for it; a signal that another thread received does not wake a wait without end."""
    while not stop.wait(WAKE_S):
        pass
    print("\nstopping …", flush=True)
