"""A copy of this checkout with a Python environment of its own, in which code can be changed and tests be run.

The environment here has an editable install, which names this checkout; the copy's environment names the copy. Its
packages are links to those here. `prove` shows, with the tests' own settings, that the copy's code is what is run.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SCRIPT_HEAD_BYTES: Final = 200
"""How far the line that names a script's interpreter may reach."""

ENDS_WITHIN_S: Final = 20.0
"""How long pytest has to remove what its tests have left, once it is told to end."""

_DROPPED: Final = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")

_PROOF: Final = '''"""Written by benchmarks/checkout_copy.py."""

import subprocess
import sys
from pathlib import Path

import bot
from tests import fork_server

COPY = Path(__file__).parents[1]
ASK = "import blocks, bot, demo, handlers; print(bot.__file__, blocks.__file__, demo.__file__, handlers.__file__)"


def test_this_process_and_its_children_run_the_code_of_the_copy(tmp_path: Path) -> None:
    """Also a child elsewhere, without anything in its environment."""
    alone = subprocess.run([sys.executable, "-c", ASK], cwd=tmp_path, env={}, capture_output=True, text=True)
    forked = fork_server.run("tests.program", ASK, env={}, cwd=tmp_path).stdout
    found = [bot.__file__, *alone.stdout.split(), *forked.split()]
    assert len(found) == 9, alone.stderr
    assert all(Path(each).is_relative_to(COPY) for each in found), found
'''


class CheckoutCopy:
    """The tracked files of this checkout, as they are here, in a new folder."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        _copy_files(self.root)
        self._python = _make_environment(self.root / ".venv")
        self.prove()

    def read(self, path: str) -> str:
        """Return the text of a file."""
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """Change a file; what Python had compiled of it is removed, for it may look as new as the text."""
        (self.root / path).write_text(text, encoding="utf-8")
        Path(cache_from_source(self.root / path)).unlink(missing_ok=True)

    def prove(self) -> str:
        """Return where `bot` is imported from; raises RuntimeError where that is not this copy."""
        done = subprocess.run(
            [self._python, "-c", "import bot; print(bot.__file__)"],
            cwd=self.root.parent,
            env={},
            capture_output=True,
            text=True,
        )
        found = done.stdout.strip()
        if not found or not Path(found).is_relative_to(self.root):
            raise RuntimeError(f"the copy's Python imports {found or done.stderr}, not {self.root}/bot")
        return found

    def write_proof(self) -> str:
        """Add a test that this code is what tests and their children run; return its path."""
        path = "tests/test_copy_of_the_checkout.py"
        self.write(path, _PROOF)
        return path

    def pytest(self, arguments: Sequence[str], *, timeout_s: float, log: Path) -> int | None:
        """Run pytest on the copy with its output in a file; return its exit code, None where time ran out."""
        command = [str(self._python), "-m", "pytest", *arguments]
        env = {name: value for name, value in os.environ.items() if name not in _DROPPED}
        env["PATH"] = f"{self._python.parent}{os.pathsep}{env.get('PATH', os.defpath)}"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                cwd=self.root,
                env=env,
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                return process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                return None
            finally:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End pytest with its workers; what the tests have started is ended by the tests' own warden."""
    for number, wait_s in ((signal.SIGTERM, ENDS_WITHIN_S), (signal.SIGKILL, ENDS_WITHIN_S)):
        if process.poll() is None:
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, number)
                process.wait(wait_s)


def _copy_files(target: Path) -> None:
    """Clone this checkout, then take over what is not committed of its tracked files."""
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, target], check=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for path in filter(None, listed.split("\0")):
        if not (ROOT / path).exists():
            (target / path).unlink(missing_ok=True)
            continue
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target / path)


def _make_environment(folder: Path) -> Path:
    """Make an environment with the packages of this one, in which the checkout around it is installed."""
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    python = folder / "bin" / "python"
    purelib = Path(sysconfig.get_path("purelib"))
    packages = folder / purelib.relative_to(sys.prefix)
    for package in purelib.iterdir():
        if not package.name.startswith("__editable__") and not (packages / package.name).exists():
            (packages / package.name).symlink_to(package)
    (packages / "checkout.pth").write_text(f"{folder.parent}\n", encoding="utf-8")
    for script in Path(sys.prefix, "bin").iterdir():
        if not (python.parent / script.name).exists():
            _copy_script(script, python)
    return python


def _copy_script(script: Path, python: Path) -> None:
    """Copy a command of this environment so that it runs in the other; link it where it is no script of Python."""
    target, ours = python.parent / script.name, f"#!{sys.prefix}/bin/python".encode()
    if not script.is_file() or not script.read_bytes()[:SCRIPT_HEAD_BYTES].startswith(ours):
        target.symlink_to(script)
        return
    _, _, rest = script.read_bytes().partition(b"\n")
    target.write_bytes(f"#!{python}\n".encode() + rest)
    target.chmod(0o755)
