"""Blacks out credentials in lines without moving any line: a line number must still be the file's.

Pure. Whole files are redacted, never the part that is shown, since half a credential no longer looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from bot.domain.secrets import redact

HIDDEN: Final = "[redacted]"
_HUNK: Final = re.compile(r"^(@@ -\S+ \+\S+ @@).*$", re.M)
_ENCODED: Final = re.compile(r"^[ +-](?![0-9a-fA-F]+$)[A-Za-z0-9+/]{48,}={0,2}$", re.M)


def redact_lines(lines: Sequence[str], known: Collection[str] = ()) -> list[str]:
    """Return as many lines as given, none with a credential; one that spans lines hides each of them.

    >>> redact_lines(["a = 1", 'password = "hG7$kq2Lz9pW"'])
    ['a = 1', 'password = "[redacted: password]"']
    """
    text = "\n".join(lines)
    clean = redact(text, known)
    if clean == text:
        return list(lines)
    redacted = clean.split("\n")
    return redacted if len(redacted) == len(lines) else _aligned(lines, redacted)


def redact_patch(text: str, known: Collection[str] = ()) -> str:
    """Return a diff without credentials, nor lines that may come from the middle of a key whose head is not shown.

    What git adds behind the range of a hunk is a line cut short, so it goes too.
    """
    return _ENCODED.sub(lambda line: f"{line[0][0]}{HIDDEN}", _HUNK.sub(r"\1", redact(text, known)))


def _aligned(lines: Sequence[str], redacted: Sequence[str]) -> list[str]:
    """Return the lines that also stand in the redacted text, which cannot leak, and in place of each other a mark."""
    clean = frozenset(redacted)
    return [line if line in clean else HIDDEN for line in lines]
