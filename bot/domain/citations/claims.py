"""Which words of a claim its citations do not hold. Pure and linear.

Only what is the same in every language counts: numbers with their units, code in backticks, identifiers, paths, places
(`path:line`) and commit ids. All other words are left to whoever judges the claim. What is compared must be equal:
numbers by value and unit, names as whole words, spans of code as a row of tokens, white space and quotes aside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple
from unicodedata import normalize

from bot.domain.citations.units import Quantities, Spoken, is_line_word, is_unit, spoken_numbers
from bot.domain.text.sanitize import strip_hidden

MAX_SEARCHES: Final = 300
"""So many spans and paths of a claim are searched for in the text of the lines; those behind count as missing."""

MAX_NUMBERS: Final = 1_000
"""No number of a claim with more of them is taken for shown."""

MAX_LINES_CHARS: Final = 1_000_000

_WIDE: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x2212: "-", 0x3000: " "}
_LETTERS: Final = re.compile(r"(?<![^\W_])[^\W\d_]+")
"""Letters, or such digits as ³ and ½, which read as digits once they are normalized."""

_FENCE: Final = re.compile(r"(?P<mark>```|~~~)[\w+-]{0,20}\n(?P<code>.*?)(?:(?P=mark)|\Z)", re.DOTALL)
_SPAN: Final = re.compile(r"(?P<ticks>`{1,2})(?P<code>[^`\n]{1,400})(?P=ticks)")
_IGNORED: Final = re.compile(
    r"[a-z][a-z0-9+]{1,20}://[^\s<>`|)\]]{1,2000}|<[@#][A-Z][A-Z0-9]{5,20}(?=[|>])|(?<!\w):[a-z][a-z0-9_+-]{1,60}:(?!\w)"
    r"|^[ \t>]{0,12}\d{1,2}[.)](?=\s)|(?<![\w.])(?:\d|1[0-2])(?:st|nd|rd|th|º|ª|er|e|ème)(?!\w)"
    r"|(?<![\w./-])[A-Z][a-z]+\.js(?![\w:])",
    re.MULTILINE,
)
"""Addresses, mentions, emoji, numbers of list items, ordinals up to 12, and products named like Node.js."""

_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9_])(?:--|@|\.{0,2}/)?[A-Za-z0-9_]+(?:(?:\(\)\.|[-./:@~#>–]{1,2})[A-Za-z0-9_]+){0,40}(?:\(\)|/(?!\w))?"
)
_PIECE: Final = re.compile(r"[A-Za-z0-9_]+")
_PLACE: Final = re.compile(
    r"(?P<path>.*[./].*?|[A-Z]\w*file)(?::|#)L?(?P<start>\d{1,7})(?:[-–]L?(?P<end>\d{1,7}))?(?::\d{1,5})?"
)
_CITED: Final = re.compile(r"(?P<path>.+?)(?::(?P<start>\d{1,7})(?:-(?P<end>\d{1,7}))?)?", re.DOTALL)
_ENDING: Final = re.compile(r"[^/]*\.[A-Za-z][A-Za-z0-9]{0,9}")
_COMMIT: Final = re.compile(r"(?=[a-f]*\d|[a-f]{8})(?=\d*[a-f])[0-9a-f]{7,40}")
_DOTTED: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\(\))?(?:\.|::|#|->)[A-Za-z_]\w*)+", re.ASCII)
_NAME: Final = re.compile(
    r"--[A-Za-z][\w-]*|@\w+|_{0,2}[A-Za-z]\w*_\w+|__?[A-Za-z]\w*[^\W_]|[A-Za-z]*[a-z][A-Z]\w*|[A-Z]{2,}[a-z]{2,}\w*",
    re.ASCII,
)
_WITH_DIGITS: Final = re.compile(r"[A-Za-z]{1,40}[-/_ ]?\d[A-Za-z0-9]{0,40}(?:[._-]\d{1,6}){0,4}")
_VERSION: Final = re.compile(r"v\d[\d.]*")
_ROW_TOKEN: Final = re.compile(
    r"\d+(?:[._]\d+)*[A-Za-z0-9_]*|[A-Za-z_]\w*|[^\W\d_]+|[-+*/%&|^!=<>:]{2,3}|[^\s\w\"'`\\;]", re.ASCII
)
_SAME: Final = {":": "=", "=>": "=", ":=": "="}
_ANNOTATION: Final = re.compile(r"(?<=\w)\s{0,3}:\s{0,3}[^=,(){}:\n]{1,80}(?==[^=])")
_LINE_START: Final = re.compile(r"^[ \t]{0,80}(?:[+>#*-]|//){0,3}(?=[ \t\w])")
_FENCED_NAME: Final = re.compile(r"[A-Za-z_]\w*(?=\(|\.\w|\s{0,2}=)|(?<=\.)[A-Za-z_]\w*", re.ASCII)
_LAST_WORD: Final = re.compile(r"(\w+)[\s.*:]{0,4}$")
_MARKUP: Final = re.compile(r"\*\*|`|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
_BETWEEN: Final = re.compile(r"\s{0,2}(?:[-–,+&]|[^\W\d]{1,5})?\s{0,2}")


def has_facts(text: str) -> bool:
    """Whether a claim holds anything that code can compare.

    >>> has_facts("It retries, and then gives up."), has_facts("It retries 3 times."), has_facts("See `retry`.")
    (False, True, True)
    """
    return bool(check_claim(text, []))


def check_claim(
    text: str, lines: Sequence[str], *, paths: Sequence[str] = (), commits: Sequence[str] = (), question: str = ""
) -> list[str]:
    """Return the words of a claim that its citations do not hold, as they stand there; none if all do.

    Args:
        text: The claim, Markdown.
        lines: All lines that its citations print.
        paths: The cited paths, with their lines (`a/b.py:3-9`) or without.
        commits: The full ids of commits that are cited, or at which the lines were read.
        question: What may be repeated without proof; the caller passes it for a claim that cites something.

    >>> check_claim("`MAX_RETRIES` is 3, for 30 s", ["MAX_RETRIES = 3", "WAIT_MS = 30_000"])
    []
    >>> check_claim("`MAX_RETRIES` is 300, see a.py:9", ["MAX_RETRIES = 3"], paths=["a.py:3-5"])
    ['a.py:9', '300']
    """
    plain = _LETTERS.sub(_normalized, strip_hidden(text)[0].translate(_WIDE))
    shown = copy(_shown((*lines, *question.split("\n")), tuple(paths), tuple(commits)))
    return list(dict.fromkeys(_Claim(plain, shown).missing()))


def _normalized(found: re.Match[str]) -> str:
    return found[0] if found[0][0].isalpha() else normalize("NFKC", found[0])


class _Look(NamedTuple):
    """A word of a claim, where it stands in what was looked at, and whether the citations hold it."""

    word: str
    start: int
    is_shown: bool


class _Range(NamedTuple):
    """Lines of a cited path; `start` is 0 where the citation names none."""

    path: str
    start: int
    end: int


class _Shown:
    """What the citations of a claim hold, ready to be looked up."""

    def __init__(self, lines: Sequence[str], paths: Sequence[str], commits: Sequence[str]) -> None:
        text = "\n".join(lines)[:MAX_LINES_CHARS]
        self.ranges = [_range(path) for path in paths]
        self._text, self._commits = text, [commit.lower() for commit in commits]
        self._words = set(_PIECE.findall(text))
        self._path_words = {word for cited in self.ranges for word in _PIECE.findall(cited.path.rpartition(".")[0])}
        self._path_words |= {
            word for cited in self.ranges if "." not in cited.path for word in _PIECE.findall(cited.path)
        }
        self._folded = {word.lower() for word in self._words | self._path_words}
        self._with_digits = {_squeezed(found) for found in _WITH_DIGITS.findall(text)}
        self._hex = [word for word in self._words if len(word) >= 7 and _COMMIT.fullmatch(word)]
        plain = [_LINE_START.sub("", line) for line in text.split("\n")]
        self._rows = "\n".join([_row("\n".join(plain)), _row("\n".join(_ANNOTATION.sub("", line) for line in plain))])
        endings = [cited.path.rpartition(".")[2].lower() for cited in self.ranges if "." in cited.path]
        self._searches = 0
        self.quantities = Quantities(text.split("\n"), endings)

    def has_row(self, code: str) -> bool:
        """Whether the tokens of a span stand in a row; what an ellipsis leaves out may be anything."""
        pieces = [_row(piece) for piece in re.split(r"\.{3}|…", code)]
        if not any(map(str.isalnum, code)):
            return self._may_search() and code.strip() in self._text
        wanted = [piece for piece in pieces if any(map(str.isalnum, piece))]
        return self._may_search() and all(piece in self._rows for piece in wanted)

    def has_name(self, name: str) -> bool:
        """Whether all parts of a name stand there as whole words, or in the cited paths."""
        name = name.replace("()", "").lstrip("@")
        if name.startswith("--"):
            return self._stands(name, r"[\w-]")
        parts = _PIECE.findall(name)
        if len(parts) == 1 and "_" not in name and name.lower() in self._folded:  # GitHub, in the lines github.com
            return True
        return self._words.union(self._path_words).issuperset(parts)

    def has_with_digits(self, name: str) -> bool:
        """Whether a name such as UTF-8 stands there in any spelling."""
        return _squeezed(name) in self._with_digits or _squeezed(name) in self._folded

    def has_commit(self, commit: str) -> bool:
        """Whether an id or the beginning of one is cited or stands there."""
        return any(known.startswith(commit.lower()) for known in [*self._commits, *self._hex])

    def has_path(self, path: str) -> bool:
        """Whether a path is cited, in full or by its last or first parts, or stands in the lines."""
        wanted = f"/{path.removeprefix('./').replace(':', '/').strip('/')}/"
        if any(wanted in f"/{cited.path}/" or wanted in f"/{cited.path.rpartition('.')[0]}/" for cited in self.ranges):
            return True
        return self._stands(path, r"[\w.-]")

    def has_place(self, path: str, start: int, end: int) -> bool:
        """Whether a path is cited with these lines."""
        wanted = f"/{path.removeprefix('./').replace(':', '/')}"
        cited = [each for each in self.ranges if f"/{each.path}".endswith(wanted)]
        return all(any(not each.start or each.start <= line <= each.end for each in cited) for line in (start, end))

    def has_line(self, line: int) -> bool:
        """Whether a line of any cited path is cited."""
        return any(not each.start or each.start <= line <= each.end for each in self.ranges)

    def _stands(self, text: str, neighbours: str) -> bool:
        pattern = rf"(?<!{neighbours}){re.escape(text)}(?![\w-])"
        return self._may_search() and re.search(pattern, self._text) is not None

    def _may_search(self) -> bool:
        self._searches += 1
        return self._searches <= MAX_SEARCHES

    def is_of_a_path(self, words: Sequence[str]) -> bool:
        """Whether one of these words is a part of a cited path, so that all together mean to be one."""
        return not self._path_words.isdisjoint(words)


_shown: Final = lru_cache(maxsize=4)(_Shown)
"""Claims of one draft mostly share their citations, and a commit's patch may be long."""


def _range(path: str) -> _Range:
    found = _CITED.fullmatch(path)
    if not found:
        return _Range(path, 0, 0)
    start = int(found["start"] or 0)
    path = found["path"].replace(":", "/")  # of several codebases, each is named in front: app:a/b.py
    return _Range(path, start, int(found["end"] or start))


def _row(code: str) -> str:
    tokens = (_SAME.get(token, token) for token in _ROW_TOKEN.findall(code))
    return f" {' '.join(_plain_number(token) if token[0].isdigit() else token for token in tokens)} "


def _plain_number(token: str) -> str:
    return token.replace("_", "").removesuffix(".0")


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


class _Claim:
    """A claim of which what was looked up is blanked, so that the next look does not see it."""

    def __init__(self, text: str, shown: _Shown) -> None:
        self._text = self._rest = text
        self._shown = shown

    def missing(self) -> Iterator[str]:
        """Yield what the citations do not hold, kind by kind."""
        yield from self._missing_of(_FENCE, self._fence)
        yield from self._missing_of(_SPAN, self._span)
        self._rest = _IGNORED.sub(lambda found: "\0" * len(found[0]), self._rest)
        yield from self._missing_of(_TOKEN, lambda found: self._token(found[0]))
        yield from self._missing_numbers()

    def _missing_of(self, pattern: re.Pattern[str], look: Callable[[re.Match[str]], Iterator[_Look]]) -> Iterator[str]:
        """Look at every match; what was looked up is blanked, so that it is not seen twice."""
        rest: list[str] = []
        behind = 0
        for found in pattern.finditer(self._rest):
            for word, start, is_shown in look(found):
                if not is_shown:
                    yield word
                start += found.start()
                rest += [self._rest[behind:start], "\0" * len(word)]
                behind = start + len(word)
        self._rest = "".join([*rest, self._rest[behind:]])

    def _fence(self, found: re.Match[str]) -> Iterator[_Look]:
        at = found.start("code") - found.start()
        yield _Look(found[0][:at], 0, is_shown=True)
        for line in found["code"].split("\n"):
            if line.strip() and self._shown.has_row(line):
                yield _Look(line, at, is_shown=True)
            else:
                for name in _FENCED_NAME.finditer(line):
                    yield _Look(name[0], at + name.start(), is_shown=self._shown.has_name(name[0]))
            at += len(line) + 1

    def _span(self, found: re.Match[str]) -> Iterator[_Look]:
        code, at = found["code"], len(found["ticks"])
        if re.fullmatch(r"\s*[-−]?\d[\d.,_]*\s?[^\W\d_]{0,12}%?\s*", code) and not _COMMIT.fullmatch(code.strip()):
            return
        token = _TOKEN.fullmatch(code.strip())
        known = list(self._token(code.strip())) if token else []
        is_known = (
            bool(known)
            and all(look.is_shown for look in known)
            and sum(len(look.word) for look in known) >= len(code.strip().removesuffix("()"))
        )
        yield _Look(
            code, at, is_shown=is_known or self._shown.has_row(_LINE_START.sub("", code).strip().removesuffix("()"))
        )

    def _token(self, token: str) -> Iterator[_Look]:
        """Yield what a word without blanks is: one name, path, place or commit, or several pieces, or nothing."""
        is_shown = self._is_shown(token)
        if is_shown is not None:
            yield _Look(token, 0, is_shown=is_shown)
        elif not token[0].isdigit():
            for piece in _PIECE.finditer(token):
                if (is_piece_shown := self._is_shown(piece[0])) is not None:
                    yield _Look(piece[0], piece.start(), is_shown=is_piece_shown)

    def _is_shown(self, token: str) -> bool | None:
        """Whether a token is shown; None where it is nothing that has to be."""
        shown = self._shown
        if _COMMIT.fullmatch(token):
            return shown.has_commit(token)
        if place := _PLACE.fullmatch(token):
            start = int(place["start"])
            is_shown = shown.has_path(place["path"]) and shown.has_place(
                place["path"], start, int(place["end"] or start)
            )
            return is_shown or shown.has_row(token)
        if "/" in token and self._is_path(token):
            return shown.has_path(token)
        if _DOTTED.fullmatch(token.removesuffix("()")):
            is_short = all(len(part) <= 2 for part in token.split("."))
            return None if is_short else shown.has_path(token) or shown.has_name(token)
        if token.endswith("()") or _NAME.fullmatch(token):
            return None if is_unit(token) else shown.has_name(token)
        if _WITH_DIGITS.fullmatch(token) and not _VERSION.fullmatch(token):
            return shown.has_with_digits(token)
        return None

    def _is_path(self, token: str) -> bool:
        folders, _, name = token.rpartition("/")
        is_told = token.startswith(("/", "./", "../")) or not name or folders.count("/") > 0
        return is_told or _ENDING.fullmatch(name) is not None or self._shown.is_of_a_path(token.split("/"))

    def _missing_numbers(self) -> Iterator[str]:
        text = _MARKUP.sub(lambda found: " " * len(found[0]), self._rest)
        line_end = -1
        numbers = list(islice(spoken_numbers(text), MAX_NUMBERS + 1))
        for said in sorted(numbers, key=lambda said: said.start):
            if len(numbers) > MAX_NUMBERS:
                is_shown = False
            elif self._is_of_a_line(text, said, line_end):
                line_end, is_shown = said.end, self._shown.has_line(int(min(said.values)))
            else:
                is_shown = self._shown.quantities.back(said)
            if not is_shown:
                yield self._text[said.start : said.end].strip(" *`")

    def _is_of_a_line(self, text: str, said: Spoken, line_end: int) -> bool:
        if not said.values or said.unit or not self._shown.ranges:
            return False
        if 0 <= line_end <= said.start and _BETWEEN.fullmatch(text, line_end, said.start):
            return True
        before = _LAST_WORD.search(text, max(0, said.start - 20), said.start)
        return bool(before and is_line_word(before[1])) or is_line_word(text[said.end : said.end + 2].strip()[:1])
