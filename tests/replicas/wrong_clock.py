"""The bot on a machine whose clock is wrong.

python -m tests.replicas.wrong_clock <seconds ahead> run --config <triage.yml>
"""

from __future__ import annotations

import signal
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.app import App
from bot.cli.run import log_to_stderr
from bot.config.environment import read_environment
from bot.config.settings import load_settings


class WrongClock:
    """Port Clock."""

    def __init__(self, ahead: timedelta) -> None:
        self._ahead = ahead

    def now(self) -> datetime:
        """Return a time that it is not."""
        return datetime.now(UTC) + self._ahead


def main(arguments: list[str]) -> None:
    """Start, and go on until the process is killed."""
    ahead_s, _run, _option, config = arguments
    log_to_stderr(verbose=False, secrets=())
    clock = WrongClock(timedelta(seconds=int(ahead_s)))
    App(load_settings(Path(config)), read_environment(), clock=clock).start()
    signal.pause()


if __name__ == "__main__":
    main(sys.argv[1:])
