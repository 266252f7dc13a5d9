"""HEARTBEAT.md on disk: read, created when missing, changed only where the file is still what was read.

A human may edit it at any moment and wins: a change is made to the text as it is when it is written, and what it would
touch there is looked up anew.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Final

from bot.agent.git_process import GitProcess
from bot.domain.playbook import Playbook, parse
from bot.errors import StoreError, TriageError
from bot.heartbeat.session import PLAYBOOK, Session

log = logging.getLogger(__name__)

MAX_BYTES: Final = 1024 * 1024
TRIES: Final = 5


def playbook_of(session: Session) -> PlaybookFile:
    """Return the playbook of a session."""
    return PlaybookFile(session.cwd, name=session.name, is_master=session.is_master)


class PlaybookFile:
    """The playbook in a session's folder. Every method raises StoreError where the disk refuses."""

    def __init__(self, cwd: Path, *, name: str | None = None, is_master: bool = False) -> None:
        self.path = cwd / PLAYBOOK
        self._cwd, self._name, self._is_master = cwd, name or cwd.name, is_master

    def read(self) -> Playbook:
        """Return the playbook; a missing one is created from the template and kept out of git's sight."""
        text = self._text()
        if text is None:
            self._create()
            text = self._text() or ""
        return parse(text)

    def change(self, edit: Callable[[Playbook], Playbook]) -> Playbook:
        """Apply `edit` to the playbook as it is on disk; it may run more than once. Returns what now stands there."""
        for _ in range(TRIES):
            before = self._text()
            if before is None:
                raise StoreError(f"{self.path} is gone; the next beat creates it anew")
            after = edit(parse(before)).render()
            if after == before:
                return parse(before)
            if self._replace(before, after):
                return parse(after)
        raise StoreError(f"{self.path} is being edited; the change was dropped")

    def _text(self) -> str | None:
        try:
            with self.path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"cannot read {self.path}: {error.strerror}") from error
        if len(data) > MAX_BYTES:
            raise StoreError(f"{self.path} is larger than 1 MiB; a playbook is a page or two")
        return data.decode("utf-8", "surrogateescape")

    def _replace(self, before: str, after: str) -> bool:
        """Write through a temporary file, unless somebody was faster; False then."""
        temporary = self.path.with_name(f".{PLAYBOOK}.{os.getpid()}.tmp")
        try:
            mode = stat.S_IMODE(self.path.stat().st_mode)
            with temporary.open("wb") as file:
                file.write(after.encode("utf-8", "surrogateescape"))
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(mode)
            if self._text() != before:
                temporary.unlink()
                return False
            temporary.replace(self.path.resolve())
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from error
        return True

    def _create(self) -> None:
        template = "master.md" if self._is_master else "worker.md"
        text = (resources.files("bot.heartbeat") / "templates" / template).read_text(encoding="utf-8")
        text = text.replace("{session}", " ".join(self._name.split()))
        try:
            with self.path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            return
        except OSError as error:
            raise StoreError(f"cannot create {self.path}: {error.strerror}") from error
        self._keep_out_of_git()
        log.info("playbook created", extra={"action": "playbook_created", "path": str(self.path)})

    def _keep_out_of_git(self) -> None:
        """Add the file to the checkout's own exclude list: it is runtime state and no commit of anybody's."""
        try:
            said = GitProcess(self._cwd).run("rev-parse", "--git-path", "info/exclude")
            exclude = self._cwd / os.fsdecode(said.removesuffix(b"\n"))
            exclude.parent.mkdir(exist_ok=True)
            known = exclude.read_text(encoding="utf-8", errors="replace") if exclude.exists() else ""
            if PLAYBOOK not in known.split():
                gap = "" if not known or known.endswith("\n") else "\n"
                exclude.write_text(f"{known}{gap}{PLAYBOOK}\n", encoding="utf-8", errors="replace")
        except (OSError, TriageError):
            log.info("playbook not excluded from git", extra={"action": "playbook_unexcluded"}, exc_info=True)
