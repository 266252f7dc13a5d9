"""Reads YAML that people write as configuration, and refuses what hides a mistake: a key given twice, a merge, a bomb.

Anchors and aliases are read, as long as what they stand for stays small. One block goes over another key by key.
Source: https://yaml.org/spec/1.2.2/ §3.2.1.3 (keys are unique); merge keys are an extension that YAML 1.2 dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

import yaml
from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode, Node, ScalarNode
from yaml.reader import ReaderError

KeyPath = tuple[int | str, ...]
TakeKey = Callable[[KeyPath, str, int], str | None]
"""From the path of a block, a key of it as it was typed and its line to how it is read; None: not at all."""

MAX_VALUES: Final = 20_000
"""Values of a file with every alias written out."""

_OF_YAML: Final = "tag:yaml.org,2002:"
_KINDS: Final = frozenset({"null", "bool", "int", "float", "timestamp", "str", "seq", "map"})


def read_strict(text: str, take_key: TakeKey | None = None) -> Any:
    """Return what a YAML document says, None for an empty one.

    Raises:
        yaml.YAMLError: it is no YAML, is too large with its aliases written out, gives a key twice, merges keys, or
            holds a tag or a value that is not read; `problem` says which and `problem_mark` where.
        RecursionError: it is nested too deeply.
    """
    try:
        document = yaml.compose(text, yaml.SafeLoader)
    except ReaderError as error:
        at = error.position
        begins = text.rfind("\n", 0, at) + 1
        mark = yaml.Mark("triage.yml", at, text.count("\n", 0, at), at - begins, None, 0)
        problem = f"a character that no text may hold stands there (U+{ord(text[at]):04X}); delete it"
        raise ConstructorError(None, None, problem, mark) from error
    return None if document is None else _Reader(take_key).read(document, ())


class _Reader:
    """Reads the nodes of one document."""

    def __init__(self, take_key: TakeKey | None) -> None:
        self._take_key, self._scalars = take_key, yaml.SafeLoader("")
        self._values, self._open = 0, set[int]()

    def read(self, node: Node, path: KeyPath) -> Any:
        """Return what a node says that stands at a path."""
        self._values += 1
        if self._values > MAX_VALUES:
            raise _refused(node, f"with its aliases written out this has over {MAX_VALUES} values")
        if id(node) in self._open:
            raise _refused(node, "an alias stands inside what it stands for")
        if node.tag.removeprefix(_OF_YAML) not in _KINDS:
            raise _refused(node, f"the tag {node.tag[:60]!r} is not read; remove it")
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        self._open.add(id(node))
        if isinstance(node, MappingNode):
            found: Any = self._block(node, path)
        else:
            found = [self.read(each, (*path, number)) for number, each in enumerate(node.value)]
        self._open.discard(id(node))
        return found

    def _block(self, node: MappingNode, path: KeyPath) -> dict[Hashable, Any]:
        found: dict[Hashable, Any] = {}
        lines: dict[Hashable, int] = {}
        for key_node, value in node.value:
            if key_node.tag == f"{_OF_YAML}merge":
                raise _refused(key_node, "merge keys (<<) are not read; write them out")
            if not isinstance(key_node, ScalarNode):
                raise _refused(key_node, "a key is a word, not a list or a block")
            key, line = self._scalar(key_node), key_node.start_mark.line + 1
            if self._take_key is not None:
                taken = self._take_key(path, str(key_node.value), line)
                if taken is None:
                    continue
                key = taken if isinstance(key, str) else key
            if key in lines:
                said = f"the key {str(key)[:60]!r} stood at line {lines[key]} already; keep one of the two"
                raise _refused(key_node, said)
            lines[key], found[key] = line, self.read(value, (*path, str(key)))
        return found

    def _scalar(self, node: ScalarNode) -> Any:
        """Return what a word says; a number or a date that cannot be is refused with its line."""
        try:
            return self._scalars.construct_object(node)
        except ValueError as error:
            said = f"{str(node.value)[:60]!r} is read as a number or a date that does not exist; put quotes around it"
            raise _refused(node, said) from error


def _refused(node: Node, problem: str) -> ConstructorError:
    return ConstructorError(None, None, problem, node.start_mark)


def blocks_in(value: object) -> dict[str, Mapping[str, Any]]:
    """Return the blocks of a mapping by their names; none of what is no mapping.

    >>> blocks_in({"a": {"x": 1}, "b": 2}), blocks_in(None)
    ({'a': {'x': 1}}, {})
    """
    found = value if isinstance(value, Mapping) else {}
    return {str(name): block for name, block in found.items() if isinstance(block, Mapping)}


def merged_blocks(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return `shared` with the keys of `own` over it.

    >>> merged_blocks({"a": {"x": 1, "y": 1}, "b": [1]}, {"a": {"y": 2}, "b": [2]})
    {'a': {'x': 1, 'y': 2}, 'b': [2]}
    """
    merged = dict(shared)
    for key, value in own.items():
        below = shared.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = merged_blocks(below, value) if both else value  # type: ignore[arg-type]
    return merged
