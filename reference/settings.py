"""The configuration reference: every key of triage.yml, from the settings model. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from bot.config.settings import TAKEN_OVER
from reference.kinds import kind_of
from reference.markdown import code, one_line
from reference.schema import Schema, triage_schema

TOP: Final = "The top of the file"
_LONG: Final = 50
_SWITCH: Final = kind_of({"type": "boolean"})
"""A kind that its default tells."""


class Undescribed(Exception):
    """Keys of triage.yml without a word on what they do; each needs a docstring under its field."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """One key as the reader meets it; `default` is None where the key is required, and "" of a block."""

    path: str
    kind: str
    default: str | None
    says: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One heading of the reference: what the block is, and the keys directly in it."""

    path: str
    says: str
    keys: tuple[Key, ...]
    inherited: tuple[str, ...] = ()
    """Keys that are those of the top of the file, in every word; they are named and not described again."""


def blocks(schema: Schema | None = None) -> tuple[Block, ...]:
    """Return the file's blocks, the top of the file first, in the order of the model.

    Raises:
        Undescribed: naming every key nobody described.
    """
    whole = schema or triage_schema()
    found = tuple(_Reader(whole).read("", whole))
    if mute := [key.path for block in found for key in block.keys if not key.says and key.default != ""]:
        raise Undescribed(", ".join(mute))
    return found


def settings_part(schema: Schema | None = None) -> str:
    """Return the whole reference as Markdown."""
    return "\n\n".join(_section(block) for block in blocks(schema))


class _Reader:
    """Walks a schema, a level at a time; a block that stands in two places is written out at its first."""

    def __init__(self, schema: Schema) -> None:
        self._defs: Mapping[str, Schema] = schema.get("$defs", {})
        self._written: dict[str, str] = {}
        self._top: Schema = schema["properties"]

    def read(self, path: str, block: Schema) -> Iterator[Block]:
        """Yield a block and those inside it."""
        keys, inner = [], []
        inherited = tuple(name for name, field in block["properties"].items() if path and self._top.get(name) == field)
        for name, field in block["properties"].items():
            at = f"{path}.{name}" if path else name
            if name in inherited:
                continue
            found = _held(field)
            if found is None:
                keys.append(_key(at, field, required=name in block.get("required", ())))
                continue
            below, form, ending = found
            if below not in self._written:
                self._written[below] = at + ending
                inner.append((at + ending, self._defs[below]))
            keys.append(self._link(at, field, below, form))
        yield Block(path=path or TOP, says=block["description"], keys=tuple(keys), inherited=inherited)
        for at, one in inner:
            yield from self.read(at, one)

    def _link(self, path: str, field: Schema, below: str, form: str) -> Key:
        said_there = str(self._defs[below]["description"])
        says = str(field.get("description", said_there))
        where = self._written[below]
        return Key(
            path=path,
            kind=f"[{form}](#{anchor(where)})",
            default="",
            says="" if says == said_there else one_line(says),
        )


def _held(field: Schema) -> tuple[str, str, str] | None:
    """Return which block a field holds, in which form, and how its path goes on there; None for a plain value."""
    by_name = [field.get("additionalProperties"), *field.get("patternProperties", {}).values()]
    or_null = [(one, "block, or null", "") for one in field.get("anyOf", ())]
    places = [(field, "block", ""), *or_null, (field.get("items"), "list of blocks", "[]")]
    for node, form, ending in [*places, *((one, "blocks by name", ".<name>") for one in by_name)]:
        if isinstance(node, dict) and "$ref" in node:
            return node["$ref"].rpartition("/")[2], form, ending
    return None


def _key(path: str, field: Schema, *, required: bool) -> Key:
    says = one_line(field.get("description", ""))
    return Key(path=path, kind=kind_of(field), default=None if required else _default(field), says=says)


def anchor(path: str) -> str:
    """Return how a block's heading is linked to.

    >>> anchor("heartbeat.active_hours"), anchor("sessions.<name>"), anchor("watched_chats[]")
    ('heartbeatactive_hours', 'sessionsname', 'watched_chats')
    """
    return "".join(sign for sign in path.lower().replace(" ", "-") if sign.isalnum() or sign in "-_")


def _default(field: Schema) -> str:
    value = field.get("default")
    written = _yaml(value)
    return f"{len(value)} built in" if len(written) > _LONG and isinstance(value, list | tuple) else code(written)


def _yaml(value: Any) -> str:
    """Return a value as it stands in triage.yml, on one line."""
    if isinstance(value, str) and (not value or ":" in value):
        return json.dumps(value)
    plain = int(value) if isinstance(value, float) and value.is_integer() else value
    return (
        yaml.safe_dump(plain, default_flow_style=True, width=10_000, allow_unicode=True).removesuffix("...\n").strip()
    )


def _section(block: Block) -> str:
    level = "##" if block.path == TOP or "." not in block.path.removesuffix(".<name>") else "###"
    title = block.path if block.path == TOP else code(block.path)
    parts = [f"{level} {title}", block.says, _when(block.path), _inherited(block.inherited)]
    parts.append("\n".join(map(_line, block.keys)))
    return "\n\n".join(part for part in parts if part)


def _line(key: Key) -> str:
    optional = key.default == code("null")
    kind = key.kind.removesuffix(", or null") if optional else "" if key.kind == _SWITCH else key.kind
    default = "required" if key.default is None else "optional" if optional else key.default
    inside = "; ".join(filter(None, [kind, default]))
    return f"- {code(key.path)} ({inside}){': ' if key.says else ''}{key.says}"


def _inherited(names: Sequence[str]) -> str:
    return f"As at the top of the file: {', '.join(map(code, names))}." if names else ""


_TEAM: Final = "teams.<name>"


def _when(path: str) -> str:
    """Return which changes a running bot takes over, where the top of the file has not said it; "" elsewhere."""
    if path == TOP:
        taken = ", ".join(map(code, sorted(TAKEN_OVER)))
        return f"A running bot takes over {taken} at `kill -HUP`. Every other change waits for a restart."
    if path == _TEAM:
        return "Of a team that stays, `kill -HUP` takes over `approvers`, `channels`, `codebases` and `share` only."
    return ""
