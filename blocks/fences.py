"""Code blocks: made, and left alone by whatever is done to the lines around them."""

from __future__ import annotations

from typing import Final

from blocks.escaping import defuse, escape_controls, part_ticks

FENCE: Final = "```"


def fence(code: str) -> str:
    r"""Return `code` (raw text) as a code block.

    >>> fence("if a < b:\n    pass\n")
    '```\nif a &lt; b:\n    pass\n```'
    """
    body = code.removesuffix("\n")
    return f"{FENCE}\n{defuse(part_ticks(escape_controls(body)))}\n{FENCE}"


def prefix_lines(text: str, prefix: str, first: str | None = None) -> str:
    """Return `text` with `prefix` before each line but those of code blocks; `first` replaces it on the first line."""
    lines, fenced = [], False
    for number, line in enumerate(text.split("\n")):
        edge = line.startswith(FENCE)
        before = prefix if number or first is None else first
        lines.append(line if fenced or edge else (before + line).rstrip() if not line else before + line)
        fenced ^= edge
    return "\n".join(lines)
