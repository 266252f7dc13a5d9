"""Reading a git checkout: blobs, trees and commits, nothing else.

Every call is an argv (never a shell), in a scrubbed environment, with hooks, file-system monitors, external diff
drivers and prompts off. Only committed content is read: what lies in the work tree is not evidence.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bot.errors import ConfigError, ProviderError

TIMEOUT_S = 60
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_HARDENING = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "diff.external=",
    "log.showSignature=false",
    "protocol.allow=never",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeEntry:
    """One tracked file: its path from the top, blob id and size in bytes."""

    path: str
    blob: str
    size: int


class GitRepo:
    """A git checkout, read-only.

    Raises:
        ConfigError: `path` is not inside a git checkout (at construction).
    """

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise ConfigError(f"codebase: {path} is no folder; give the path of a git checkout")
        self.root = path.resolve()
        try:
            top = self._git("rev-parse", "--show-toplevel")
        except ProviderError as error:
            raise self._refusal(path) from error
        self.root = Path(os.fsdecode(top.removesuffix(b"\n")))  # a blank at the end belongs to the name

    def head(self) -> str:
        """Return the SHA of HEAD.

        Raises:
            ConfigError: the repository has no commit yet.
        """
        sha = self.resolve("HEAD")
        if sha is None:
            raise ConfigError(f"codebase: {self.root} has no commit yet; evidence is quoted from commits, so make one")
        return sha

    def resolve(self, revision: str) -> str | None:
        """Return the full SHA of `HEAD` or of an abbreviated commit id; None if there is no such commit."""
        if revision != "HEAD" and not _COMMIT.fullmatch(revision):
            return None
        try:
            out = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except ProviderError:
            return None
        return out.decode().strip()

    def tree(self, commit: str) -> list[TreeEntry]:
        """Return every regular file of `commit`: no symbolic links, no submodules."""
        out = self._git("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        entries = []
        for record in out.split(b"\0"):
            if not record:
                continue
            meta, _, path = record.partition(b"\t")
            mode, kind, blob, size = meta.split()
            if kind == b"blob" and mode != b"120000":
                entries.append(
                    TreeEntry(path=path.decode("utf-8", "surrogateescape"), blob=blob.decode(), size=int(size))
                )
        return entries

    def blob_at(self, commit: str, path: str) -> bytes | None:
        """Return the content of `path` at `commit`; None if there is no such file (or it is a link or a folder)."""
        if not (commit == "HEAD" or _COMMIT.fullmatch(commit)) or not _is_path(path):
            return None
        try:
            out = self._git("ls-tree", "-z", "--full-tree", commit, "--", path)
        except ProviderError:
            return None
        record = out.rstrip(b"\0")
        meta, _, found = record.partition(b"\t")
        fields = meta.split()
        if (
            len(fields) != 3
            or fields[1] != b"blob"
            or fields[0] == b"120000"
            or found.decode("utf-8", "surrogateescape") != path
        ):
            return None
        return next(iter(self.blobs([fields[2].decode()])))[1]

    def lines_at(self, commit: str, path: str) -> list[str] | None:
        """Return the lines of `path` at `commit` without line ends, undecodable bytes replaced; None if absent."""
        content = self.blob_at(commit, path)
        return None if content is None else split_lines(content)

    def blobs(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield `(blob id, content)` for each id, in order, through one git process."""
        process = subprocess.Popen(  # noqa: S603 - argv, no shell
            self._argv("cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            for blob in ids:
                process.stdin.write(blob.encode() + b"\n")
                process.stdin.flush()
                header = process.stdout.readline().split()
                if len(header) != 3:
                    raise ProviderError(f"git cannot read object {blob[:12]} of {self.root}; run `git fsck` there")
                content = process.stdout.read(int(header[2]))
                process.stdout.read(1)
                yield blob, content
            process.stdin.close()

    def remote_url(self) -> str | None:
        """Return the URL of the remote `origin`, without credentials; None if there is none."""
        try:
            url = self._git("config", "--local", "--get", "remote.origin.url").decode().strip()
        except ProviderError:
            return None
        return re.sub(r"(?<=://)[^/@]*@", "", url)

    def _refusal(self, path: Path) -> ConfigError:
        try:
            is_bare = self._git("rev-parse", "--is-bare-repository") == b"true\n"
        except ProviderError:
            is_bare = False
        if is_bare:
            return ConfigError(
                f"codebase: {path} is a bare repository; clone it with a work tree (`git clone {path} <folder>`) "
                "and give that folder"
            )
        return ConfigError(f"codebase: {path} is no git checkout; clone one there, or run `git init` and commit")

    def _argv(self, *args: str) -> list[str]:
        # git compares with the checkout's top, which is above `root` until git has said where it is
        safe = [f"safe.directory={folder}" for folder in (self.root, *self.root.parents)]
        options = [part for item in (*_HARDENING, *safe) for part in ("-c", item)]
        return ["git", "--no-pager", "--literal-pathspecs", *options, "-C", str(self.root), *args]

    def _git(self, *args: str) -> bytes:
        try:
            done = subprocess.run(  # noqa: S603 - argv, no shell
                self._argv(*args), capture_output=True, timeout=TIMEOUT_S, env=_environment(), check=False
            )
        except FileNotFoundError as error:
            raise ConfigError("git is not installed; install it (`apt-get install git`)") from error
        except subprocess.TimeoutExpired as error:
            raise ProviderError(f"git {args[0]} took over {TIMEOUT_S} s in {self.root}") from error
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise ProviderError(f"git {args[0]} failed in {self.root}: {said[-1] if said else done.returncode}")
        return done.stdout


def split_lines(content: bytes) -> list[str]:
    r"""Return the lines of a file without their line ends; form feeds and the like do not end a line.

    >>> split_lines(b"a\r\nb\x0cc\n")
    ['a', 'b\x0cc']
    """
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    return text.removesuffix("\n").split("\n") if text else []


def _is_path(text: str) -> bool:
    """Whether a text can be handed to git as a path: no NUL, and bytes behind every character."""
    try:
        return bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _environment() -> dict[str, str]:
    """Return the environment git runs in: no secret of ours, no configuration of anybody's."""
    keep = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    return {
        **keep,
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
    }
