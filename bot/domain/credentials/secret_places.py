"""Credentials known by their place: the flag of a command, a header, a part of a URL, a field of a line.

The places stand in secret_places.yml. Each pattern is run only on a text that holds its needle, and every repeat in it
is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, Literal, NamedTuple

from bot.domain.credentials.secret_forms import Span
from bot.domain.credentials.secret_names import is_password, is_placeholder, is_random, is_strong
from bot.domain.tables import Parts, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern

_MIN_CHOSEN_CHARS: Final = 3
_MIN_BITS: Final = 3.0
_COMMON: Final = frozenset({":", "://", "pass", "pass ", " pass ", "user", "User", " config", "account", "redential"})
"""Needles that more than one source file in twenty-five holds; places with one of them are looked at by themselves."""
_IN_CLUSTER: Final = re.compile(r"(?m)^kind:[ \t]{1,8}Secret\b")
_MANIFEST_LINE: Final = re.compile(
    r"(?m)^(?P<indent>[ \t]{0,20})(?P<name>[\w.-]{1,100}):[ \t]{0,20}(?P<value>[^\n]{0,20000})"
)


class _Row(NamedTuple):
    """A place: a command with one of its `flags`, or any `pattern`; what `judge` accepts in it is a credential."""

    kind: str
    needles: tuple[str, ...]
    pattern: str = ""
    command: str = ""
    flags: str = ""
    value: str = "{VALUE}"
    judge: Literal["chosen", "password", "random", "strong"] = "chosen"
    quick: str = ""


class _SecretPlacesTable(NamedTuple):
    parts: Parts
    places: tuple[_Row, ...]


class _Place(NamedTuple):
    kind: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool]
    quick: re.Pattern[str]


class _Places(NamedTuple):
    """All places; those that are `common`; and whether a text can hold any other, which one pass tells."""

    every: tuple[_Place, ...]
    common: tuple[_Place, ...]
    others: LinearPattern


def _chosen(value: str) -> bool:
    """Whether a value where only a password may stand is one: it need not look random, but it is no placeholder."""
    return len(value) >= _MIN_CHOSEN_CHARS and not is_placeholder(value) and not value.startswith("-")


def _password(value: str) -> bool:
    return is_password(value, is_bare=False)


def _random(value: str) -> bool:
    return is_random(value, _MIN_BITS)


_JUDGES: Final[dict[str, Callable[[str], bool]]] = {
    "chosen": _chosen,
    "password": _password,
    "random": _random,
    "strong": is_strong,
}


@cache
def _places() -> _Places:
    lists = read_table(__file__, "secret_places.yml", _SecretPlacesTable)
    every = tuple(_place(row, lists.parts) for row in lists.places)
    common = tuple(place for place in every if not _COMMON.isdisjoint(place.needles))
    needles = (needle for place in every if place not in common for needle in place.needles)
    return _Places(every, common, LinearPattern("|".join(map(re.escape, needles))))


def _place(row: _Row, parts: Parts) -> _Place:
    pattern = row.pattern or rf"\b(?:{row.command})\b{{REST}}(?:{row.flags}){{TO}}{row.value}"
    return _Place(row.kind, row.needles, re.compile(fill(pattern, parts)), _JUDGES[row.judge], re.compile(row.quick))


def placed(text: str) -> Iterator[Span]:
    """Yield where a credential stands in a place made for one."""
    places = _places()
    for place in places.every if places.others.is_in(text) else places.common:
        if any(needle in text for needle in place.needles) and place.quick.search(text):
            for match in place.pattern.finditer(text):
                if place.is_secret(match["value"]) and match.groupdict().get("user") != match["value"]:
                    yield Span(*match.span("value"), place.kind)
    if "kind:" in text and _IN_CLUSTER.search(text):
        yield from _in_manifests(text)


def _in_manifests(text: str) -> Iterator[Span]:
    """Yield the values of Kubernetes' manifests of secrets, whatever they are called there."""
    start = 0
    for separator in (*re.finditer(r"(?m)^---", text), None):
        end = separator.start() if separator else len(text)
        is_data = False
        for line in _MANIFEST_LINE.finditer(text, start, end) if _IN_CLUSTER.search(text, start, end) else ():
            if not line["indent"]:
                is_data = line["name"] in {"data", "stringData"}
            elif is_data and _chosen(line["value"]):
                yield Span(*line.span("value"), "secret")
        start = end
