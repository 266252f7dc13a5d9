"""How far the passage index of the running bot is, as its process writes it down and others read it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.domain.search.index_gaps import IndexGaps
from bot.ports.collections import INDEX
from bot.ports.migrations import migrated
from bot.ports.storage import Documents


class IndexStanding(BaseModel):
    """`waiting` of `total` files are not indexed yet; `problem` is why the code cannot be searched at all."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    waiting: int = 0
    total: int = 0
    problem: str | None = None

    def words(self) -> str:
        """Return one line on what is not as it should be; empty where the whole index can be searched.

        >>> IndexStanding(waiting=38_000, total=50_000).words()
        '12,000 of 50,000 files indexed'
        """
        if self.problem is not None:
            return f"the code cannot be searched: {self.problem}"
        return IndexGaps(waiting=self.waiting, total=self.total).progress()


def read_index_standing(documents: Documents) -> IndexStanding:
    """Return what the bot of this data directory wrote last; raises StoreError where it cannot be read."""
    document = documents.get(INDEX, INDEX)
    try:
        return (
            IndexStanding() if document is None else IndexStanding.model_validate(migrated(documents, INDEX, document))
        )
    except ValidationError:
        return IndexStanding()
