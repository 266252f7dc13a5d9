"""How the demo ends: by Ctrl-C, SIGTERM or the end of its terminal, tidied up behind it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from bot.cli.run import SignalQueue

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


def kept_signals() -> SignalQueue:
    """Return where the signals that end the demo are from now on."""
    signals = SignalQueue()
    on_end(signals.put)
    signals.keep(signal.SIGINT)
    return signals


def wait_for_end(signals: SignalQueue, tick: Callable[[], object]) -> None:
    """Wait until one came; meanwhile call `tick` twice a second."""
    while not signals.wait(WAKE_S):
        tick()
    print("\nstopping …", flush=True)
