"""Characters that a reader does not see and a model does: the ways to hide text in a message. Pure.

Removed are control and format characters, bidirectional overrides, tag characters, variation selectors, and joiners
between ASCII signs; kept are line ends, tabs, the other joiners, which scripts and emoji need, and the selector that
makes a character an emoji.
Source: Unicode 16, general categories Cc and Cf, and Default_Ignorable_Code_Point in DerivedCoreProperties.txt.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

from bot.errors import InputError

HALVES: Final = (
    "The text holds half a character (a lone surrogate), which can be neither stored nor sent; "
    "delete it, it shows as a box or a question mark, and type it again."
)
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_PLAIN: Final = re.compile("[\t\n -~]*")
_JOINERS: Final = re.compile("(?<=[!-~])[\u200c\u200d]+(?=[!-~])")
_HALF: Final = re.compile("[\ud800-\udfff]")
_UNSEEN: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols, says Unicode, that show nothing."""

_UNSEEN_KINDS: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Mc", "Me", "Mn", "Zl", "Zp", "Zs"})
_LINE_ENDS: Final = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def strip_hidden(text: str) -> tuple[str, int]:
    r"""Return `text` with every kind of line end as `\n` and no hidden character, and how many it had.

    >>> strip_hidden("Is it\u202e 5?\r\n\U000e0041\U000e0042")
    ('Is it 5?\n', 3)
    """
    if _PLAIN.fullmatch(text):
        return text, 0
    shown, hidden = _HIDDEN.subn("", _LINE_ENDS.sub("\n", storable(text)))
    joined = _JOINERS.sub("", shown)
    return joined, hidden + len(shown) - len(joined)


def has_visible(text: str) -> bool:
    r"""Whether a reader sees anything of a text: neither blanks nor hidden characters nor loose marks count.

    >>> has_visible("ok"), has_visible("\u200b\u2060\u00a0\u200d\ufe0f\u2800")
    (True, False)
    """
    return any(char not in _UNSEEN and unicodedata.category(char) not in _UNSEEN_KINDS for char in text)


def has_halves(text: str) -> bool:
    r"""Whether a text holds half a character (a lone surrogate), which no file and no request can hold.

    >>> has_halves("5 \ud83d"), has_halves("5 \U0001f44d")
    (True, False)
    """
    return _HALF.search(text) is not None


def storable(text: str) -> str:
    r"""Return a text with each half of a character replaced by `?`.

    >>> storable("5 \ud83d")
    '5 ?'
    """
    return text.encode("utf-8", "replace").decode()


def mend(document: Any) -> None:
    """Replace each half of a character in the texts of a JSON document by `?`, in place, keys aside.

    Goes level by level, so that a deep document exhausts no stack.
    """
    level = [document]
    while level:
        holder = level.pop()
        items = holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
        for place, value in list(items):
            if isinstance(value, str):
                if has_halves(value):
                    holder[place] = storable(value)
            else:
                level.append(value)


def is_deeper_than(value: object, limit: int) -> bool:
    """Whether lists and objects stand in each other `limit` deep or more; goes level by level, never by recursion."""
    level = [value]
    for _ in range(limit):
        holders = [held for held in level if isinstance(held, dict | list)]
        if not holders:
            return False
        level = [inner for held in holders for inner in (held.values() if isinstance(held, dict) else held)]
    return True


def check_whole(text: str) -> str:
    """Return `text` if every character of it is whole.

    Raises:
        InputError: it holds half a character, which can be neither stored nor sent.
    """
    if has_halves(text):
        raise InputError(HALVES)
    return text


def one_line(text: str, width: int | None = None) -> str:
    r"""Return foreign words on one line, of at most `width` characters if given, without what a terminal would obey.

    >>> one_line("Is it\x1b[1m\nfive, or is it six?", 15)
    'Is it[1m five,…'
    """
    words = " ".join(strip_hidden(text)[0].split())
    return words if width is None or len(words) <= width else words[: width - 1] + "…"
