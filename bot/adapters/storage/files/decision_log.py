"""Port DecisionLog over decisions.md, which only grows; the bot and the terminal both append, under one lock."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.file_leases import FileLeases
from bot.errors import refusal
from bot.ports.collections import DECISIONS

FILE: Final = "decisions.md"
HEAD: Final = "# Decisions\n\nOne line for each, oldest first; nothing here is ever changed.\n\n"


class DecisionLogFile:
    """The decisions of one data directory."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE

    def text(self) -> str:
        """Return what stands there, whoever wrote it."""
        try:
            return self._path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise refusal(f"cannot read {self._path}", error, "check the file's owner") from error

    def note(self, mark: str, line: str) -> None:
        """Append a line unless one that holds `mark` is there; returns once it is on disk."""
        try:
            with FileLeases(self._path.parent).hold(DECISIONS), self._path.open("a+b") as file:
                file.seek(0)
                before = file.read().decode("utf-8", "replace")
                if any(mark in other for other in before.splitlines()):
                    return
                torn = "\n" if before and not before.endswith("\n") else ""
                file.write(f"{'' if before else HEAD}{torn}- {' '.join(line.split())}\n".encode("utf-8", "replace"))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise refusal(f"cannot write {self._path}", error, "check the disk and the file's owner") from error
