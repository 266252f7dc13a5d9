"""The base of values that stand on disk, and names there that Python keeps for itself. Pure.

What a later version wrote may hold fields that this one does not know. A value that was read with `extra="allow"`
carries them through every change and writes them back; one that code makes has none, and refuses them.
"""

from __future__ import annotations

from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

WITHOUT_UNDERSCORE: Final = ConfigDict(
    validate_by_name=True,
    validate_by_alias=True,
    serialize_by_alias=True,
    alias_generator=lambda name: name.rstrip("_"),
)
"""Written as `from`, called `from_` in code."""


class KeepsUnknownFields(BaseModel):
    """A value that writes back the fields it was read with and does not know.

    Its validator is built when it is first needed: a command uses few of all values.
    """

    model_config = ConfigDict(defer_build=True)

    @model_serializer(mode="wrap")
    def _with_unknown_fields(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {**write(self), **(self.__pydantic_extra__ or {})}


class FrozenValue(KeepsUnknownFields):
    """A value that never changes and refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with fields replaced."""
        return self.model_copy(update=changes)
