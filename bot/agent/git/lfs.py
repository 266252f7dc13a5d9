"""Files of Git LFS: recognises a pointer, and reads what was fetched for it; no program of LFS is run.

A file is read below .git/lfs, and only if it has the digest that the commit's pointer names.
Source: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

MAX_POINTER_BYTES: Final = 1_024
MAX_BYTES: Final = 2_000_000
"""A longer file is not read: it stays the pointer."""

_POINTER: Final = re.compile(rb"version https://git-lfs\.github\.com/spec/[^\n]{1,20}\n")
_DIGEST: Final = re.compile(rb"^oid sha256:([0-9a-f]{64})$", re.M)
_SIZE: Final = re.compile(rb"^size (\d{1,15})$", re.M)


def is_pointer(content: bytes) -> bool:
    """Whether a file holds no content of its own, but says where Git LFS keeps it."""
    return len(content) < MAX_POINTER_BYTES and _POINTER.match(content) is not None


def fetched_content(pointer: bytes, store: Path) -> bytes | None:
    """Return the file that a pointer stands for from `store`, `.git/lfs/objects`; None where it is not there."""
    digest, size = _DIGEST.search(pointer), _SIZE.search(pointer)
    if digest is None or size is None or int(size[1]) > MAX_BYTES:
        return None
    name = digest[1].decode()
    try:
        content = (store / name[:2] / name[2:4] / name).read_bytes()
    except OSError:
        return None
    return content if hashlib.sha256(content).hexdigest() == name else None
