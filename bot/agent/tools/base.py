"""What a model may call: a name, typed arguments, a function that returns text.

A tool never writes and never posts. What it raises as ToolProblem is told to the model as an error result; anything
else is our bug and ends the run.

What a model may hand to a tool: text that fits on a command line, and numbers within bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

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


MAX_PATH_CHARS: Final = 1_000
MAX_TEXT_CHARS: Final = 500


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _sayable(text: str) -> str:
    """Refuse what no program can be told: NUL, and characters that are none."""
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode") from None
    return text


def _one_line(text: str) -> str:
    if "\n" in text:
        raise ValueError("must be one line")
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Path = Annotated[str, Field(max_length=MAX_PATH_CHARS), AfterValidator(_sayable)]
"""A path from the top of the repository, with forward slashes."""

Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS), AfterValidator(_sayable)]
"""A question or a search, which may span lines."""

Line = Annotated[Text, AfterValidator(_one_line)]
"""A text of one line that is searched as it stands."""

LineNumber = Annotated[int, Field(ge=1, le=10_000_000)]
