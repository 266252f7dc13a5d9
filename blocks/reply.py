"""A reply as it is posted, in one message or, where Slack takes no more in one, in several; cards show the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

from slack_sdk.models.blocks import Block, MarkdownTextObject, SectionBlock

from blocks.limits import MESSAGE_BLOCK_CHARS, chars_of
from blocks.parts import context, section, verbatim
from blocks.text import SECTION_CHARS, TRUNCATED, split, to_mrkdwn, truncate

NOTIFICATION_CHARS: Final = 3_000
MAX_SECTIONS: Final = 25
"""Of one message: half of what Slack takes."""
REPLY_CHARS: Final = MESSAGE_BLOCK_CHARS - 400
"""Of one message; the rest is for the line that stands above it where it is shown before it is posted."""
MAX_MESSAGES: Final = 10
CUT_NOTE: Final = f"_{TRUNCATED}: one reply has at most {MAX_MESSAGES} messages_"


def reply_messages(draft: str) -> list[list[Block]]:
    """Return the blocks of each message that a draft (Markdown) is posted as; no message for a blank one.

    Code blocks are closed in each section. Where ten messages hold no more, the last section says that it was cut.
    """
    sections = [verbatim(part) for part in split(to_mrkdwn(draft), SECTION_CHARS)]
    messages: list[list[Block]] = []
    for one in sections:
        last = messages[-1] if messages else None
        if last is None or len(last) == MAX_SECTIONS or chars_of([*last, one]) > REPLY_CHARS:
            messages.append([one])
        else:
            last.append(one)
    if len(messages) > MAX_MESSAGES:
        return [*messages[: MAX_MESSAGES - 1], [section(CUT_NOTE)]]
    return messages


def reply_sections(draft: str) -> list[Block]:
    """Return the sections of all messages of a reply, one below the other."""
    return list(chain.from_iterable(reply_messages(draft)))


def reply_text(draft: str) -> str:
    """Return the reply's text for notifications; deterministic, so that a post of ours can be recognised by it."""
    return truncate(to_mrkdwn(draft), NOTIFICATION_CHARS)


def message_text(blocks: Sequence[Block]) -> str:
    """Return the text for notifications of one of several messages."""
    texts = (block.text.text for block in blocks if isinstance(block, SectionBlock) and block.text)
    return truncate("\n".join(texts), NOTIFICATION_CHARS)


def marked(blocks: Sequence[Block], mark: str) -> list[Block]:
    """Return a reply's message with the block id by which it is found again on its first section."""
    first, *rest = blocks
    assert isinstance(first, SectionBlock)
    assert isinstance(first.text, MarkdownTextObject)
    return [SectionBlock(text=first.text, block_id=mark), *rest]


def preview_message(blocks: Sequence[Block], mark: str, *, number: int, count: int, version: int) -> list[Block]:
    """Return a message of a reply as it stands below its card before it is posted, its mark on the line above it."""
    of = f", message {number} of {count}" if count > 1 else ""
    said = f":page_facing_up: Draft {version}{of}, as it would be posted. Nothing is posted yet."
    head = context(said)
    head.block_id = mark
    return [head, *blocks]
