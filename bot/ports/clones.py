"""How fresh the clones of codebases are: what their keeper writes down, and who asks it before an investigation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, Protocol

from pydantic import AwareDatetime

from bot.domain.frozen_value import FrozenValue
from bot.domain.returns import AgedClone
from bot.domain.text.humanize import time_ago
from bot.ports.collections import CLONES, CollectionSpec
from bot.ports.collections import Collection as Stored
from bot.ports.storage import Documents


class CloneStanding(FrozenValue):
    """One clone of `address`: when it was last fetched, None where never; what git said of the failure since, if any.

    `progress` is what git said last of a first clone under way.
    """

    address: str = ""
    fetched_at: AwareDatetime | None = None
    problem: str | None = None
    progress: str | None = None

    def words(self, now: datetime) -> str:
        """Return how the clone stands, to follow its name.

        >>> CloneStanding(progress="Receiving objects:  45% (9/20)").words(datetime.now())
        'is being cloned: Receiving objects:  45% (9/20)'
        """
        if self.fetched_at is None:
            doing = f": {self.progress}" if self.progress else ""
            return f"cannot be cloned: {self.problem}" if self.problem else f"is being cloned{doing}"
        fetched = f"fetched {time_ago(now, self.fetched_at)}"
        return f"was {fetched}, and cannot be now: {self.problem}" if self.problem else fetched


CLONE_STANDINGS: Final = CollectionSpec(name=CLONES, model=CloneStanding, check_id=str, default=CloneStanding())


class Clones(Protocol):
    """The clones of this process."""

    def before_investigation(self, codebases: Collection[str] | None = None) -> tuple[AgedClone, ...]:
        """Fetch those of `codebases` (None: all) that are older than they may be; return those that still are."""
        ...


def clone_lines(documents: Documents, now: datetime, codebases: Collection[str] | None = None) -> tuple[str, ...]:
    """Return a line on each clone that is not as it should be, and one on all others; raises StoreError.

    Only those of `codebases` are read; None: all. A clone is named however long ago triage.yml held it; its document
    is deleted with it.
    """
    clones = {name: one for name, one in read_clones(documents).items() if codebases is None or name in codebases}
    ages = [one.fetched_at for one in clones.values() if one.fetched_at is not None and one.problem is None]
    lines = [f"{name} {one.words(now)}" for name, one in clones.items() if one.problem or one.fetched_at is None]
    if ages:
        lines.append(f"{len(ages)} clone{'s' * (len(ages) > 1)} fetched, the oldest {time_ago(now, min(ages))}")
    return tuple(lines)


def read_clones(documents: Documents) -> Mapping[str, CloneStanding]:
    """Return how each clone stands, by codebase, as the bot of this data directory wrote last; raises StoreError."""
    stored = Stored(documents, CLONE_STANDINGS)
    found = {document.id: stored.parse(document) for document in documents.list(CLONES)}
    return {codebase: standing for codebase, standing in found.items() if standing is not None}
