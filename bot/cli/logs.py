"""Log lines on stderr, with the process's own secrets taken out of every one."""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection

from bot.domain.secrets import redact


class _Scrubbing(logging.Formatter):
    def __init__(self, secrets: Collection[str]) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
        self._secrets = secrets

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
