"""What pydantic found wrong with a config, in words for whoever wrote it: the key, and what would be right. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

EXAMPLE = "triage.example.yml"


def explain(detail: ErrorDetails, model: type[BaseModel]) -> str:
    """Return one problem as `key: what is wrong and what would be right`."""
    key = ".".join(str(part) for part in detail["loc"] if part != "[key]") or "triage.yml"
    if detail["type"] == "extra_forbidden":
        known = _keys_at(detail["loc"][:-1], model)
        near = difflib.get_close_matches(str(detail["loc"][-1]), known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
        return f"{key}: unknown key; {hint}"
    if detail["type"] == "missing":
        return f"{key}: is required; see {EXAMPLE}"
    return f"{key}: {message_of(detail)}{_given(detail)}"


def message_of(detail: ErrorDetails) -> str:
    """Return what is wrong, without the key and without the value."""
    message = detail["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _given(detail: ErrorDetails) -> str:
    value = detail["input"]
    simple = isinstance(value, str | int | float | bool) and detail["type"] != "value_error"
    return f" (it is {str(value)[:60]!r})" if simple else ""


def _keys_at(location: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """Return the keys that are known at a place, through lists (numbers) and mappings (any key)."""
    annotation: Any = model
    for part in location:
        mapping = next((kind for kind in _kinds(annotation) if get_origin(kind) is dict), None)
        block = next((kind for kind in _kinds(annotation) if _is_model(kind)), None)
        if mapping is not None:
            annotation = get_args(mapping)[1]
        elif block is not None and isinstance(part, str):
            annotation = block.model_fields[part].annotation
    found = next((kind for kind in _kinds(annotation) if _is_model(kind)), None)
    return list(found.model_fields) if found else []


def _kinds(annotation: Any) -> Iterator[Any]:
    """Yield a type and the members it is made of, but not the values of a mapping."""
    yield annotation
    if get_origin(annotation) is not dict:
        for inner in get_args(annotation):
            yield from _kinds(inner)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
