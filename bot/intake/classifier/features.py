"""What the scorer sees of a message: its word n-grams, beginnings of words, and its length.

Pure. Code, quoted lines, links and mentions become one placeholder each, numbers `0`; in scripts that are written
without spaces every character is a word. At most MAX_WORDS words are read, the first and the last of a long message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.intake.classifier import message_text

MAX_WORDS: Final = 240
_TAIL_WORDS: Final = 80
_STEM_CHARS: Final = 4
_SHORT_WORDS: Final = 4
_LENGTHS: Final = (3, 6, 10, 15, 25, 40, 70)

RULE: Final = "rule: question"
_UNSPACED_END: Final = "\ud7af"
_UNSPACED: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(
    rf"<[a-z]+>|[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+(?:'[^\W\d_{_UNSPACED}]+)?|\d+|[{re.escape(message_text.MARKS)}]+|[!！]+|[^\w\s]"
)
_MARKS: Final = {**dict.fromkeys(message_text.MARKS, "?"), "!": "!", "！": "!"}
_AT = re.compile(r"(?<!\w)@[\w-]+")


def features(words: Sequence[str], *, asks: bool = False) -> frozenset[str]:
    """Return the n-grams of a message, of one to three words.

    `^` and `$` stand for its ends, `work*` for a word that begins so, `>6` for a message of more than six words, and
    RULE for a message that the word lists call a question (`asks`).

    >>> sorted(features(["does", "<code>", "work", "?"]))[:6]
    ['$', '<code>', '<code> work', '<code> work ?', '>3', '?']
    """
    text = ["^", *words, "$"]
    seconds = text[1:]
    found = set(text)
    found.update([f"{one} {two}" for one, two in zip(text, seconds, strict=False)])
    found.update([f"{one} {two} {three}" for one, two, three in zip(text, seconds, text[2:], strict=False)])
    found.update([word[:_STEM_CHARS] + "*" for word in words if len(word) > _STEM_CHARS and word[0] != "<"])
    length = len(words) - sum([_UNSPACED[0] <= word <= _UNSPACED_END for word in words]) // 2
    found.update([f">{least}" for least in _LENGTHS if length > least])
    if asks:
        found.add(RULE)
    return frozenset(found)


def words_of(content: str) -> list[str]:
    """Return the words of visible text in small letters, with placeholders for what is not its writer's.

    >>> words_of("<@U1> Does `f()` work 100%??")
    ['<at>', 'does', '<code>', 'work', '0', '%', '?']
    """
    text = message_text.with_placeholders(content).lower()
    if "@" in text:
        text = _AT.sub(" <at> ", text)
    words = ["0" if word.isdigit() else _MARKS.get(word[0], word) for word in _WORD.findall(text)]
    return words if len(words) <= MAX_WORDS else [*words[: MAX_WORDS - _TAIL_WORDS], *words[-_TAIL_WORDS:]]


def is_short(words: Sequence[str]) -> bool:
    """Tell whether a message has too few words of its own to be weighed.

    >>> is_short(["is", "it", "up", "?"]), is_short(["what", "is", "the", "port", "of", "<code>", "?"])
    (True, False)
    """
    if len(words) > 4 * _SHORT_WORDS:
        return False
    spoken = [word for word in words if word[0].isalnum()]
    return len(spoken) - sum([_UNSPACED[0] <= word <= _UNSPACED_END for word in spoken]) // 2 <= _SHORT_WORDS
