"""Documents as values: what every feature keeps, by collection, checked when read and written only if unchanged.

A document holds a `schema_version`; one without it is of version 1. What cannot be read is set aside and reported, and
reads as if it were not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from bot.errors import Conflict
from bot.ports.storage import Document, Documents

SCHEMA_VERSION: Final = 1
_SCHEMA: Final = "schema_version"

BRIEFS: Final = "briefs"
GAPS: Final = "gaps"
LESSON_BACKLOG: Final = "lesson_backlog"
PAUSE: Final = "pause"
PRESENCE: Final = "presence"
RECHECKS: Final = "rechecks"
REMOVED_CHECKS: Final = "removed_checks"
TASK_LISTS: Final = "task_lists"


def silently(_: str) -> None:
    """Report nothing."""


class SingleDocument:
    """The one document of a collection, as a JSON object; the last writer wins."""

    def __init__(self, documents: Documents, collection: str, *, on_damage: Callable[[str], None] = silently) -> None:
        """`on_damage` gets where the document was set aside; it must return at once."""
        self._documents, self._name, self._on_damage = documents, collection, on_damage

    def read(self) -> Mapping[str, Any]:
        """Return what was written last; an empty object where nothing was, or where it cannot be read.

        Raises:
            StoreError: the disk refuses.
        """
        document = self._find()
        return {} if document is None else unsealed(document)

    def write(self, value: Mapping[str, Any]) -> None:
        """Replace the whole object and return once it is on disk; raises StoreError and changes nothing."""
        while True:
            document = self._find()
            with suppress(Conflict):
                return self._documents.put(
                    self._name,
                    self._name,
                    {**value, _SCHEMA: SCHEMA_VERSION},
                    version=document.version if document else 0,
                )

    def clear(self) -> None:
        """Remove the document; raises StoreError and changes nothing."""
        while (document := self._documents.get(self._name, self._name)) is not None:
            with suppress(Conflict):
                self._documents.delete(self._name, self._name, version=document.version)

    def _find(self) -> Document | None:
        document = self._documents.get(self._name, self._name)
        if document is None or document.value is not None:
            return document
        self._on_damage(self._documents.set_aside(self._name, self._name))
        return None


def unsealed(document: Document) -> dict[str, Any]:
    """Return a document's value without what the store keeps in it."""
    return {key: held for key, held in (document.value or {}).items() if key != _SCHEMA}
