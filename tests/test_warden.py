"""What a run of the tests leaves behind is ended and removed, also where the run was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fork_server import ROOT
from tests.tables import each_row

RUN = """
import subprocess, sys, tempfile
from tests.warden import guard_run
folder = guard_run()
tempfile.mkdtemp()
sleeper = subprocess.Popen(["sleep", "600"], start_new_session=True)
print(folder, sleeper.pid, flush=True)
sys.stdin.readline()
"""


@each_row("how", [None, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_run(tmp_path: Path, how: signal.Signals | None) -> None:
    """Its folder is gone and its process dead, whether it ended by itself or by a signal; others live on."""
    argv, env = [sys.executable, "-c", RUN], {**os.environ, "TMPDIR": str(tmp_path)}
    stranger = subprocess.Popen(["sleep", "600"], env=env)
    with subprocess.Popen(
        argv, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as run:
        assert run.stdout is not None
        folder, sleeper = run.stdout.readline().split()
        assert Path(folder).parent == tmp_path
        if how is not None:
            run.send_signal(how)
    while Path(folder).exists() or _runs(int(sleeper)):
        time.sleep(0.01)
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_the_tests_run_in_such_a_folder() -> None:
    """What they make there is gone with it."""
    assert Path(tempfile.gettempdir()).name.startswith("triage-tests-")
    assert os.environ["TMPDIR"] == tempfile.gettempdir()


def _runs(pid: int) -> bool:
    try:
        return b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
