"""Cuts mrkdwn to Slack's limits: at a paragraph, a line or a word, never inside an entity, a link or a fence mark.

Pure. Every part stands on its own: a code block that is cut is closed, and opened again in the next part. Nothing is
lost but white space at the cuts (and none inside code but the line end that is cut at).

Slack's limits, in characters unless the name says otherwise.

Source: the validators of slack_sdk.models 3.47 (marked S) and Slack's reference for the methods (marked D). Slack
refuses a whole message when one object is over its limit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from slack_sdk.models.blocks import Block

FENCE: Final = "```"
ZERO_WIDTH: Final = "\u200b"
"""Put between two characters, it keeps them apart for Slack and stays unseen."""

SECTION_CHARS: Final = 3_000
"""Text of a section (S)."""

ROOMY_SECTION_CHARS: Final = 2_900
"""Text of a section that leaves room for what is put around it."""

LINK_CHARS: Final = 400
"""Address of a link within a text; a longer one is left out."""

HEADER_CHARS: Final = 150
"""Text of a header, plain text only (S)."""

INPUT_CHARS: Final = 3_000
"""Text of an input in a dialogue (S)."""

MESSAGE_CHARS: Final = 40_000
"""Text of a message; Slack cuts what is longer (D)."""

MESSAGE_BLOCKS: Final = 50
"""Blocks of a message (D)."""

MESSAGE_BLOCK_CHARS: Final = 10_000
"""Text of all blocks of one message together, as `chars_of` counts. Slack refuses (`msg_blocks_too_long`) above some
12,000 characters less a share for each block, which it does not document; one refusal was seen at 11,341.
Source: https://github.com/slackapi/bolt-js/issues/2509 and /2867."""

BLOCK_CHARS: Final = 40
"""Counted for each block beside its text."""

VIEW_BLOCKS: Final = 100
"""Blocks of a dialogue or of App Home (S)."""

VIEW_BYTES: Final = 250_000
"""A whole view as JSON (D, views.publish): beyond it, `view_too_large`."""

TRUNCATED: Final = "… (truncated)"
MIN_CHARS: Final = 20

LEFT_OUT_CHARS: Final = 60
"""Kept free in a section for what says how many lines were left out."""

_CLOSING: Final = len(f"\n{FENCE}")

_ATOM = re.compile(r"```|&[#\w]{1,8};|<(?:(?!```)[^<>\n])*>|\s|@[A-Za-z0-9]{1,16}|[^\s`&<@]{1,16}|.", re.DOTALL)
"""What is never cut through; of a word after `@` so much that a cut makes no broadcast's name of its beginning."""


def size_of(part: object) -> int:
    """Return how many bytes a block or a view has as JSON, as the SDK sends it: not ASCII counts sixfold."""
    return len(json.dumps(part))


def chars_of(blocks: Iterable[Block]) -> int:
    """Return how much of a message's room some blocks take: their texts, and 40 characters for each block.

    Characters are UTF-16 units of the text as it is sent, entities included: an emoji counts twice.
    """
    return sum(BLOCK_CHARS + _text_units(block.to_dict()) for block in blocks)


def utf16_units(text: str) -> int:
    """Return the length of a text as JavaScript counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _text_units(part: object) -> int:
    """Return the length of every text object in a block's JSON."""
    if isinstance(part, list):
        return sum(map(_text_units, part))
    if not isinstance(part, dict):
        return 0
    text = part.get("text")
    own = utf16_units(text) if part.get("type") in ("mrkdwn", "plain_text") and isinstance(text, str) else 0
    return own + sum(map(_text_units, part.values()))


class _Piece(NamedTuple):
    """A place to cut: a part ends before `end`, the rest begins at `start`; `fenced` if inside a code block."""

    end: int
    start: int
    fenced: bool


def split(text: str, limit: int = SECTION_CHARS) -> list[str]:
    """Return `text` in parts of at most `limit` characters, each with its fences balanced; none for blank text.

    Raises:
        ValueError: `limit` is under 20, too little to close a fence in.

    >>> split("one two three four five six", 20)
    ['one two three four', 'five six']
    """
    if limit < MIN_CHARS:
        raise ValueError(f"a limit of {limit} leaves no room to split in; use {MIN_CHARS} or more")
    return [part for part in _parts(text, limit) if part]


def truncate(text: str, limit: int) -> str:
    """Return `text` if it fits, else its beginning with its fence closed and an honest "… (truncated)".

    >>> truncate("one two three four five six seven eight", 36)
    'one two three four … (truncated)'
    """
    if len(text) <= limit and text.count(FENCE) % 2 == 0:
        return text
    room = limit - len(TRUNCATED) - 1
    if room < MIN_CHARS:
        return shorten(text.replace(FENCE, ""), limit)
    parts = list(islice(filter(None, _parts(text, room)), 2))  # the rest of a long text is not worth cutting
    if len(parts) < 2:
        return "".join(parts)
    return f"{parts[0]}{chr(10) if parts[0].endswith(FENCE) else ' '}{TRUNCATED}"


def lines_that_fit(lines: Sequence[str], at_most: int) -> str:
    """Return as many lines as one section holds, so many at most; the last says how many are left out."""
    shown: list[str] = []
    for line in lines[:at_most]:
        if sum(map(len, shown)) + len(shown) + len(line) > SECTION_CHARS - LEFT_OUT_CHARS:
            break
        shown.append(line)
    left = len(lines) - len(shown)
    return "\n".join([*shown, *([f"… and {left} more"] if left else [])])


def shorten(text: str, limit: int) -> str:
    """Return what fits of `text` before an ellipsis, for places too small to say that it was cut."""
    if len(text) <= limit:
        return text
    end = 0
    for atom in _ATOM.finditer(text):
        if atom.end() >= limit:
            break
        end = atom.end()
    return text[:end].rstrip() + "…"


def _parts(text: str, limit: int) -> Iterator[str]:
    position, fenced = 0, False
    while position < len(text):
        opening = f"{FENCE}\n" if fenced else ""
        if not fenced and _begins_a_shout(text, position):
            opening, position = f"@{ZERO_WIDTH}", position + 1
        cut = _find_cut(text, position, limit - len(opening), fenced)
        body = text[position : cut.end]
        if cut.fenced:
            yield f"{opening}{body}\n{FENCE}"
        else:
            yield (opening + body).rstrip() if opening else body.strip("\n").rstrip()
        position, fenced = cut.start, cut.fenced
        if fenced and text.startswith(FENCE, position):
            position, fenced = position + len(FENCE), False


def _begins_a_shout(text: str, position: int) -> bool:
    """Whether a cut here would free an `@` that the letter before it kept from being a broadcast's."""
    return text.startswith("@", position) and position > 0 and text[position - 1].isalnum()


def _find_cut(text: str, begin: int, room: int, fenced: bool) -> _Piece:
    """Return the best place to end a part that begins at `begin` and may hold `room` characters."""
    if not fenced and len(text) - begin <= room and text.find(FENCE, begin) < 0:
        return _Piece(len(text), len(text), False)
    last: dict[str, tuple[re.Match[str], bool]] = {}
    opened_at, inside = -1, fenced
    for atom in _ATOM.finditer(text, begin):
        at, end = atom.span()
        if at - begin + _CLOSING * inside > room:
            break
        if begin < at != opened_at:
            last[_kind_before(text, atom, inside)] = atom, inside
        if atom[0] == FENCE:
            inside = not inside
            opened_at = end if inside else -1
    if len(text) - begin + _CLOSING * inside <= room:
        return _Piece(len(text), len(text), inside)
    best = {kind: _cut_before(atom, in_code) for kind, (atom, in_code) in last.items()}
    return _choose(best, begin, room) or _through(text, begin, room, fenced)


def _kind_before(text: str, atom: re.Match[str], fenced: bool) -> str:
    """Return what kind of cut one before `atom` is: how little it tears apart."""
    said = atom[0]
    if said == "\n":
        return "code line" if fenced else "paragraph" if text[atom.start() - 1] == "\n" else "line"
    return "word" if said.isspace() else "any"


def _cut_before(atom: re.Match[str], fenced: bool) -> _Piece:
    """Return how to cut before `atom`: a line end goes, and a space outside of code."""
    at, end = atom.span()
    goes = atom[0] == "\n" or (atom[0].isspace() and not fenced)
    return _Piece(at, end if goes else at, fenced)


def _choose(best: dict[str, _Piece], begin: int, room: int) -> _Piece | None:
    """Return the kindest cut that leaves no part nearly empty, else the latest."""
    for kind in ("paragraph", "line", "code line", "word"):
        if kind in best and best[kind].end - begin >= room / 3:
            return best[kind]
    return max(best.values(), key=lambda cut: cut.end, default=None)


def _through(text: str, begin: int, room: int, fenced: bool) -> _Piece:
    """Return a cut through a token that is longer than a whole part."""
    end = begin + room - _CLOSING
    return _Piece(end, end, fenced ^ (text.count(FENCE, begin, end) % 2 == 1))
