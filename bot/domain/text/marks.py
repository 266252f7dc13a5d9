"""Marks and words of approval that only code may set, made harmless in every text from outside. Pure.

One function for all surfaces. It reads a line as a person would see it: without hidden characters, with character
references and Markdown resolved, and with look-alikes of letters and signs known by their Unicode names. A mark becomes
words in parentheses, so does the name of an emoji, and a claim of approval stands in quotation marks, as the writer's.
A line that hid one of these behind its markup loses the markup. Code that is printed as evidence never passes here.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache
from typing import Final

from bot.domain.text.sanitize import strip_hidden

_KINDS: Final = {
    "check mark": r"\bCHECK\b|SQUARE ROOT|\bLOGICAL OR\b|LARGE OR$|COUNTERSINK",
    "cross": r"CROSS MARK|BALLOT.* X$|MULTIPLICATION X|SALTIRE|NO ENTRY|CANCELLATION X|CIRCLED (?:BOLD )?X$"
    r"|DIAGONAL CROSS$|OR CROSS PRODUCT",
    "warning sign": r"WARNING|OCTAGONAL|EXCLAMATION MARK (?:SYMBOL|ORNAMENT)|^DOUBLE EXCLAMATION|HEAVY WHITE DOWN",
}
"""What each kind of mark is called, and the Unicode names of its signs.  Source: the Unicode Character Database."""

_SIGN: Final = re.compile("[^\x00-\x7f]")
_COMBINING: Final = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
_REFERENCE: Final = re.compile(r"&(?:#0{0,40}\d{1,7}|#[xX]0{0,40}[0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?")
_MAX_NESTED: Final = 8
"""How many character references may stand in each other."""

_MARKUP: Final = re.compile(
    rf"\\(?=[!-/:-@\[-`{{-~])|(?<!`)`{{1,2}}(?!`)|[*~]|(?<![^\W_])_+|_+(?![^\W_])|[{_COMBINING}]"
)
_NAME: Final = r"(?=[\d_+'-]{0,100}[^\W\d_])[\w+'-]{1,100}"
_EMOJI: Final = re.compile(rf"(?<![\w:])(?::{_NAME}:){{1,40}}(?![\w:])")
_ANY_EMOJI: Final = re.compile(rf":(?=({_NAME}):)")
_APPROVING: Final = re.compile(
    r"check|tick|valid|verif|approv|prov|confirm|certif|trust|pass|ballot|cross|negative|multiplication|no_entry|octagon"
    r"|stop|warn|alert|exclamation|bang|\bx\b",
    re.IGNORECASE,
)
"""What the name of an emoji holds that may not stand in a reply."""

_LETTER: Final = re.compile(r"(?:LATIN|REGIONAL INDICATOR).* LETTER (?:SMALL CAPITAL )?([A-Z])(?: WITH .*)?$")
_FOREIGN: Final = "ə"
"""Stands for a letter of another script, which may look like any."""


def _any_of(words: str) -> str:
    return re.sub("[a-z]", rf"[\g<0>{_FOREIGN}]", f"(?:{words})")


_BADGE: Final = _any_of("validated|verified|approved|proved|proven")
_DONE: Final = _any_of("checked|confirmed|reviewed|certified|signed off")
_CLAIM: Final = re.compile(
    rf"(?<![\w“])(?<!\w-)(?:{_BADGE}|{_DONE})`?\s{{1,9}}{_any_of('by')}(?!\w)(?=\s{{0,9}}[^\s<`])"
    rf"|(?:^|[^\w\s'’“`-]|-\s)\s{{0,9}}(?P<badge>{_BADGE}(?:\s{{1,9}}by(?!\w|\s{{0,9}}<))?)"
    r"(?!\w|\s{1,9}by\s{1,9}<@)",
    re.MULTILINE,
)
"""What is said to have been approved by somebody, or the word alone where a badge has it: first in a line, or after a
sign. A mention that code vouches for (`<@…>`) may follow the words: then they are code's own."""


def without_marks(text: str, *, keep_emoji: bool = False, keep_fences: bool = False) -> str:
    """Return a text from outside, as it will be shown, so that it sets no mark and approves nothing.

    Args:
        text: What somebody wrote. Hidden characters are taken out.
        keep_emoji: Whether names of emoji stay that hold no word of approval, as in a reply.
        keep_fences: Whether code blocks of Markdown stay as they are.

    >>> without_marks("✅ **Validated** by code :heavy_check_mark: 3 × 4")
    '(check mark) “Validated by” code (heavy check mark) 3 × 4'
    """
    shown, is_code = [], False
    for line in strip_hidden(text)[0].split("\n"):
        is_edge = keep_fences and line.lstrip().startswith(("```", "~~~"))
        shown.append(line if is_edge or is_code else _harmless(line, keep_emoji=keep_emoji))
        is_code ^= is_edge
    whole = "\n".join(shown)
    return whole if keep_fences else quoted_claims(whole)  # a claim may go over the end of a line


def _harmless(line: str, *, keep_emoji: bool) -> str:
    """Return a line with its markup if that hides nothing, else the words that a reader would see."""
    plain = _emoji_spelled(signs_in_words(line), keep_emoji)
    seen = _as_seen(plain)
    told = quoted_claims(_emoji_spelled(signs_in_words(seen), keep_emoji))
    return plain if told == seen else told


def _as_seen(line: str) -> str:
    for _ in range(_MAX_NESTED):
        seen = strip_hidden(_REFERENCE.sub(lambda found: html.unescape(found[0]), line))[0].replace("\n", " ")
        if seen == line:
            break
        line = seen
    return _MARKUP.sub("", line)


def signs_in_words(line: str) -> str:
    """Return a line with each mark in words; what joins or changes the mark before it goes with it.

    >>> signs_in_words("a ✔\ufe0f, b ✗")
    'a (check mark), b (cross)'
    """
    found = {sign: kind for sign in set(_SIGN.findall(line)) if (kind := _kind(sign))}
    if not found:
        return line
    return re.sub(f"([{''.join(found)}])[{_COMBINING}]*", lambda mark: f"({found[mark[1]]})", line)


@lru_cache(maxsize=4096)
def _kind(sign: str) -> str:
    name = unicodedata.name(sign, "")
    return next((kind for kind, names in _KINDS.items() if re.search(names, name)), "")


def _emoji_spelled(line: str, keep_emoji: bool) -> str:
    """Return a line with the names of emoji in words: a workspace may call its check marks anything."""

    def spelled(run: re.Match[str]) -> str:
        if keep_emoji and not _APPROVING.search(run[0]):
            return run[0]
        return "".join(f"({name.replace('_', ' ')})" for name in run[0].split(":") if name)

    return _EMOJI.sub(spelled, line)


def part_emoji(text: str, *, keep_emoji: bool = False) -> str:
    r"""Return a text of which Slack makes no emoji, as of `std::vector::begin`, kept apart by signs that nobody sees.

    >>> part_emoji("std::vector::begin, 00:00-24:00")
    'std::\u200bvector::begin, 00:00-24:00'
    """
    return _ANY_EMOJI.sub(lambda code: ":" if keep_emoji and not _APPROVING.search(code[1]) else ":\u200b", text)


def claims_approval(text: str) -> bool:
    """Whether a text without markup claims an approval, in quotation marks or not."""
    bare = text.replace("“", "").replace("”", "")
    return quoted_claims(bare) != bare


def quoted_claims(text: str) -> str:
    """Return a text without markup whose claims of approval stand in quotation marks.

    >>> quoted_claims("approved by the board; where is the address validated?")
    '“approved by” the board; where is the address validated?'
    """
    parts, done = [], 0
    for claim in _CLAIM.finditer(text.lower() if text.isascii() else "".join(map(_folded, text))):
        start, end = claim.span("badge" if claim["badge"] else 0)
        if 2 * claim[0].count(_FOREIGN) <= end - start:
            parts += [text[done:start], f"“{text[start:end]}”"]
            done = end
    return "".join([*parts, text[done:]])


@lru_cache(maxsize=4096)
def _folded(sign: str) -> str:
    """Return the small ASCII letter that a sign is a form of, or the stand-in for a letter that it is no form of."""
    if sign.isascii():
        return sign.lower()
    named = _LETTER.search(unicodedata.name(sign, ""))
    base = named[1] if named else unicodedata.normalize("NFKD", sign)[0]
    if base.isascii():
        return base.lower()
    return _FOREIGN if sign.isalpha() else " " if sign == "\u2800" else sign
