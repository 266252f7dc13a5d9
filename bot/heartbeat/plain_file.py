"""A small text file that people edit too: read and replaced as a plain file of its own folder, never through a link.

A link, a device or a pipe in its place is refused: what stands behind it is another file than the one meant.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from bot.errors import StoreError

MAX_BYTES: Final = 1024 * 1024
_READ_ONLY: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_plain(path: Path) -> str | None:
    """Return the text, or None if there is no such file; bytes that are no UTF-8 survive `replace_plain`.

    Raises:
        StoreError: it is no plain file, is larger than 1 MiB, or cannot be read.
    """
    try:
        descriptor = os.open(path, _READ_ONLY)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise StoreError(f"{path} is no plain file")
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise StoreError(f"{path} is a link; put a plain file in its place") from error
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise StoreError(f"{path} is larger than 1 MiB; a playbook is a page or two")
    return data.decode("utf-8", "surrogateescape")


def replace_plain(path: Path, before: str, after: str) -> bool:
    """Put `after` in the place of `before` at once, keeping the file's mode; False if it holds something else by now.

    The new file takes the name itself, so that a link put there meanwhile is replaced and not followed.

    Raises:
        StoreError: it is no plain file any more, or the disk refuses.
    """
    temporary: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(after.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(descriptor)
        if read_plain(path) != before:
            return False
        temporary.chmod(stat.S_IMODE(path.lstat().st_mode))
        temporary.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
    return True
