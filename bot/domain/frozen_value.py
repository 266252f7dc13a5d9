"""The base of values that stand on disk, and names there that Python keeps for itself. Pure."""

from __future__ import annotations

from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict

WITHOUT_UNDERSCORE: Final = ConfigDict(
    validate_by_name=True,
    validate_by_alias=True,
    serialize_by_alias=True,
    alias_generator=lambda name: name.rstrip("_"),
)
"""Written as `from`, called `from_` in code."""


class FrozenValue(BaseModel):
    """A value that never changes and refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with fields replaced."""
        return self.model_copy(update=changes)
