"""What a model may call: a name, typed arguments, a function that returns text.

A tool never writes and never posts. What it raises as ToolProblem is told to the model as an error result; anything
else is our bug and ends the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from bot.errors import TriageError


class ToolProblem(TriageError):
    """The call cannot be answered; the message tells the model why and what to try instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """One tool.

    `arguments` validates the model's input, or is None where the schema comes from outside (MCP), in which case
    `schema` is sent as it is and `call` gets the raw mapping.
    """

    name: str
    description: str
    call: Callable[[Any], str]
    arguments: type[BaseModel] | None = None
    schema: dict[str, Any] | None = None
