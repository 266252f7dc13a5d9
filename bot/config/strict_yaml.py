"""Reads YAML that people write as configuration, and refuses what hides a mistake: a key given twice, a merge, a bomb.

Anchors and aliases are read, as long as what they stand for stays small. One block goes over another key by key.
Source: https://yaml.org/spec/1.2.2/ §3.2.1.3 (keys are unique); merge keys are an extension that YAML 1.2 dropped.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError
from yaml.scanner import ScannerError

MAX_NODES: Final = 20_000
"""Values and keys of a file with every alias written out."""

_MERGE: Final = "tag:yaml.org,2002:merge"


def load_strict(text: str) -> Any:
    """Return what a YAML document says; raises as `compose_strict` and `construct_strict` do."""
    return construct_strict(compose_strict(text))


def compose_strict(text: str) -> Node | None:
    """Return the nodes of a YAML document, each with its line; None for an empty one.

    Raises:
        yaml.YAMLError: it is no YAML, or is too large with its aliases written out; `problem` says which and
            `problem_mark` where.
        RecursionError: it is nested too deeply.
    """
    try:
        return yaml.compose(text, _StrictLoader)
    except ReaderError as error:
        at = error.position
        begins = text.rfind("\n", 0, at) + 1
        mark = yaml.Mark("triage.yml", at, text.count("\n", 0, at), at - begins, None, 0)
        problem = f"a character that no text may hold stands there (U+{ord(text[at]):04X}); delete it"
        raise ScannerError(None, None, problem, mark) from error


def construct_strict(node: Node | None) -> Any:
    """Return what the nodes of a document say.

    Raises:
        yaml.YAMLError: they give a key twice, merge keys, or hold a tag or a value that is not read.
        RecursionError: they are nested too deeply.
    """
    return None if node is None else _StrictLoader("").construct_document(node)


class _StrictLoader(yaml.SafeLoader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        """Return the next node; how many nodes it stands for is counted as it is built."""
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if node is None:
            return None
        if is_alias and id(node) not in self._sizes:
            raise ComposerError(None, None, "an alias stands inside what it stands for", mark)
        if not is_alias:
            self._sizes[id(node)] = 1 + sum(self._sizes[id(child)] for child in _children(node))
        if self._sizes[id(node)] > MAX_NODES:
            raise ComposerError(None, None, f"with its aliases written out this has over {MAX_NODES} values", mark)
        return node

    def construct_object(self, node: Node, deep: bool = False) -> Any:
        """Return what a node says; a number or a date that cannot be is refused with its line."""
        try:
            return super().construct_object(node, deep)
        except ValueError as error:
            shown = str(node.value)[:60]
            problem = f"{shown!r} is read as a number or a date that does not exist; put quotes around it"
            raise ConstructorError(None, None, problem, node.start_mark) from error

    def construct_unknown(self, node: Node) -> Any:
        """Refuse a tag."""
        problem = f"the tag {node.tag[:60]!r} is not read; remove it"
        raise ConstructorError(None, None, problem, node.start_mark)

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Return the keys and values of a mapping; a key stands there once."""
        lines: dict[Hashable, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                raise ConstructorError(None, None, "merge keys (<<) are not read; write them out", key_node.start_mark)
            if not isinstance(key_node, ScalarNode):
                raise ConstructorError(None, None, "a key is a word, not a list or a block", key_node.start_mark)
            key = self.construct_object(key_node, deep=True)
            if key in lines:
                problem = f"the key {str(key)[:60]!r} stood at line {lines[key]} already; keep one of the two"
                raise ConstructorError(None, None, problem, key_node.start_mark)
            lines[key] = key_node.start_mark.line + 1
        return super().construct_mapping(node, deep)


_StrictLoader.add_constructor(None, _StrictLoader.construct_unknown)


def _children(node: Node) -> list[Node]:
    if isinstance(node, MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, SequenceNode) else []


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
