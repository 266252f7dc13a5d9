"""Takes the message of an alert tool apart, and returns what stays the same where it is said again. Pure."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bot.domain.table_files import load_table
from bot.domain.text.linear_patterns import LinearPattern, encodable
from bot.intake.message_text import lines_of, without_previews

MAX_CHARS: Final = 500
"""How much of a line is compared."""

_NUMBER: Final = r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)"
_DATE: Final = (
    r"(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d{1,2}/\d{1,2}/\d{2,4})"
    r"(?:[t ,]+\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:\s?z|\s?[+-]\d\d:?\d\d|\s?utc)?"
)
_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[ap]m|\s?utc)?"
_ID: Final = r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b0x[0-9a-f]+\b|#\d+|-?\d{10,}|\b[0-9a-f]{7,64}\b"
_NAMES_A_VALUE: Final = r"^\W*|[,;:]\s+|[(\[|]\s*|\s[-–—]\s+|\b(?:is|at|of)\s+|[=>]\s*"
_END: Final = r"[\s,;:!?)\]}>\"'|]|\.\s|\.?$"


_UNIT: Final = "|".join(sorted(load_table(__file__, "alerts.yml")["units"].split(), key=len, reverse=True))
_PASSING: Final = [
    LinearPattern(f"(?P<before>{before})(?:{what})(?P<end>{end})")
    for before, what, end in (
        ("", _DATE, ""),
        (r"^|[\s,(\[]", _CLOCK, _END),
        (r"^|[^\w.-]", rf"{_NUMBER}\s?(?:{_UNIT})", _END),
        (_NAMES_A_VALUE, _NUMBER, _END),
        (r"^|[\s,(\[='\"]", r"-?\d{5,}", _END),
        ("", _ID, ""),
    )
]


def normalise(line: str) -> str:
    """Return what of a line stays from one message about a thing to the next, in small letters.

    >>> normalise("CPU of shard 3 is 91.2 at 14:02:11, p99 = 340 ms")
    'cpu of shard 3 is at, p99 ='
    """
    text = line[:MAX_CHARS].casefold()
    for pattern in _PASSING:
        text = pattern.replaced(text, r"\g<before>\g<end>")
    return " ".join(text.split()).replace(" ,", ",").strip(" .,;:-–—|#")


def fingerprint(parts: Iterable[str]) -> str:
    """Return 16 hex digits that stand for these parts in this order."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


MAX_ITEMS: Final = 50
"""How many attachments, blocks, fields or lines of one text are read."""

MAX_FIELDS: Final = 300
MAX_TEXT_CHARS: Final = 4_000
MAX_LINE_CHARS: Final = 300
_TITLE_LINES: Final = 3

_LINK: Final = re.compile(r"<(?:[^<>|]*\|)?([^<>]*)>")
_STYLE: Final = re.compile("<!(?:here|channel|everyone|subteam)[^<>]*>|[*`~]|(?<![a-zA-Z0-9])_|_(?![a-zA-Z0-9])")
_GAP: Final = re.compile(r"[ \t]{2,}")
_BOLD: Final = LinearPattern(r"^\W{0,8}?\*{1,2}(?P<bold>[^*\n]{1,200}[^*\n:])\*+\s*(?:$|[-–—|])")
_PAIR: Final = LinearPattern(r"^[\s•>*`_-]*(?P<key>[A-Za-z][\w .()-]{0,30}?)[*`_]*\s*[:=][*`_]*\s*(?P<value>\S.*)$")


@dataclass(slots=True)
class AlertParts:
    """What a message says where; texts are plain, a line each.

    Attributes:
        titles: the first lines of each text that may hold the title, the likeliest text first.
        bodies: the first lines of what stands under titles.
        marks: what stands in bold at the beginning of a line, with nothing or a dash behind it.
        fields: the key in small letters, and the value; of fields, labels, tables and lines such as "Host: db-1".
        colour: of the first attachment that has one: a name or "#RRGGBB" in small letters.
        speakers: what the posting app calls itself.
    """

    titles: list[list[str]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    fields: list[tuple[str, str]] = field(default_factory=list)
    colour: str = ""
    speakers: list[str] = field(default_factory=list)


def take_apart(message: Mapping[str, Any]) -> AlertParts:
    """Return the parts of a message event; values of the wrong type are passed over."""
    parts, profile = AlertParts(), message.get("bot_profile")
    parts.speakers += _titles(message.get("username"))
    parts.speakers += _titles(profile.get("name")) if isinstance(profile, Mapping) else []
    for one in [*_mappings(without_previews(message).get("attachments")), message]:
        parts.colour = parts.colour or _text(one.get("color")).strip().casefold()
        parts.speakers += [*_titles(one.get("author_name")), *_titles(one.get("footer"))]
        for pair in _mappings(one.get("fields")):
            _add_field(parts, _text(pair.get("title")), _text(pair.get("value")))
        titles = [_titles(one.get("title")), *_read_blocks(one.get("blocks"), parts), _titles(one.get("pretext"))]
        text = _titles(one.get("text"))
        parts.titles += titles if any(titles) else [text or _titles(one.get("fallback"))]
        parts.bodies += text
        _read_body(one.get("text"), parts)
    return parts


def _read_blocks(blocks: object, parts: AlertParts) -> list[list[str]]:
    """Read blocks into the parts; returns the lines of each header, or else of each section."""
    headers, sections = [], []
    for block in _mappings(blocks):
        kind, shown = block.get("type"), {**block, "fields": None, "rows": None}
        for pair in _mappings(block.get("fields")):
            key, _, value = _text(pair).partition("\n")
            _add_field(parts, key, value)
            _read_body(pair, parts)
        headers += [_titles(shown)] if kind == "header" else []
        sections += [_titles(shown)] if kind in ("section", "rich_text") else []
        _read_body(shown, parts)
        _read_table(block.get("rows"), parts)
    return headers or sections


def _read_body(content: object, parts: AlertParts) -> None:
    for line in _text(content).splitlines()[:MAX_ITEMS]:
        parts.marks += [_plain(found["bold"]) for _, _, found in _BOLD.matches(line[:MAX_LINE_CHARS])]
        for piece in _GAP.split(line[:MAX_LINE_CHARS]):  # context lines hold several pairs with wide gaps between them
            for _, _, found in _PAIR.matches(piece):
                _add_field(parts, found["key"], found["value"])


def _read_table(rows: object, parts: AlertParts) -> None:
    """Read the cells of a table as fields under the headings in its first row."""
    table = [row[:MAX_ITEMS] for row in rows[:MAX_ITEMS] if isinstance(row, list)] if isinstance(rows, list) else []
    for row in table[1:]:
        for key, value in zip(table[0], row, strict=False):
            _add_field(parts, _text(key), _text(value))


def _add_field(parts: AlertParts, key: str, value: str) -> None:
    plain = _plain(key).strip(" :").casefold()
    if plain and value.strip() and len(parts.fields) < MAX_FIELDS:
        parts.fields.append((plain, _plain(value.strip().splitlines()[0])))


def _titles(content: object) -> list[str]:
    """Return the first lines of a text that say something, plain."""
    return [line for line in map(_plain, _text(content).splitlines()) if line][:_TITLE_LINES]


def _text(content: object) -> str:
    return encodable("\n".join(lines_of(content))[:MAX_TEXT_CHARS])


def _plain(text: str) -> str:
    """Return a line without Slack's marks: links by their label, no bold, no escapes."""
    return " ".join(html.unescape(_LINK.sub(r"\1", _STYLE.sub("", text))).split())[:MAX_LINE_CHARS]


def _mappings(content: object) -> list[Mapping[str, Any]]:
    return [each for each in content[:MAX_ITEMS] if isinstance(each, Mapping)] if isinstance(content, list) else []
