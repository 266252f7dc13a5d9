"""Port Slate over one file, replaced as a whole; what cannot be parsed is set aside, never overwritten unseen."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.atomic_write import make_folder, read_json, replace_json, set_aside

log = logging.getLogger(__name__)


class JsonFile:
    """One JSON object in `path`."""

    def __init__(self, path: Path, *, on_damage: Callable[[Path], None] = lambda _: None) -> None:
        """`on_damage` gets the new path of what was set aside; it must return at once."""
        make_folder(path.parent)
        self._path, self._on_damage = path, on_damage

    def read(self) -> dict[str, Any]:
        """Return what was written last; damage is renamed to `*.corrupt` and reads as empty.

        Raises:
            StoreError: the file cannot be read, or not be set aside.
        """
        if not os.path.lexists(self._path):
            return {}
        document = read_json(self._path)
        if document is None:
            moved = set_aside(self._path)
            log.error("%s could not be read; set aside as %s", self._path.name, moved.name, extra={"action": "corrupt"})
            self._on_damage(moved)
            return {}
        return document

    def write(self, document: Mapping[str, Any]) -> None:
        """Replace the file; raises StoreError when the disk refuses, and then the old content stands."""
        replace_json(self._path, dict(document))
