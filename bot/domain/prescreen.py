"""What a cheap model decided about a beat, found in whatever it wrote. Pure, never raises, in linear time.

The decision is a JSON object with an `action` at the top level of the text: objects without one are skipped whole, so
an action quoted inside another object is none. Anything else is doubt, and doubt escalates to the full run. Whether
the receipts are complete, and whether one reports a finding, is for the caller to say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from bot.domain.heartbeats.beats import Action, Receipt
from bot.domain.text.sanitize import mend

_MAX_REASON_CHARS: Final = 500
_MAX_STRAY_BRACES: Final = 16
_TOKEN: Final = re.compile(r'"(?>(?:[^"\\]|\\.?)*)("?)|[{}]', re.DOTALL)
_OBJECT_BEGINS: Final = re.compile(r'\{\s*(?:"|\}|\Z)')

_ACTION: Final = re.compile(r"""["']action["']|\baction\s*[:=]""")


@dataclass(frozen=True)
class Decision:
    """What to do with a beat, why, and what was done for which task."""

    action: Action
    reason: str
    receipts: tuple[Receipt, ...] = ()


class _Doubt(Exception):
    """The text cannot be relied on; the message says why."""


def parse_decision(text: str) -> Decision:
    r"""Return the decision in a model's answer; one that is missing, unclear or contradictory is `escalate`.

    >>> parse_decision('Sure:\n```json\n{"action": "none", "reason": "all {quiet}"}\n```')
    Decision(action=<Action.NONE: 'none'>, reason='all {quiet}', receipts=())
    >>> parse_decision('{"action": "none"} or rather {"action": "handle"}').reason
    'doubt: the answer decides twice, and differently'
    """
    try:
        decisions = [_decision(found) for found in _objects(text) if "action" in found]
        if not decisions:
            raise _Doubt("the answer holds no decision")
        if len({(decision.action, decision.receipts) for decision in decisions}) > 1:
            raise _Doubt("the answer decides twice, and differently")
    except _Doubt as doubt:
        return Decision(Action.ESCALATE, f"doubt: {doubt}")
    return decisions[0]


def _decision(found: dict[str, Any]) -> Decision:
    named, reason = found["action"], found.get("reason")
    if not isinstance(named, str) or named not in list(Action):
        raise _Doubt(f"{_one_line(named)[:40]!r} is no action")
    action, said = Action(named), _one_line(reason)[:_MAX_REASON_CHARS]
    return Decision(action, said or f"{action}, without a reason given", _receipts(found.get("receipts")))


def _one_line(value: object) -> str:
    """Return a text that fits in a log; JSON may hold halves of characters, which no file takes."""
    return " ".join(value.encode("utf-8", "replace").decode().split()) if isinstance(value, str) else ""


def _receipts(found: object) -> tuple[Receipt, ...]:
    """Return the readable ones; a task whose receipt is not readable has none, which the caller takes for doubt."""
    receipts = []
    for item in found if isinstance(found, list) else ():
        try:
            receipts.append(Receipt.model_validate(item))
        except ValidationError:
            continue
    return tuple(receipts)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects at the top level.

    Raises:
        _Doubt: an object is cut off, or mentions an action but cannot be read.
    """
    at, strays = text.find("{"), 0
    while at >= 0:
        end = _end_of_object(text, at)
        if end < 0:
            strays += 1
            if _OBJECT_BEGINS.match(text, at) or strays > _MAX_STRAY_BRACES:
                raise _Doubt("the answer is cut off, or its braces do not match")
        elif (found := _parsed(text[at:end])) is not None:
            mend(found)
            yield found
        at = text.find("{", at + 1 if end < 0 else end)


def _end_of_object(text: str, start: int) -> int:
    """Return where the braces opened at `start` are balanced again, strings left aside; -1 if they never are."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if not depth:
                return token.end()
        elif not token[1]:
            return -1
    return -1


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text, strict=False, object_pairs_hook=_without_contradiction)
    except (ValueError, RecursionError) as error:
        if _ACTION.search(text):
            raise _Doubt("the answer holds a decision that cannot be read") from error
        return None  # braces in prose
    return found if isinstance(found, dict) else None


def _without_contradiction(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if sum(key == "action" for key, _ in pairs) > 1:
        raise ValueError("two actions in one object")
    return dict(pairs)
