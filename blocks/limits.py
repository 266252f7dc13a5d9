"""Slack's limits, in characters unless the name says otherwise.

Source: the validators of slack_sdk.models 3.47 (marked S) and Slack's reference for the methods (marked D). Slack
refuses a whole message when one object is over its limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from slack_sdk.models.blocks import Block

SECTION_CHARS: Final = 3_000
"""Text of a section (S)."""
HEADER_CHARS: Final = 150
"""Text of a header, plain text only (S)."""
BUTTON_CHARS: Final = 75
"""Label of a button, plain text only (S)."""
VALUE_CHARS: Final = 2_000
"""Value of a button (S)."""
OPTION_CHARS: Final = 75
"""Label of an option in a menu (S); its value has 150."""
MESSAGE_CHARS: Final = 40_000
"""Text of a message; Slack cuts what is longer (D)."""
MESSAGE_ADVISED_CHARS: Final = 4_000
"""Length at which Slack advises to stop for the text of a message (D)."""
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
    return len(text) + sum(sign > "\uffff" for sign in text)


def _text_units(part: object) -> int:
    """Return the length of every text object in a block's JSON."""
    if isinstance(part, list):
        return sum(map(_text_units, part))
    if not isinstance(part, dict):
        return 0
    text = part.get("text")
    own = utf16_units(text) if part.get("type") in ("mrkdwn", "plain_text") and isinstance(text, str) else 0
    return own + sum(map(_text_units, part.values()))
