"""Writing a file so that a crash leaves either the old or the new content, never half of one."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from bot.errors import refusal, refused

Stamp = tuple[int, int, int]
"""Time (ns), size and inode of a file: what changes when it is replaced, or written to by hand."""

_ADVICE = "give the data directory of `triage run` (--home or TRIAGE_HOME), as the user who runs it"

_TEMPORARY = ".tmp-"
_OF_ONE_FILE = frozenset({errno.EISDIR, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENXIO})
"""What the system says of one entry that is no readable file; the others may well be."""

PROBE_BYTES = 4 * 1024


def probe_folder(folder: Path, room: int) -> None:
    """Write a small file to `folder`, bring it to the disk and delete it; raises StoreError when the disk refuses.

    `room` is how many bytes must be free beside: a page or two would hold the probe and no more.
    """
    with refused("cannot write to the data directory", "free space, or make it writable"):
        if shutil.disk_usage(folder).free < room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _write(folder / "probe", b"\0" * PROBE_BYTES, lambda *_: None)


def replace_json(path: Path, document: Mapping[str, Any], *, is_synced: bool = True) -> None:
    """Write `document` to `path` as `replace_bytes` does."""
    text = json.dumps(document, ensure_ascii=False, indent=1)
    replace_bytes(path, text.encode("utf-8", "surrogatepass") + b"\n", is_synced=is_synced)


def replace_text(path: Path, text: str) -> None:
    """Write `text` to `path` as `replace_bytes` does."""
    replace_bytes(path, text.encode("utf-8", "replace"))


def replace_bytes(path: Path, content: bytes, *, is_synced: bool = True) -> None:
    """Write `content` to `path`: temporary file, fsync, rename, fsync of the folder; the caller syncs where it is not.

    Raises:
        StoreError: the disk refused; `path` still holds what it held before.
    """
    with refused(f"cannot write {path}", "check the disk and the folder's owner"):
        _write(path, content, os.replace, is_synced=is_synced)


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in `path`, or None if there is something else in it, or it alone cannot be read.

    Raises:
        StoreError: it is gone, or the disk refuses.
    """
    try:
        document = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    except OSError as error:
        if error.errno in _OF_ONE_FILE:
            return None
        raise refusal(f"cannot read {path}", error, "move it away or fix its owner") from error
    return document if isinstance(document, dict) else None


def create_file(path: Path, text: str) -> bool:
    """Write a new file that appears whole or not at all; False if something stands there, which is left alone.

    Raises:
        OSError: the disk refused.
    """
    try:
        _write(path, text.encode("utf-8", "replace"), os.link)
    except FileExistsError:
        return False
    return True


def _write(path: Path, content: bytes, move: Callable[[Path, Path], object], *, is_synced: bool = True) -> None:
    """Write a file for the owner's eyes only under another name, and move it to its own; raises OSError."""
    temporary = path.with_name(f"{_TEMPORARY}{path.name}")
    try:
        with open_private(temporary, "wb") as file:
            file.write(content)
            file.flush()
            if is_synced:
                os.fsync(file.fileno())
        move(temporary, path)
    except OSError:
        with suppress(OSError):  # half a file would hold room that a full disk needs
            temporary.unlink()
        raise
    if move is not os.replace:
        temporary.unlink()
    if is_synced:
        sync_folder(path.parent)


def open_private(path: Path, mode: str) -> BinaryIO:
    """Open a file, which is for the owner's eyes only where it is new; raises OSError."""
    return cast(BinaryIO, open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600)))


def sync_folder(folder: Path) -> None:
    """Make renames in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def list_files(folder: Path, pattern: str) -> list[Path]:
    """Return what matches a glob pattern in `folder`, sorted; temporary and other hidden files are left out.

    A temporary file may be half written, and be gone before its reader opens it.
    """
    return sorted(path for path in folder.glob(pattern) if not path.name.startswith("."))


def set_aside(path: Path) -> Path:
    """Rename an unreadable file to `*.corrupt` (numbered if there is one already) and return its new path.

    Raises:
        StoreError: it cannot be renamed.
    """
    with refused(f"cannot set {path} aside", "fix the folder's owner"):
        return path.rename(free_path(path, ".corrupt"))


def free_path(stem: Path, ending: str) -> Path:
    """Return the first path that is free; from the second on a number stands before the ending."""
    path, number = Path(f"{stem}{ending}"), 1
    while path.exists():
        number += 1
        path = Path(f"{stem}.{number}{ending}")
    return path


def set_aside_all_but(paths: Iterable[Path], is_right: Callable[[Path], bool]) -> list[Path]:
    """Rename what is there and not of its kind (a file for a folder, a loop of links); return the new paths.

    Raises:
        StoreError: one cannot be renamed.
    """
    return [set_aside(path) for path in paths if os.path.lexists(path) and not is_right(path)]


def is_no_folder(path: Path) -> bool:
    """Whether something else stands where a folder belongs: a file, a loop of links."""
    return os.path.lexists(path) and not path.is_dir()


def remove_file(path: Path) -> None:
    """Delete a file that may be gone already; raises StoreError when the disk refuses."""
    with refused(f"cannot delete {path}", "fix the folder's owner"):
        path.unlink(missing_ok=True)


def make_folder(folder: Path) -> Path:
    """Create `folder` and sweep temporary files a crash left in it; raises StoreError as `create_folder` does."""
    create_folder(folder)
    for leftover in folder.glob(f"{_TEMPORARY}*"):
        if not leftover.is_dir():
            remove_file(leftover)
    return folder


def create_private(folder: Path) -> None:
    """Create `folder`, and what is missing above it, for the owner's eyes only; raises OSError."""
    missing = [one for one in folder.parents if not one.exists()]
    for one in (*reversed(missing), folder):
        one.mkdir(exist_ok=True, mode=0o700)


def create_folder(folder: Path) -> None:
    """Create `folder`, and what is missing above it, for the owner's eyes only.

    Raises:
        StoreError: it cannot be created.
    """
    try:
        create_private(folder)
    except OSError as error:
        advice = folder_advice(folder, "set TRIAGE_HOME to one you own")
        raise refusal(f"cannot use the folder {folder}", error, advice) from error


def folder_advice(folder: Path, otherwise: str) -> str:
    """Return what to do about a folder that cannot be used: what stands in its place is moved away."""
    if is_no_folder(folder):
        return f"it is none: `mv {folder} {folder}.old`, and put the folder back from a backup"
    return otherwise


def list_names(folder: Path, *, is_home: bool = False) -> list[str]:
    """Return what lies in a folder, without what is hidden or being written; nothing where there is no folder.

    With `is_home` it is the data directory itself, of which another may be meant: nothing of it is moved away.

    Raises:
        StoreError: it cannot be listed (`Path.glob` would take a forbidden folder for an empty one).
    """
    return [entry.name for entry in _entries(folder, is_home=is_home)]


def list_stamps(folder: Path) -> dict[str, Stamp | None]:
    """Return the stamp of each name that `list_names` returns; None where it is gone meanwhile."""
    return {entry.name: _stamp_of(entry) for entry in _entries(folder)}


def _entries(folder: Path, *, is_home: bool = False) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        advice = _ADVICE if is_home else folder_advice(folder, _ADVICE)
        raise refusal(f"cannot read {folder}", error, advice) from error


def _stamp_of(entry: os.DirEntry[str]) -> Stamp | None:
    with suppress(OSError):  # whoever reads the file says what is wrong with it
        found = entry.stat(follow_symlinks=False)
        return found.st_mtime_ns, found.st_size, found.st_ino
    return None


def file_stamp(path: str | Path) -> Stamp | None:
    """Return what tells one content of a file from another; None where there is no file.

    Raises:
        StoreError: the disk refuses.
    """
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refusal(f"cannot read {path}", error, "fix its owner") from error
    return found.st_mtime_ns, found.st_size, found.st_ino
