"""The keys of triage.yml as people typed them: `active_hours` or `activeHours`, each with its line. Pure.

Only keys of blocks are read in both spellings, by the fields of the settings; ids of sessions, teams, codebases, models
and servers stay as they are. Problems are named by the key as it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from typing import Any, Final, NamedTuple, get_args, get_origin

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from bot.config.removed_keys import successor_of
from bot.config.strict_yaml import KeyPath
from bot.domain.secrets import redact

_CAMEL: Final = re.compile("[a-z][a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+")


class Problem(NamedTuple):
    """What is wrong with one key, named by its path in the settings."""

    path: KeyPath
    says: str


def snake_case(key: str) -> str:
    """Return a camelCase key as the settings spell it, and any other as it is.

    >>> [snake_case(key) for key in ("activeHours", "dailyBudgetUSD", "active_hours", "Model-X")]
    ['active_hours', 'daily_budget_usd', 'active_hours', 'Model-X']
    """
    return to_snake(key) if _CAMEL.fullmatch(key) else key


class WrittenKeys:
    """Where the keys of a file stand, and how they were typed; `settings` is the model of the whole file.

    `removed` has a sentence for each key that earlier versions had.
    """

    def __init__(self, settings: type[BaseModel]) -> None:
        self.settings, self.removed = settings, list[str]()
        self._typed: dict[tuple[str, ...], tuple[str, int]] = {}

    def take(self, block: KeyPath, typed: str, line: int) -> str | None:
        """Note a key and return it as the settings spell it, None for a removed one; of two the first counts."""
        key = snake_case(typed) if block_of(self._kind(block)) else typed
        path = (*map(str, block), key)
        self._typed.setdefault(path, (typed, line))
        said = successor_of(path)
        if said:
            self.removed.append(f"triage.yml, line {line}: {self.name(path)} was removed: {said} Delete the key.")
        return key if said is None else None

    def known(self, path: KeyPath) -> list[str]:
        """Return the keys that a block has at a place of the settings."""
        block = block_of(self._kind(path))
        return list(block.model_fields) if block else []

    def _kind(self, path: KeyPath) -> Any:
        return reduce(kind_below, path, self.settings)

    def holds(self, path: KeyPath) -> bool:
        """Whether the last key of a path stands in the file; numbers in lists are no keys."""
        while path and isinstance(path[-1], int):
            path = path[:-1]
        return tuple(map(str, path)) in self._typed

    def typed(self, path: KeyPath) -> str:
        """Return the last key of a path as it was typed."""
        return self._typed.get(tuple(map(str, path)), (str(path[-1]), 0))[0]

    def name(self, path: KeyPath) -> str:
        """Return a whole path as it was typed."""
        return ".".join(self.typed(path[:end]) for end in range(1, len(path) + 1))

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a key, or of the nearest block around it; None where nothing of it stands in the file."""
        parts = tuple(map(str, path))
        around = (parts[:end] for end in range(len(parts), 0, -1))
        return next((self._typed[each][1] for each in around if each in self._typed), None)

    def explain(self, path: KeyPath, says: str) -> str:
        """Return one problem as `key: what is wrong (line 7)`, without secrets: one may be pasted as a key."""
        line = self.line(path)
        return redact(f"{self.name(path) or 'triage.yml'}: {says}" + (f" (line {line})" if line else ""))


def block_of(kind: Any) -> type[BaseModel] | None:
    """Return the block that a kind of value is, or that the items of its list are; None where it is none."""
    return next((each for each in _members(kind) if isinstance(each, type) and issubclass(each, BaseModel)), None)


def kind_below(kind: Any, key: int | str) -> Any:
    """Return what stands below a key of a block or a mapping; a number leads into a list."""
    mapping = next((each for each in _members(kind) if get_origin(each) is dict), None)
    if mapping is not None:
        return get_args(mapping)[1]
    block = block_of(kind)
    if block is None or not isinstance(key, str):
        return kind
    return block.model_fields[key].annotation if key in block.model_fields else None


def _members(kind: Any) -> Iterator[Any]:
    """Yield a kind and the kinds it is made of, but not the values of a mapping."""
    yield kind
    if get_origin(kind) is not dict:
        for inner in get_args(kind):
            yield from _members(inner)
