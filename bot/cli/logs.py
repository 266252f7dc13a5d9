"""Log lines on stderr: what happened and to what; the process's own secrets are taken out of every one."""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection
from typing import Final

from bot.domain.hidden import one_line
from bot.domain.secrets import redact

FIELD_CHARS: Final = 200
_OWN: Final = {*vars(logging.makeLogRecord({})), "message", "asctime", "action"}
"""What is no field of a log call; `action` names the step for tests and says nothing the message does not."""


class _Scrubbing(logging.Formatter):
    def __init__(self, secrets: Collection[str]) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
        self._secrets = secrets

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line with the call's `extra` fields behind it, such as the thread or the session."""
        fields = {name: value for name, value in vars(record).items() if name not in _OWN}
        shown = ", ".join(f"{name}={one_line(str(value), FIELD_CHARS)}" for name, value in fields.items())
        return super().formatMessage(record) + (f" ({shown})" if shown else "")

    def format(self, record: logging.LogRecord) -> str:
        """Return the finished line, traceback included, redacted as a whole."""
        return redact(super().format(record), self._secrets)


def log_to_stderr(*, verbose: bool, secrets: Collection[str], steps: bool = True) -> None:
    """Log warnings, and our own steps unless the program narrates itself (`steps=False`); everything with `verbose`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Scrubbing(secrets))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in ("bot", "handlers"):
        level = logging.DEBUG if verbose else logging.INFO if steps else logging.WARNING
        logging.getLogger(name).setLevel(level)
