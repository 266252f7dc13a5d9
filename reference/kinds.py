"""What a value may be, in plain words, read off its JSON Schema. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_WORDS: Final = {"boolean": "true or false", "integer": "whole number", "number": "number", "string": "text"}


def kind_of(schema: Mapping[str, Any]) -> str:
    """Return what may be written, limits included and examples left out.

    >>> kind_of({"type": "integer", "minimum": 1, "maximum": 16})
    'whole number, 1 to 16'
    >>> kind_of({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}]})
    'number over 0, or null'
    >>> kind_of({"type": "array", "items": {"enum": ["en", "de"]}})
    'list of `en` or `de`'
    >>> kind_of({"title": "channel id such as C0123OPS", "type": "string"})
    'channel id'
    """
    if title := schema.get("title"):
        return re.split("[,;]? such as |; ", str(title))[0]
    if choices := schema.get("anyOf"):
        kinds = [kind_of(choice) for choice in choices if choice != {"type": "null"}]
        return " or ".join(kinds) + (", or null" if {"type": "null"} in choices else "")
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        *most, last = [f"`{value}`" for value in schema["enum"]]
        return f"{', '.join(most)} or {last}" if most else last
    return _structure(schema) or _WORDS[schema["type"]] + _limits(schema)


def _structure(schema: Mapping[str, Any]) -> str | None:
    if schema["type"] == "array":
        return f"list of {kind_of(schema['items'])}"
    if schema["type"] == "object":
        values = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
        return f"names, each with a {kind_of(values[0])}"
    return None


def _limits(schema: Mapping[str, Any]) -> str:
    """Return a number's limits with what leads in to them; "" for none. Those of a text are in the editor's schema."""
    low, over, high = (schema.get(name) for name in ("minimum", "exclusiveMinimum", "maximum"))
    parts = [
        "" if over is None else f" over {over:g}",
        "" if low is None else f", {low:,g} to {high:,g}" if high is not None else f", {low:,g} or more",
        f", at most {high:,g}" if high is not None and low is None else "",
    ]
    return "".join(parts)
