"""Turns pydantic's errors about triage.yml into messages that name the key and what would be right. Pure."""

from __future__ import annotations

from typing import Final

from pydantic_core import ErrorDetails

from bot.config.strict_yaml import KeyPath
from bot.config.written_keys import WrittenKeys
from bot.domain.text.did_you_mean import near_ones

EXAMPLE = "triage.example.yml"
_LANGUAGE: Final = "^[a-z]{2}$"
_IN_OUR_WORDS: Final = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "greater_than": "must be over {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than_equal": "must be at most {le:g}",
    "model_attributes_type": "must hold keys and values; see triage.example.yml",
    "model_type": "must hold keys and values; see triage.example.yml",
    "path_type": "must be a path, such as ~/src/shop",
    "string_pattern_mismatch": "must be two small letters, such as en",
    "string_type": "must be a text",
    "tuple_type": "must be a list, such as [first, second]",
}
"""What is said instead of pydantic's message, by its type of error; the rest of pydantic's are plain enough."""


def explain_validation_error(detail: ErrorDetails, keys: WrittenKeys, *inside: str) -> str:
    """Return one problem as `key: what is wrong and what would be right`; `inside` leads to the block it lies in."""
    path = tuple(part for part in (*inside, *detail["loc"]) if not _is_a_kind(part))
    return keys.explain(path, _wrong(detail, path, keys))


def _wrong(detail: ErrorDetails, path: KeyPath, keys: WrittenKeys) -> str:
    if detail["type"] == "missing":
        return f"is required; see {EXAMPLE}"
    if detail["type"] != "extra_forbidden":
        return f"{message_of(detail)}{_given(detail)}"
    known = keys.known(path[:-1])
    near = near_ones(str(path[-1]), known, most=1)
    return "unknown key; " + (f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}")


def _is_a_kind(part: int | str) -> bool:
    """Whether a part of a place names no key but which kind of value was tried there: `[key]`."""
    return isinstance(part, str) and part.startswith("[") and part.endswith("]")


def message_of(detail: ErrorDetails) -> str:
    """Return what is wrong, without the key and without the value."""
    ours = _IN_OUR_WORDS.get(detail["type"])
    if detail["type"] == "string_pattern_mismatch" and detail.get("ctx", {}).get("pattern") != _LANGUAGE:
        ours = f"is not valid; see {EXAMPLE}"
    said = ours.format_map(detail.get("ctx", {})) if ours else detail["msg"].removeprefix("Value error, ")
    return said[:1].lower() + said[1:]


def _given(detail: ErrorDetails) -> str:
    value = detail["input"]
    simple = isinstance(value, str | int | float | bool) and detail["type"] != "value_error"
    return f" (it is {str(value)[:60]!r})" if simple else ""
