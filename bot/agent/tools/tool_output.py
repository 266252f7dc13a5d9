"""How tools write: numbered lines, printable paths, and an honest last line when something was left out.

Pure. Every line of a file stands behind its number and every other foreign line behind a mark, so no content can pass
for a heading or a remark of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MAX_LINE_CHARS: Final = 1_000
MAX_CHARS: Final = 24_000
"""The most one answer holds; about 6,000 tokens."""


def number(line: str, at: int) -> str:
    """Return one line of a file as it is shown.

    >>> number("x = 1", 12)
    '12| x = 1'
    """
    return f"{at}| {_cut(line)}"


def quote_line(line: str) -> str:
    """Return one line of a message, a diff or a note as it is shown.

    >>> quote_line("+ x = 1")
    '> + x = 1'
    """
    return f"> {_cut(line)}"


def _cut(line: str) -> str:
    more = len(line) - MAX_LINE_CHARS
    return line if more <= 0 else f"{line[:MAX_LINE_CHARS]} [line cut: {more} more characters]"


def fitting(lines: Sequence[str], *, max_lines: int, max_chars: int = MAX_CHARS) -> list[str]:
    """Return as many of the first lines as fit, at least one."""
    kept: list[str] = []
    chars = 0
    for line in lines[:max_lines]:
        chars += len(line) + 1
        if kept and chars > max_chars:
            break
        kept.append(line)
    return kept


def truncated(shown: int, total: int, what: str, how: str, *, complete: bool = True) -> list[str]:
    """Return the line that owns up to what is missing, or none.

    >>> truncated(400, 1832, "lines", "start/end"), truncated(3, 3, "lines", "start/end")
    (['truncated: 400 of 1832 lines shown; narrow with start/end'], [])
    """
    if complete and shown >= total:
        return []
    return [f"truncated: {shown} of {'' if complete else 'more than '}{total} {what} shown; narrow with {how}"]


def path_text(path: str) -> str:
    r"""Return a path that keeps to its line: control and undecodable characters are escaped.

    >>> path_text("bot/größe.py"), path_text("a\n1| b")
    ('bot/größe.py', "'a\\n1| b'")
    """
    return path if path.isprintable() else ascii(path)
