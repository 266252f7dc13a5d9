"""A disk that fails under the running bot: full, read-only, damaged; the faults are real ones on a small file system.

Promise: said once in the ops channel, nothing acknowledged is lost, nothing is posted twice, no hot loop, and work goes
on by itself when there is room again.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import OPS
from tests.crashes.life import Life
from tests.crashes.moments import after
from tests.crashes.proxy import withholding_proxy
from tests.crashes.steps import SORTED
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.home_files import list_files
from tests.journeys.office import write_config
from tests.journeys.shop import RETRIES, SESSIONS, SHOP

DISK_BYTES = 8 * 1024 * 1024
MAX_RECORDS_PER_S = 4.0
DAMAGES = [b"", *(pytest.param(one, marks=pytest.mark.full) for one in (b'{"kind": "user", "key', b"\xff\xfe\x00"))]


class SmallDisk:
    """A small file system of its own, mounted at `path`."""

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
def disk() -> Iterator[SmallDisk]:
    """A file system of 8 MiB, in the folder that goes with the run."""
    with tempfile.TemporaryDirectory() as folder, mounted(Path(folder) / "disk", DISK_BYTES) as disk:
        yield disk


@contextmanager
def mounted(path: Path, size: int) -> Iterator[SmallDisk]:
    """Mount a file system of so many bytes; skips the test where mounting is not permitted."""
    path.mkdir(parents=True)
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(path)]
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
    said = control.messages(OPS.channel_id)
    return [shown_text(m) for m in said if not m.get("blocks") and m.get("subtype") != "ephemeral"]


def records(log: str) -> int:
    """Return how many records a log has; a traceback is part of one."""
    return sum(line.startswith("20") for line in log.splitlines())


@pytest.mark.full
def test_a_disk_that_fills_up_holds_work_up_and_loses_none(life: Life, control: Control, disk: SmallDisk) -> None:
    """A draft waits, the disk fills, a question and a click come; with room again both are done, once."""
    life.start()
    life.ask(SESSIONS)
    control.wait_for(life.offer, "the draft")
    disk.fill()
    full_at, before = time.monotonic(), records(life.log)
    second = life.beside(RETRIES)
    control.wait_for(lambda: any("disk does not accept" in line for line in ops_lines(control)), "the line")
    life.carry_on(lambda: bool(life.told()), "an answer to the click", decision="approve")
    assert life.replies() == []
    control.wait_for(lambda: time.monotonic() - full_at > 8, "a while to pass")
    assert (records(life.log) - before) / (time.monotonic() - full_at) < MAX_RECORDS_PER_S, life.log
    disk.free()
    control.wait_for(lambda: any("accepts writes again" in line for line in ops_lines(control)), "the line")
    control.wait_for(second.offer, "the second question's draft")
    life.carry_on(life.is_settled, "the first to be settled", decision="approve")
    second.carry_on(second.is_settled, "the second to be settled", decision="approve")
    life.stop()
    for one in (life, second):
        assert (len(one.replies()), len(one.cards()), len(one.archived())) == (1, 1, 1)
    assert (life.left()["logged"], life.left()["events"]) == (2, 2)
    assert sum("disk does not accept" in line for line in ops_lines(control)) == 1


@pytest.mark.full
def test_a_question_the_disk_could_not_keep_is_read_back(life: Life, control: Control, disk: SmallDisk) -> None:
    """Not in the journal, so not acknowledged; with room again it is read from the channel and answered."""
    life.start()
    disk.fill()
    life.ask(f"{RETRIES}\n```{'log line ' * 1_000}```")
    assert life.left()["events"] == 0
    control.wait_for(lambda: any("disk does not accept" in line for line in ops_lines(control)), "the line")
    disk.free()
    life.carry_on(life.is_settled, "the thread to be settled", decision="approve")
    life.stop()
    assert (len(life.cards()), len(life.replies()), life.left()["events"], life.left()["logged"]) == (1, 1, 1, 1)


@pytest.mark.full
def test_a_start_on_a_read_only_disk_waits_until_it_can(life: Life, control: Control, disk: SmallDisk) -> None:
    """It ends neither at once nor in a loop: the ops channel hears why, and it starts by itself."""
    disk.remount("ro")
    life.launch()
    control.wait_for(lambda: ops_lines(control), "the ops channel to be told")
    assert "Read-only file system" in ops_lines(control)[0]
    assert not life.is_dead
    disk.remount("rw")
    life.listen()
    life.ask(SESSIONS)
    life.carry_on(life.is_settled, "the thread to be settled", decision="approve")
    assert sum("cannot start yet" in line for line in ops_lines(control)) == 1


@pytest.fixture
def plain(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[Life]:
    """A home on an ordinary disk."""
    config = write_config(tmp_path / "home", make_repo(tmp_path / "shop", SHOP))
    with withholding_proxy(slack.api_url) as proxy:
        life = Life(slack, control, proxy, config)
        yield life
        life.bury()


@pytest.mark.full
def test_lines_torn_by_a_power_cut_cost_nothing_that_was_whole(plain: Life, control: Control) -> None:
    """Each journal ends in half a record, cut inside a character; what follows is read, and so is what came before."""
    plain.start()
    plain.ask(SESSIONS)
    plain.carry_on(plain.is_settled, "the first to be settled", decision="approve")
    plain.bury()
    for name in ("events", "events-classified", "replies"):
        with (plain.home / f"{name}.ndjson").open("ab") as file:
            file.write('{"content":"caf\u00e9'.encode()[:-1])
    plain.start()
    second = plain.beside(RETRIES)
    second.carry_on(second.is_settled, "the second to be settled", decision="approve")
    plain.stop()
    assert [plain.left()[name] for name in ("events", "classified", "logged")] == [2, 2, 2]
    assert len(plain.replies()) == len(second.replies()) == 1
    assert any("Skipped 1 unreadable line in events.ndjson" in line for line in ops_lines(control))


@pytest.mark.parametrize("damage", DAMAGES, ids=repr)
def test_a_job_that_cannot_be_read_loses_no_question(plain: Life, control: Control, damage: bytes) -> None:
    """It is set aside and told of; its question is in the journal and is answered, once."""
    plain.start(after(SORTED))
    plain.ask(SESSIONS)
    plain.carry_on(lambda: plain.is_dead, "the bot to die with a job", decision="none")
    for folder in (plain.home / "queue", plain.home / "queue" / "running"):
        for job in list_files(folder, "user_*.json"):
            job.write_bytes(damage)
    plain.start()
    plain.carry_on(plain.is_settled, "the thread to be settled", decision="approve")
    plain.start_again()
    plain.stop()
    assert (len(plain.cards()), len(plain.replies()), len(plain.archived()), plain.left()["logged"]) == (1, 1, 1, 1)
    assert sum("queued again" in line for line in ops_lines(control)) == 1


def test_foreign_files_in_the_home_are_nobodys_business(plain: Life) -> None:
    """Editors, file managers and backups leave things everywhere; the bot starts, works and leaves them alone."""
    foreign = [
        "state/.DS_Store", "state/notes.txt", "queue/README.md", "queue/running/x.swp", "queue/failed/old.json",
        "closed/2020-01/odd.json", "closed/readme", "runs/x", "events.ndjson.bak", "replies.ndjson.1.gz", "sessions/x",
    ]  # fmt: skip
    for name in foreign:
        path = plain.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\xff not ours")
    plain.start()
    plain.ask(SESSIONS)
    plain.carry_on(plain.is_settled, "the thread to be settled", decision="approve")
    plain.stop()
    assert [name for name in foreign if (plain.home / name).read_bytes() != b"\xff not ours"] == []
    assert (len(plain.cards()), len(plain.replies()), plain.left()["corrupt"]) == (1, 1, [])
