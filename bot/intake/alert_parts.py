"""Takes the message of an alert tool apart: titles, marks in bold, fields, colour, what the app calls itself. Pure.

Alert tools write blocks, attachments or plain text. Only the beginning of each text is read; nothing here decides what
a part means.
Source: https://docs.slack.dev/messaging/formatting-message-text, https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from bot.domain.text.linear_patterns import LinearPattern, encodable

MAX_ITEMS: Final = 50
"""How many attachments, blocks, fields or rows of one list are read."""

MAX_FIELDS: Final = 300
MAX_TEXT_CHARS: Final = 4_000
MAX_LINE_CHARS: Final = 300
_PREVIEWS: Final = ("from_url", "original_url", "is_msg_unfurl", "is_share", "is_reply_unfurl")
_LINK: Final = re.compile(r"<[^<>|]{1,2000}\|([^<>]{0,300})>")
_BARE: Final = re.compile(r"<([^<>|]{1,2000})>")
_STYLE: Final = re.compile("[*`~]|(?<![a-zA-Z0-9])_|_(?![a-zA-Z0-9])")
_GAP: Final = LinearPattern(r"[ \t]{3,}")
_BOLD: Final = LinearPattern(r"^\W{0,8}?\*{1,2}(?P<bold>[^*\n]{1,200}[^*\n:])\*")
_PAIR: Final = LinearPattern(
    r"^[\s•>*`_-]*(?P<key>[A-Za-z][\w .()-]{0,30}?)[*`_]*\s*[:=][*`_]*\s*(?P<value>\S.*)$|"
    r"^\*(?P<bold_key>[^*\n]{1,40})\*\s*$"
)


@dataclass(slots=True)
class AlertParts:
    """What a message says where; texts are plain, a line each.

    Attributes:
        titles: the likeliest name of the alert first.
        marks: what stands in bold at the beginning of a line.
        fields: the key in small letters, and the value; of fields, labels, tables and lines such as "Host: db-1".
        colour: of the first attachment that has one: a name or "#RRGGBB" in small letters.
        speakers: what the posting app calls itself.
    """

    titles: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    fields: list[tuple[str, str]] = field(default_factory=list)
    colour: str = ""
    speakers: list[str] = field(default_factory=list)


def take_apart(message: Mapping[str, Any]) -> AlertParts:
    """Return the parts of a message event; values of the wrong type are passed over."""
    parts, later = AlertParts(), []
    for name in (message.get("username"), *_mappings([message.get("bot_profile")], "name")):
        parts.speakers += _lines(name)
    for one in _dicts(message.get("attachments")):
        if not any(one.get(mark) for mark in _PREVIEWS):
            later += _read_attachment(one, parts)
    blocks = _read_blocks(message.get("blocks"), parts)
    own = _lines(message.get("text"))
    _read_body(message.get("text"), parts)
    parts.titles += [*blocks, *later, *own]
    return parts


def _read_attachment(one: Mapping[str, Any], parts: AlertParts) -> list[str]:
    """Read an attachment into the parts; returns titles that are less telling than its own."""
    parts.colour = parts.colour or _text(one.get("color")).strip().casefold()
    for key in ("author_name", "footer"):
        parts.speakers += _lines(one.get(key))
    for pair in _dicts(one.get("fields")):
        parts.fields += _field(_text(pair.get("title")), _text(pair.get("value")))
    titles = [*_lines(one.get("title")), *_read_blocks(one.get("blocks"), parts)]
    _read_body(one.get("text"), parts)
    parts.titles += titles or _lines(one.get("text")) or ([] if one.get("pretext") else _lines(one.get("fallback")))
    return _lines(one.get("pretext"))


def _read_blocks(blocks: object, parts: AlertParts) -> list[str]:
    """Read blocks into the parts; returns the header, or else the first lines of the sections."""
    headers, sections = [], []
    for block in _dicts(blocks):
        kind = block.get("type")
        text = "".join(islice(_leaves(block.get("text") or block.get("elements")), MAX_ITEMS))
        if kind == "header":
            headers += _lines(text)
        elif kind in ("section", "rich_text"):
            sections += _lines(text)
        if kind != "actions":
            _read_body(text, parts)
        for pair in _dicts(block.get("fields")):
            key, _, value = _text(pair.get("text")).partition("\n")
            parts.fields += _field(key, value) if value.strip() else _pairs(key)
        parts.fields += _cells(block.get("rows"))
    return headers or sections


def _read_body(text: object, parts: AlertParts) -> None:
    for line in _text(text).splitlines()[: MAX_ITEMS if len(parts.fields) < MAX_FIELDS else 0]:
        parts.marks += [_plain(found["bold"]) for _, _, found in _BOLD.matches(line[:MAX_LINE_CHARS])]
        parts.fields += _pairs(line)


def _pairs(line: str) -> list[tuple[str, str]]:
    """Return the "key: value" of a line; several stand in one with wide gaps between them."""
    found, start = [], 0
    line = line[:MAX_LINE_CHARS]
    for left, right in [*_GAP.spans(line), (len(line), len(line))]:
        for _, _, pair in _PAIR.matches(line[start:left]):
            found += _field(pair.get("key", ""), pair.get("value", ""))
        start = right
    return found


def _cells(rows: object) -> Iterator[tuple[str, str]]:
    """Yield the cells of a table under the heading of their column."""
    table = [
        ["".join(islice(_leaves(cell), MAX_ITEMS)) for cell in row[:MAX_ITEMS]]
        for row in (rows[:MAX_ITEMS] if isinstance(rows, list) else ())
        if isinstance(row, list)
    ]
    for row in table[1:]:
        for key, value in zip(table[0], row, strict=False):
            yield from _field(key, value)


def _field(key: str, value: str) -> list[tuple[str, str]]:
    plain = _plain(key).strip(" :").casefold()
    return [(plain, _plain(value.strip().splitlines()[0]))] if plain and value.strip() else []


def _leaves(content: object, depth: int = 0) -> Iterator[str]:
    """Yield the texts inside a text object, a cell or an element of a rich text."""
    if isinstance(content, str):
        yield content[:MAX_TEXT_CHARS]
    elif isinstance(content, Mapping) and depth < 6:
        yield from _leaves(content.get("text") or content.get("elements"), depth + 1)
    elif isinstance(content, list) and depth < 6:
        for each in content[:MAX_ITEMS]:
            yield from _leaves(each, depth + 1)


def _lines(text: object) -> list[str]:
    """Return the lines of a text that may be titles, plain: the first three."""
    return [line for line in map(_plain, _text(text).splitlines()) if line][:3]


def _text(value: object) -> str:
    return encodable(value[:MAX_TEXT_CHARS]) if isinstance(value, str) else ""


def _plain(text: str) -> str:
    """Return a text without Slack's marks: links by their label, no bold, no escapes."""
    linked = _BARE.sub(r"\1", _LINK.sub(r"\1", text[:MAX_TEXT_CHARS]))
    return " ".join(html.unescape(_STYLE.sub("", linked)).split())[:MAX_LINE_CHARS]


def _dicts(content: object) -> list[Mapping[str, Any]]:
    return [each for each in content[:MAX_ITEMS] if isinstance(each, Mapping)] if isinstance(content, list) else []


def _mappings(content: list[object], key: str) -> list[object]:
    return [each.get(key) for each in content if isinstance(each, Mapping)]
