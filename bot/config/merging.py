"""How one block of triage.yml goes over another: key by key, inside blocks too; a list replaces a list. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merged_blocks(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return `shared` with the keys of `own` over it.

    >>> merged_blocks({"a": {"x": 1, "y": 1}, "b": [1]}, {"a": {"y": 2}, "b": [2]})
    {'a': {'x': 1, 'y': 2}, 'b': [2]}
    """
    merged = dict(shared)
    for key, value in own.items():
        below = shared.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = merged_blocks(below, value) if both else value  # type: ignore[arg-type]
    return merged
