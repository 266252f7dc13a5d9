"""How the clones and the index of a process stand, as it writes that down for others to read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.domain.frozen_value import FrozenValue
from bot.domain.text.humanize import counted, time_ago
from bot.ports import Documents
from bot.ports.collections import CLONES, INDEX, CollectionSpec, read_value
from bot.ports.collections import Collection as Stored


class CloneStanding(FrozenValue):
    """One clone of `address`: when it was last fetched, None where never; what git said of a failure since."""

    address: str = ""
    fetched_at: AwareDatetime | None = None
    problem: str | None = None

    def words(self, now: datetime) -> str:
        """Return how the clone stands, to follow its name.

        >>> CloneStanding().words(datetime.now())
        'is being cloned'
        """
        if self.fetched_at is None:
            return f"cannot be cloned: {self.problem}" if self.problem else "is being cloned"
        fetched = f"fetched {time_ago(now, self.fetched_at)}"
        return f"was {fetched}, and cannot be now: {self.problem}" if self.problem else fetched


CLONE_STANDINGS: Final = CollectionSpec(name=CLONES, model=CloneStanding, check_id=str, default=CloneStanding)


def clone_lines(documents: Documents, now: datetime, codebases: Collection[str] | None) -> tuple[str, ...]:
    """Return a line on each clone that is not as it should be, and one on all others; raises StoreError.

    Only those of `codebases` are read; None: all. A clone is named however long ago triage.yml held it; its document
    is deleted with it.
    """
    clones = {name: one for name, one in read_clones(documents).items() if codebases is None or name in codebases}
    ages = [one.fetched_at for one in clones.values() if one.fetched_at is not None and one.problem is None]
    lines = [f"{name} {one.words(now)}" for name, one in clones.items() if one.problem or one.fetched_at is None]
    if ages:
        lines.append(f"{counted(len(ages), 'clone')} fetched, the oldest {time_ago(now, min(ages))}")
    return tuple(lines)


def read_clones(documents: Documents) -> Mapping[str, CloneStanding]:
    """Return how each clone stands, by codebase, as the bot of this data directory wrote last; raises StoreError."""
    found = Stored(documents, CLONE_STANDINGS).parsed()
    return {codebase: standing for codebase, standing in found.items() if standing is not None}


class CodebaseStanding(BaseModel):
    """Of one codebase: `waiting` of `total` files are not indexed yet; `problem` is why none can be searched."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

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
        return f"{self.total - self.waiting:,} of {self.total:,} files indexed" if self.waiting else ""

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
    return read_value(documents, INDEX, IndexStanding) or IndexStanding()
