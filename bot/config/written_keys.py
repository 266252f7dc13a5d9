"""The keys of triage.yml as people typed them: `active_hours` or `activeHours`, each with its line. Pure.

Only keys of blocks are read in both spellings, by the fields of the settings; ids of sessions, teams, codebases, models
and servers stay as they are. Problems are named by the key as it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, get_args, get_origin

from pydantic import BaseModel
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from bot.domain.secrets import redact

KeyPath = tuple[int | str, ...]

_CAMEL: Final = re.compile("[a-z][a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+")
_WORD_BEGINS: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])(?=[0-9])")
_NEXT_WORD: Final = re.compile("_([a-z0-9])")


class Problem(NamedTuple):
    """What is wrong with one key, named by its path in the settings."""

    path: KeyPath
    says: str


def is_camel_case(key: str) -> bool:
    """Whether a key is written like `activeHours`."""
    return _CAMEL.fullmatch(key) is not None


def snake_case(key: str) -> str:
    """Return a camelCase key as the settings spell it, and any other as it is.

    >>> [snake_case(key) for key in ("activeHours", "dailyBudgetUSD", "active_hours", "Model-X")]
    ['active_hours', 'daily_budget_usd', 'active_hours', 'Model-X']
    """
    return _WORD_BEGINS.sub("_", key).lower() if is_camel_case(key) else key


def camel_case(key: str) -> str:
    """Return a key of the settings in camelCase.

    >>> camel_case("daily_budget_usd")
    'dailyBudgetUsd'
    """
    return _NEXT_WORD.sub(lambda match: match[1].upper(), key)


class WrittenKeys:
    """Where the keys of a file stand, and how they were typed."""

    def __init__(self) -> None:
        self._typed: dict[tuple[str, ...], tuple[str, int]] = {}

    def add(self, path: KeyPath, typed: str, line: int) -> bool:
        """Note a key; False where it stood there before in the other spelling."""
        return self._typed.setdefault(tuple(map(str, path)), (typed, line))[0] == typed

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


def read_keys(document: Node | None, model: type[BaseModel]) -> tuple[Node | None, WrittenKeys, list[Problem]]:
    """Return the document with its keys as `model` spells them, how they were typed, and which stand there twice."""
    reader = _KeyReader()
    return document and reader.read(document, model, ()), reader.keys, reader.problems


class _KeyReader:
    def __init__(self) -> None:
        self.keys, self.problems = WrittenKeys(), list[Problem]()

    def read(self, node: Node, kind: Any, path: KeyPath) -> Node:
        """Return a copy of a node, for an alias may stand at places of several kinds."""
        if isinstance(node, SequenceNode):
            items = [self.read(item, kind, (*path, number)) for number, item in enumerate(node.value)]
            return SequenceNode(node.tag, items, node.start_mark, node.end_mark)
        if not isinstance(node, MappingNode):
            return node
        pairs = [pair for key, value in node.value for pair in self._pair(key, value, kind, path)]
        return MappingNode(node.tag, pairs, node.start_mark, node.end_mark)

    def _pair(self, key: Node, value: Node, kind: Any, path: KeyPath) -> Iterator[tuple[Node, Node]]:
        typed = str(key.value)
        name = snake_case(typed) if block_of(kind) else typed
        here, line = (*path, name), key.start_mark.line + 1
        if not self.keys.add(here, typed, line):
            self.problems.append(Problem(here, f"stands there as {typed} too, at line {line}; keep one of the two"))
            return
        spelt = ScalarNode(key.tag, name, key.start_mark, key.end_mark) if name != typed else key
        yield spelt, self.read(value, kind_below(kind, name), here)


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


def known_keys(path: Sequence[int | str], model: type[BaseModel]) -> list[str]:
    """Return the keys that a block has at a place of the settings."""
    kind: Any = model
    for part in path:
        kind = kind_below(kind, part)
    block = block_of(kind)
    return list(block.model_fields) if block else []


def _members(kind: Any) -> Iterator[Any]:
    """Yield a kind and the kinds it is made of, but not the values of a mapping."""
    yield kind
    if get_origin(kind) is not dict:
        for inner in get_args(kind):
            yield from _members(inner)
