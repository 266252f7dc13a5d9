"""Tables of data that stand as YAML beside the module that reads them: loaded by the C parser, checked by their type.

`{NAME}` in a pattern of a table stands for the part of that name, of capital letters and underscores.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, TypeVar

from pydantic import BeforeValidator, ConfigDict, TypeAdapter

from bot.domain.table_files import fill as fill
from bot.domain.table_files import load_table
from bot.errors import ConfigError

_Shape = TypeVar("_Shape")
_NO_OTHER_KEYS: Final = ConfigDict(extra="forbid")


def _split(words: object) -> object:
    return words.split() if isinstance(words, str) else words


def _joined(pattern: object) -> object:
    if isinstance(pattern, list) and all(isinstance(each, str) for each in pattern):
        return "|".join(pattern)
    return pattern


def _grouped(part: object) -> object:
    joined = _joined(part)
    return f"(?:{joined})" if isinstance(part, list) and isinstance(joined, str) else part


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]
"""Words, written with blanks between."""

WordSet = Annotated[frozenset[str], BeforeValidator(_split)]
Alternatives = Annotated[str, BeforeValidator(_joined)]
"""A pattern, written as one text or as a list of alternatives."""

Parts = dict[str, Annotated[str, BeforeValidator(_grouped)]]
"""Parts of patterns by name; a list of alternatives is put in as a group."""

Pattern = Annotated[re.Pattern[str], BeforeValidator(_joined)]
"""The same, compiled."""


def read_table(module: str, name: str, shape: type[_Shape]) -> _Shape:
    """Return the table in the file `name` beside a module.

    Args:
        module: The module's `__file__`.
        name: Such as "secret_forms.yml".
        shape: The type of the whole file; a key that it does not know is an error.

    Raises:
        ConfigError: the file cannot be read, is no YAML, or is not of that type; the message names it.
    """
    table = load_table(module, name)
    try:
        return TypeAdapter(shape, config=_NO_OTHER_KEYS).validate_python(table)
    except ValueError as error:  # pydantic raises one
        raise ConfigError(f"{Path(module).parent / name}: {error}") from error
