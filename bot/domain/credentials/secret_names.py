"""Credentials behind a name that tells what follows: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, “password is …”.

Pure. Where a value starts and ends, and whether it may be a name of a program instead, is read from the syntax of its
place, with the patterns of secret_names.yml; what it is, `secret_values` decides. No name inside a credential is looked
at, and every other repeat is bounded, so the time is proportional to the text's length.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from bot.domain.credentials.secret_forms import SecretSpan
from bot.domain.credentials.secret_values import (
    JUDGED_CHARS,
    MIN_CHARS,
    is_plain,
    is_said,
    is_sentence,
    is_stand_in,
    is_value,
    looks_generated,
)
from bot.domain.tables import Alternatives, Parts, Pattern, WordSet, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern

_BEFORE_CHARS: Final = 200
_NEAR_CHARS: Final = 600
_MAX_QUOTED_CHARS: Final = 4_000
_MAX_QUOTES_INSIDE: Final = 4
_MIN_BESIDE_CHARS: Final = 18
_NAMES_KEPT: Final = 1_024
_OWNER_CHARS: Final = 13


class _OfCode(NamedTuple):
    before: Pattern
    behind: Pattern
    nearby: Alternatives


class _SecretNamesTable(NamedTuple):
    telling: Alternatives
    hinting: Alternatives
    kinds: dict[str, str]
    short: WordSet
    of_no_secret: str
    suffix: Pattern
    parts: Parts
    joints: dict[str, Alternatives]
    of_code: _OfCode
    term: Pattern
    remark: Pattern
    call: Pattern
    expression: Pattern
    of_arguments: Pattern
    alone: Pattern
    of_setters: Pattern
    scheme: Pattern
    run_end: Pattern
    next_field: dict[str, Pattern]
    ends: dict[str, Pattern]
    block: Pattern


class Name(NamedTuple):
    """Where a name for a credential stands, of which kind, and whether it tells that by itself."""

    start: int
    end: int
    kind: str
    is_telling: bool


class Value(NamedTuple):
    """Where what follows a name stands, and the quote around it, if any."""

    start: int
    end: int
    quote: str


class _Place(NamedTuple):
    """A name, what joins it to its value, its line before it, the value, and the text that follows."""

    name: Name
    joint: str
    before: str
    value: Value
    shown: str
    behind: str


_LISTS: Final = read_table(__file__, "secret_names.yml", _SecretNamesTable)
_STEMS: Final = LinearPattern(f"{fill(_LISTS.telling, _LISTS.parts)}|{_LISTS.hinting}", ignore_case=True)
_TELLING: Final = LinearPattern(fill(_LISTS.telling, _LISTS.parts), ignore_case=True)
_OF_NO_SECRET: Final = re.compile(_LISTS.of_no_secret, re.I)
_JOINTS: Final = re.compile("|".join(f"(?P<{name}>{fill(one, _LISTS.parts)})" for name, one in _LISTS.joints.items()))
_NEARBY_CODE: Final = re.compile(_LISTS.of_code.nearby, re.M)
_CALL: Final = re.compile(_LISTS.call.pattern, re.M)
_OPENING: Final = re.compile(r"[rbfuRBFU@]?(\\?(?:\"\"\"|'''|[\"'`]))")
_CLOSES: Final = re.compile(r"[\s,;:)}\]>/|.&?\\%+]|$|[\"'`][\s,;)}\]]")
_RUN: Final = re.compile(r"\S*+")
_FIRST_CELL: Final = re.compile(r"[ \t|*`_>]*[\w.-]*")
_RULE: Final = re.compile(r"[^\n]{0,200}\n[ \t>]*\|?[ \t]*:?-{2}")


def named(text: str, names: Iterable[Name]) -> Iterator[SecretSpan]:
    """Yield where a credential stands behind one of the names for one."""
    done = hinted = 0
    values = Values(text)
    for name in names:
        is_new = name.start >= (done if name.is_telling else max(done, hinted))
        joint = _JOINTS.match(text, name.end) if is_new else None
        if joint and not name.is_telling:
            hinted = name.end + JUDGED_CHARS // 2  # what is judged with this name
        for start, end in _behind(text, values, name, joint) if joint else ():
            done = end
            yield SecretSpan(start, end, name.kind)


def names_in(text: str) -> Iterator[Name]:
    """Yield the names for credentials."""
    for start, end in _STEMS.spans(text):
        suffix = _LISTS.suffix.match(text, end)
        if suffix and not _is_part_of_a_word(text, start, end):
            before = text[max(0, start - _OWNER_CHARS) : start]
            yield Name(
                start, suffix.end(), *_kind_of(before, text[start:end].lower(), text[end : suffix.end()].lower())
            )


@lru_cache(_NAMES_KEPT)
def _kind_of(before: str, stem: str, suffix: str) -> tuple[str, bool]:
    kind = "key" if stem.endswith("key") else _LISTS.kinds.get(stem, "password")
    return kind, _TELLING.is_in(stem + suffix) and not _OF_NO_SECRET.search(before)


def _is_part_of_a_word(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 1) : start]
    is_inside = before.isalpha() and (not text[start].isupper() or not before.islower())
    return is_inside and text[start:end].lower() in _LISTS.short


def _behind(text: str, values: Values, name: Name, joint: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield where the value behind a name stands, a line at a time, if it is a credential."""
    start, kind = joint.end(), joint.lastgroup or ""
    before = text[max(0, name.start - _BEFORE_CHARS) : name.start].rpartition("\n")[2]
    block = _LISTS.block.match(text, start) if kind == "assigned" else None
    if block:
        yield from _block(text, block, len(before) - len(before.lstrip()))
        return
    end = _LISTS.ends.get(kind)
    value = values.until(start, end) if end else values.at(start, before="" if kind == "said" else before)
    scheme = _LISTS.scheme.match(text, value.start) if name.kind == "token" else None
    if scheme:
        value = value._replace(start=scheme.end()) if value.quote else values.at(scheme.end(), before=before)
    shown = text[value.start : min(value.end, value.start + JUDGED_CHARS)]
    place = _Place(name, kind, before, value, shown, text[value.end : value.end + _NEAR_CHARS])
    phrase = _phrase(place)
    if _is_secret(place._replace(shown=phrase)) and not _is_code(text, values, place):
        yield value.start, value.end + len(phrase) - len(shown)


def _is_secret(place: _Place) -> bool:
    name, shown, kind = place.name, place.shown, place.name.kind
    if len(shown) < MIN_CHARS:
        return False
    if place.joint == "said" and not place.value.quote:
        return is_said(shown, kind if name.is_telling else "key")
    if place.joint == "beside" and (is_stand_in(shown) or not _is_argument(place)):
        return len(shown) >= _MIN_BESIDE_CHARS and looks_generated(shown)
    if place.joint in {"row", "tabbed"} and (not _FIRST_CELL.fullmatch(place.before) or _RULE.match(place.behind)):
        return False  # not the first cell of a row, or the heading
    is_set = place.joint not in {"pair", "called"} or _LISTS.of_setters.search(place.before)
    return (bool(name.is_telling and is_set) or looks_generated(shown)) and is_value(shown, kind)


def _is_argument(place: _Place) -> bool:
    """Whether a value follows after a space because its name is a flag or a setting, or there is nothing else."""
    rest = place.behind.partition("\n")[0]
    if place.value.quote and place.name.is_telling:
        return place.name.kind in {"password", "secret"} or not is_plain(place.shown)
    if _LISTS.of_arguments.search(place.before):
        is_word = not place.value.quote and is_plain(place.shown)
        return not (is_word and rest.strip() and is_sentence(place.shown + rest))
    return not rest.strip() and bool(_LISTS.alone.match(place.before)) and not is_plain(place.shown)


def _phrase(place: _Place) -> str:
    """Return a value, of a passphrase that stands without quotes at the end of a line all words."""
    is_word = not place.value.quote and place.shown.lower() in {place.shown, place.shown[:1].lower() + place.shown[1:]}
    if (
        not is_word
        or not is_plain(place.shown)
        or place.joint not in {"assigned", "paired"}
        or is_stand_in(place.shown)
    ):
        return place.shown
    rest = place.behind[:_BEFORE_CHARS].partition("\n")[0].partition(" #")[0].partition("<")[0]
    return (place.shown + rest).rstrip()


def _block(text: str, block: re.Match[str], indent: int) -> Iterator[tuple[int, int]]:
    """Yield the credentials among the lines of a block scalar of YAML or of a heredoc."""
    at = block.end()
    for line in text[at : at + _MAX_QUOTED_CHARS].split("\n"):
        depth = len(line) - len(line.lstrip())
        if line.strip() == block["mark"] if block["mark"] else line.strip() and depth <= indent:
            return
        if is_value(line, "password"):
            yield at + depth, at + len(line.rstrip())
        at += len(line) + 1


def _is_code(text: str, values: Values, place: _Place) -> bool:
    """Whether what stands without quotes is a name, a call or a type of program code.

    It is a whole call, or it begins like a name and code stands around it: an open bracket or a keyword before it on
    its line, a comma, a semicolon or a bracket behind it, or lines nearby that only code has. `NAME=value` without
    blanks is a setting of an environment file or a shell, whatever stands nearby.
    """
    start, end, quote = place.value
    term = None if quote or place.joint not in {"assigned", "paired", "said"} else _LISTS.term.match(text, start)
    if term is None or not (term["open"] or term.end() >= end or text[term.end()] in ")]"):
        return False
    if term["open"] and _CALL.match(text, term.end()):
        return True
    if not _LISTS.expression.fullmatch(place.shown):
        return False
    of_code, before = _LISTS.of_code, place.before
    if of_code.before.search(before) or (
        of_code.behind.match(f"{place.behind}\n")
        and not before.endswith((";", "; "))
        and not _LISTS.remark.search(before)
    ):
        return True
    if text[start - 1] == "=" and text[start - 2] not in " =!:":
        return False
    return values.is_near_code(place.name.start - len(before), end + len(place.behind.partition("\n")[0]))


class Values:
    """The values of a text; a run of characters is looked for once however many names stand inside it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._run = (0, 0)

    def at(self, start: int, quote: str = "", before: str = "") -> Value:
        """Return the value that starts at `start`: up to the quote that closes it, or the run without blanks.

        Args:
            start: Where it stands, with the quote that opens it.
            quote: One that was opened before.
            before: What stands before its name on the line: signs that part fields there part them behind it, too.
        """
        opening = None if quote else _OPENING.match(self._text, start)
        inner, quote = (opening.end(), opening[1]) if opening else (start, quote)
        if opening and quote == "`" and before.count(quote) % 2:
            return Value(start, start, "")  # closes what began before the name
        end = self._closing(inner, quote) if quote else -1
        return Value(inner, end, quote) if end >= 0 else self._bare(start, before)

    def is_near_code(self, start: int, end: int) -> bool:
        """Whether lines that only program code has stand before or behind a line."""
        codes = self._code_lines
        at, after = bisect_left(codes, start) - 1, bisect_left(codes, end)
        return (at >= 0 and codes[at] > start - _NEAR_CHARS) or (
            after < len(codes) and codes[after] < end + _NEAR_CHARS
        )

    @cached_property
    def _code_lines(self) -> list[int]:
        return [match.start() for match in _NEARBY_CODE.finditer(self._text)]

    def until(self, start: int, end: re.Pattern[str]) -> Value:
        """Return what stands between `start` and the first match of `end`, without the blanks behind it."""
        match = end.search(self._text, start, start + _MAX_QUOTED_CHARS)
        cell = self._text[start : match.start() if match else start + _MAX_QUOTED_CHARS].rstrip()
        return Value(start, start + len(cell), "")

    def _bare(self, start: int, before: str) -> Value:
        first, last = self._run
        if not first <= start <= last:
            run = _RUN.match(self._text, start)
            self._run = first, last = start, run.end() if run else start
        fields = _LISTS.next_field.items() if before else ()
        patterns = [one for signs, one in fields if any(sign in before for sign in signs)]
        found = (
            one.search(self._text, start, min(last + 1, start + JUDGED_CHARS)) for one in (_LISTS.run_end, *patterns)
        )
        return Value(start, min(last, *(cut.start() for cut in found if cut), last), "")

    def _closing(self, start: int, quote: str) -> int:
        """Return where a quotation closes on its line: at a quote that a sign or a blank follows; -1 for nowhere."""
        end = self._text.find("\n", start, start + _MAX_QUOTED_CHARS)
        end = end if end >= 0 else min(len(self._text), start + _MAX_QUOTED_CHARS)
        at, first = self._text.find(quote, start, end), -1
        for _ in range(_MAX_QUOTES_INSIDE):
            if at < 0:
                break
            if quote[0] == "\\" or self._text[at - 1] != "\\" or self._text[at - 2] == "\\":
                first = at if first < 0 else first
                if _CLOSES.match(self._text, at + len(quote)):
                    return at
            at = self._text.find(quote, at + 1, end)
        return first
