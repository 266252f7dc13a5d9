"""The frame of every dialogue: one that is submitted, and one that is only read. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from blocks.text.outgoing_text import plain

TITLE_CHARS = 24
"""Slack's limit."""


def form(callback_id: str, metadata: str, *, title: str, submit: str, blocks: Sequence[Block]) -> View:
    """Return a dialogue to be submitted; `metadata` comes back with it."""
    return View(
        type="modal",
        callback_id=callback_id,
        private_metadata=metadata,
        title=plain(title, TITLE_CHARS),
        submit=submit,
        close="Cancel",
        blocks=blocks,
    )


def notice(title: str, blocks: Sequence[Block]) -> View:
    """Return a dialogue to read."""
    return View(type="modal", title=plain(title, TITLE_CHARS), close="Close", blocks=blocks)
