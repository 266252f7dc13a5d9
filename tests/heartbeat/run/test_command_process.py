"""A command runs within its limits, and when it ends, or has to, nothing that it started is left.

Whether something is left is asked of a lock: its processes hold it, so it is free once the last has ended.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.heartbeat.run.command_process import Ran, command_environment, run_command
from tests.tables import each_row

ENVIRON = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": "/nonexistent"}
LOCK = "import fcntl, os, time; lock = os.open('lock', os.O_RDWR | os.O_CREAT); fcntl.flock(lock, fcntl.LOCK_EX)\n"
HOLD = LOCK + "os.set_inheritable(lock, True); print('held', flush=True)\n"
"""Takes the lock and hands it to whatever is started."""

DAEMONS = {
    "a child": "if os.fork() == 0: time.sleep(3600)",
    "a session": "if os.fork() == 0: os.setsid(); time.sleep(3600)",
    "a double fork": "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(3600)",
    "nohup": "os.spawnlp(os.P_NOWAIT, 'nohup', 'nohup', 'sleep', '3600')",
    "no environment": "os.spawnlp(os.P_NOWAIT, 'env', 'env', '-i', '/usr/bin/setsid', '--fork', '/bin/sleep', '3600')",
    "no pipe": "if os.fork() == 0: os.setsid(); os.closerange(0, 3); time.sleep(3600)",
    "a chain": (
        "if os.fork() == 0:\n  for _ in range(5000):\n    if os.fork(): os._exit(0)\n    os.setsid()\n"
        "  open('survived', 'w')"
    ),
}
linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the process group ends")


def run(folder: Path, code: str, *, seconds: float = 300.0, max_mib: int = 2048) -> Ran:
    argv = ("python3", "-c", code)
    return run_command(argv, folder, ENVIRON, seconds=seconds, max_bytes=1 << 16, max_mib=max_mib)


def wait_for_lock(folder: Path) -> None:
    """Return once nobody holds it; the test's own limit of time ends one that waits in vain."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


@linux
@each_row("kind", list(DAEMONS))
def test_nothing_that_a_command_started_outlives_it(kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """However it left: the command is not waited for either."""
    folder = tmp_path_factory.mktemp("run")
    assert run(folder, HOLD + DAEMONS[kind]) == Ran(b"held\n", 0, None)
    wait_for_lock(folder)
    assert not (folder / "survived").exists()


@linux
def test_a_command_that_kills_its_parent_ends_with_all_it_started(tmp_path: Path) -> None:
    """Another process than the one that ends it is there for that."""
    code = f"{HOLD}{DAEMONS['a session']}\nos.kill(os.getppid(), 9); time.sleep(3600)"
    assert run(tmp_path, code) == Ran(b"held\n", None, "was ended from outside")
    wait_for_lock(tmp_path)


@linux
def test_nothing_that_a_command_started_outlives_the_limit_of_time(tmp_path: Path) -> None:
    """Nor does the command itself."""
    ran = run(tmp_path, f"{HOLD}{DAEMONS['a session']}\ntime.sleep(3600)", seconds=1.0)
    assert (ran.exit_code, ran.unanswered) == (-9, "took over 1 s")
    if (tmp_path / "lock").exists():  # a busy machine may not have come so far
        wait_for_lock(tmp_path)


@linux
def test_nothing_that_a_command_started_outlives_the_bot(tmp_path: Path) -> None:
    """Killed in the middle of a command."""
    os.mkfifo(tmp_path / "began")
    code = f"{HOLD}open('began', 'w').close()\n{DAEMONS['a session']}\ntime.sleep(3600)"
    bot = (
        "from pathlib import Path; from bot.heartbeat.run.command_process import run_command\n"
        f"run_command(('python3', '-c', {code!r}), Path({str(tmp_path)!r}), {ENVIRON!r}, seconds=3600, max_bytes=9999)"
    )
    with subprocess.Popen([sys.executable, "-c", bot]) as process:
        (tmp_path / "began").read_bytes()
        process.kill()
    wait_for_lock(tmp_path)


@linux
def test_a_command_that_eats_memory_is_ended_and_says_so(tmp_path: Path) -> None:
    """So is one whose children do it together; what is only reserved, or mapped from a file, does not count."""
    hungry = "import time; eaten = bytearray(80 << 20); time.sleep(3600)"
    together = f"import os\nfor _ in range(3): os.fork()\n{hungry.replace('80', '30')}"
    for code in (hungry.replace("80", "400"), together):
        assert run(tmp_path, code, max_mib=200) == Ran(b"", -9, "used more than 200 MiB of memory")
    modest = "import mmap; mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); print('done')"
    assert run(tmp_path, modest, max_mib=200) == Ran(b"done\n", 0, None)


def test_programs_see_of_the_environment_what_they_need() -> None:
    """Proxies, certificates and ssh; tokens of a forge only its client; no secret of the bot."""
    environ = {
        **{
            "PATH": "/bin",
            "https_proxy": "p",
            "SSL_CERT_FILE": "c",
            "SSH_AUTH_SOCK": "s",
            "GH_TOKEN": "t",
            "TZ": "UTC",
        },
        **{"SLACK_BOT_TOKEN": "x", "TRIAGE_GITHUB_TOKEN": "x", "ANTHROPIC_API_KEY": "x"},
    }
    fixed = command_environment({}, "git")
    assert set(command_environment(environ, "gh")) - set(fixed) == set(environ) - {
        *("SLACK_BOT_TOKEN", "TRIAGE_GITHUB_TOKEN", "ANTHROPIC_API_KEY")
    }
    assert "GH_TOKEN" not in command_environment(environ, "git")
    assert fixed["GIT_SSH_COMMAND"].startswith("ssh -oBatchMode=yes")
    assert command_environment({"GIT_SSH_COMMAND": "ssh -i key"}, "git")["GIT_SSH_COMMAND"] == "ssh -i key"
    assert "GIT_SSH_COMMAND" not in command_environment({"GIT_SSH": "plink"}, "git")


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    """It is no fault of the program."""
    gone = tmp_path / "gone"
    assert run(gone, "") == Ran(b"", None, f"cannot be started: {gone} is gone")
