"""HEARTBEAT.md on disk: read, created when missing, changed only where the file is still what was read.

People edit it at any moment and win: a change is made to the text as it is when it is written. A link, a device or a
pipe in its place is refused. Who took which check out by a command or a button is remembered beside it. A new one gets
the lines of the template whose commands can work in its folder; none of them is run for that.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from bot.agent.git.git_folder import GitFolder, Stamp, folders_with_git
from bot.agent.git.git_process import GitProcess
from bot.domain.heartbeats.alerts import Removal
from bot.domain.heartbeats.allowed_commands import Argv
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.playbook import Playbook, parse, remove
from bot.domain.tiers import Stamps, Tier
from bot.errors import StoreError, TriageError, refused
from bot.heartbeat.session_registry import PLAYBOOK, Session
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

_HOSTS: Final = {"gh": "github", "glab": "gitlab"}
_HOST: Final = re.compile(r"\t(?:[a-z+]{2,10}://)?(?:[^@/\s]{1,200}@)?([A-Za-z0-9.-]{1,200})[:/]")
"""The host of a remote, in what `git remote -v` prints."""

MAX_BYTES: Final = 256 * 1024
"""A playbook is a page or two; reading this much takes a fraction of a second."""

_READ_ONLY: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

TRIES: Final = 5
MAX_CHECKOUTS: Final = 256
"""So many states are remembered, of 4 KiB each."""

_ONE_AT_A_TIME: Final = threading.RLock()
"""Beats, commands and buttons of one process change playbooks one after the other; each change takes milliseconds."""

KEPT: Final = 500


def checkout_at(cwd: Path) -> frozenset[str]:
    """Return what a folder has that commands need: `git`, its remotes and their hosts, `origin/HEAD`."""
    remotes = _git(cwd, "remote", "-v")
    if remotes is None:
        return frozenset()
    head = ["origin/HEAD"] if _git(cwd, "rev-parse", "--verify", "--quiet", "origin/HEAD") else []
    names = (line.partition("\t")[0] for line in remotes.splitlines())
    return frozenset({"git", *names, *map(str.casefold, _HOST.findall(remotes)), *head})


def can_work(argv: Argv, cwd: Path, has: Collection[str]) -> bool:
    """Whether a command has what it needs: its script, or for git, gh and glab what they work with.

    >>> can_work(("git", "status"), Path(), {"git"}), can_work(("git", "log", "HEAD..origin/HEAD"), Path(), {"git"})
    (True, False)
    """
    program = argv[0]
    if "/" in program:
        return (cwd / program).is_file()
    if program in _HOSTS:
        return any(_HOSTS[program] in each for each in has) and shutil.which(program) is not None
    needs = next((each for each in ("origin/HEAD", "origin") if any(each in word for word in argv)), "git")
    return program != "git" or needs in has


def seeded(template: Playbook, cwd: Path) -> Playbook:
    """Return the template without the tasks whose commands cannot work in a folder."""
    has = checkout_at(cwd)
    cannot = (task for task in template.all_tasks if not all(can_work(argv, cwd, has) for argv in task.commands))
    return remove(template, *cannot)


def _git(cwd: Path, *args: str) -> str | None:
    """Return what git prints; None where it fails or is not there."""
    try:
        return os.fsdecode(GitProcess(cwd).run(*args))
    except TriageError:
        return None


@lru_cache(maxsize=MAX_CHECKOUTS)
def _is_tracked(cwd: Path, _tracked: tuple[Stamp | None, ...]) -> bool:
    """Ask git, once for each state of the checkouts around a folder; raises TriageError, which is not remembered."""
    return bool(GitProcess(cwd).run("ls-files", "--", PLAYBOOK))


def read_plain(path: Path) -> str | None:
    """Return the text, or None if there is no such file; bytes that are no UTF-8 survive `replace_plain`.

    Raises:
        StoreError: it is not a plain file, is larger than `MAX_BYTES`, or cannot be read.
    """
    if path.is_symlink():
        raise StoreError(f"{path} is a link; put a plain file in its place")
    with refused(f"cannot read {path}", "put a plain file in its place"):
        try:
            descriptor = os.open(path, _READ_ONLY)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MAX_BYTES + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    if data is None or len(data) > MAX_BYTES:
        raise StoreError(f"{path} is no plain file, or larger than {MAX_BYTES // 1024} KiB")
    return data.decode("utf-8", "surrogateescape")


def replace_plain(path: Path, before: str, after: str) -> bool:
    """Put `after` in the place of `before` at once, keeping the file's mode; False if it holds something else by now.

    The new file takes the name itself, so that a link put there meanwhile is replaced and not followed.

    Raises:
        StoreError: it is not a plain file any more, or the disk refuses.
    """
    with (
        refused(f"cannot write {path}", "make its folder writable"),
        tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder,
    ):
        new = Path(folder) / path.name
        with new.open("wb") as file:
            file.write(after.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(file.fileno())
        if read_plain(path) != before:
            return False
        new.chmod(stat.S_IMODE(path.lstat().st_mode))
        new.replace(path)
    return True


def playbook_of(session: Session) -> PlaybookFile:
    """Return the playbook of a session."""
    return PlaybookFile(session.cwd, session.name, is_master=session.is_master)


@dataclass(frozen=True)
class PlaybookFile:
    """The playbook in a session's folder. Every method raises StoreError where the disk refuses."""

    cwd: Path
    name: str = ""
    is_master: bool = False

    @property
    def path(self) -> Path:
        """Where it stands."""
        return self.cwd / PLAYBOOK

    def peek(self) -> Playbook | None:
        """Return the playbook as it stands, or None if there is none; creates nothing."""
        text = read_plain(self.path)
        return None if text is None else parse(text)

    def read(self) -> Playbook:
        """Return the playbook; a missing one is created from the template and kept out of git's sight."""
        return self.peek() or self._created()

    def is_tracked(self) -> bool:
        """Whether git tracks the file; False where there is no checkout, or no git that says so."""
        with suppress(TriageError, OSError):
            around = folders_with_git(self.cwd)
            tracked = tuple(GitFolder(folder, is_bare=False).tracked() for folder in around)
            return bool(around) and _is_tracked(self.cwd, tracked)
        return False

    def change(self, edit: Callable[[Playbook], Playbook]) -> tuple[Playbook, Playbook]:
        """Apply `edit` to the playbook as it is on disk, and return it before and after; it may run more than once.

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
                    return before, after
        raise StoreError(f"{self.path} is being edited; the change was not made")

    def _created(self) -> Playbook:
        """Write the template, and add the file to the checkout's own exclude list: it is no commit of anybody's.

        It is for those who may use the folder, whatever the umask of the bot; nobody beside its group may write it.
        """
        templates = resources.files("bot.heartbeat") / "templates"
        template = (templates / ("master.md" if self.is_master else "worker.md")).read_text(encoding="utf-8")
        name = " ".join(self.name.split()) or self.cwd.name
        text = seeded(parse(template), self.cwd).render().replace("{session}", name)
        with (
            refused(f"cannot create {self.path}", "make its folder writable"),
            self.path.open("x", encoding="utf-8") as file,
        ):
            os.fchmod(file.fileno(), self.cwd.stat().st_mode & 0o664)
            file.write(text)
        log.info("playbook created", extra={"action": "playbook_created", "path": str(self.path)})
        exclude = _git(self.cwd, "rev-parse", "--git-path", "info/exclude")
        if exclude is not None and _git(self.cwd, "check-ignore", PLAYBOOK) is None:
            path = self.cwd / exclude.removesuffix("\n")
            with suppress(OSError):  # then git shows it as a new file
                path.parent.mkdir(exist_ok=True)
                with path.open("a", encoding="utf-8") as file:
                    file.write(f"\n{PLAYBOOK}\n")
        return parse(text)


@dataclass(frozen=True)
class Removals:
    """The last removals of all sessions, in one document; what cannot be written or read costs the name alone."""

    stored: SingleDocument

    def note_removals(self, session_id: str, before: Playbook, after: Playbook, *, by: str, at: datetime) -> None:
        """Remember who edited checks away; a disk that refuses costs the name, not the edit."""
        gone = before.checks - after.checks
        if not gone:
            return
        entry = Removal(at=at, by=by).model_dump(mode="json")
        with suppress(StoreError):
            self.stored.keep_newest({f"{session_id}/{check}": entry for check in sorted(gone)}, at_most=KEPT)

    def load(self, session_id: str) -> dict[str, Removal]:
        """Return the removals of one session by the identity of the check."""
        with suppress(StoreError, ValidationError):
            kept = self.stored.read().items()
            mine = {key.partition("/")[2]: entry for key, entry in kept if key.startswith(f"{session_id}/")}
            return {check: Removal.model_validate(entry, extra="allow") for check, entry in mine.items()}
        return {}


def stamps_of(playbook: Playbook, state: SessionState) -> Stamps:
    """Return when each tier last succeeded: from the file, or from the state where the file keeps no times."""
    return playbook.stamps or Stamps(**{tier: state.stamps.get(tier) for tier in Tier})
