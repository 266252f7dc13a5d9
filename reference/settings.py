"""The configuration reference: every key of triage.yml, from the settings model. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from bot.config.settings import TAKEN_OVER
from reference.kinds import kind_of
from reference.markdown import code, one_line, table
from reference.schema import Schema, triage_schema

TOP: Final = "The top of the file"
_LONG: Final = 50


class Undescribed(Exception):
    """Keys of triage.yml without a word on what they do; each needs a docstring under its field."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """One key as the reader meets it; `default` is None where the key is required."""

    path: str
    kind: str
    default: str | None
    says: str
    items: tuple[str, ...] = ()
    """A default too long for a cell, one piece after the other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One heading of the reference: what the block is, and the keys directly in it."""

    path: str
    says: str
    keys: tuple[Key, ...]


def blocks(schema: Schema | None = None) -> tuple[Block, ...]:
    """Return the file's blocks, the top of the file first, in the order of the model.

    Raises:
        Undescribed: naming every key nobody described.
    """
    whole = schema or triage_schema()
    found = tuple(_Reader(whole).read("", whole))
    if mute := [key.path for block in found for key in block.keys if not key.says]:
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

    def read(self, path: str, block: Schema) -> Iterator[Block]:
        """Yield a block and those inside it."""
        keys, inner = [], []
        for name, field in block["properties"].items():
            at = f"{path}.{name}" if path else name
            found = _held(field)
            if found is None:
                keys.append(_key(at, field, required=name in block.get("required", ())))
                continue
            below, form, ending = found
            if below not in self._written:
                self._written[below] = at + ending
                inner.append((at + ending, self._defs[below]))
            keys.append(self._link(at, field, below, form))
        yield Block(path=path or TOP, says=block["description"], keys=tuple(keys))
        for at, one in inner:
            yield from self.read(at, one)

    def _link(self, path: str, field: Schema, below: str, form: str) -> Key:
        says = field.get("description") or self._defs[below]["description"]
        where = self._written[below]
        return Key(path=path, kind=f"{form}: [`{where}`](#{anchor(where)})", default="", says=one_line(says))


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
    default, items = _default(field)
    says = one_line(field.get("description", ""))
    return Key(path=path, kind=kind_of(field), default=None if required else default, says=says, items=items)


def anchor(path: str) -> str:
    """Return how a block's heading is linked to.

    >>> anchor("heartbeat.active_hours"), anchor("sessions.<name>"), anchor("watched_chats[]")
    ('heartbeatactive_hours', 'sessionsname', 'watched_chats')
    """
    return "".join(sign for sign in path.lower().replace(" ", "-") if sign.isalnum() or sign in "-_")


def _default(field: Schema) -> tuple[str, tuple[str, ...]]:
    value = field.get("default")
    written = _yaml(value)
    if len(written) <= _LONG or not isinstance(value, list | tuple):
        return code(written), ()
    return f"{len(value)} built in, below", tuple(
        " ".join(one) if isinstance(one, list | tuple) else one for one in value
    )


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
    rows = [
        [code(key.path), key.kind, "required" if key.default is None else key.default, key.says] for key in block.keys
    ]
    parts = [f"{level} {title}", block.says]
    if level == "##":
        parts.append(_when(block.path))
    parts.append(table(["key", "what you write", "default", "what it does"], rows))
    for key in block.keys:
        if key.items:
            parts.append(f"Built into `{key.path}`:\n\n" + "\n".join(f"- {code(item)}" for item in key.items))
    return "\n\n".join(part for part in parts if part)


_TEAM: Final = "teams.<name>"


def _when(path: str) -> str:
    top = path.partition(".")[0].removesuffix("[]")
    if path == TOP:
        taken = ", ".join(map(code, sorted(TAKEN_OVER)))
        return f"A running bot takes over {taken} at `kill -HUP`; everything else waits for a restart."
    if path == _TEAM:
        return (
            "A running bot takes over new and removed teams at `kill -HUP`, and of the others `approvers`, `channels`, "
            "`codebases` and `share`; everything else waits for a restart."
        )
    return "Taken over by a running bot at `kill -HUP`." if top in TAKEN_OVER else "A change waits for a restart."
