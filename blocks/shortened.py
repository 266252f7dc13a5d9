"""What is shown of a message whose blocks Slack refused: less of them, and that it is less. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.fitting import fit_message
from blocks.parts import context, section

REFUSED_CONTENT: Final = frozenset({"msg_blocks_too_long", "invalid_blocks", "invalid_blocks_format", "msg_too_long"})
"""Slack's words for blocks that it will never take as they are."""
SHORT_CHARS: Final = 3_000


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
