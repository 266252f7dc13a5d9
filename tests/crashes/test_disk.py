"""A disk that fails under the running bot: full, read-only, damaged; the faults are real ones on a small file system.

Promise: said once in the ops channel, nothing acknowledged is lost, nothing is posted twice, no hot loop, and work goes
on by itself when there is room again.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from demo.control import Control
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import OPS
from tests.crashes.life import Life
from tests.crashes.proxy import withholding_proxy
from tests.gitrepo import make_repo
from tests.journeys.office import write_config
from tests.journeys.shop import RETRIES, SESSIONS, SHOP

DISK_BYTES = 8 * 1024 * 1024
MAX_LINES_PER_S = 5.0


class SmallDisk:
    """A file system of 8 MiB of its own, mounted at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    def fill(self) -> None:
        """Leave no byte free."""
        with suppress(OSError), self._ballast.open("ab", buffering=0) as file:
            while True:
                file.write(b"\0" * 4096)

    def free(self) -> None:
        """Make room again."""
        self._ballast.unlink()

    def remount(self, how: str) -> None:
        """Make it read-only ("ro") or writable ("rw")."""
        subprocess.run(["mount", "-o", f"remount,{how}", str(self.path)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A small file system; skipped where mounting is not permitted."""
    path = tmp_path / "disk"
    path.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(path)]
    done = subprocess.run(mounting, capture_output=True, text=True) if os.geteuid() == 0 else None
    if done is None or done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip() if done else 'not root'}")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


@pytest.fixture
def life(slack: LocalSlack, control: Control, tmp_path: Path, disk: SmallDisk) -> Iterator[Life]:
    """A home on the small disk, and a small codebase elsewhere."""
    config = write_config(disk.path / "home", make_repo(tmp_path / "shop", SHOP))
    with withholding_proxy(slack.api_url) as proxy:
        life = Life(slack, control, proxy, config, log=tmp_path / "bot.log")
        yield life
        life.bury()


def ops_lines(control: Control) -> list[str]:
    """Return what the ops channel reads beside cards."""
    return [shown_text(m) for m in control.messages(OPS.channel_id) if not m.get("blocks")]


def test_a_disk_that_fills_up_holds_work_up_and_loses_none(life: Life, control: Control, disk: SmallDisk) -> None:
    """A draft waits, the disk fills, a question and a click come; with room again both are done, once."""
    life.start()
    life.ask(SESSIONS)
    control.wait_for(life.offer, "the draft", timeout_s=20)
    disk.fill()
    full_at, before = time.monotonic(), len(life.log.splitlines())
    second = life.beside(RETRIES)
    control.wait_for(lambda: any("disk takes no more" in line for line in ops_lines(control)), "the line", timeout_s=20)
    life.carry_on(lambda: bool(life.told()), "an answer to the click", decision="approve")
    assert life.replies() == []
    control.wait_for(lambda: time.monotonic() - full_at > 8, "a while to pass")
    assert (len(life.log.splitlines()) - before) / (time.monotonic() - full_at) < MAX_LINES_PER_S, life.log
    disk.free()
    control.wait_for(lambda: any("takes writes again" in line for line in ops_lines(control)), "the line", timeout_s=20)
    control.wait_for(second.offer, "the second question's draft", timeout_s=20)
    life.carry_on(life.is_settled, "the first to be settled", decision="approve")
    second.carry_on(second.is_settled, "the second to be settled", decision="approve")
    life.stop()
    for one in (life, second):
        assert (len(one.replies()), len(one.cards()), len(one.archived())) == (1, 1, 1)
    assert (life.left()["logged"], life.left()["events"]) == (2, 2)
    assert sum("disk takes no more" in line for line in ops_lines(control)) == 1
