"""What somebody typed after `/triage`, word by word: words that steer are cleaned, words that are said are kept.

People paste commands from documents and chats, so that a steering word may come in any case, in quotes or backticks,
with a slash, with hidden characters, or as Slack writes people and channels (`<#C1|shop>`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot.domain.text.sanitize import strip_hidden

_WORD: Final = re.compile(r"\S+")
_NAMED: Final = re.compile(r"<[@#!](?:[^<>|\s]*)\|([^<>\s]+)>|<([@#!][^<>|\s]*)>")
_WRAPPING: Final = "`'\"´‘’“”„‚«»‹›"
_ENTITIES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_OWN_NAMES: Final = frozenset({"triage", "/triage", "/"})
_PAIRS: Final = {"`": "`", '"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»"}


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandLine:
    """A typed line. `words` are cleaned, in their own case; `text` is the line without the bot's own name."""

    text: str
    words: tuple[str, ...]

    def word(self, place: int) -> str:
        """Return the cleaned word at a place, in lower case; "" where there is none."""
        return self.words[place].lower() if place < len(self.words) else ""

    def words_after(self, count: int) -> str:
        """Return what was typed after so many words, as it was typed: its quotes, blanks and lines are its own.

        >>> read_line("investigate  Why “five”?").words_after(1)
        'Why “five”?'
        """
        found = list(_WORD.finditer(self.text))
        return self.text[found[count].start() :].strip() if count < len(found) else ""

    def without_first(self) -> CommandLine:
        """Return the line without its first word.

        >>> read_line("payments  Heartbeat run shop").without_first()
        CommandLine(text='Heartbeat run shop', words=('Heartbeat', 'run', 'shop'))
        """
        return CommandLine(text=self.words_after(1), words=self.words[1:])


def read_line(typed: object) -> CommandLine:
    """Return what was typed; anything but text is an empty line. Nothing is left out of `text` but wrapping and name.

    >>> read_line("`/Triage  Heartbeat\u00a0RUN <#C1|shop>`").words
    ('Heartbeat', 'RUN', 'shop')
    """
    text = _unwrapped(_unescaped(typed.strip()) if isinstance(typed, str) else "")
    while (first := _WORD.match(text)) and clean_word(first[0]).lower() in _OWN_NAMES | {""}:
        text = text[first.end() :].lstrip()
    return CommandLine(text=text, words=tuple(clean_word(word[0]) for word in _WORD.finditer(text)))


def clean_word(word: str) -> str:
    """Return a steering word without what it may be wrapped in; "" where nothing is left.

    >>> clean_word("“Status”,"), clean_word("/help"), clean_word("<@U1|ana>"), clean_word("<#C1>"), clean_word("```")
    ('Status', 'help', 'ana', 'C1', '')
    """
    bare = strip_hidden(word)[0].strip(_WRAPPING)
    if named := _NAMED.fullmatch(bare.rstrip(".,;:")):
        return str(named[1] or named[2][1:])
    return bare.rstrip(_WRAPPING + ".,;:").removeprefix("/") if bare != "/" else ""


def _unescaped(text: str) -> str:
    """Undo Slack's three escapes, `&amp;` last; half characters, which no file can hold, are replaced."""
    text = text.encode("utf-8", "replace").decode()
    for entity, plain in _ENTITIES:
        text = text.replace(entity, plain)
    return text


def _unwrapped(text: str) -> str:
    """Return a line without the one pair of quotes or backticks around all of it."""
    for fence in ("```", "`"):
        if len(text) > 2 * len(fence) and text.startswith(fence) and text.endswith(fence):
            inner = text[len(fence) : -len(fence)]
            if "`" not in inner:
                return inner.strip()
    if len(text) > 2 and _PAIRS.get(text[0]) == text[-1] and not set(text[1:-1]) & {text[0], text[-1]}:
        return text[1:-1].strip()
    return text
