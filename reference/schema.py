"""The JSON Schema of triage.yml, from the settings model; editors read it, and so does the configuration reference."""

from __future__ import annotations

import ast
import inspect
import textwrap
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema

from bot.config.settings import Settings
from bot.domain.intervals import format_interval

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


class _AsWritten(GenerateJsonSchema):
    """Writes defaults as a person writes them in YAML, and titles only where a kind of value has a name.

    What a field says of itself is its docstring, which only this program reads: every command would wait for it.
    """

    def model_schema(self, schema: Any) -> dict[str, Any]:
        written = super().model_schema(schema)
        said = {name: text for each in reversed(schema["cls"].__mro__) for name, text in _docstrings(each).items()}
        for name, field in schema["cls"].model_fields.items():
            key = field.alias or name
            if name in said and key in written["properties"]:
                written["properties"][key].setdefault("description", said[name])
        return written

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False

    def encode_default(self, dft: Any) -> Any:
        if isinstance(dft, timedelta):
            return format_interval(dft)
        if isinstance(dft, BaseModel):
            return {name: self.encode_default(getattr(dft, name)) for name in type(dft).model_fields}
        return super().encode_default(dft)


def _docstrings(model: type) -> dict[str, str]:
    """Return the docstring below each field of a class."""
    if not (issubclass(model, BaseModel) and model is not BaseModel):
        return {}
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    assert isinstance(body, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(said.value.value)
        for field, said in pairwise(body.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant) and isinstance(said.value.value, str)
    }


def schema_of(model: type[BaseModel]) -> Schema:
    """Return the JSON Schema of what is written for a model."""
    return model.model_json_schema(schema_generator=_AsWritten)


def triage_schema() -> Schema:
    """Return the schema of triage.yml. It knows keys, kinds and limits; what only code can see it lets pass."""
    return {"$schema": DIALECT, **schema_of(Settings), "title": "triage.yml"}


def editor_schema() -> Schema:
    """Return the schema of triage.yml for editors: each key also in camelCase."""
    schema = triage_schema()
    blocks = {name: _in_both_spellings(block, f"#/$defs/{name}") for name, block in schema["$defs"].items()}
    return {**_in_both_spellings(schema, "#"), "$defs": blocks}


def _in_both_spellings(block: Schema, place: str) -> Schema:
    twins = {to_camel(key): {"$ref": f"{place}/properties/{key}"} for key in block.get("properties", {})}
    if not twins:
        return block
    spellings = [dict.fromkeys([key, to_camel(key)]) for key in block.get("required", [])]
    needed = [{"anyOf": [{"required": [one]} for one in both]} for both in spellings]
    rest = {key: value for key, value in block.items() if key != "required"}
    return {**rest, "properties": {**twins, **block["properties"]}, **({"allOf": needed} if needed else {})}
