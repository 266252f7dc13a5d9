"""Wraps a tool's answer so that every call stands in the ledger, answered or not.

What is recorded is the canonical JSON of the arguments: a citation cannot be conjured up by searching for its text.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from bot.agent.ledger import FAILED, Ledger
from bot.agent.tool import Tool, ToolProblem
from bot.agent.tools.arguments import Arguments
from bot.errors import ProviderError, StoreError

_log = logging.getLogger(__name__)
_A = TypeVar("_A", bound=Arguments)


def recorded_tool(
    name: str,
    description: str,
    arguments: type[_A],
    answer: Callable[[_A], str],
    ledger: Ledger,
    *,
    reads: bool = False,
) -> Tool:
    """Return a tool whose calls are recorded; one that `reads` lines records those itself, if the call succeeds."""

    def call(given: Any) -> str:
        asked = given.model_dump_json(exclude_defaults=True)
        try:
            text = answer(given)
        except ToolProblem:
            ledger.record_query(name, FAILED + asked)
            raise
        except (ProviderError, StoreError) as error:
            _log.warning("A tool could not answer", extra={"action": "tool_failed", "tool": name, "why": str(error)})
            ledger.record_query(name, FAILED + asked)
            raise ToolProblem(f"{name} failed; narrow the call or use another tool") from error
        if not reads:
            ledger.record_query(name, asked)
        return text

    return Tool(name=name, description=description, call=call, arguments=arguments)
