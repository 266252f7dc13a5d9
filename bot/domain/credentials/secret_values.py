"""The one rule for what follows a telling name: it is a credential unless it is one of a few things known as a whole.

Those are: nothing, a reference (`${X}`, `{{ x }}`, `os.environ["X"]`), a type, a constant, a word of the short list in
secret_values.yml, the name of a credential itself, and a sentence. Where only a sentence joins name and value, the
value must not look like a word of one. No first character and no part of a value excuses it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final, NamedTuple

from bot.domain.tables import Parts, WordSet, fill, read_table

JUDGED_CHARS: Final = 256
MIN_CHARS: Final = 4
_MIN_ISSUED_CHARS: Final = 8
_MIN_GENERATED_CHARS: Final = 8
_MIN_MIXED_CHARS: Final = 10
_MIN_BITS: Final = 3.0
_MIN_DIGITS: Final = 6
_MIN_KINDS_OF_CHAR: Final = 3
_MIN_PHRASE_WORDS: Final = 3
_MAX_WORDS: Final = 12
_SYMBOLS: Final = frozenset("!#$%&*?@^~")


class _SecretValuesTable(NamedTuple):
    parts: Parts
    of_sentences: WordSet


_LISTS: Final = read_table(__file__, "secret_values.yml", _SecretValuesTable)
_HOLES: Final = re.compile(fill("{HOLE}", _LISTS.parts))
_HOLE_BEGINS: Final = re.compile(r"[$#%<{\[]")
_LISTED: Final = re.compile(
    fill(r"(?i)[\[(<{$@:*&?!%_-]{0,3}(?:{WORD}[-_ .:/]{0,3}){1,6}\d{0,2}[-_.:;,!?\])>}]{0,3}", _LISTS.parts)
    + r"|[xX*.\u2022\u2026_#?-]{3,}|<?your[-_ ].{0,80}"
)
_NAME: Final = re.compile(
    fill(r"(?=.{1,80}?(?:[_-]|(?=[A-Z]))(?i:{CREDENTIAL})$)", _LISTS.parts)
    + r"[A-Za-z][a-z]{0,30}(?:[_-][A-Za-z]?[a-z]{1,30}|[A-Z][a-z]{1,30}){1,4}|[A-Z]{2,30}(?:_[A-Z]{1,30}){1,6}"
)
_TYPE: Final = re.compile(r"[A-Za-z]\w{0,64}(?:\[[\w, .|\[\]]{1,80}\]|\(\d{1,5}\))")
_REFERENCE: Final = re.compile(
    r"(?:os\.|process\.)?(?:env|environ|getenv|ENV|secrets|vault|var|local|data|each|self|this|cls|settings|config"
    r"|params|props|opts|options|args|ssm|ref|System)(?:\.[\w.]{1,100}|[(\[][^\n]{0,200}[)\]])"
    r"|[a-z]+(?:_[a-z]+)+(?:\.[a-z_]{1,40}){1,5}|(?:arn|urn):[\w:/*.-]+|[a-z][a-z0-9+.-]{1,20}://[^\s@]{1,200}|(?:[~.]{0,2}|[A-Za-z]:)(?:[/\\\\][a-z0-9_.?=&-]{1,40}){2,16}|!(?:Ref|Sub|GetAtt|vault|reference|ImportValue|env|secret)\b.*|\*[a-z][a-z_-]{1,60}|--?[a-z][a-z-]{1,40}"
)
_STAND_IN: Final = re.compile("|".join(f"(?:{one.pattern})" for one in (_NAME, _TYPE, _REFERENCE)))
_NATURAL: Final = re.compile(r"[^\W\d_]{1,17}(?:[._/:'\u2019-]{1,3}[^\W\d_]{1,17}){0,2}")
_DATA_PATH: Final = re.compile(
    r"[A-Za-z_$][\w$]{0,64}(?:(?:\.|->|::)[A-Za-z_$][\w$]{0,64}){1,16}|[~.]{0,2}/?[a-z][a-z0-9_.-]{0,64}(?:/[a-z0-9_.-]{1,64}){1,16}/?"
    r"|[a-z]+(?:_[a-z]+)+(?:\.[a-z_]{1,40}){1,5}|(?:arn|urn):[\w:/*.-]+|[a-z][a-z0-9+.-]{1,20}://.*|[A-Za-z]{1,64}(?:[._/:-]{1,4}[A-Za-z]{1,64}){0,16}[0-9]?"
)
_CAMEL: Final = re.compile(
    r"(?:[A-Z]{2,5}|[a-z]{1,15})?(?:[A-Z][a-z]{2,14}|[A-Z][a-z]?\d{1,3}|By|Id|Of|To|In|On|Is|As|Or|At|No|Db|Up){1,10}"
    r"(?:[A-Z]{2,4}(?:[A-Z][a-z]{2,14}){0,4})?"
)
_HAS_HUMPS: Final = re.compile("[a-z][A-Z]|[A-Z]{2}[a-z]")
_PART: Final = re.compile(r"[^\W_]+")
_AROUND_HOLES: Final = re.compile(r"[\w\s./:?&=,'\"`()@+-]*")
_IN_CODE: Final = re.compile(r"[\s(]")
_SHORT_PART: Final = re.compile(r"[A-Za-z][a-z]{0,14}\d?|[A-Z]{1,15}")
_PUNCTUATION: Final = " \t()[]{}\"'`,.;:!?*"


def is_value(value: str, kind: str) -> bool:
    """Whether what follows a telling name is a credential of its kind.

    >>> [is_value(value, "password") for value in ("hunter", "${X}", "changeme", "$kq2Lz9!pW", "set it in the vault")]
    [True, False, False, True, False]
    """
    shown = value[:JUDGED_CHARS].strip()
    min_chars = MIN_CHARS if kind in {"password", "secret"} else _MIN_ISSUED_CHARS
    if shown.isdigit():
        min_chars = max(min_chars, _MIN_DIGITS)
    if len(shown) < min_chars or is_stand_in(shown):
        return False
    return not is_sentence(shown) if any(map(str.isspace, shown)) else True


def is_said(value: str, kind: str) -> bool:
    """Whether a word of a sentence about a credential is that credential: no plain word and no small number.

    >>> [is_said(value, "password") for value in ("wrong", "hunter2", "correct-horse-battery-staple", "12345")]
    [False, True, True, False]
    """
    shown = value[:JUDGED_CHARS].rstrip(_PUNCTUATION)
    if kind != "password" or not shown.isascii():
        return looks_generated(shown) and is_value(shown, kind)
    if is_plain(shown):
        return False
    return is_value(shown, kind)


def looks_generated(value: str) -> bool:
    """Whether a value that no telling name stands before looks as if drawn by chance.

    >>> [looks_generated(value) for value in ("f3A9c07b21De88aa", "Winter#2025", "utf8mb4", "settings.slack_token")]
    [True, True, False, False]
    """
    shown = value[:JUDGED_CHARS].rstrip(".?!:")
    if len(shown) < _MIN_GENERATED_CHARS or _IN_CODE.search(shown) or is_stand_in(shown):
        return False
    if shown.isalpha():
        return shown.isascii() and not is_plain(shown)
    letters, digits = (any(map(test, shown)) for test in (str.isalpha, str.isdigit))
    kinds = [any(map(test, shown)) for test in (str.isupper, str.islower, str.isdigit)]
    if not _SYMBOLS.isdisjoint(shown[1:]) and sum(kinds) + (len(shown) >= _MIN_MIXED_CHARS) >= _MIN_KINDS_OF_CHAR:
        return letters
    is_mixed = letters and digits and len(shown) >= _MIN_MIXED_CHARS and not is_plain(shown)
    return is_mixed and not _DATA_PATH.fullmatch(shown) and _bits_per_char(shown) >= _MIN_BITS


def is_sentence(text: str) -> bool:
    """Whether several words tell about a credential instead of being one, as the words of a passphrase are.

    >>> is_sentence("the password of the shop"), is_sentence("correct horse battery staple")
    (True, False)
    """
    words = [word for word in (each.strip(_PUNCTUATION) for each in text.split(None, _MAX_WORDS)[:_MAX_WORDS]) if word]
    plain = [word for word in words if _NATURAL.fullmatch(word)]
    if 2 * len(plain) < len(words):
        return False
    is_short = len(words) < _MIN_PHRASE_WORDS or any(len(word) <= 2 for word in plain)
    return is_short or any(word.lower() in _LISTS.of_sentences or _LISTED.fullmatch(word) for word in plain)


def is_plain(word: str) -> bool:
    """Whether a word may be one of a language, or a name in camel case.

    >>> [is_plain(word) for word in ("state-of-art", "ListTemplates", "qivhczzravqpyzkpyqml", "VimzDMekOFAdAPjqZrEg")]
    [True, True, False, False]
    """
    bare = word.strip(_PUNCTUATION)
    return bool(_CAMEL.fullmatch(bare) if _HAS_HUMPS.search(bare) else _NATURAL.fullmatch(bare))


def is_stand_in(value: str) -> bool:
    """Whether a text is listed, a type, a name for a credential or a reference; around its holes are short words."""
    if _LISTED.fullmatch(value) or _STAND_IN.fullmatch(value):
        return True
    rest = _HOLES.sub(" ", value) if _HOLE_BEGINS.search(value) else value
    return (
        rest != value and bool(_AROUND_HOLES.fullmatch(rest)) and all(map(_SHORT_PART.fullmatch, _PART.findall(rest)))
    )


def _bits_per_char(value: str) -> float:
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
