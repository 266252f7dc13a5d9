"""Names on disk that Python keeps for itself. Pure."""

from __future__ import annotations

from typing import Final

from pydantic import ConfigDict

WITHOUT_UNDERSCORE: Final = ConfigDict(
    validate_by_name=True,
    validate_by_alias=True,
    serialize_by_alias=True,
    alias_generator=lambda name: name.rstrip("_"),
)
"""Written as `from`, called `from_` in code."""
