"""Whether a value that stands where a credential is expected looks like one.

Pure. Each function looks at the first characters of a value only, so that a long one costs no more than a short one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

JUDGED_CHARS: Final = 256
_MIN_PASSWORD_CHARS: Final = 4
_MAX_PASSWORD_CHARS: Final = 128
_MIN_DIGITS: Final = 6

_PLACEHOLDER: Final = re.compile(
    r"(?i)^[<{(\[$%&*!@|\\]|\$\{|\{\{|%\(|\{[a-z_.]{1,64}\}|\*{3}"
    r"|x{4}|\.{3}|\[redacted|example|sample|dummy|change_?me|placeholder|your[_-]|my[_-]|redacted|\u2026"
    r"|\]\{|\\[bdsw]"
    r"|^(?:user|pass|passwort|password|passwd|pwd|secret|token|none|null|true|false|undefined|nil)[:;,.?]?$"
)
_WORDS: Final = re.compile(r"[A-Za-z]{1,64}(?:[._/:-]{1,4}[A-Za-z]{1,64}){0,16}[0-9]?")
_LETTERS: Final = re.compile(r"[^\W\d_]{1,64}(?:[._/:-]{1,4}[^\W\d_]{1,64}){0,16}[?!.:]{0,3}")
_CODE: Final = re.compile(
    r"[A-Za-z_$][\w$]{0,64}(?:(?:\.|->|::)[A-Za-z_$][\w$]{0,64}){1,16}[?!;]?|[a-z_][a-z0-9_.-]{0,64}(?:/[a-z0-9_.-]{1,64}){1,16}"
)
_PATH: Final = re.compile(r"(?:[~.]{0,2}|[A-Za-z]:)[/\\]|[a-z][a-z0-9+.-]{1,20}://")
_WEB_PATH: Final = re.compile(r"[~.]{0,2}/(?:[a-z][a-z0-9_.-]{1,40}[/?]){1,8}|[a-z][a-z0-9+.-]{1,20}://")
_OF_A_NAME: Final = re.compile(r"(?i)pass|pwd|secret|token|key\d?$|auth|cred|arg|param|value|field|str|hash|salt")
_HUMP: Final = re.compile(r"[A-Z]{1,64}(?![a-z])|[A-Z]?[a-z]{1,64}")
_MIN_HUMPS: Final = 5
_CHARS_OF_A_WORD: Final = 2.6
_SYMBOLS: Final = frozenset("!#$%&*+-=?@^~.:_/|")
_STRONG_SYMBOLS: Final = frozenset("!#$%&*?@^~")


def is_placeholder(value: str) -> bool:
    """Whether a value only says where one belongs.

    >>> is_placeholder("${DB_PASSWORD}"), is_placeholder("<token>"), is_placeholder("hunter2")
    (True, True, False)
    """
    return bool(_PLACEHOLDER.search(value[:JUDGED_CHARS]))


def is_random(value: str, min_bits: float) -> bool:
    """Whether a value is neither a placeholder, a word, a name nor a path, and has `min_bits` of entropy a character.

    >>> is_random("f3A9c07b21De88aa", 3.0), is_random("settings.slack_token", 3.0)
    (True, False)
    """
    value = value[:JUDGED_CHARS]
    if is_placeholder(value) or _CODE.fullmatch(value) or _WEB_PATH.match(value):
        return False
    if _WORDS.fullmatch(value) and not _has_short_humps(value):
        return False
    letters, digits = re.search("[A-Za-z]", value), re.search("[0-9]", value)
    return bool(letters and digits) and bits_per_char(value) >= min_bits


def is_password(value: str, *, is_bare: bool, is_prose: bool = False) -> bool:
    """Whether a value may be what a person or a program chose as a password.

    Args:
        value: What stands behind a name for a password.
        is_bare: It stands without quotes, where code names variables.
        is_prose: It stands in a sentence, where most words are no passwords.

    >>> is_password("hunter2", is_bare=True), is_password("self.password", is_bare=True)
    (True, False)
    """
    if not _MIN_PASSWORD_CHARS <= len(value) <= _MAX_PASSWORD_CHARS:
        return len(value) > _MAX_PASSWORD_CHARS and is_random(value, 3.0)
    if is_placeholder(value) or _LETTERS.fullmatch(value) or _PATH.match(value):
        return False
    if value.isdigit():
        return len(value) >= _MIN_DIGITS
    if is_bare and (_CODE.fullmatch(value) or _OF_A_NAME.search(value)):
        return False
    has_digit = any(map(str.isdigit, value))
    is_mixed = has_digit and any(map(str.isalpha, value))
    return is_mixed or (
        not is_prose and not is_bare and any(map(str.isalpha, value)) and not _SYMBOLS.isdisjoint(value)
    )


def is_strong(value: str) -> bool:
    """Whether a word of a sentence mixes letters, digits and a symbol that no name or version holds.

    >>> is_strong("Winter#2025"), is_strong("utf-8"), is_strong("log4j#2")
    (True, False, False)
    """
    inner = value[:JUDGED_CHARS].rstrip(".?!:")
    kinds = [any(map(test, inner)) for test in (str.isupper, str.islower, str.isdigit)]
    has_symbol = not _STRONG_SYMBOLS.isdisjoint(value[1:])
    return has_symbol and sum(kinds) + (len(inner) > _MIN_DIGITS + 3) >= 3 and is_password(value, is_bare=True)


def _has_short_humps(value: str) -> bool:
    """Whether capitals stand in letters as by chance: the words of a name in camel case are longer.

    >>> _has_short_humps("keyQTsjNuAGlKTDv6"), _has_short_humps("getUserByIdFromDbOrNull")
    (True, False)
    """
    humps = _HUMP.findall(value)
    return len(humps) >= _MIN_HUMPS and sum(map(len, humps)) < _CHARS_OF_A_WORD * len(humps)


def bits_per_char(value: str) -> float:
    """Return the Shannon entropy of a text's characters, in bits."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
