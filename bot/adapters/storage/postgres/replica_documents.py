"""Port Documents for a replica: what all teams have in common, what a team has, and what is of this machine alone.

How far the code is indexed and how fresh its clones are differs from machine to machine, as the code lies there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from bot.adapters.storage.files.file_documents import OF_PROCESS
from bot.ports import ArchivedDocument, DamagedDocument, Document, Documents
from bot.ports.collections import CLONES, INDEX

OF_MACHINE: Final = frozenset({CLONES, INDEX})
"""Of what all teams of a process have in common, the rest is shared by its replicas, too."""


class ReplicaDocuments:
    """Each collection from where it is kept."""

    def __init__(self, team: Documents, process: Documents, machine: Documents) -> None:
        self._team, self._process, self._machine = team, process, machine

    def get(self, collection: str, doc_id: str) -> Document | None:
        """Return a document, or None where there is none."""
        return self._of(collection).get(collection, doc_id)

    def list(self, collection: str) -> Sequence[Document]:
        """Return every document of a collection, by id."""
        return self._of(collection).list(collection)

    def put(self, collection: str, doc_id: str, value: Mapping[str, Any], *, version: int) -> None:
        """Write a document if its version is still `version`."""
        self._of(collection).put(collection, doc_id, value, version=version)

    def delete(self, collection: str, doc_id: str, *, version: int) -> None:
        """Remove a document if its version is still `version`."""
        self._of(collection).delete(collection, doc_id, version=version)

    def place(self, collection: str, doc_id: str) -> str:
        """Return where people find a document."""
        return self._of(collection).place(collection, doc_id)

    def set_aside(self, collection: str, doc_id: str) -> str:
        """Take what cannot be read out of the collection; return where people find it."""
        return self._of(collection).set_aside(collection, doc_id)

    def damaged(self, collection: str) -> Sequence[DamagedDocument]:
        """Return everything that was ever set aside, oldest first."""
        return self._of(collection).damaged(collection)

    def archive(self, collection: str, doc_id: str, *, at: datetime) -> None:
        """Move a document to the archive of its collection."""
        self._of(collection).archive(collection, doc_id, at=at)

    def archived(
        self, collection: str, doc_id: str | None = None, *, since: datetime | None = None
    ) -> Sequence[ArchivedDocument]:
        """Return what was archived, the newest first."""
        return self._of(collection).archived(collection, doc_id, since=since)

    def read_archived(self, collection: str, archived: ArchivedDocument) -> Document | None:
        """Return an archived document, or None where it is gone."""
        return self._of(collection).read_archived(collection, archived)

    def put_archived(self, collection: str, archived: ArchivedDocument, value: Mapping[str, Any]) -> None:
        """Replace what an archived document holds."""
        self._of(collection).put_archived(collection, archived, value)

    def _of(self, collection: str) -> Documents:
        if collection in OF_MACHINE:
            return self._machine
        return self._process if collection in OF_PROCESS else self._team
