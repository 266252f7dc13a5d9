"""What a cheap model decided about a beat, found in whatever it wrote. Pure, never raises, in linear time.

The decision is a JSON object with an `action` at the top level of the text: objects without one are skipped whole, so
an action quoted inside another object is none. Anything else is doubt, and doubt escalates to the full run. Whether
the receipts are complete, and whether one reports a finding, is for the caller to say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from bot.domain.heartbeats.beats import Action, Receipt
from bot.domain.text.sanitize import mend, one_line

_MAX_REASON_CHARS: Final = 500
_MAX_STRAY_BRACES: Final = 16
_BRACE: Final = re.compile("[{}]")
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
        raise _Doubt("its action is none of those there are")
    action, said = Action(named), one_line(reason, _MAX_REASON_CHARS) if isinstance(reason, str) else ""
    return Decision(action, said or f"{action}, without a reason given", _receipts(found.get("receipts")))


def _receipts(found: object) -> tuple[Receipt, ...]:
    """Return the receipts in what a model wrote; the task of what is none has no receipt."""
    receipts = []
    for item in found if isinstance(found, list) else [found]:
        with suppress(ValidationError):
            receipts.append(Receipt.model_validate(item))
    return tuple(receipts)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects at the top level; braces in prose, balanced, are passed over.

    Raises:
        _Doubt: an object is cut off, or one that cannot be read mentions an action.
    """
    depth, strays, outside, read_to = 0, 0, list[str](), 0
    while brace := _BRACE.search(text, read_to):
        outside.append(text[read_to : brace.end()])
        read_to = brace.end()
        if brace[0] == "}":
            depth = max(0, depth - 1)
            continue
        try:
            found, read_to = _DECODER.raw_decode(text, brace.start())
        except (ValueError, RecursionError) as error:
            depth, strays = depth + 1, strays + 1
            if strays > _MAX_STRAY_BRACES:
                raise _Doubt("the answer holds too many braces") from error
            continue
        if depth and "action" in found:
            raise _Doubt("its decision stands in braces that cannot be read")
        mend(found)
        yield found
    if depth:
        raise _Doubt("the answer is cut off, or its braces do not match")
    if strays and _ACTION.search("".join(outside)):
        raise _Doubt("the answer holds a decision that cannot be read")


def _without_contradiction(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if sum(key == "action" for key, _ in pairs) > 1:
        raise ValueError("two actions in one object")
    return dict(pairs)


_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=_without_contradiction)
