"""HEARTBEAT.md on disk: read, created when missing, changed only where the file is still what was read.

People edit it at any moment and win: a change is made to the text as it is when it is written. A link, a device or a
pipe in its place is refused. Who took which check out by a command or a button is remembered beside it. A new one gets
the lines of the template whose commands can work in its folder; none of them is run for that.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import logging
import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from bot.agent.git.git_process import GitProcess
from bot.domain.heartbeats.alerts import Removal
from bot.domain.heartbeats.allowed_commands import Argv
from bot.domain.playbook import Playbook, parse
from bot.domain.playbooks.playbook_edits import remove
from bot.errors import StoreError, TriageError
from bot.heartbeat.sessions.session_registry import PLAYBOOK, Session
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

_HOSTS: Final = {"gh": "github", "glab": "gitlab"}
_HOST: Final = re.compile(r"(?:[a-z+]{2,10}://)?(?:[^@/\s]{1,200}@)?([A-Za-z0-9.-]{1,200})[:/]")

Which = Callable[[str], str | None]

MAX_BYTES: Final = 256 * 1024
"""A playbook is a page or two; reading this much takes a fraction of a second."""

_READ_ONLY: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

TRIES: Final = 5

_ONE_AT_A_TIME: Final = threading.RLock()
"""Beats, commands and buttons of one process change playbooks one after the other; each change takes milliseconds."""

KEPT: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkout:
    """What a folder has that commands need; `hosts` are those of its remotes."""

    folder: Path
    is_repository: bool
    has_origin: bool
    has_origin_head: bool
    hosts: tuple[str, ...]


def checkout_at(cwd: Path) -> Checkout:
    """Return what a folder has; one that git cannot read has nothing."""
    remotes = _said(cwd, "remote", "-v")
    named = [line.split() for line in (remotes or "").splitlines()]
    hosts = (_HOST.match(words[1]) for words in named if len(words) > 1)
    return Checkout(
        folder=cwd,
        is_repository=remotes is not None,
        has_origin=any(words[:1] == ["origin"] for words in named),
        has_origin_head=_said(cwd, "rev-parse", "--verify", "--quiet", "origin/HEAD") is not None,
        hosts=tuple({host[1].casefold() for host in hosts if host}),
    )


def can_work(argv: Argv, checkout: Checkout, which: Which = shutil.which) -> bool:
    """Whether a command has what it needs: its script, or for git, gh and glab what they work with.

    >>> bare = Checkout(folder=Path(), is_repository=True, has_origin=False, has_origin_head=False, hosts=())
    >>> can_work(("git", "status"), bare), can_work(("git", "log", "HEAD..origin/HEAD"), bare)
    (True, False)
    """
    program = argv[0]
    if "/" in program:
        return (checkout.folder / program).is_file()
    if program in _HOSTS:
        own = os.environ.get("GH_HOST" if program == "gh" else "GITLAB_HOST", "").casefold()
        reached = any(_HOSTS[program] in host or host == own for host in checkout.hosts)
        return reached and which(program) is not None
    if program != "git":
        return True
    if any("origin/HEAD" in word for word in argv):
        return checkout.has_origin_head
    return checkout.has_origin if any("origin" in word for word in argv) else checkout.is_repository


def read_template(*, is_master: bool) -> Playbook:
    """Return what a new HEARTBEAT.md is made from."""
    name = "master.md" if is_master else "worker.md"
    return parse((resources.files("bot.heartbeat.playbooks") / "templates" / name).read_text(encoding="utf-8"))


def seeded(template: Playbook, checkout: Checkout, which: Which = shutil.which) -> Playbook:
    """Return the template without the tasks whose commands cannot work here."""
    tasks = [task for _, task in template.all_tasks]
    return remove(
        template, *(each for each in tasks if not all(can_work(argv, checkout, which) for argv in each.commands))
    )


def _said(cwd: Path, *args: str) -> str | None:
    try:
        return GitProcess(cwd).run(*args).decode("utf-8", "replace")
    except TriageError:
        return None


def read_plain(path: Path) -> str | None:
    """Return the text, or None if there is no such file; bytes that are no UTF-8 survive `replace_plain`.

    Raises:
        StoreError: it is not a plain file, is larger than `MAX_BYTES`, is UTF-16, or cannot be read.
    """
    try:
        descriptor = os.open(path, _READ_ONLY)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise StoreError(f"{path} is not a plain file")
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise StoreError(f"{path} is a link; put a plain file in its place") from error
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise StoreError(f"{path} is larger than {MAX_BYTES // 1024} KiB; a playbook is a page or two")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise StoreError(f"{path} is UTF-16, in which no task can be read; save it as UTF-8")
    return data.decode("utf-8", "surrogateescape")


def replace_plain(path: Path, before: str, after: str) -> bool:
    """Put `after` in the place of `before` at once, keeping the file's mode; False if it holds something else by now.

    The new file takes the name itself, so that a link put there meanwhile is replaced and not followed.

    Raises:
        StoreError: it is not a plain file any more, or the disk refuses.
    """
    temporary: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(after.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(descriptor)
        if read_plain(path) != before:
            return False
        temporary.chmod(stat.S_IMODE(path.lstat().st_mode))
        temporary.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
    return True


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
        raise StoreError(f"{self.path} is being edited; the change was not made")

    def _create(self) -> None:
        template = seeded(read_template(is_master=self._is_master), checkout_at(self._cwd))
        text = template.render().replace("{session}", " ".join(self._name.split()))
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


class Removals:
    """The last removals of all sessions, in one document."""

    def __init__(self, stored: SingleDocument) -> None:
        self._stored = stored

    def note_removals(self, session_id: str, before: Playbook, after: Playbook, *, by: str, at: datetime) -> None:
        """Remember who edited checks away; a disk that refuses costs the name, not the edit."""
        gone = before.checks - after.checks
        if not gone:
            return
        entry = Removal(at=at, by=by).model_dump(mode="json")
        new = {f"{session_id}/{identity}": entry for identity in sorted(gone)}
        try:
            self._stored.keep_newest(new, at_most=KEPT)
        except StoreError:
            log.warning("who removed a check is not remembered", extra={"action": "removal_forgotten"}, exc_info=True)

    def load(self, session_id: str) -> dict[str, Removal]:
        """Return the removals of one session by the identity of the check; none where they cannot be read."""
        found: dict[str, Removal] = {}
        with contextlib.suppress(StoreError):
            for key, entry in self._stored.read().items():
                if key.startswith(f"{session_id}/"):
                    with contextlib.suppress(ValidationError):
                        found[key.partition("/")[2]] = Removal.model_validate(entry, extra="allow")
        return found
