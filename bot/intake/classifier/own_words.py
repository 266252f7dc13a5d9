"""Extracts the writer's own words from a message: without code, quoted lines, links, mentions and channels.

Pure functions over Slack's mrkdwn. Every pattern is linear, also on 40,000 hostile characters.
Source: Slack escapes & < > as entities and writes <@U1>, <#C1|name>, <!here>, <https://…|label>.
"""

from __future__ import annotations

import re
from typing import Final

from bot.domain.text.linear_patterns import LinearPattern

# Blocks that hold all of Unicode's Extended_Pictographic, plus flags; over-wide only where no letter or digit lives.
_EMOJI: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff\U0001fc00-\U0001fffd"
)
MARKS: Final = "?？؟\u037e⁇⁈‽"
PICTURE: Final = rf"(?:[{_EMOJI}]|[0-9#*]\x{{20e3}}|:[^\s:]{{1,100}}:|[:;=][-']?[()DdPp3/|]|<3)"
"""An emoji, a shortcode or a smiley, for RE2 too."""

GAP: Final = rf"(?:[\s,.!~…、。！，;:&()/*_`}}\]」』】）》>\"'“”‘’«»‹›-]|{PICTURE})"
"""A character or picture that may stand around words that make a whole message, or behind a question mark; for RE2."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]+"
)
_NOISE = re.compile(
    r"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)"
    r"|(?P<quote>^[ \t]*+(?:(?:>|&gt;){3}.*|(?:>|&gt;)[^\n]*))"
    r"|(?P<at><(?:@(?P<user>[UW][A-Z0-9]+)(?:\|[^<>\n]*)?|[@#!][^<>\n]*)>)"
    r"|(?P<link><[a-zA-Z][a-zA-Z0-9+.-]{0,20}:[^<>\n]*>|[a-zA-Z]{2,12}://[^\s<>\u3000-\u9fff\uff00-\uffef]+)",
    re.DOTALL | re.MULTILINE,
)
_PLAIN: Final = str.maketrans({"’": "'", "\u00a0": " ", "\u3000": " "})
_BLANKS = re.compile(r"[^\S\n]+")
_NAMES = re.compile(r"<[@#!][^<>\n]*>")
_CHANNEL = re.compile(r"<#\w+(?:\|([^<>|\n]*))?>")
_TECHNICAL = re.compile(r"[`<>{}=\\/_@]|\w[.:]\w|[a-z][A-Z]|\w\(|--\w")
_ONLY_PICTURES = LinearPattern(rf"^(?:\s|{PICTURE})+$")


def visible_text(content: str) -> str:
    """Return the content without zero-width characters and skin tones, with plain apostrophes and blanks.

    >>> visible_text("how\u200b do I, it’s")
    "how do I, it's"
    """
    if content.isascii():
        return content
    return _INVISIBLE.sub("", content).translate(_PLAIN)


def own_words(text: str, *, is_marked: bool = False) -> str:
    """Return visible text, lower-cased, without code, quoted lines, links and mentions; runs of blanks are one.

    `is_marked`: with `<code>`, `<quote>`, `<link>` or `<at>` in place of each.

    >>> own_words("Why <@U1>? See <https://x.io/?a|docs> or `f?`")
    'why ? see or '
    >>> own_words("Why <@U1>? See https://x.io/?a or `f?`", is_marked=True)
    'why <at> ? see <link> or <code> '
    """
    if "<" in text or "`" in text or "&" in text or ">" in text or "://" in text:
        text = unescape(_NOISE.sub(_mark if is_marked else " ", text))
    return _BLANKS.sub(" ", text).lower()


def _mark(noise: re.Match[str]) -> str:
    return f" <{noise.lastgroup}> "


def mentioned_ids(text: str) -> tuple[str, ...]:
    """Return the people whom a text mentions in its writer's own words, each once.

    >>> mentioned_ids("<@U1> and <@U1|ann>\\n> Ann: <@U2> see `<@U3>`")
    ('U1',)
    """
    return tuple(dict.fromkeys(noise["user"] for noise in _NOISE.finditer(text) if noise["user"]))


def unescape(text: str) -> str:
    """Undo Slack's three escapes, `&amp;` last."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def without_names(text: str) -> str:
    """Return the text with mentions of people, groups and channels blanked out, unescaped and trimmed."""
    return unescape(_NAMES.sub(" ", text)).strip()


def chatted(content: str) -> str | None:
    """Return content in small letters, channels named; None if it holds code, a link, a path, an identifier or a name.

    >>> chatted("who broke `main`?"), chatted("is app.py ok?"), chatted("Rename <#C1|random>?")
    (None, None, 'rename #random?')
    """
    said = _CHANNEL.sub(r"#\1", content)
    return None if _TECHNICAL.search(said) else said.lower()


def is_only_emoji(text: str) -> bool:
    """Tell whether trimmed text is nothing but emoji, shortcodes and smileys.

    >>> is_only_emoji(":+1::skin-tone-2: 🎉"), is_only_emoji("ok 🎉"), is_only_emoji("")
    (True, False, False)
    """
    return _ONLY_PICTURES.is_in(text)
