"""Brings a message's blocks under Slack's limits for the whole message: its text together, and how many blocks it has.

Pure. The longest texts are shortened first, each with "… (truncated)"; what is `kept` is never touched, and neither are
the first block, by which a message is found again, and blocks that can be clicked. Source: blocks/text/splitting.py.
Also: the middle of a long report is cut out, and a message whose blocks Slack refused is shown with less of them, and
says so.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Final

from slack_sdk.models.blocks import Block, ContextBlock, MarkdownTextObject, SectionBlock

from blocks.text.outgoing_text import context, section
from blocks.text.splitting import FENCE, MESSAGE_BLOCK_CHARS, MESSAGE_BLOCKS, chars_of, truncate, utf16_units
from bot.domain.text.humanize import counted

MIN_LINES: Final = 12
"""A text of fewer lines is prose, whose beginning tells most."""

_MARK_CHARS: Final = 40
"""A note of what is left out, and the marks of a code block that is cut there."""

CAPS: Final = (3_000, 1_500, 1_000, 700, 500, 350, 250, 180, 120)
"""How long a text may be, tried one after the other; below the last one blocks are left out instead."""

NOTE_CHARS: Final = 140
"""Kept free for the line that says how many blocks are left out."""

REFUSED_CONTENT: Final = frozenset({"msg_blocks_too_long", "invalid_blocks", "invalid_blocks_format", "msg_too_long"})
"""Slack's words for blocks that it will never take as they are."""

SHORT_CHARS: Final = 3_000


def without_middle(text: str, limit: int) -> str:
    """Return a text of many lines without those of its middle, so that at most `limit` characters are left.

    Of a log or a stack trace the end tells most. A text of few lines, and one whose first or last line takes all the
    room, stays. A code block that is cut through is closed before the note, and opened again behind it.

    >>> without_middle("\\n".join(map(str, range(1, 100))), 50).split("\\n")
    ['1', '2', '… (96 lines left out)', '99']
    """
    lines = text.split("\n")
    if len(text) <= limit or len(lines) < MIN_LINES:
        return text
    half = (limit - _MARK_CHARS) // 2
    first = sum(size <= half for size in accumulate(len(line) + 1 for line in lines))
    last = sum(size <= half for size in accumulate(len(line) + 1 for line in reversed(lines)))
    if not first or not last:
        return text
    head, tail = lines[:first], lines[len(lines) - last :]
    is_open, is_code = ("\n".join(part).count(FENCE) % 2 for part in (head, lines[: len(lines) - last]))
    note = f"… ({counted(len(lines) - first - last, 'line')} left out)"
    return "\n".join([*head, *[FENCE] * is_open, note, *[FENCE] * is_code, *tail])


def fit_message(
    blocks: Sequence[Block],
    *,
    kept: Sequence[Block] = (),
    limit: int = MESSAGE_BLOCK_CHARS,
    most: int = MESSAGE_BLOCKS,
) -> list[Block]:
    """Return the blocks so that Slack takes them as one message: the same ones where they fit.

    Args:
        blocks: The message, its marked block first.
        kept: Those of `blocks` that stay as they are, or the message would say something else.
        limit: The most that `chars_of` may come to; what is kept alone may be more than that.
        most: How many blocks there may be.
    """
    if len(blocks) <= most and chars_of(blocks) <= limit:
        return list(blocks)
    fixed = {id(block) for block in kept}
    shown = _without_last(blocks, fixed, most)
    for cap in CAPS:
        cut = [block if id(block) in fixed else _shortened(block, cap) for block in shown]
        if chars_of(cut) <= limit - NOTE_CHARS:
            break
    while chars_of(cut) > limit - NOTE_CHARS and (fewer := _without_last(cut, fixed, len(cut) - 1)) != cut:
        cut = fewer
    left_out = len(blocks) - len(cut)
    return _with_note(cut, left_out) if left_out else cut


def _without_last(blocks: Sequence[Block], fixed: set[int], most: int) -> list[Block]:
    """Return at most so many blocks with room for a note if some go, as far as the last ones may go."""
    may_go = [
        place for place, block in enumerate(blocks) if place and id(block) not in fixed and block.type != "actions"
    ]
    count = len(blocks) - most + 1 if len(blocks) > most else 0
    gone = set(may_go[len(may_go) - min(count, len(may_go)) :])
    return [block for place, block in enumerate(blocks) if place not in gone]


def fit_together(parts: Sequence[Sequence[Block]]) -> list[Block]:
    """Return several parts as one message in which each has its share of the room; what one leaves is the others'.

    The first block of each part stays as it is.
    """
    chars = fair_shares([chars_of(part) for part in parts], MESSAGE_BLOCK_CHARS)
    counts = fair_shares([len(part) for part in parts], MESSAGE_BLOCKS)
    shares = zip(parts, chars, counts, strict=True)
    return [block for part, limit, most in shares for block in fit_message(part, limit=limit, most=most)]


def _texts(block: Block) -> Iterator[MarkdownTextObject]:
    """Yield the texts of a block that may be shortened."""
    held: list[object] = []
    if isinstance(block, SectionBlock):
        held = [block.text, *(block.fields or [])]
    elif isinstance(block, ContextBlock):
        held = list(block.elements)
    yield from (one for one in held if isinstance(one, MarkdownTextObject))


def _shortened(block: Block, cap: int) -> Block:
    """Return a copy of a block none of whose texts is longer than `cap`; the block itself where none is."""
    if all(utf16_units(text.text) <= cap for text in _texts(block)):
        return block
    found = copy.copy(block)
    if isinstance(found, SectionBlock):
        found.text = _cut(found.text, cap)
        found.fields = [_cut(one, cap) for one in found.fields or []]
    elif isinstance(found, ContextBlock):
        found.elements = [_cut(one, cap) for one in found.elements]
    return found


def _cut(part: Any, cap: int) -> Any:
    """Return a text of mrkdwn with at most `cap` characters, and whatever else stands in a block as it is."""
    if not isinstance(part, MarkdownTextObject) or utf16_units(part.text) <= cap:
        return part
    chars, text = cap, truncate(part.text, cap)
    while utf16_units(text) > cap:  # signs that count twice
        chars = chars * 3 // 4
        text = truncate(part.text, chars)
    return MarkdownTextObject(text=text)


def _with_note(blocks: list[Block], left_out: int) -> list[Block]:
    """Return the blocks with a line, above the buttons at their end, on what is not there."""
    end = len(blocks)
    while end > 1 and blocks[end - 1].type == "actions":
        end -= 1
    note = context(f"… {counted(left_out, 'more part')} left out: Slack takes no more in one message")
    return [*blocks[:end], note, *blocks[end:]]


def shortened_blocks(blocks: Sequence[Block], code: str) -> list[list[Block]]:
    """Return what to send instead, one after the other until Slack takes it; the last one holds no foreign word.

    The first block's id stays, for a message is found again by it.
    """
    note = context(f":scissors: Shortened: Slack did not take the whole message ({code})")
    first = blocks[0]
    fitted = fit_message(blocks, limit=SHORT_CHARS)
    bare = section(f":warning: Slack did not take this message ({code}); the bot's log and files have it")
    bare.block_id = first.block_id
    return [[fitted[0], note, *fitted[1:]], [bare]]


def fair_shares(wanted: Sequence[int], room: int) -> list[int]:
    """Return what each gets: all it wants where that is no more than an equal share of what the smaller ones leave.

    >>> fair_shares([10, 90, 50], 100)
    [10, 45, 45]
    """
    shares = [0] * len(wanted)
    by_size = sorted(range(len(wanted)), key=lambda place: wanted[place])
    for left, place in zip(range(len(wanted), 0, -1), by_size, strict=True):
        shares[place] = min(wanted[place], room // left)
        room -= shares[place]
    return shares
