"""Brings a message's blocks under Slack's limits for the whole message: its text together, and how many blocks it has.

Pure. The longest texts are shortened first, each with "… (truncated)"; what is `kept` is never touched, and neither are
the first block, by which a message is found again, and blocks that can be clicked. Source: blocks/text/splitting.py.
Also: the middle of a long report is cut out but for the lines that tell what went wrong, and a message whose blocks
Slack refused is shown with less of them, and says so.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final

from slack_sdk.models.blocks import Block, ContextBlock, MarkdownTextObject, SectionBlock

from blocks.text.outgoing_text import context, section
from blocks.text.splitting import FENCE, MESSAGE_BLOCK_CHARS, MESSAGE_BLOCKS, chars_of, shorten, truncate, utf16_units
from bot.domain.search.report_parts import error_lines
from bot.domain.text.humanize import counted

MIN_LINES: Final = 12
"""A text of fewer lines is prose, whose beginning tells most."""

ERROR_SHARE: Final = 3
"""One part in so many of the room is for errors and what stands around them, if any are in the middle."""

MAX_ERROR_CHARS: Final = 240
AROUND: Final = 2
"""Lines before and after an error: its innermost frame."""

_MARK_CHARS: Final = 40
"""A note of what is left out, and the marks of a code block that is cut there."""

LEAST_CHARS: Final = 120
"""A text is not shortened below this; blocks are left out instead."""

NOTE_CHARS: Final = 140
"""Kept free for the line that says how many blocks are left out."""

REFUSED_CONTENT: Final = frozenset({"msg_blocks_too_long", "invalid_blocks", "invalid_blocks_format", "msg_too_long"})
"""Slack's words for blocks that it will never take as they are."""

SHORT_CHARS: Final = 3_000


def without_middle(text: str, limit: int) -> str:
    """Return a text of many lines without those of its middle, so that at most `limit` characters are left.

    Of a log or a stack trace the end tells most, and the lines that name the error wherever they stand. A text of few
    lines, and one whose first or last line takes all the room, stays.

    >>> without_middle("\\n".join(map(str, range(1, 100))), 50).split("\\n")
    ['1', '2', '… (96 lines left out)', '99']
    """
    lines = text.split("\n")
    if len(text) <= limit or len(lines) < MIN_LINES:
        return text
    ends = _ends(lines, limit - _MARK_CHARS)
    if any(number not in ends for number in error_lines(lines)):
        ends = _ends(lines, limit - limit // ERROR_SHARE - _MARK_CHARS)
    if 0 not in ends or len(lines) - 1 not in ends:
        return text
    errors = _errors(lines, ends, limit // ERROR_SHARE)
    lines = [_shortened_line(line) if number in errors else line for number, line in enumerate(lines)]
    return "\n".join(_joined(lines, ends | errors))


def _shortened_line(line: str) -> str:
    return line if FENCE in line else shorten(line, MAX_ERROR_CHARS)


def _ends(lines: Sequence[str], room: int) -> set[int]:
    """Return the numbers of the lines at both ends that fit half of `room` characters each."""
    sizes = [len(line) + 1 for line in lines]
    first = sum(size <= room // 2 for size in accumulate(sizes))
    last = sum(size <= room // 2 for size in accumulate(reversed(sizes)))
    return {*range(first), *range(len(lines) - last, len(lines))}


def _errors(lines: Sequence[str], ends: Collection[int], room: int) -> set[int]:
    """Return the numbers of the lines between the ends that name errors, and of those around them, while they fit."""
    kept: set[int] = set()
    named = [number for number in error_lines(lines) if number not in ends]
    for number in named:
        cost = len(_shortened_line(lines[number])) + _MARK_CHARS
        if cost <= room:
            kept.add(number)
            room -= cost
    for far in range(1, AROUND + 1):
        for number in [near for one in named if one in kept for near in (one - far, one + far)]:
            cost = len(lines[number]) + 1
            if number not in ends and number not in kept and cost <= min(room, MAX_ERROR_CHARS):
                kept.add(number)
                room -= cost
    return kept


def _joined(lines: Sequence[str], kept: Collection[int]) -> Iterator[str]:
    """Yield the kept lines, and a note for each gap outside of any code block that it cuts through."""
    gap, opened, is_code = 0, False, False
    for number, line in enumerate(lines):
        if number in kept:
            if gap:
                yield from _note(gap, opened=opened, is_code=is_code)
            yield line
            gap = 0
        elif not gap:
            opened = is_code
        gap += number not in kept
        is_code ^= line.count(FENCE) % 2 == 1


def _note(count: int, *, opened: bool, is_code: bool) -> Iterator[str]:
    """Yield the note of a gap that begins within a code block if `opened`, and ends within one if `is_code`."""
    if opened and not is_code:
        yield FENCE
    yield f"… ({counted(count, 'line')} left out)"
    if is_code and not opened:
        yield FENCE


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
    shown, left_out = _that_may_stay(blocks, fixed, limit - NOTE_CHARS, most)
    cap = _cap(shown, fixed, limit - NOTE_CHARS)
    cut = [block if id(block) in fixed else _shortened(block, cap) for block in shown]
    return _with_note(cut, left_out) if left_out else cut


def fit_together(parts: Sequence[Sequence[Block]]) -> list[Block]:
    """Return several parts as one message in which each has its share of the room; what one leaves is the others'.

    The first block of each part stays as it is.
    """
    chars = fair_shares([chars_of(part) for part in parts], MESSAGE_BLOCK_CHARS)
    counts = fair_shares([len(part) for part in parts], MESSAGE_BLOCKS)
    shares = zip(parts, chars, counts, strict=True)
    return [block for part, limit, most in shares for block in fit_message(part, limit=limit, most=most)]


def _that_may_stay(blocks: Sequence[Block], fixed: set[int], limit: int, most: int) -> tuple[list[Block], int]:
    """Return the blocks that have room when each is at its shortest, and how many do not; the last ones go first."""
    shown = list(blocks)
    least = sum(_size(block, fixed, LEAST_CHARS) for block in shown)
    for place in range(len(shown) - 1, 0, -1):
        left_out = len(blocks) - len(shown)
        if len(shown) + bool(left_out) <= most and least <= limit:
            break
        if id(shown[place]) not in fixed and shown[place].type != "actions":
            least -= _size(shown[place], fixed, LEAST_CHARS)
            del shown[place]
    return shown, len(blocks) - len(shown)


def _cap(blocks: Sequence[Block], fixed: set[int], limit: int) -> int:
    """Return the longest a text may be so that all blocks together stay within `limit`; found by halving."""
    low, high = LEAST_CHARS, MESSAGE_BLOCK_CHARS
    while low < high:
        middle = (low + high + 1) // 2
        is_small = sum(_size(block, fixed, middle) for block in blocks) <= limit
        low, high = (middle, high) if is_small else (low, middle - 1)
    return low


def _size(block: Block, fixed: set[int], cap: int) -> int:
    """Return what a block takes once none of its texts is longer than `cap`."""
    whole = chars_of([block])
    if id(block) in fixed:
        return whole
    return whole - sum(max(0, utf16_units(text.text) - cap) for text in _texts(block))


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
