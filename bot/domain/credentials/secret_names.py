"""Credentials that only what stands beside them gives away: a name, a flag of a command, a header, the place in a URL.

Pure. A value is judged by the kind of its name, by where it stands and by how random it looks: a password may be short,
a token not, and a word of a sentence is neither. Every repeat of a pattern is bounded, or reads each character once.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from bot.domain.credentials.secret_forms import SecretSpan
from bot.domain.tables import Alternatives, Parts, Pattern, WordSet, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern

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
_MIN_BITS: Final = 2.7
_MIN_BARE_BITS: Final = 3.0
_MIN_BESIDE_BITS: Final = 3.3
_MIN_CHARS: Final = 8
_MIN_BARE_CHARS: Final = 10
_MIN_BESIDE_CHARS: Final = 18
_CONTEXT_CHARS: Final = 100
_OPENING: Final = re.compile(r"[rbfRBF]?(\\?['\"`])")
_QUOTED_RUN: Final = re.compile(r"[^\s'\"`\\]*+")
_BARE_RUN: Final = re.compile(r"[^\s'\"`,;(){}\[\]<>\\\u3002\uff0c]*+")
_QUERY_END: Final = re.compile(r"&[\w.-]{1,40}=")
# What stands before a name whose value may follow after a space alone: a flag, or a word of a command.
_FLAG: Final = re.compile(r"(?:^|[\s'\"])--?[\w-]{0,40}$")
_SETTING: Final = re.compile(r"\b(?:ENV|ARG|setx)[ \t][^\n]{0,60}$")


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


class _Joint(StrEnum):
    """What stands between a name and its value."""

    ASSIGNED = "assigned"
    CALLED = "called"
    ELEMENT = "element"
    PAIRED = "paired"
    SAID = "said"
    BESIDE = "beside"


class _Value(NamedTuple):
    start: int
    end: int
    is_quoted: bool


class _Between(NamedTuple):
    joint: _Joint
    pattern: Alternatives


class _SecretNamesTable(NamedTuple):
    stems: Alternatives
    short: WordSet
    of_keys: Alternatives
    of_no_secret: str
    suffix: Pattern
    parts: Parts
    joints: tuple[_Between, ...]


_LISTS: Final = read_table(__file__, "secret_names.yml", _SecretNamesTable)
_STEMS: Final = LinearPattern(_LISTS.stems, ignore_case=True)
_OF_KEYS: Final = re.compile(fill(rf"(?:{_LISTS.of_keys})$", _LISTS.parts), re.I)
_OF_NO_SECRET: Final = re.compile(_LISTS.of_no_secret, re.I)
_JOINTS: Final = [(joint, re.compile(fill(pattern, _LISTS.parts))) for joint, pattern in _LISTS.joints]


def named(text: str) -> Iterator[SecretSpan]:
    """Yield where a credential stands behind a name for one."""
    runs = _Runs(text)
    for start, end, kind in names_in(text):
        yield from _behind(text, runs, kind, start, end)


def names_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where a name for a credential starts and ends, and the kind of that."""
    for start, end in _STEMS.spans(text):
        kind = _kind_of(text, start, end)
        suffix = _LISTS.suffix.match(text, end) if kind else None
        if kind and suffix:
            yield start, suffix.end(), kind


def is_told(value: str, kind: str) -> bool:
    """Whether words, of which the kind was told, are a credential: one word that is no word of a language.

    >>> is_told("Winter2025!", "password"), is_told("at least 8 characters", "password")
    (True, False)
    """
    shown = value[:JUDGED_CHARS]
    if any(map(str.isspace, shown)):
        return False
    if kind == "password":
        return is_password(shown, is_bare=False, is_prose=True)
    return len(shown) >= _MIN_BARE_CHARS and is_random(shown, _MIN_BARE_BITS)


def _behind(text: str, runs: _Runs, kind: str, start: int, end: int) -> Iterator[SecretSpan]:
    for joint, pattern in _JOINTS:
        match = pattern.match(text, end)
        value = runs.value_at(match.end()) if match else None
        if value and value.end > value.start and _is_secret(text, kind, joint, start, value):
            yield SecretSpan(value.start, value.end, kind)
            return


def _kind_of(text: str, start: int, end: int) -> str | None:
    """Return the kind of credential that the stem at `start` names, None if it is part of another word."""
    stem = text[start:end].lower()
    before = text[max(0, start - 1) : start]
    is_inside = before.isalpha() and not (text[start].isupper() and before.islower()) and not before.isupper()
    if stem in {"key", "code", "auth"}:
        return _kind_of_key(text, stem, start, end)
    if stem in _LISTS.short and (is_inside or (before.isupper() and not text[start].isupper())):
        return None
    if stem.startswith(("secur", "secret", "cred")):
        return "secret" if not stem.startswith("secur") else "password"
    if stem == "signature" and before not in {"_", "-", "&", "?"}:
        return None
    if stem.startswith(("token", "bearer", "skey", "_skey", "jwt", "sess", "sid", "sig")):
        return "token"
    return "password"


def _kind_of_key(text: str, stem: str, start: int, end: int) -> str | None:
    before = text[max(0, start - 20) : start]
    if stem == "auth":
        return None if before[-1:].isalnum() else "token"
    if stem == "code":
        return "token" if before[-1:] in {"?", "&"} and text.startswith("=", end) else None
    return "key" if _OF_KEYS.search(before) and not _OF_NO_SECRET.search(before) else None


def _is_secret(text: str, kind: str, joint: _Joint, start: int, value: _Value) -> bool:
    shown = text[value.start : min(value.end, value.start + JUDGED_CHARS)]
    if joint is _Joint.BESIDE and not _may_stand_beside(text, start):
        return value.end - value.start >= _MIN_BESIDE_CHARS and is_random(shown, _MIN_BESIDE_BITS)
    if kind == "password":
        return is_password(shown, is_bare=not value.is_quoted, is_prose=joint is _Joint.SAID)
    if joint is _Joint.SAID or joint is _Joint.BESIDE:
        return len(shown) >= _MIN_BARE_CHARS and is_random(shown, _MIN_BARE_BITS)
    if value.is_quoted or joint is _Joint.PAIRED:
        return len(shown) >= _MIN_CHARS and is_random(shown, _MIN_BITS)
    return len(shown) >= _MIN_BARE_CHARS and is_random(shown, _MIN_BARE_BITS)


def _may_stand_beside(text: str, start: int) -> bool:
    """Whether a name at `start` is a flag or a setting, whose value follows after a space."""
    before = text[max(0, start - _CONTEXT_CHARS) : start]
    return bool(_FLAG.search(before) or _SETTING.search(before))


class _Runs:
    """The runs of characters that may be values, each looked for once however often a name stands inside it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[bool, tuple[int, int]] = {True: (0, 0), False: (0, 0)}

    def value_at(self, start: int) -> _Value | None:
        """Return the value that starts at `start`, in its quotes or without; None where its quotes do not close."""
        opening = _OPENING.match(self._text, start)
        if opening is None:
            end = self._end(start, is_quoted=False)
            if self._text[end : end + 1] in {"(", "["} and end > start:
                return None
            query = _QUERY_END.search(self._text, start, min(end, start + JUDGED_CHARS))
            return _Value(start, query.start() if query else end, is_quoted=False)
        end = self._end(opening.end(), is_quoted=True)
        while self._text.startswith("\\", end) and not self._text.startswith(opening[1], end):
            end = self._end(end + 1, is_quoted=True)
        return _Value(opening.end(), end, is_quoted=True) if self._text.startswith(opening[1], end) else None

    def _end(self, start: int, *, is_quoted: bool) -> int:
        first, last = self._found[is_quoted]
        if not first <= start <= last:
            match = (_QUOTED_RUN if is_quoted else _BARE_RUN).match(self._text, start)
            first, last = self._found[is_quoted] = start, match.end() if match else start
        return last
