"""How far the passage indexes of the running bot are, as its process writes it down and others read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.domain.search.index_gaps import IndexGaps
from bot.ports.collections import INDEX
from bot.ports.migrations import migrated
from bot.ports.storage import Documents


class CodebaseStanding(BaseModel):
    """Of one codebase: `waiting` of `total` files are not indexed yet; `problem` is why none can be searched."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    commit: str | None = None
    files: int = 0
    waiting: int = 0
    total: int = 0
    problem: str | None = None

    def words(self) -> str:
        """Return one line on what is not as it should be; empty where the whole index can be searched.

        >>> CodebaseStanding(waiting=38_000, total=50_000).words()
        '12,000 of 50,000 files indexed'
        """
        if self.problem is not None:
            return f"the code cannot be searched: {self.problem}"
        return IndexGaps(waiting=self.waiting, total=self.total).progress()

    def line(self, name: str) -> str:
        """Return where one of several codebases stands.

        >>> CodebaseStanding(commit="0a1b2c3d4e5f", files=2_000).line("shop")
        'shop at 0a1b2c3d4e, 2,000 files indexed'
        """
        if self.commit is None:
            return f"{name}: {self.words() or 'not indexed yet'}"
        return f"{name} at {self.commit[:10]}, {self.words() or f'{self.files:,} files indexed'}"


class IndexStanding(CodebaseStanding):
    """Of all codebases together; `codebases` has each of several by its name."""

    codebases: Mapping[str, CodebaseStanding] = {}

    @classmethod
    def of(cls, known: Mapping[str, CodebaseStanding]) -> IndexStanding:
        """Return the standing of the codebases of a process; an only one has no name."""
        if set(known) == {""}:
            return cls(**known[""].model_dump())
        problems = [f"{name}: {one.problem}" for name, one in known.items() if one.problem is not None]
        return cls(
            files=sum(one.files for one in known.values()),
            waiting=sum(one.waiting for one in known.values()),
            total=sum(one.total for one in known.values()),
            problem="; ".join(problems) or None,
            codebases=known,
        )

    def among(self, codebases: Collection[str]) -> IndexStanding:
        """Return the same of some codebases; an only one without a name is every team's."""
        if not self.codebases:
            return self
        return type(self).of({name: one for name, one in self.codebases.items() if name in codebases})

    def lines(self) -> tuple[str, ...]:
        """Return a line for each of several codebases; none of an only one."""
        return tuple(one.line(name) for name, one in self.codebases.items())


def read_index_standing(documents: Documents) -> IndexStanding:
    """Return what the bot of this data directory wrote last; raises StoreError where it cannot be read."""
    document = documents.get(INDEX, INDEX)
    try:
        return (
            IndexStanding() if document is None else IndexStanding.model_validate(migrated(documents, INDEX, document))
        )
    except ValidationError:
        return IndexStanding()
