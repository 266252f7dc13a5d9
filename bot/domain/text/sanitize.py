"""What a text from outside may not do: hide characters from its reader, or set marks that only code may set. Pure.

Removed are control and format characters, bidirectional overrides, tag characters, variation selectors, and joiners
between ASCII signs; kept are line ends, tabs, the other joiners, which scripts and emoji need, and the selector that
makes a character an emoji. For marks and words of approval a line is read as a person would see it: without hidden
characters, with character references and Markdown resolved, and with look-alikes of letters and signs known by their
Unicode names. A mark becomes words in parentheses, so does the name of an emoji, and a claim of approval stands in
quotation marks, as the writer's. A line that hid one of these behind its markup loses the markup. Code that is printed
as evidence never passes there.
Source: Unicode 16, general categories Cc and Cf, and Default_Ignorable_Code_Point in DerivedCoreProperties.txt.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache
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
