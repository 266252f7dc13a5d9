"""Patches against real git and real programs: what applies, what is refused, what a check can reach."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.git.git_repo import GitRepo
from bot.casework.check_run import (
    MAX_PROCESSES,
    CheckLimits,
    CheckStopped,
    Isolation,
    best_isolation,
    run_check,
)
from bot.casework.patch_check import PatchChecks
from bot.config.codebase_settings import FixSettings
from bot.domain.patches import FixCode, FixRefused
from tests.casework.hostile_patches import GOOD, HOSTILE
from tests.gitrepo import git, make_repo
from tests.tables import each_row

CODE = {"app/retry.py": "LIMIT = 5\n", "README.md": "# shop\n", "uv.lock": "a = 1\n", "run.sh": "#!/bin/sh\n"}
TEST = (
    "--- /dev/null\n+++ b/tests/test_retry.py\n@@ -0,0 +1,2 @@\n+import runpy\n"
    "+assert runpy.run_path('app/retry.py')['LIMIT'] == 7\n"
)
RUN_TESTS = (
    str(Path(sys.executable).resolve()),
    "-c",
    "import pathlib, runpy; [runpy.run_path(str(one)) for one in pathlib.Path('tests').glob('test_*.py')]",
)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """The codebase."""
    return make_repo(tmp_path / "shop", CODE)


def checks_of(repo: Path, **wanted: Any) -> PatchChecks:
    workshop = repo.parent / "home" / "workshop"
    workshop.parent.mkdir(exist_ok=True)
    return PatchChecks(
        GitRepo(repo), FixSettings(**wanted), workshop, hidden=[workshop.parent], stop=threading.Event(), secrets=()
    )


def checked(repo: Path, diff: str, **wanted: Any) -> tuple[str, ...]:
    """Return what was checked of a patch."""
    checks, head = checks_of(repo, **wanted), git(repo, "rev-parse", "HEAD")
    with checks.repository() as scratch:
        return checks.check(scratch, head, checks.apply(scratch, head, diff))


def refused(repo: Path, diff: str, **wanted: Any) -> FixRefused:
    with pytest.raises(FixRefused) as error:
        checked(repo, diff, **wanted)
    return error.value


def test_a_hostile_patch_is_refused_and_touches_nothing(repo: Path) -> None:
    """Neither in the checkout nor beside it."""
    checks, head = checks_of(repo), git(repo, "rev-parse", "HEAD")
    home = repo.parent / "home"
    before = sorted(path for path in repo.parent.rglob("*") if home not in path.parents)
    said = {}
    with checks.repository() as scratch:
        for kind, diff in HOSTILE.items():
            try:
                checks.apply(scratch, head, diff)
            except FixRefused as error:
                said[kind] = str(error)
            after = sorted(path for path in repo.parent.rglob("*") if home not in path.parents)
            assert after == before, kind
    assert [kind for kind in HOSTILE if not re.fullmatch(r".+\.", said.get(kind, ""))] == []
    assert list(home.iterdir()) == []


LINES = st.sampled_from(
    [
        *(
            "--- a/app/retry.py",
            "+++ b/app/retry.py",
            "+++ b/../x",
            "--- /dev/null",
            "+++ b/.git/config",
            "@@ -1 +1 @@",
        ),
        *(
            "@@ -0,0 +1 @@",
            "-LIMIT = 5",
            "+LIMIT = 6",
            "+x",
            "rename to ../x",
            "rename from run.sh",
            "new file mode 120000",
        ),
        *(
            "diff --git a/run.sh b/../x",
            "diff --git a/l b/l",
            "deleted file mode 100644",
            "+++ b/.github/workflows/a.yml",
        ),
    ]
)


def test_whatever_git_takes_stays_in_the_tree_and_within_the_limits(repo: Path) -> None:
    """Any mixture of a diff's lines: what is not refused changes ordinary, unprotected files only."""
    checks, head = checks_of(repo), git(repo, "rev-parse", "HEAD")

    @given(lines=st.lists(LINES, min_size=2, max_size=12))
    def holds(lines: list[str]) -> None:
        try:
            tree = checks.apply(scratch, head, "\n".join(lines))
        except FixRefused:
            return
        for change in scratch.changes(head, tree):
            assert change.path.startswith(("app/", "run.sh"))
            assert change.mode in ("100644", "100755", "000000")

    with checks.repository() as scratch:
        holds()


def test_the_checkout_and_its_git_are_only_read(repo: Path) -> None:
    """Uncommitted work, refs, work trees and index stay as they are; hooks of the codebase do not run."""
    (repo / "app" / "retry.py").write_text("LIMIT = 99\n")
    hook = repo / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {repo.parent}/hooked\n")
    hook.chmod(0o755)
    git(repo, "config", "core.hooksPath", str(hook.parent))
    before = {path: path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()}
    assert checked(repo, GOOD)[0].startswith("it applies to ")
    assert {path: path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()} == before
    assert (repo / "app" / "retry.py").read_text() == "LIMIT = 99\n"
    assert not (repo.parent / "hooked").exists()


def test_the_check_must_pass_with_the_patch(repo: Path) -> None:
    """One that does not pass is a refusal with its last lines."""
    assert "passes" in checked(repo, GOOD + TEST, check=RUN_TESTS)[1]
    failed = refused(repo, GOOD.replace("7", "8") + TEST, check=RUN_TESTS)
    assert failed.refusal.code is FixCode.CHECK_FAILED
    assert "AssertionError" in str(failed.log)


def test_a_check_has_no_secret_no_git_and_no_network(repo: Path, tmp_path: Path) -> None:
    """As far as the machine offers it; what it offers is said."""
    os.environ["TRIAGE_TEST_SECRET"] = "do-not-pass-on"
    try:
        probe = (
            "import os, socket, sys, pathlib\n"
            "assert 'TRIAGE_TEST_SECRET' not in os.environ, 'secret'\n"
            "assert not pathlib.Path('.git').exists(), 'git'\n"
            "s = socket.socket(); s.settimeout(2)\n"
            "try: s.connect(('127.0.0.1', int(sys.argv[1])))\n"
            "except OSError: sys.exit(0)\n"
            "sys.exit('network')\n"
        )
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = str(server.getsockname()[1])
            said = checked(repo, GOOD, check=(str(Path(sys.executable).resolve()), "-c", probe, port))
    finally:
        del os.environ["TRIAGE_TEST_SECRET"]
    assert best_isolation() is not Isolation.NOTHING
    assert "without network" in said[2]


def test_a_check_does_not_see_the_data_directory(repo: Path) -> None:
    """Where bubblewrap is there."""
    if best_isolation() is not Isolation.FILES_AND_NETWORK:
        pytest.skip("no bubblewrap")
    home = repo.parent / "home"
    home.mkdir()
    (home / "triage.yml").write_text("codebase: shop\n")
    look = f"import pathlib, sys; sys.exit(pathlib.Path({str(home / 'triage.yml')!r}).exists())"
    assert checked(repo, GOOD, check=(str(Path(sys.executable).resolve()), "-c", look))


@each_row("ends", ["\n", "\r\n"])
def test_a_patch_of_a_file_with_dos_line_ends_keeps_them(tmp_path: Path, ends: str) -> None:
    """Who reads a file sees no CR, so a patch may have none; nothing of that is a hidden character."""
    repo = make_repo(tmp_path / "dos", {"app/retry.py": b"A = 1\r\nLIMIT = 5\r\nB = 2\r\n"})
    lines = ends.join([" A = 1", "-LIMIT = 5", "+LIMIT = 7", "+MORE = 8", " B = 2", ""])
    diff = f"--- a/app/retry.py\n+++ b/app/retry.py\n@@ -1,3 +1,4 @@\n{lines}"
    checks, head = checks_of(repo), git(repo, "rev-parse", "HEAD")
    with checks.repository() as scratch:
        tree = checks.apply(scratch, head, diff)
        [change] = scratch.changes(head, tree)
        scratch.check_out(tree, tmp_path / "tree")
    assert (change.added, change.removed) == (2, 1)
    assert (tmp_path / "tree" / "app" / "retry.py").read_bytes() == b"A = 1\r\nLIMIT = 7\r\nMORE = 8\r\nB = 2\r\n"


def test_a_check_of_a_hostile_patch_reaches_nothing_outside_its_folder(repo: Path) -> None:
    """The patch changes what the check runs: no file of the machine is written, no socket of another program opened."""
    if best_isolation() is not Isolation.FILES_AND_NETWORK:
        pytest.skip("no bubblewrap")
    try:
        place = Path(tempfile.mkdtemp(dir="/run"))
    except OSError:
        pytest.skip("/run takes no folder")
    outside, home = repo.parent / "outside", repo.parent / "home"
    program = f"""+import pathlib, socket, sys
+for name in ({str(repo / ".git" / "config")!r}, {str(repo / "x")!r}, {str(outside)!r}, {str(home / "x")!r}, "../x"):
+    try: pathlib.Path(name).write_text("mine")
+    except OSError: pass
+try: socket.socket(socket.AF_UNIX).connect({str(place / "database")!r})
+except OSError: sys.exit(0)
+sys.exit("a socket")
"""
    count = program.count("\n")
    before = {path: path.read_bytes() for path in repo.rglob("*") if path.is_file()}
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(place / "database"))
            server.listen()
            diff = f"--- /dev/null\n+++ b/check.py\n@@ -0,0 +1,{count} @@\n{program}"
            assert checked(repo, diff, check=(str(Path(sys.executable).resolve()), "check.py"))
    finally:
        shutil.rmtree(place)
    assert {path: path.read_bytes() for path in repo.rglob("*") if path.is_file()} == before
    assert not outside.exists()
    assert list(home.iterdir()) == []


def test_what_a_check_locks_is_removed(tmp_path: Path) -> None:
    """Folders without a right to write or to enter, as Go's modules have them; what links lead to is left alone."""
    workshop, kept = tmp_path / "workshop", tmp_path / "kept"
    kept.mkdir(mode=0o500)
    program = (
        "import os, pathlib, sys\n"
        "from bot.casework.patch_check import sweep\n"
        "top = pathlib.Path(sys.argv[1])\n"
        "(top / 'home' / 'go' / 'mod').mkdir(parents=True)\n"
        "(top / 'home' / 'go' / 'mod' / 'x').write_text('x')\n"
        "(top / 'home' / 'link').symlink_to(sys.argv[2])\n"
        "modes = {'home/go/mod': 0o500, 'home/go': 0, 'home': 0o500}\n"
        "[(top / name).chmod(mode) for name, mode in modes.items()]\n"
        "sweep(top)\n"
        "assert not top.exists(), list(top.rglob('*'))\n"
    )
    powerless = ("setpriv", "--inh-caps=-all", "--bounding-set=-all") if os.getuid() == 0 else ()
    if powerless and shutil.which(powerless[0]) is None:
        pytest.skip("root may do everything, and there is no setpriv")
    subprocess.run([*powerless, sys.executable, "-c", program, workshop, kept], check=True)
    assert kept.stat().st_mode & 0o777 == 0o500


def limited(folder: Path, program: str, *, seconds: float = 300, stop: bool = False, **limits: int) -> Any:
    folder.mkdir(exist_ok=True)
    event = threading.Event()
    if stop:
        event.set()
    return run_check(
        (str(Path(sys.executable).resolve()), "-c", program),
        folder,
        limits=CheckLimits(seconds, **{"memory_mb": 4096, **limits}),
        hidden=[],
        stop=event,
    )


def test_a_check_is_ended_by_its_limits(tmp_path: Path) -> None:
    """Of time and of memory; a stop of the bot ends it at once, and what it leaves running dies with it."""
    slow = limited(tmp_path / "tree", "import time; print('begun', flush=True); time.sleep(600)", seconds=1)
    assert (slow.exit_code, slow.passed) == (None, False)
    assert "took over" in slow.problem
    greedy = limited(tmp_path / "tree", "b = bytearray(900 << 20); print(len(b))", memory_mb=256)
    assert not greedy.passed
    assert "MemoryError" in greedy.tail
    with pytest.raises(CheckStopped):
        limited(tmp_path / "tree", "import time; time.sleep(600)", stop=True)
    full = limited(tmp_path / "tree", "import time; time.sleep(600)", spare_mb=1 << 40)
    assert (full.exit_code, full.problem) == (None, f"it left less than {1 << 40} MB of the disk free")
    bomb = limited(tmp_path / "tree", "import resource; print(resource.getrlimit(resource.RLIMIT_NPROC))")
    assert 0 < int(bomb.tail.split(",")[1].strip(" )\n")) <= MAX_PROCESSES
    loud = limited(tmp_path / "tree", "print('x' * 10_000_000); print('the end')")
    assert loud.passed
    assert len(loud.tail) <= 64 * 1024
    assert loud.tail.endswith("the end\n")
    missing = run_check(
        ("no-such-program",), tmp_path / "tree", limits=CheckLimits(60, 512), hidden=[], stop=threading.Event()
    )
    assert not missing.passed
