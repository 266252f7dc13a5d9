"""The codec of what buttons, options and dialogues carry: a value written as one string, and read back. Pure.

A string comes back from the chat and is read as hostile: only the one that a value is written as is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Generic, TypeVar, get_type_hints

from bot.errors import InputError

Value = TypeVar("Value")

_PART: Final = re.compile(r"(\[?)([^\[\]{}]*)\{(\w+)\}([^\[\]{}]*)\]?")


def foreign() -> InputError:
    """Return what whoever clicked is told of a value that is none of ours."""
    return InputError("This button is from another version of triage; nothing was changed.")


class Codec(Generic[Value]):
    """Writes the values of one kind.

    Args:
        kind: A dataclass of `str` and `int` fields.
        template: Its fields in braces, with the text around them. What stands in brackets is left out where its field
            is empty or 0, which is the field's default.
        forms: The pattern of each field; linear, for what it reads comes from outside.

    >>> from dataclasses import make_dataclass
    >>> Point = make_dataclass("Point", [("x", int), ("y", int), ("name", str, "")])
    >>> points = Codec(Point, "{x}|{y}[|{name}]", {"x": "[0-9]", "y": "[0-9]", "name": "[a-z]{1,9}"})
    >>> points.encode(Point(1, 2)), points.decode("1|2|here")
    ('1|2', Point(x=1, y=2, name='here'))
    """

    def __init__(self, kind: type[Value], template: str, forms: Mapping[str, str]) -> None:
        self._kind, self._types = kind, get_type_hints(kind)
        self._parts: list[tuple[str, str, str, str]] = _PART.findall(template)
        pattern = ""
        for bracket, before, name, after in self._parts:
            part = f"{re.escape(before)}(?P<{name}>{forms[name]}){re.escape(after)}"
            pattern += f"(?:{part})?" if bracket else part
        self._pattern = re.compile(pattern)

    def encode(self, value: Value) -> str:
        """Return the string that stands for a value."""
        fields = [(bracket, before, getattr(value, name), after) for bracket, before, name, after in self._parts]
        return "".join(f"{before}{said}{after}" for bracket, before, said, after in fields if said or not bracket)

    def decode(self, text: object) -> Value:
        """Return the value that a string stands for.

        Raises:
            InputError: it was not made by `encode`.
        """
        match = self._pattern.fullmatch(str(text))
        if match is None:
            raise foreign()
        found = {name: said for name, said in match.groupdict().items() if said is not None}
        value = self._kind(**{name: int(said) if self._types[name] is int else said for name, said in found.items()})
        if self.encode(value) != text:
            raise foreign()
        return value
