"""Words that must not leave, whoever wants to post them. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from bot.domain.secrets import find_secrets
from bot.domain.text.sanitize import check_whole, has_visible
from bot.errors import InputError

MAX_REPLY_CHARS: Final = 12_000


def check_outbound(text: str, known_secrets: Collection[str] = ()) -> None:
    """Refuse a reply that must not leave.

    Raises:
        InputError: nothing of it can be seen, it cannot be sent, is too long, or holds what looks like a secret.
    """
    if not text.strip():
        raise InputError("The reply is empty; write one, or dismiss the draft.")
    if not has_visible(check_whole(text)):
        raise InputError("The reply has only invisible characters; write one, or dismiss the draft.")
    if len(text) > MAX_REPLY_CHARS:
        raise InputError(f"The reply has {len(text):,} characters; shorten it to {MAX_REPLY_CHARS:,}.")
    if kinds := find_secrets(text, known_secrets):
        raise InputError(f"The reply contains what looks like a secret ({', '.join(kinds)}); remove it.")
