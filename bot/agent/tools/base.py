"""The type of a tool that a model may call, the types of its arguments, and the form of the text it returns.

A tool never writes and never posts. A ToolProblem, ProviderError or StoreError is reported to the model as an error
result; any other exception is our bug and ends the run. In a tool's text every line of a file stands behind its number
and every other foreign line behind a mark, so no content can pass for a heading or remark of ours; the last line says
what was left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bot.errors import TriageError

MAX_PATH_CHARS: Final = 1_000
MAX_TEXT_CHARS: Final = 500

LineNumber = Annotated[int, Field(ge=1, le=10_000_000)]

MAX_LINE_CHARS: Final = 1_000
MAX_CHARS: Final = 24_000
"""The most one answer holds; about 6,000 tokens."""


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


def number(line: str, at: int) -> str:
    """Return one line of a file as it is shown.

    >>> number("x = 1", 12)
    '12| x = 1'
    """
    return f"{at}| {_cut(line)}"


def quote_line(line: str) -> str:
    """Return one line of a message, a diff or a note as it is shown.

    >>> quote_line("+ x = 1")
    '> + x = 1'
    """
    return f"> {_cut(line)}"


def _cut(line: str) -> str:
    more = len(line) - MAX_LINE_CHARS
    return line if more <= 0 else f"{line[:MAX_LINE_CHARS]} [line cut: {more} more characters]"


def fitting(lines: Sequence[str], *, max_lines: int, max_chars: int = MAX_CHARS) -> list[str]:
    """Return as many of the first lines as fit, at least one."""
    kept: list[str] = []
    chars = 0
    for line in lines[:max_lines]:
        chars += len(line) + 1
        if kept and chars > max_chars:
            break
        kept.append(line)
    return kept


def truncated(shown: int, total: int, what: str, how: str, *, complete: bool = True) -> list[str]:
    """Return the line that owns up to what is missing, or none.

    >>> truncated(400, 1832, "lines", "start/end"), truncated(3, 3, "lines", "start/end")
    (['truncated: 400 of 1832 lines shown; narrow with start/end'], [])
    """
    if complete and shown >= total:
        return []
    return [f"truncated: {shown} of {'' if complete else 'more than '}{total} {what} shown; narrow with {how}"]


def path_text(path: str) -> str:
    r"""Return a path that keeps to its line: control and undecodable characters are escaped.

    >>> path_text("bot/größe.py"), path_text("a\n1| b")
    ('bot/größe.py', "'a\\n1| b'")
    """
    return path if path.isprintable() else ascii(path)
