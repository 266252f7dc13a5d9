"""escalations/<thread_id>/: what a long run is asked, how far it is, what it answered.

The bot writes request.json and rubric.md, then `launched`; the run takes `claimed`, writes return.json as its last act
but one, and `.done` as its last. Each is there whole or not at all, so either side may die at any moment.
"""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.casework.investigate.assignment import Assignment
from bot.config.settings import Settings
from bot.domain.returns import InvestigatorReturn
from bot.errors import refusal

MAX_RETURN_BYTES: Final = 1_000_000
ASKED: Final = "question: "
"""How the first line of a transcript begins; the card shows the question anyway."""
_TAIL_BYTES: Final = 8_192
_AS_GIVEN: Final[dict[str, Any]] = {"indent": 1, "exclude_unset": True}
"""How settings are written: what somebody asked for is told apart from what is so by default."""


class EscalationRequest(BaseModel):
    """All a long run has to know; no secret stands in it. `spend_usd` is what it may cost (None: no limit)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run_id: str
    assignment: Assignment
    settings: Settings
    spend_usd: float | None


class EscalationFolder:
    """The folder of one thread; for its owner's eyes only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.transcript = path / "transcript.log"
        self.rubric = path / "rubric.md"

    def open(self, request: EscalationRequest) -> None:
        """Begin a run: write what it is asked; what an earlier run left is kept beside it.

        Raises:
            StoreError: the disk refuses.
        """
        try:
            if (self.path / "claimed").exists():
                self.path.rename(_free_name(self.path))
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.chmod(0o700)
        except OSError as error:
            raise refusal(f"cannot use {self.path}", error, "fix the folder's owner") from error
        self._write("rubric.md", request.assignment.rubric + "\n")
        asked = replace(request.assignment, rubric="")  # rubric.md has it
        self._write("request.json", request.model_copy(update={"assignment": asked}).model_dump_json(**_AS_GIVEN))

    def request(self) -> EscalationRequest | None:
        """Return what the run is asked, or None where there is no run or its request cannot be read."""
        try:
            request = EscalationRequest.model_validate_json((self.path / "request.json").read_bytes(), extra="ignore")
            rubric = self.rubric.read_text(encoding="utf-8").strip()
        except (OSError, ValueError):  # pydantic's errors and a text that is no UTF-8 are ValueErrors
            return None
        return request.model_copy(update={"assignment": replace(request.assignment, rubric=rubric)})

    def mark_launched(self, at: datetime) -> None:
        """Note that a session was started."""
        self._write("launched", f"{at.isoformat()}\n")

    def launched_at(self) -> datetime | None:
        """Return when the session was started, or None if nobody noted that."""
        try:
            return datetime.fromisoformat((self.path / "launched").read_text(encoding="ascii").strip())
        except (OSError, ValueError):
            return None

    def claim(self) -> bool:
        """Take the request, once for all: whoever gets False has come second and must not work on it."""
        try:
            os.close(os.open(self.path / "claimed", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return False
        except OSError as error:
            raise refusal(f"cannot write in {self.path}", error, "check the disk and the folder's owner") from error
        return True

    def is_claimed(self) -> bool:
        """Whether a run has begun."""
        return (self.path / "claimed").exists()

    def put_return(self, ret: InvestigatorReturn) -> None:
        """Write return.json."""
        self._write("return.json", ret.model_dump_json(indent=1))

    def finish(self) -> None:
        """Say that the run is over, whatever came of it."""
        self._write(".done", "")

    def is_done(self) -> bool:
        """Whether the run is over."""
        return (self.path / ".done").exists()

    def returned(self) -> InvestigatorReturn | None:
        """Return the answer, or None where there is none that can be used."""
        try:
            text = _read_file(self.path / "return.json", MAX_RETURN_BYTES + 1)
            return InvestigatorReturn.model_validate_json(text) if len(text) <= MAX_RETURN_BYTES else None
        except (OSError, ValidationError):
            return None

    def last_line(self) -> str:
        """Return the last words of the transcript; empty where there are none."""
        try:
            lines = _read_file(self.transcript, _TAIL_BYTES, from_end=True).decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _write(self, name: str, text: str) -> None:
        """Put a file there whole: temporary file, fsync, rename."""
        temporary = self.path / f".tmp-{name}"
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path / name)
        except OSError as error:
            raise refusal(f"cannot write {self.path / name}", error, "check the disk") from error


def _read_file(path: Path, limit: int, *, from_end: bool = False) -> bytes:
    """Return so many bytes of an ordinary file; a run may leave a link or a pipe instead: refused."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is no ordinary file")
        if from_end:
            file.seek(max(0, found.st_size - limit))
        return file.read(limit)


def _free_name(path: Path) -> Path:
    """Return a name for an earlier run's folder."""
    number = 1
    while (name := path.with_name(f"{path.name}.earlier-{number}")).exists():
        number += 1
    return name
