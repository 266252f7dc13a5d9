"""Which lines of the template a new playbook gets: those whose commands can work in its folder.

Reads the checkout's remotes and looks for programs; runs none of the commands.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.agent.git.git_process import GitProcess
from bot.domain.heartbeats.allowed_commands import Argv, commands_in
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import remove
from bot.domain.tiers import Tier
from bot.errors import TriageError

_HOSTS: Final = {"gh": "github", "glab": "gitlab"}
_HOST: Final = re.compile(r"(?:[a-z+]{2,10}://)?(?:[^@/\s]{1,200}@)?([A-Za-z0-9.-]{1,200})[:/]")

Which = Callable[[str], str | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkout:
    """What a folder has that commands need; `hosts` are those of its remotes."""

    is_repository: bool
    has_origin: bool
    has_origin_head: bool
    hosts: tuple[str, ...]


def checkout_at(cwd: Path) -> Checkout:
    """Return what a folder has; one that git cannot read has nothing."""
    remotes = _said(cwd, "remote", "-v")
    lines = [line.split("\t") for line in (remotes or "").splitlines() if "\t" in line]
    urls = [url.partition(" ")[0] for _, url in lines]
    return Checkout(
        is_repository=remotes is not None,
        has_origin=any(name == "origin" for name, _ in lines),
        has_origin_head=_said(cwd, "rev-parse", "--verify", "--quiet", "origin/HEAD") is not None,
        hosts=tuple({found[1].casefold() for url in urls if (found := _HOST.match(url))}),
    )


def can_work(argv: Argv, checkout: Checkout, which: Which = shutil.which) -> bool:
    """Whether a command has what it needs: its program, and a remote of its host; other programs are not judged.

    >>> bare = Checkout(is_repository=True, has_origin=False, has_origin_head=False, hosts=())
    >>> can_work(("git", "status"), bare), can_work(("git", "log", "HEAD..origin/HEAD"), bare)
    (True, False)
    """
    if argv[0] in _HOSTS:
        own = os.environ.get("GH_HOST" if argv[0] == "gh" else "GITLAB_HOST", "").casefold()
        reached = any(_HOSTS[argv[0]] in host or host == own for host in checkout.hosts)
        return reached and which(argv[0]) is not None
    if argv[0] != "git":
        return True
    if any("origin/HEAD" in word for word in argv):
        return checkout.has_origin_head
    return checkout.has_origin if any("origin" in word for word in argv) else checkout.is_repository


def seeded(template: Playbook, checkout: Checkout, which: Which = shutil.which) -> Playbook:
    """Return the template without the tasks whose commands cannot work here."""
    for tier in Tier:
        for task in template.tasks(tier):
            if not all(can_work(argv, checkout, which) for argv in commands_in([task.text, *task.details])):
                template = remove(template, task)
    return template


def _said(cwd: Path, *args: str) -> str | None:
    try:
        return GitProcess(cwd).run(*args).decode("utf-8", "replace")
    except TriageError:
        return None
