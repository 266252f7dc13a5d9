"""What somebody typed into a dialogue, given back to them where it was refused: as a code block, to copy it from."""

from __future__ import annotations

from typing import Final

from blocks.text.escaping import fence

PIECE_CHARS: Final = 2_800
"""Of one message; Slack shows some 4,000 characters of a text, and escaping makes it longer."""


def given_back(why: str, typed: str) -> list[str]:
    r"""Return the messages that say why something was refused and what was typed; `typed` is raw text.

    >>> given_back("Somebody was faster.", "It is 5.")
    ['Somebody was faster.\nYou wrote:\n```\nIt is 5.\n```']
    """
    if not typed.strip():
        return [why]
    whole = typed.encode("utf-8", "replace").decode()
    first, *rest = (whole[start : start + PIECE_CHARS] for start in range(0, len(whole), PIECE_CHARS))
    return [f"{why}\nYou wrote:\n{fence(first)}", *map(fence, rest)]
