"""Reading a model's final answer out of its text: one JSON object of the asked type.

Tolerant of what stands around the object (prose, code fences, other objects), strict about the object. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from bot.domain.text.sanitize import is_deeper_than, mend

_BEGIN: Final = re.compile(r"\{(?=[ \t\r\n]{0,1000}[\"}])")
_MAX_DEPTH: Final = 60
"""Answers stay below 10 levels; what can be read at several hundred may not be written again."""

_READ_BEFORE_CUT: Final = 65_536
_TOO_DEEP_CHARS: Final = 1_000
"""How far to go on from an object that is nested more deeply than can be read: it nests on for longer than this."""


class Unreadable(ValueError):
    """There is no such object in the text; the message tells the model what is wrong."""


def read_answer(text: str, kind: type[BaseModel]) -> BaseModel:
    """Return the object in `text` that is a `kind`.

    Raises:
        Unreadable: there is none, and the message lists what is wrong with the last object; or there are several that
            differ, since one of them may be a quotation.
    """
    problem, answers = None, list[BaseModel]()
    for found in objects(text):
        try:
            answers.append(kind.model_validate(found))
        except ValidationError as error:
            problem = explain(error)
    if any(answer != answers[0] for answer in answers):
        raise Unreadable("there are several JSON objects that answer, and they differ; send one")
    if not answers:
        raise Unreadable(problem or "there is no JSON object in it")
    return answers[0]


def objects(text: str) -> Iterator[dict[str, Any]]:
    r"""Yield the top-level JSON objects in a text, skipping what is none.

    >>> list(objects('Here: ```json\n{"a": {"b": "}"}}\n``` or {not json} {"c": 1}'))
    [{'a': {'b': '}'}}, {'c': 1}]
    """
    decoder = json.JSONDecoder(strict=False)
    begin = _BEGIN.search(text)
    while begin:
        at = begin.start()
        if at > _READ_BEFORE_CUT:  # a failure counts the lines of all that was read
            text, at = text[at:], 0
        found, end = _object_at(decoder, text, at)
        if found is not None:
            mend(found)
            yield found
        begin = _BEGIN.search(text, end)


def _object_at(decoder: json.JSONDecoder, text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """Return the object that starts at `at`, if it is one, and where to look on."""
    try:
        found, end = decoder.raw_decode(text, at)
    except ValueError:
        return None, at + 1
    except RecursionError:
        return None, at + _TOO_DEEP_CHARS
    return (found if isinstance(found, dict) and not is_deeper_than(found, _MAX_DEPTH) else None), end


def explain(error: ValidationError) -> str:
    """Return what is wrong with an object that a model wrote, for the model to read."""
    details = error.errors(include_url=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, detail['loc'])) or 'answer'}: {detail['msg']}" for detail in details[:8])
