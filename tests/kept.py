"""What the bot has kept, read beside it: in the files of its data directory, or in a database."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import list_files
from bot.adapters.storage.files.file_documents import FILES
from bot.adapters.storage.files.file_engine import FileEngine
from bot.ports import Engine, Store

Json = dict[str, Any]
_STATUSES: Final = {"": "todo", "running": "doing", "failed": "failed"}


class Kept:
    """The state behind a data directory; `url` is the address of its database, if it has one.

    `root` is the directory of the whole installation, where `home` is that of one team of it.
    """

    def __init__(self, home: Path, url: str | None = None, *, root: Path | None = None) -> None:
        self._home, self._database = home, None
        self._engine: Engine = FileEngine(home)
        if url is not None:
            from bot.adapters.storage.postgres.database import Database
            from bot.adapters.storage.postgres.postgres_engine import PostgresEngine

            self._database = Database(url, max_connections=2)
            self._engine = PostgresEngine(self._database, root or home)

    def close(self) -> None:
        """Give the connections back."""
        self._engine.close()

    @property
    def store(self) -> Store:
        """Everything, as it is now, to be written to while no bot runs."""
        return self._engine.store(self._home, is_reader=False)

    def documents(self, collection: str) -> list[Json]:
        """Return the documents of a collection."""
        found = self._engine.store(self._home, is_reader=True).documents.list(collection)
        return [dict(one.value) for one in found if one.value is not None]

    def names(self, collection: str) -> set[str]:
        """Return the ids of the documents of a collection."""
        return {one.id for one in self._engine.store(self._home, is_reader=True).documents.list(collection)}

    def document(self, collection: str, doc_id: str) -> Json:
        """Return one document, empty where there is none."""
        found = self._engine.store(self._home, is_reader=True).documents.get(collection, doc_id)
        return {} if found is None or found.value is None else {**found.value, "version": found.version}

    def records(self, journal: str) -> list[Json]:
        """Return the records of a journal."""
        return list(self._engine.store(self._home, is_reader=True).journal(journal).records())

    def decisions(self) -> list[str]:
        """Return the lines of decisions.md."""
        if self._database is None:
            return (self._home / "decisions.md").read_text().splitlines()
        return [f"- {one['line']}" for one in self.records("decisions")]

    def count(self, journal: str) -> int:
        """Return how many records a journal has."""
        return len(self.records(journal))

    def archived(self, collection: str, doc_id: str) -> list[Json]:
        """Return what was archived under an id, the newest first."""
        documents = self._engine.store(self._home, is_reader=True).documents
        found = [documents.read_archived(collection, one) for one in documents.archived(collection, doc_id)]
        return [dict(one.value) for one in found if one is not None and one.value is not None]

    def jobs(self, state: str) -> int:
        """Return how many jobs of people wait (""), are "running" or have "failed"."""
        if self._database is None:
            return len(list_files(self._home / "queue" / state, "user_*.json"))
        with self._database.reading() as connection:
            counted = connection.execute(
                "SELECT count(*) FROM procrastinate_jobs WHERE priority = 1 AND status::text = %s", [_STATUSES[state]]
            ).fetchone()
        assert counted is not None
        return int(counted[0])

    def corrupt(self) -> list[str]:
        """Return the names of what was set aside."""
        documents = self._engine.store(self._home, is_reader=True).documents
        aside = [] if self._database is None else [one.name for name in FILES for one in documents.damaged(name)]
        return sorted(aside + [path.name for path in self._home.rglob("*.corrupt")])
