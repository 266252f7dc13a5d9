"""Which codebases a question names: "in infra, where …", "the shop repo", "infra:src/x.py". Pure.

An id is often an ordinary word ("the docs say"), so only these forms decide; a bare mention is a hint.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

MAX_CHARS: Final = 4_000
_BEFORE: Final = r"\b(?:in|inside|within|of|from|im|in der|dans|en|em|del|della)\s+(?:the\s+|our\s+)?[`'\"]?"
_BEHIND: Final = r"[`'\"]?\s+(?:repo|repos|repository|codebase|checkout|project|repositório|repositorio|dépôt)\b"


def named_codebases(question: str, ids: Collection[str]) -> list[str]:
    """Return the ids that a question names as places to look in, in their own order.

    >>> named_codebases("In infra, where is the queue scaled?", ["shop", "infra"])
    ['infra']
    >>> named_codebases("what does the shop do with a full queue?", ["shop", "infra"])
    []
    """
    text = question[:MAX_CHARS]
    return [one for one in ids if _pattern(one).search(text)]


def mentioned_codebases(question: str, ids: Collection[str]) -> list[str]:
    """Return the ids that stand in a question as words.

    >>> mentioned_codebases("what does the shop do with a full queue?", ["shop", "infra"])
    ['shop']
    """
    words = {word.lower() for word in re.findall(r"[\w-]+", question[:MAX_CHARS])}
    return [one for one in ids if one in words]


def _pattern(name: str) -> re.Pattern[str]:
    word = re.escape(name)
    return re.compile(
        rf"{_BEFORE}{word}(?![\w-])|(?<![\w-]){word}{_BEHIND}|`{word}`|(?<![\w/.-]){word}:[\w./-]|^\s*{word}\s*[:,]",
        re.I,
    )
