"""The keys of triage.yml as people typed them, each with its line; and its errors, told by that key. Pure.

Only keys of blocks are read in both spellings (`active_hours` or `activeHours`), by the fields of the settings; ids of
sessions, teams, codebases, models and servers stay as they are. A key that earlier versions had is named with its line
and its successor, and ignored; a key that no version had is refused, and so is a key given twice, a merge, a bomb.
Source: https://yaml.org/spec/1.2.2/ §3.2.1.3 (keys are unique); merge keys are an extension that YAML 1.2 dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import reduce
from typing import Any, Final, NamedTuple, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.alias_generators import to_snake
from pydantic_core import ErrorDetails
from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode, Node, ScalarNode
from yaml.reader import ReaderError

from bot.domain.secrets import redact
from bot.domain.text.humanize import near_ones

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


REMOVED: Final = {
    "save_notes": "a note is saved in its dialogue (*Save note*, *Remember this*), and by nothing else.",
    "review": "`triage metrics --days 7` shows a week.",
    "brief.picture": "briefs have no picture; `triage metrics --days 7` shows a week.",
    "slack.posts_per_second": "posts keep to Slack's own limit: one a second to each channel, after a burst of three.",
    "slack.connections": "the connection is made again by itself, and what was said meanwhile is read back.",
    "classifier.weights": "the shipped weights are used; `classifier.threshold` says how much is heard.",
    "mcp_servers.*.cwd": "a server starts in the bot's folder; `command: [env, -C, FOLDER, PROGRAM]` changes that.",
    "mcp_servers.*.timeout_s": "connecting, listing and each call may take 60 seconds.",
    "pricing.*.cache_write_5m": "writing to the cache costs 1.25 times `input`.",
    "pricing.*.long.cache_write_5m": "writing to the cache costs 1.25 times `input`.",
    "fixes.base": "pull requests lead to the codebase's branch: `codebases: {shop: {path: ~/src/shop, branch: main}}`, "
    "else to the host's default branch.",
    "fixes.allow": "people change CI, lock files and git's own settings; *View diff* shows such a patch.",
    "fixes.check_limit_min": "a check may take 10 minutes.",
    "fixes.check_memory_mb": "each process of a check may take 4096 MB.",
    "fixes.max_files": "a patch may change 20 files.",
    "fixes.max_lines": "a patch may add and remove 500 lines.",
    "heartbeat.suggestions_per_day": "a session is offered at most three tasks of others a day; 0 is not possible.",
    "sessions.*.channels": "checks are changed by `/triage tiers`, in any channel.",
    "sessions.*.owner.rota": "an owner is a user or a user group. Without `owner: U0123ANN` or `owner: S0123ONCALL` "
    "the session has none, and does not beat where its alerts would go to one.",
    "sessions.*.owner.every": "",
    "sessions.*.owner.since": "",
}
"""What is so instead, by the key's path; `*` is any id. Of "" nothing is said: it goes with another key."""

_COPIES: Final = {
    "save_notes": "teams.*.",
    "review": "teams.*.",
    "brief": "teams.*.",
    "fixes": "codebases.*.",
    "heartbeat": "sessions.*.",
}
"""Where a block or a key of the top level could stand once more."""

PLACES: Final = REMOVED | {
    _COPIES[top] + key: said for key, said in REMOVED.items() if (top := key.split(".")[0]) in _COPIES
}
"""What is said of a removed key, by each place that it could stand at."""


def successor_of(path: KeyPath) -> str | None:
    """Return what is said of a key that was removed; None for any other."""
    return next((said for place, said in PLACES.items() if _fits(path, place)), None)


def _fits(path: KeyPath, place: str) -> bool:
    """Whether a key stands at a place of the table.

    >>> _fits(("teams", "pay", "save_notes"), "teams.*.save_notes"), _fits(("teams", "save_notes"), "save_notes")
    (True, False)
    """
    parts = place.split(".")
    return len(path) == len(parts) and all(part in ("*", key) for part, key in zip(parts, path, strict=True))


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


EXAMPLE = "triage.example.yml"
_LANGUAGE: Final = "^[a-z]{2}$"
_IN_OUR_WORDS: Final = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "greater_than": "must be over {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than_equal": "must be at most {le:g}",
    "model_attributes_type": "must hold keys and values; see triage.example.yml",
    "model_type": "must hold keys and values; see triage.example.yml",
    "path_type": "must be a path, such as ~/src/shop",
    "string_pattern_mismatch": "must be two small letters, such as en",
    "string_type": "must be a text",
    "tuple_type": "must be a list, such as [first, second]",
}
"""What is said instead of pydantic's message, by its type of error; the rest of pydantic's are plain enough."""


def explain_validation_error(detail: ErrorDetails, keys: WrittenKeys, *inside: str) -> str:
    """Return one problem as `key: what is wrong and what would be right`; `inside` leads to the block it lies in."""
    path = tuple(part for part in (*inside, *detail["loc"]) if not _is_a_kind(part))
    return keys.explain(path, _wrong(detail, path, keys))


def _wrong(detail: ErrorDetails, path: KeyPath, keys: WrittenKeys) -> str:
    if detail["type"] == "missing":
        return f"is required; see {EXAMPLE}"
    if detail["type"] != "extra_forbidden":
        return f"{message_of(detail)}{_given(detail)}"
    known = keys.known(path[:-1])
    near = near_ones(str(path[-1]), known, most=1)
    return "unknown key; " + (f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}")


def _is_a_kind(part: int | str) -> bool:
    """Whether a part of a place names no key but which kind of value was tried there: `[key]`."""
    return isinstance(part, str) and part.startswith("[") and part.endswith("]")


def message_of(detail: ErrorDetails) -> str:
    """Return what is wrong, without the key and without the value."""
    ours = _IN_OUR_WORDS.get(detail["type"])
    if detail["type"] == "string_pattern_mismatch" and detail.get("ctx", {}).get("pattern") != _LANGUAGE:
        ours = f"is not valid; see {EXAMPLE}"
    said = ours.format_map(detail.get("ctx", {})) if ours else detail["msg"].removeprefix("Value error, ")
    return said[:1].lower() + said[1:]


def _given(detail: ErrorDetails) -> str:
    value = detail["input"]
    simple = isinstance(value, str | int | float | bool) and detail["type"] != "value_error"
    return f" (it is {str(value)[:60]!r})" if simple else ""
