"""Which lines of a file answer, and these lines as a citation.

Reads committed files. Of a definition or a passage at most MAX_LINES lines are quoted: those that hold the question's
words, rare ones counting more. Lines that would leave their code fence or hold a credential are never chosen.

Which names a file gives a value to, where, and what is said of them beside it.

Names are constants, defaults of parameters and options, keys of settings, and sections of prose that tell a default.
Pure. Each pattern is matched over the whole text or a part of bounded length, in time that grows with its length.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple

from bot.domain.citations.citation_lines import CitedLines, Scan
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.search.definitions import (
    MAX_NAME_CHARS,
    Definition,
    DefinitionKind,
    definition_end,
    definitions_in,
    line_starts,
)
from bot.domain.search.files import CALL, PARAMETER, SIGNATURE, is_prose, language_of
from bot.domain.search.passages import first_attached, is_import, is_quotable, sections
from bot.domain.search.tokens import shared_stems
from bot.ports import PassageIndex

MAX_SETTINGS: Final = 2_000
"""So many of one file are kept."""

MAX_IN_DENSE: Final = 500
DENSE: Final = 0.75
"""A file with more of them, on more of its lines than this share, is data: none is kept."""

MIN_NAME_CHARS: Final = 2
_SIGNATURE_CHARS: Final = 2_000
LINES_BEHIND: Final = 2
"""So many lines behind a name tell of it, too; of a call all of its arguments do."""

LINES_OF_PROSE: Final = 20
_DEFAULT: Final = re.compile(r"\bdefaults?\b", re.I)


class _Given(NamedTuple):
    """A name, the dotted names that enclose it, its line, and the last line of what tells of it, 0 if not known."""

    name: str
    scope: str
    line: int
    end: int = 0


class Setting(NamedTuple):
    """A name that gets a value, the dotted names that enclose it, its file and line, and the lines that tell of it.

    These are `start` to `end`: the comment above it, its line, and LINES_BEHIND that follow, if the file has them, or
    the rest of a call. All lines are 1-based.
    """

    name: str
    scope: str
    path: str
    line: int
    start: int
    end: int


class _Key(NamedTuple):
    """A key or section that encloses what is indented more, and its line."""

    indent: int
    name: str
    line: int


def settings_in(path: str, lines: Sequence[str], defined: Sequence[Definition] = ()) -> list[Setting]:
    """Return what a file gives a value to, in the order of its lines, at most MAX_SETTINGS; nothing of data.

    `defined` is what `definitions_in` returned for the file.

    >>> settings_in("a.py", ["def pool(maxSize=5):", "    port = get('PORT', 80)"])[0]
    Setting(name='port', scope='', path='a.py', line=2, start=2, end=4)
    """
    if is_prose(path):
        return list(_of_prose(path, lines))[:MAX_SETTINGS]
    pattern = language_of(path).assigning
    if pattern is None:
        return []
    text = "\n".join(lines)
    starts = line_starts(lines)
    owners = _owners(defined)
    found = chain(
        _nested(pattern, text, starts, owners), _parameters(text, starts, defined), _calls(text, starts, owners)
    )
    named = [
        one
        for one in sorted(dict.fromkeys(found), key=attrgetter("line"))
        if MIN_NAME_CHARS <= len(one.name) <= MAX_NAME_CHARS and not one.name.isdigit()
    ]
    if len(named) > max(MAX_IN_DENSE, DENSE * len(lines)):
        return []
    heads = [0, *(one.line for one in named)]
    return [
        Setting(
            *(one.name, one.scope, path, one.line),
            start=first_attached(lines, one.line - 1, after=heads[bisect_left(heads, one.line) - 1]) + 1,
            end=one.end or one.line + LINES_BEHIND,
        )
        for one in named[:MAX_SETTINGS]
    ]


def _of_prose(path: str, lines: Sequence[str]) -> Iterator[Setting]:
    """Yield the sections that tell a default, each by its heading, at the first line that does."""
    for one in sections(lines):
        end = min(one.end, one.start + LINES_OF_PROSE)
        if at := next((at for at in range(one.start, end) if _DEFAULT.search(lines[at])), None):
            yield Setting(one.names[0].strip("`")[:MAX_NAME_CHARS], "", path, at + 1, one.start + 1, end)


def _owners(defined: Sequence[Definition]) -> dict[int, Definition]:
    """Return, for each line inside a type or function, the innermost one."""
    owners: dict[int, Definition] = {}
    for one in defined:
        if one.kind is not DefinitionKind.VALUE:
            owners.update(dict.fromkeys(range(one.line + 1, one.end + 1), one))
    return owners


def _nested(
    pattern: re.Pattern[str], text: str, starts: Sequence[int], owners: Mapping[int, Definition]
) -> Iterator[_Given]:
    """Yield the names at the beginning of lines, with the definitions and the keys that enclose them."""
    keys: list[_Key] = []
    for match in pattern.finditer(text):
        groups = match.groupdict()
        line, indent = bisect_right(starts, match.start()), len(groups["indent"])
        if section := groups.get("section"):
            keys = [_Key(-1, section.strip(" \"'"), line)]
            continue
        while keys and keys[-1].indent >= indent:
            keys.pop()
        name = (groups.get("macro") or groups["name"]).strip("@$*-")
        owner = owners.get(line)
        within = [key.name for key in keys if owner is None or key.line > owner.line]
        if name == "default":
            if not within:
                continue  # of an option whose name stands elsewhere
            name = within.pop()
        scope = ".".join(filter(None, [_inside(owner), *within]))
        yield _Given(name, scope, line)
        for given in PARAMETER.finditer(text, match.end(), starts[line] - 1):
            yield _Given(given["name"], f"{scope}.{name}".removeprefix("."), line)
        if text[match.end() - 1] in "{[(:":
            keys.append(_Key(indent, name, line))


def _parameters(text: str, starts: Sequence[int], defined: Sequence[Definition]) -> Iterator[_Given]:
    """Yield the parameters of functions that have a default."""
    for one in defined:
        start = starts[one.line - 1]
        if one.kind is DefinitionKind.FUNCTION and (head := SIGNATURE.match(text, start, start + _SIGNATURE_CHARS)):
            for match in PARAMETER.finditer(head[0]):
                at = bisect_right(starts, start + match.start("name"))
                yield _Given(match["name"], _inside(one), at)


def _calls(text: str, starts: Sequence[int], owners: Mapping[int, Definition]) -> Iterator[_Given]:
    """Yield the names that a call is given as text beside a value, as in `set("x", 1)`, or tells the default of."""
    for match in CALL.finditer(text):
        whole = SIGNATURE.match(text, match.start(), match.start() + _SIGNATURE_CHARS)
        if match["value"] is None and not (whole and _DEFAULT.search(whole[0])):
            continue
        line = bisect_right(starts, match.start("name" if match["name"] else "symbol"))
        end = bisect_right(starts, whole.end()) if whole else 0
        yield _Given(match["name"] or match["symbol"], _inside(owners.get(line)), line, end)


def _inside(owner: Definition | None) -> str:
    return ".".join(filter(None, [owner.scope, owner.name])) if owner else ""


MAX_LINES: Final = 12
BEFORE, BEHIND = 5, 6  # lines around one that is quoted
MAX_LINE_CHARS: Final = 400
"""A longer line is data or made by a machine; half of it would be no verbatim line."""

MAX_ATTACHED: Final = 6
"""Lines of comments and decorators above a definition that are quoted with it."""

MAX_LOOKED_AT: Final = 800
MAX_TRIED: Final = 20

SETS_NUMBER: Final = re.compile(r"[=:,(]\s*[-+]?\.?\d")


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """Lines of one file at one commit, verbatim."""

    path: str
    start: int
    end: int
    commit: str
    text: str

    @property
    def ref(self) -> str:
        """The citation of these lines."""
        return str(CitedLines(self.path, self.start, self.end))

    def cited_for(self, claim: str) -> EvidenceRef:
        """Return the evidence that these lines are for a claim."""
        return EvidenceRef(
            kind=EvidenceKind.FILE, ref=self.ref, commit=self.commit, quote=self.text, supports_claim=claim
        )


class Quotes:
    """The files of `index` at a commit, of which lines may be quoted, and those that `refused` names left out."""

    def __init__(self, index: PassageIndex, commit: str, refused: str = "") -> None:
        self.commit, self.index, self._refused = commit, index, refused
        self._files: dict[str, Sequence[str]] = {}
        self._scans: dict[str, Scan] = {}
        self._defined: dict[str, list[Definition]] = {}
        self._settings: dict[str, list[Setting]] = {}

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a file; none of one that is not searched. Raises ProviderError."""
        if path not in self._files:
            self._files[path] = self.index.lines(path)
        return self._files[path]

    def settings(self, path: str) -> list[Setting]:
        """Return what a file gives a value to."""
        if path not in self._settings:
            self._settings[path] = settings_in(path, self.lines(path), self.defined(path))
        return self._settings[path]

    def defined(self, path: str) -> list[Definition]:
        """Return what a file defines."""
        if path not in self._defined:
            self._defined[path] = definitions_in(path, self.lines(path))
        return self._defined[path]

    def around_setting(self, one: Setting) -> Excerpt | None:
        """Return the lines around a value inside of the function that it is set in."""
        inside = [each for each in self.defined(one.path) if each.line < one.line <= each.end]
        owner = next((each for each in reversed(inside) if each.kind is DefinitionKind.FUNCTION), None)
        before, behind = (one.line - owner.line, owner.end - one.line) if owner else (BEFORE, BEHIND)
        return self.around(one.path, one.line, before=min(before, BEFORE), behind=min(behind, BEHIND))

    def of_definition(self, one: Definition, stems: frozenset[str], *, of_meaning: bool = False) -> Excerpt | None:
        """Return the lines of a definition that answer best, its head where nothing in it does; None if it is gone.

        A long comment above it is its head only where its meaning is asked.
        """
        lines = self.lines(one.path)
        if one.line > len(lines) or one.name not in lines[one.line - 1]:
            return None
        above = first_attached(lines, one.line - 1) + 1
        start = above if of_meaning or one.line - above <= MAX_ATTACHED else one.line
        return self.best(one.path, start, definition_end(lines, one.line), stems, head=start)

    def around(self, path: str, line: int, *, before: int = BEFORE, behind: int = BEHIND) -> Excerpt | None:
        """Return the lines around one line, which is among them."""
        lines = self.lines(path)
        if not 0 < line <= len(lines):
            return None
        for reach in range(max(before, behind), -1, -1):
            start, end = max(1, line - min(reach, before)), min(len(lines), line + min(reach, behind))
            if found := self._cut(path, *_trimmed(lines, start, end, keep=line)):
                return found
        return None

    def best(
        self, path: str, start: int, end: int, stems: frozenset[str], *, head: int | None = None
    ) -> Excerpt | None:
        """Return the at most MAX_LINES of the lines `start` to `end` that hold most of the stems, then most often.

        A stem counts less, the more lines hold it. `head` is the line that a quote may begin with where no line holds
        any; without it nothing is quoted.
        """
        lines = self.lines(path)
        span = range(start, min(end, start + MAX_LOOKED_AT, len(lines)) + 1)
        held = {at: shared_stems(stems, lines[at - 1]) for at in span if not is_import(lines[at - 1])}
        counts = Counter(one for found in held.values() for one in found)

        def told(window: tuple[int, int]) -> tuple[float, int]:
            """Return what the stems that a run of lines holds tell, and how often it holds any."""
            inside = [held.get(at, frozenset()) for at in range(window[0], window[1] + 1)]
            distinct = sum(1 / math.log2(1 + counts[one]) for one in frozenset[str]().union(*inside))
            return round(distinct, 6), sum(map(len, inside))

        windows = [_trimmed(lines, at, min(span[-1], at + MAX_LINES - 1)) for at in span if lines[at - 1].strip()]
        ranked = sorted((one for one in windows if one[0] == head or any(told(one))), key=told, reverse=True)
        return next((found for one in ranked[:MAX_TRIED] if (found := self._cut(path, *one))), None)

    def _cut(self, path: str, start: int, end: int) -> Excerpt | None:
        """Return lines with the rest of a comment or string that they cut, where that is short; None if refused."""
        lines = self.lines(path)
        if path not in self._scans:
            self._scans[path] = Scan(path, lines)
        whole = self._scans[path].widened(start, end)
        for first, last in dict.fromkeys((whole, (start, end))):
            text = "\n".join(lines[first - 1 : last])
            is_short = (
                last - first < max(MAX_LINES, end - start + 1) and max(map(len, text.split("\n"))) <= MAX_LINE_CHARS
            )
            if is_short and is_quotable(text) and any(map(str.isalnum, text)):
                found = Excerpt(path=path, start=first, end=last, commit=self.commit, text=text)
                return None if found.ref in self._refused else found
        return None


def _trimmed(lines: Sequence[str], start: int, end: int, *, keep: int = 0) -> tuple[int, int]:
    """Return a run without blank lines at its ends, and without decorators at its end, which belong to what follows."""
    while start < end and start != keep and not lines[start - 1].strip():
        start += 1
    while end > start and end != keep and (not (last := lines[end - 1].strip()) or last.startswith("@")):
        end -= 1
    return start, end
