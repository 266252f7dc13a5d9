"""Reading a model's final answer out of its text: one JSON object of the asked type.

Tolerant of what stands around the object (prose, code fences, other objects), strict about the object. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.domain.hidden import mend


class Unreadable(ValueError):
    """There is no such object in the text; the message tells the model what is wrong."""


def read_answer(text: str, kind: type[BaseModel]) -> BaseModel:
    """Return the largest object in `text` that is a `kind`.

    Raises:
        Unreadable: there is none; the message lists what is wrong with the largest object.
    """
    problem = "there is no JSON object in it"
    for found in sorted(objects(text), key=lambda found: len(json.dumps(found)), reverse=True):
        try:
            return kind.model_validate(found)
        except ValidationError as error:
            if problem.startswith("there is no"):
                problem = _explain(error)
    raise Unreadable(problem)


def objects(text: str) -> Iterator[dict[str, Any]]:
    r"""Yield the top-level JSON objects in a text, skipping what is none.

    >>> list(objects('Here: ```json\n{"a": {"b": "}"}}\n``` or {not json} {"c": 1}'))
    [{'a': {'b': '}'}}, {'c': 1}]
    """
    decoder = json.JSONDecoder(strict=False)
    at = text.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(found, dict):
                mend(found)
                yield found
        at = text.find("{", end)


def _explain(error: ValidationError) -> str:
    details = error.errors(include_url=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, detail['loc'])) or 'answer'}: {detail['msg']}" for detail in details[:8])
