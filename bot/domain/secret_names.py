"""Credentials behind a name that tells what follows: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, “password is …”.

Pure. The names, what joins them to a value, and the places that need no name (a flag of `curl`, a part of a URL) stand
in secret_names.yml. Where a value starts and ends is read here, what it is `secret_values` decides. No name inside a
credential is looked at, and every repeat is bounded, so the time is proportional to the text's length.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache
from typing import Final, NamedTuple

from bot.domain.secret_forms import (
    HOLE,
    JUDGED_CHARS,
    Judge,
    Place,
    SecretSpan,
    forms,
    is_plain,
    is_secret,
    is_sentence,
)
from bot.domain.tables import Alternatives, Parts, Pattern, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern, LinearSet

_BEFORE_CHARS: Final = 120
_NEAR_CHARS: Final = 600
_MAX_VALUE_CHARS: Final = 4_000
_OWNER_CHARS: Final = 13


class _Joint(NamedTuple):
    """What stands between a name and its value, and what that asks of the value."""

    pattern: Alternatives
    judge: Judge = "value"
    sure_after: Pattern | None = None
    cell: Pattern | None = None


class _SecretNamesTable(NamedTuple):
    telling: Alternatives
    hinting: Alternatives
    kinds: dict[str, str]
    of_no_secret: str
    suffix: Pattern
    parts: Parts
    joints: dict[str, _Joint]
    term: Pattern
    code: Alternatives
    words: Pattern
    run_end: Pattern
    block: Pattern
    places: tuple[Place, ...]


class Name(NamedTuple):
    """Where a name for a credential stands, of which kind, and whether it tells that by itself."""

    start: int
    end: int
    kind: str
    is_telling: bool


class _Value(NamedTuple):
    """Where what follows a name stands, and whether quotes are around it."""

    start: int
    end: int
    is_quoted: bool = False


_LISTS: Final = read_table(__file__, "secret_names.yml", _SecretNamesTable)
_STEMS: Final = LinearPattern(f"{fill(_LISTS.telling, _LISTS.parts)}|{_LISTS.hinting}", ignore_case=True)
_TELLING: Final = LinearPattern(fill(_LISTS.telling, _LISTS.parts), ignore_case=True)
_OF_NO_SECRET: Final = re.compile(_LISTS.of_no_secret, re.I)
_JOINTS: Final = re.compile(
    "|".join(f"(?P<{name}>{fill(joint.pattern, _LISTS.parts)})" for name, joint in _LISTS.joints.items())
)
_PLACES: Final = [
    (place, LinearPattern(place.quick), re.compile(fill(place.pattern, _LISTS.parts)))
    for place in (*forms().shapes, *_LISTS.places)
]
_NEEDED: Final = LinearSet("|".join(map(re.escape, place.needles)) or "[^\\x00-\\x{10FFFF}]" for place, _, _ in _PLACES)
"""For each place that has needles, whether a text has one of them."""

_CODE: Final = LinearPattern(f"(?m:{_LISTS.code})")
_OPENING: Final = re.compile(r"[rbfuRBFU@]?(\\?(?:\"\"\"|'''|[\"'`]))")
_CLOSES: Final = r"[\s,;:)}\]>/|.&?\\%+]|$|[\"'`][\s,;)}\]]"
_IN_CODE: Final = re.compile(r"[\s(\[]")
_LINE: Final = re.compile(r"[ \t]*+(?P<bullet>(?:- )?)(?P<value>[^\n]*?)[ \t]*(?:\n|$)")
_RUN: Final = re.compile(r"\S*+")


def names_in(text: str) -> Iterator[Name]:
    """Yield the names for credentials."""
    for start, end in _STEMS.spans(text):
        suffix = _LISTS.suffix.match(text, end)
        if suffix:
            before = text[max(0, start - _OWNER_CHARS) : start]
            yield Name(
                start, suffix.end(), *_kind_of(before, text[start:end].lower(), text[end : suffix.end()].lower())
            )


@lru_cache(1_024)
def _kind_of(before: str, stem: str, suffix: str) -> tuple[str, bool]:
    kind = "key" if stem.endswith("key") else _LISTS.kinds.get(stem, "password")
    return kind, _TELLING.is_in(stem + suffix) and not _OF_NO_SECRET.search(before)


def named(text: str, names: Iterable[Name]) -> Iterator[SecretSpan]:
    """Yield where a credential stands behind one of the names for one."""
    values = _Values(text)
    done = hinted = 0
    for name in names:
        is_new = name.start >= (done if name.is_telling else max(done, hinted))
        match = _JOINTS.match(text, name.end) if is_new else None
        for start, end in values.behind(name, match) if match else ():
            done = end
            yield SecretSpan(start, end, name.kind)
        hinted = hinted if name.is_telling else name.end + JUDGED_CHARS // 2  # what was judged with this name


def placed(text: str) -> Iterator[SecretSpan]:
    """Yield where a credential stands in a place made for one."""
    values, encoded = _Values(text), text.encode()
    needed = frozenset(_NEEDED.found_in(text))
    for number, (place, quick, pattern) in enumerate(_PLACES):
        is_near = (not place.needles or number in needed) and (not place.quick or quick.is_in(encoded))
        for match in pattern.finditer(text) if is_near else ():
            span = match.span("value" if match.groupdict().get("value") else 0)
            is_all = span != match.span() or place.judge == "form"
            value = _Value(*span) if is_all else values.at(match.end())
            if is_secret(values.shown(value), place.kind, place.judge):
                yield SecretSpan(value.start, value.end, place.kind)


class _Values:
    """The values of a text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def shown(self, value: _Value) -> str:
        """Return what is judged of a value: its beginning."""
        return self._text[value.start : min(value.end, value.start + JUDGED_CHARS)]

    def behind(self, name: Name, match: re.Match[str]) -> Iterator[tuple[int, int]]:
        """Yield where the value behind a name and its joint stands, a line at a time, if it is a credential."""
        text, start, kind = self._text, match.end(), match.lastgroup or ""
        joint, before = _LISTS.joints[kind], self._before(name.start)
        block = _LISTS.block.match(text, start) if kind == "assigned" else None
        if block:
            yield from self._block(block, name.kind, len(before) - len(before.lstrip()))
            return
        cell = joint.cell.match(text, start) if joint.cell else None
        value = _Value(*cell.span(), is_quoted=True) if cell else self.at(start)
        judge: Judge = "value" if joint.sure_after and joint.sure_after.search(before) else joint.judge
        if not name.is_telling or (judge == "value" and self._is_code(value)):
            judge = "generated"
        shown, end = self.shown(value), value.end
        if judge == "value" and not value.is_quoted and is_plain(shown) and (words := _LISTS.words.match(text, end)):
            phrase = shown + words[0]
            if is_sentence(phrase):
                return
            end, shown = (words.end(), phrase) if kind in {"assigned", "paired"} else (end, shown)
        if is_secret(shown, name.kind, judge):
            yield value.start, end

    def _block(self, block: re.Match[str], kind: str, indent: int) -> Iterator[tuple[int, int]]:
        """Yield the credentials among the lines below a name: of a block scalar, a heredoc, a list."""
        judge: Judge = "value" if block["head"] else "word"
        for line in _LINE.finditer(self._text, block.end(), block.end() + _MAX_VALUE_CHARS):
            depth, value = line.start("bullet") - line.start(), line["value"]
            is_end = value == block["mark"] if block["mark"] else value and depth < indent + bool(block["head"])
            is_found = is_secret(value, kind, judge) and (judge == "value" or not _IN_CODE.search(value))
            if is_end or (judge == "word" and not is_found):
                return
            if is_found:
                yield line.span("value")

    def at(self, start: int) -> _Value:
        """Return the value that starts at `start`: up to the quote that closes it, or the run without blanks."""
        opening = _OPENING.match(self._text, start)
        quoted = _body(opening[1]).match(self._text, opening.end()) if opening else None
        if quoted:
            return _Value(*quoted.span(1), is_quoted=True)
        hole = HOLE.match(self._text, start)
        run = _RUN.match(self._text, hole.end() if hole else start)
        assert run is not None
        cut = _LISTS.run_end.search(self._text, run.start(), min(run.end() + 1, run.start() + JUDGED_CHARS))
        return _Value(start, min(run.end(), cut.start()) if cut else run.end())

    def _is_code(self, value: _Value) -> bool:
        """Whether what stands without quotes may be a name or a call of program code.

        It is written as one, and lines that only code has stand nearby. `NAME=value` without blanks is a setting of
        an environment file or a shell, whatever stands nearby.
        """
        text, start, before = self._text, value.start, self._before(value.start)
        if value.is_quoted or before.count('"') % 2 or not _LISTS.term.fullmatch(self.shown(value)):
            return False
        if (
            before[-1:] == "="
            and before[-2:-1] not in " =!:"
            and "(" not in before
            and text[value.end : value.end + 1] in "\n "
        ):
            return False
        at = bisect_left(self._code_lines, start - _NEAR_CHARS)
        return at < len(self._code_lines) and self._code_lines[at] < value.end + _NEAR_CHARS

    def _before(self, at: int) -> str:
        return self._text[max(0, at - _BEFORE_CHARS) : at].rpartition("\n")[2]

    @cached_property
    def _code_lines(self) -> list[int]:
        return [start for start, _ in _CODE.spans(self._text)]


@cache
def _body(quote: str) -> re.Pattern[str]:
    """Return the pattern of a value up to the quote that closes it on its line: one that a sign or a blank follows."""
    closing = re.escape(quote)
    chars = rf"(?>(?:(?!{closing})(?:\\.|[^\n\\]|\\$)){{0,{_MAX_VALUE_CHARS}}})"
    return re.compile(rf"({chars}(?>(?:{closing}(?!{_CLOSES}){chars}){{0,4}})){closing}")
