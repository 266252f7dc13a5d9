"""The environment variables, from bot/config/environment.py."""

from __future__ import annotations

from bot.config.environment import VARIABLES, Environment
from reference.kinds import kind_of
from reference.markdown import code
from reference.schema import Schema, schema_of
from reference.settings import Undescribed


def environment_part() -> str:
    """Return the list of all variables; raises Undescribed where one lacks its docstring."""
    schema = schema_of(Environment)
    if mute := [name for name, field in schema["properties"].items() if not field.get("description")]:
        raise Undescribed(", ".join(mute))
    lines = [_line(name, field) for name, field in schema["properties"].items()]
    return "\n".join([schema["description"], "", *lines])


def _line(name: str, field: Schema) -> str:
    variable = code(name) if name in VARIABLES else "any other"
    kinds = [one for one in field.get("anyOf", [field]) if one != {"type": "null"}]
    is_secret = any(one.get("format") == "password" for one in kinds)
    kind = "secret" if is_secret else kind_of(kinds[0]) if name in VARIABLES else "anything"
    default = field.get("default")
    return f"- {variable} ({'; '.join([kind, *([code(default)] if default else [])])}): {field['description']}"
