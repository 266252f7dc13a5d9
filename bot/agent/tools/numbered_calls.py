"""Gives every tool call of a run its number and records its result, so that a draft can cite lines of it.

The result is shown with the same numbers. A file that was read is cited by its path, so its text is shown as it is and
not kept.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bot.agent.ledger import FAILED, Ledger, result_lines
from bot.agent.tools.base import Tool, ToolProblem

_READS = "read_file"


def numbered_calls(tools: Sequence[Tool], ledger: Ledger) -> list[Tool]:
    """Return the tools, each of whose calls stands in the ledger and shows under which address it is cited."""
    return [replace(tool, call=partial(_call, tool, ledger)) for tool in tools]


def _call(tool: Tool, ledger: Ledger, given: Any) -> str:
    asked = _asked(given)
    try:
        text = tool.call(given)
    except ToolProblem:
        ledger.record_query(tool.name, FAILED + asked, is_answered=False)
        raise
    if tool.name == _READS:
        ledger.record_query(tool.name, asked)
        return text
    number = ledger.record_call(tool.name, asked, text)
    lines = (f"{at}: {line}" for at, line in enumerate(result_lines(text), 1))
    return "\n".join([f"call {number}, lines are cited as {number}:start-end", *lines])


def _asked(given: Any) -> str:
    """Return the arguments of a call in one spelling."""
    if hasattr(given, "model_dump_json"):
        return str(given.model_dump_json(exclude_defaults=True))
    return json.dumps(given, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
