"""Credentials that only what stands beside them gives away: a name, a flag of a command, a header, the place in a URL.

Pure. A value is judged by the kind of its name, by where it stands and by how random it looks: a password may be short,
a token not, and a word of a sentence is neither. Every repeat of a pattern is bounded, or reads each character once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from bot.domain.credentials.secret_forms import Span
from bot.domain.credentials.secret_values import JUDGED_CHARS, is_password, is_random
from bot.domain.tables import Alternatives, Parts, Pattern, WordSet, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern

_MIN_BITS: Final = 2.7
_MIN_BARE_BITS: Final = 3.0
_MIN_BESIDE_BITS: Final = 3.3
_MIN_CHARS: Final = 8
_MIN_BARE_CHARS: Final = 10
_MIN_BESIDE_CHARS: Final = 18
_CONTEXT_CHARS: Final = 100


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
_OPENING: Final = re.compile(r"[rbfRBF]?(\\?['\"`])")
_QUOTED_RUN: Final = re.compile(r"[^\s'\"`\\]*+")
_BARE_RUN: Final = re.compile(r"[^\s'\"`,;(){}\[\]<>\\\u3002\uff0c]*+")
_QUERY_END: Final = re.compile(r"&[\w.-]{1,40}=")
# What stands before a name whose value may follow after a space alone: a flag, or a word of a command.
_FLAG: Final = re.compile(r"(?:^|[\s'\"])--?[\w-]{0,40}$")
_SETTING: Final = re.compile(r"\b(?:ENV|ARG|setx)[ \t][^\n]{0,60}$")


def named(text: str) -> Iterator[Span]:
    """Yield where a credential stands behind a name for one."""
    runs = _Runs(text)
    for start, end in _STEMS.spans(text):
        kind = _kind_of(text, start, end)
        suffix = _LISTS.suffix.match(text, end) if kind else None
        if kind and suffix:
            yield from _behind(text, runs, kind, start, suffix.end())


def _behind(text: str, runs: _Runs, kind: str, start: int, end: int) -> Iterator[Span]:
    for joint, pattern in _JOINTS:
        match = pattern.match(text, end)
        value = runs.value_at(match.end()) if match else None
        if value and value.end > value.start and _is_secret(text, kind, joint, start, value):
            yield Span(value.start, value.end, kind)
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
