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
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_ANGLED: Final = r"<(?:[@#!]|[a-zA-Z][a-zA-Z0-9+.-]{0,20}:)[^<>\n]*>"
_ANGLES = re.compile(_ANGLED)
_NOISE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]+`"
    r"|^[ \t]*+(?:>|&gt;){3}.*|^[ \t]*+(?:>|&gt;)[^\n]*"
    rf"|{_ANGLED}"
    r"|[a-zA-Z]{2,12}://[^\s<>\u3000-\u9fff\uff00-\uffef]+",
    re.DOTALL | re.MULTILINE,
)
_PLAIN: Final = str.maketrans({"’": "'", "\u00a0": " ", "\u3000": " "})
_OPENING = re.compile(r"(?<!\w)¿ ?\w")
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


def own_words(text: str) -> str:
    """Return visible text, lower-cased, without code, quoted lines, links and mentions; runs of blanks are one.

    >>> own_words("Why <@U1>? See <https://x.io/?a|docs> or `f?`")
    'why ? see or '
    """
    if "<" in text or "`" in text or "&" in text or ">" in text or "://" in text:
        text = unescape(_noise_of(text).sub(" ", text))
    if "  " in text or "\t" in text:
        text = _BLANKS.sub(" ", text)
    return text.lower()


def with_placeholders(text: str) -> str:
    """Return visible text with `<code>`, `<quote>`, `<link>` and `<at>` in place of what is not the writer's own words.

    >>> with_placeholders("Why <@U1>? See https://x.io/?a or `f?`")
    'Why  <at> ? See  <link>  or  <code> '
    """
    if "<" in text or "`" in text or "&" in text or ">" in text or "://" in text:
        return unescape(_noise_of(text).sub(_placeholder, text))
    return text


def _noise_of(text: str) -> re.Pattern[str]:
    """Return what finds the words of others; one line with nothing but mentions is read in less time."""
    has_more = "`" in text or "://" in text or "\n" in text or text.lstrip(" \t").startswith((">", "&gt;"))
    return _NOISE if has_more else _ANGLES


def _placeholder(found: re.Match[str]) -> str:
    noise = found[0].lstrip()
    if noise.startswith("`"):
        return " <code> "
    if noise.startswith((">", "&gt;")):
        return " <quote> "
    return " <at> " if noise.startswith(("<@", "<#", "<!")) else " <link> "


def unescape(text: str) -> str:
    """Undo Slack's three escapes, `&amp;` last."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") if "&" in text else text


def without_code(content: str) -> str:
    """Return the content with fenced and inline code blanked out."""
    return _CODE.sub(" ", content) if "`" in content else content


def without_names(text: str) -> str:
    """Return the text with mentions of people, groups and channels blanked out, unescaped and trimmed."""
    return unescape(_NAMES.sub(" ", text) if "<" in text else text).strip()


def is_technical(content: str) -> bool:
    """Tell whether text holds code, a link, a path, an identifier or somebody's name; a channel is none of these.

    >>> is_technical("who broke `main`?"), is_technical("is app.py ok?"), is_technical("rename <#C1|random>?")
    (True, True, False)
    """
    return _TECHNICAL.search(channels_named(content)) is not None


def channels_named(text: str) -> str:
    """Return text with Slack's references to channels as people read them.

    >>> channels_named("rename <#C1|random>?")
    'rename #random?'
    """
    return _CHANNEL.sub(r"#\1", text) if "<#" in text else text


def opens_a_question(text: str) -> bool:
    """Tell whether a `¿` begins a sentence, closed or not; inside a word it is a broken apostrophe.

    >>> opens_a_question("hola, ¿cómo despliego"), opens_a_question("I don¿t know"), opens_a_question("¿")
    (True, False, False)
    """
    return "¿" in text and _OPENING.search(text) is not None


def is_only_emoji(text: str) -> bool:
    """Tell whether trimmed text is nothing but emoji, shortcodes and smileys.

    >>> is_only_emoji(":+1::skin-tone-2: 🎉"), is_only_emoji("ok 🎉"), is_only_emoji("")
    (True, False, False)
    """
    return not (text[:1].isascii() and text[:1].isalpha()) and _ONLY_PICTURES.is_in(text)
