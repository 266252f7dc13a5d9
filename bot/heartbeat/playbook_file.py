"""HEARTBEAT.md on disk: read, created when missing, changed only where the file is still what was read.

A human may edit it at any moment and wins: a change is made to the text as it is when it is written, and what it would
touch there is looked up anew.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Final

from bot.agent.git_process import GitProcess
from bot.domain.playbook import Playbook, parse
from bot.errors import StoreError, TriageError
from bot.heartbeat.plain_file import read_plain, replace_plain
from bot.heartbeat.seeding import checkout_at, seeded
from bot.heartbeat.session import PLAYBOOK, Session

log = logging.getLogger(__name__)

TRIES: Final = 5
_ONE_AT_A_TIME: Final = threading.RLock()
"""Beats, commands and buttons of one process change playbooks one after the other; each change takes milliseconds."""


def playbook_of(session: Session) -> PlaybookFile:
    """Return the playbook of a session."""
    return PlaybookFile(session.cwd, name=session.name, is_master=session.is_master)


class PlaybookFile:
    """The playbook in a session's folder. Every method raises StoreError where the disk refuses."""

    def __init__(self, cwd: Path, *, name: str | None = None, is_master: bool = False) -> None:
        self.path = cwd / PLAYBOOK
        self._cwd, self._name, self._is_master = cwd, name or cwd.name, is_master

    def peek(self) -> Playbook | None:
        """Return the playbook as it stands, or None if there is none; creates nothing."""
        text = read_plain(self.path)
        return None if text is None else parse(text)

    def read(self) -> Playbook:
        """Return the playbook; a missing one is created from the template and kept out of git's sight."""
        playbook = self.peek()
        if playbook is None:
            self._create()
            playbook = self.peek()
        return playbook or parse("")

    def is_tracked(self) -> bool:
        """Whether git tracks the file; False where there is no checkout, or no git that says so."""
        try:
            return bool(GitProcess(self._cwd).run("ls-files", "-z", "--", PLAYBOOK).strip(b"\0"))
        except TriageError:
            return False

    def change(self, edit: Callable[[Playbook], Playbook]) -> Playbook:
        """Apply `edit` to the playbook as it is on disk; it may run more than once. Returns what now stands there.

        Raises:
            StoreError: the file is gone, which no edit undoes, or the disk refuses.
        """
        with _ONE_AT_A_TIME:
            for _ in range(TRIES):
                before = self.peek()
                if before is None:
                    raise StoreError(f"{self.path} is not there; somebody deleted it")
                after = edit(before)
                if after == before or replace_plain(self.path, before.render(), after.render()):
                    return after
        raise StoreError(f"{self.path} is being edited; the change was dropped")

    def _create(self) -> None:
        template = "master.md" if self._is_master else "worker.md"
        text = (resources.files("bot.heartbeat") / "templates" / template).read_text(encoding="utf-8")
        text = seeded(parse(text), checkout_at(self._cwd)).render().replace("{session}", " ".join(self._name.split()))
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
