"""Which words of a claim its citations do not hold. Pure and linear.

Only what is the same in every language counts: numbers with their units, code in backticks, identifiers, paths, places
(`path:line`) and commit ids. All other words are left to whoever judges the claim. What is compared must be equal:
numbers by value and unit, names as whole words, spans of code as a row of tokens, white space and quotes aside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from typing import Final, NamedTuple
from unicodedata import normalize

from bot.domain.citations.units import LINE_WORDS, Quantities, is_unit, spoken_numbers
from bot.domain.text.sanitize import strip_hidden

MAX_SEARCHES: Final = 300
"""So many spans, paths and commits of a claim are searched for in the text of the lines; others count as missing."""

MAX_LINES_CHARS: Final = 1_000_000

_WIDE: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x2212: "-", 0x3000: " "}
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]")
_CODE: Final = re.compile(
    r"(```|~~~)[\w+-]{0,20}\n(?P<block>.*?)(?:\1|\Z)|(?P<ticks>`{1,2})(?P<span>[^`\n]{1,400})(?P=ticks)", re.DOTALL
)
_IGNORED: Final = re.compile(
    r"[a-z][a-z0-9+]{1,20}://[^\s<>`|)\]]{1,2000}|<[@#][A-Z][A-Z0-9]{5,20}(?=[|>])|(?<!\w):[a-z][a-z0-9_+-]{1,60}:(?!\w)"
    r"|^[ \t>]{0,12}\d{1,2}[.)](?=\s)|(?<![\w.])(?:\d|1[0-2])(?:st|nd|rd|th|º|ª|er|e|ème)(?!\w)"
    r"|(?<![\w./-])[A-Z][a-z]+\.js(?![\w:])",
    re.MULTILINE,
)
"""Addresses, mentions, emoji, numbers of list items, ordinals up to 12, and products named like Node.js."""

_LINES: Final = re.compile(
    rf"(?i)(?:(?<!\w)(?:{LINE_WORDS})[\s.*:]{{0,4}}|第\s?)\d{{1,7}}(?:\s{{0,2}}(?:[-–,+&]|[^\W\d]{{1,3}})\s{{0,2}}\d{{1,7}}){{0,20}}"
    r"|\d{1,7}(?=\s?行)"
)
"""Numbers of lines: "line 9", "lines 10 to 12 and 14", 第 10 行."""

_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9_])(?:--|@|\.{0,2}/|\.)?[A-Za-z0-9_]+(?:(?:\(\)\.|[-./:@~#>–]{1,2})[A-Za-z0-9_]+){0,40}(?:\(\)|/(?!\w))?"
)
_PIECE: Final = re.compile(r"[A-Za-z0-9_]+")
_PLACE: Final = re.compile(
    r"(?P<path>.*[./].*?|[A-Z]\w*file)(?::|#)L?(?P<start>\d{1,7})(?:[-–]L?(?P<end>\d{1,7}))?(?::\d{1,5})?"
)
_CITED: Final = re.compile(r"(?P<path>.+?)(?::(?P<start>\d{1,7})(?:-(?P<end>\d{1,7}))?)?", re.DOTALL)
_PATH: Final = re.compile(r"\.{0,2}/.*|.*/.*/.*|.*/|.*/[^/]*\.[A-Za-z][A-Za-z0-9]{0,9}")
_COMMIT: Final = re.compile(r"(?=[a-f]*\d|[a-f]{8})(?=\d*[a-f])[0-9a-f]{7,40}")
_NAME: Final = re.compile(
    r"--[A-Za-z][\w-]*|@\w+|.*\(\)|_{0,2}[A-Za-z]\w*_\w+|__?[A-Za-z]\w*[^\W_]|[A-Za-z]*[a-z][A-Z]\w*|[A-Z]{2,}[a-z]{2,}\w*"
    r"|(?!\w{1,2}(?:\.\w{1,2}){1,40}\Z)[A-Za-z_]\w*(?:(?:\(\))?(?:\.|::|#|->)[A-Za-z_]\w*)+"
    r"|(?!v\d[\d.]*\Z)[A-Za-z]{1,40}[-/_ ]?\d[A-Za-z0-9]{0,40}(?:[._-]\d{1,6}){0,4}",
    re.ASCII,
)
"""Options, decorators, calls, names in snake and camel case, dotted names but for e.g. and z.B., UTF-8 but for v2."""

_WITH_DIGITS: Final = re.compile(r"[A-Za-z]{1,40}[-/_ ]?\d[A-Za-z0-9]{0,40}(?:[._-]\d{1,6}){0,4}")
_ROW_TOKEN: Final = re.compile(
    r"\d+(?:[._]\d+)*[A-Za-z0-9_]*|[A-Za-z_]\w*|[^\W\d_]+|[-+*/%&|^!=<>:]{2,3}|[^\s\w\"'`\\;]", re.ASCII
)
_SAME: Final = {":": "=", "=>": "=", ":=": "="}
_ANNOTATION: Final = re.compile(r"(?<=\w)\s{0,3}:\s{0,3}[^=,(){}:\n]{1,80}(?==[^=])")
_LINE_START: Final = re.compile(r"^[ \t]{0,80}(?:[+>#*-]|//){0,3}(?=[ \t\w])", re.MULTILINE)
_USED_NAME: Final = re.compile(r"[A-Za-z_]\w{0,80}(?=\(|\.\w|\s{0,2}=)", re.ASCII)
_EMPHASIS: Final = re.compile("[*`]")
_AMOUNT: Final = re.compile(r"\s*[-−]?\d[\d.,_]*\s?[^\W\d_]{0,12}%?\s*")


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
    shown = copy(_shown((*lines, *question.split("\n")), tuple(paths), tuple(commits)))
    plain = _FOREIGN.sub(_digits, strip_hidden(text)[0].translate(_WIDE))
    return list(dict.fromkeys(_Comparison(shown).missing(plain)))


def _digits(found: re.Match[str]) -> str:
    """Return a sign as digits where it is a number such as ³, else as it is."""
    return normalize("NFKC", found[0]) if found[0].isnumeric() else found[0]


class _Range(NamedTuple):
    """Lines of a cited path; `start` is 0 where the citation names none."""

    path: str
    start: int
    end: int


class _Shown:
    """What the citations of a claim hold, ready to be looked up."""

    def __init__(self, lines: Sequence[str], paths: Sequence[str], commits: Sequence[str]) -> None:
        text = "\n".join(lines)[:MAX_LINES_CHARS]
        self.ranges = [  # of several codebases, each is named in front: app:a/b.py
            _Range(_slashed(found["path"]), int(found["start"] or 0), int(found["end"] or found["start"] or 0))
            for found in map(_CITED.fullmatch, paths)
            if found
        ]
        stems = [cited.path.rpartition(".")[0] or cited.path for cited in self.ranges]
        self._path_words = set(_PIECE.findall("\n".join(stems)))
        self._words = self._path_words.union(_PIECE.findall(text))
        self._squeezed = {_squeezed(name) for name in [*self._words, *_WITH_DIGITS.findall(text)]}
        self._text = "\n".join([text, *commits])
        plain = _LINE_START.sub("", text)
        self._rows = _row(plain) + _row(_ANNOTATION.sub("", plain))
        self._searches = 0
        endings = [cited.path.rpartition(".")[2].lower() for cited in self.ranges if "." in cited.path]
        self.quantities = Quantities(text.split("\n"), endings)

    def holds(self, token: str) -> bool | None:
        """Whether a word without blanks is shown; None where it is nothing that has to be."""
        if _COMMIT.fullmatch(token):
            return self._stands(token, behind="")
        if place := _PLACE.fullmatch(token):
            lines = [int(line) for line in place.group("start", "end") if line]
            is_cited = self._has_path(place["path"]) and self.has_lines(lines, place["path"])
            return is_cited or self.has_row(token)
        if _PATH.fullmatch(token) or ("/" in token and not self._path_words.isdisjoint(token.split("/"))):
            return self._has_path(token)
        if _NAME.fullmatch(token) and not is_unit(token):
            return self._has_name(token) or self._has_path(token)
        return None

    def has_row(self, code: str) -> bool:
        """Whether the tokens of a span stand in a row; what an ellipsis leaves out may be anything."""
        pieces = [piece for piece in re.split(r"\.{3}|…", code) if any(map(str.isalnum, piece))]
        if not self._may_search():
            return False
        return all(_row(piece) in self._rows for piece in pieces) if pieces else code in self._text

    def has_lines(self, lines: Sequence[int], path: str = "") -> bool:
        """Whether a path, or any one, is cited with these lines."""
        ending = f"/{_slashed(path)}" if path else ""
        cited = [each for each in self.ranges if f"/{each.path}".endswith(ending)]
        return all(any(not each.start or each.start <= line <= each.end for each in cited) for line in lines)

    def _has_name(self, name: str) -> bool:
        """Whether all parts of a name stand there as whole words, or in the cited paths."""
        if name.startswith("--"):
            return self._stands(name)
        parts = _PIECE.findall(name)
        if _WITH_DIGITS.fullmatch(name) or (len(parts) == 1 and "_" not in name):  # GitHub may be github
            return _squeezed(name) in self._squeezed
        return self._words.issuperset(parts)

    def _has_path(self, path: str) -> bool:
        """Whether a path is cited, in full or by its last or first parts, or stands in the lines."""
        wanted = f"/{_slashed(path).strip('/')}/"
        return any(
            wanted in f"/{each.path}/" or wanted in f"/{each.path.rpartition('.')[0]}/" for each in self.ranges
        ) or self._stands(path)

    def _stands(self, text: str, behind: str = r"(?![\w-])") -> bool:
        return self._may_search() and re.search(rf"(?<![\w.-]){re.escape(text)}{behind}", self._text) is not None

    def _may_search(self) -> bool:
        self._searches += 1
        return self._searches <= MAX_SEARCHES


_shown: Final = lru_cache(maxsize=4)(_Shown)
"""The claims of a draft mostly share their citations, and a commit's patch may be long."""


def _slashed(path: str) -> str:
    return path.removeprefix("./").replace(":", "/")


def _row(code: str) -> str:
    return f" {' '.join(_SAME.get(token, token) for token in _ROW_TOKEN.findall(code))} "


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9_]", "", name.lower())


class _Comparison:
    """Takes out of a claim what was compared, kind by kind, and keeps what is missing."""

    def __init__(self, shown: _Shown) -> None:
        self._shown = shown
        self._missing: list[str] = []

    def missing(self, text: str) -> list[str]:
        """Return what the citations do not hold."""
        text = _TOKEN.sub(self._token, _IGNORED.sub("\0", _CODE.sub(self._code, text)))
        words = (word for found in _LINES.finditer(text) for word in _PIECE.finditer(text, *found.span()))
        starts = {word.start() for word in words if self._shown.ranges}
        for said in spoken_numbers(text):
            if said.start in starts and not said.unit and said.written.isdigit():
                is_shown = self._shown.has_lines([int(said.written)])
            else:
                is_shown = self._shown.quantities.back(said)
            self._compare(_EMPHASIS.sub("", text[said.start : said.end]).strip(), is_shown=is_shown)
        return self._missing

    def _compare(self, word: str, *, is_shown: bool) -> str:
        if not is_shown:
            self._missing.append(word)
        return "\0"

    def _code(self, found: re.Match[str]) -> str:
        if found["span"] is None:
            return "\n".join(map(self._line_of_block, found["block"].split("\n")))
        code = found["span"]
        if _AMOUNT.fullmatch(code) and not _COMMIT.fullmatch(code.strip()):
            return found[0]
        row = _LINE_START.sub("", code).strip().removesuffix("()")
        token = _TOKEN.fullmatch(code.strip())
        return self._compare(code, is_shown=self._shown.has_row(row) or bool(token and self._shown.holds(token[0])))

    def _line_of_block(self, line: str) -> str:
        """Return what is left to compare of a line of code that does not stand there: its words, calls among them."""
        if self._shown.has_row(_LINE_START.sub("", line).strip()):
            return "\0"
        for name in _USED_NAME.findall(line):
            self._compare(name, is_shown=bool(self._shown.holds(f"{name}()")))
        return line

    def _token(self, found: re.Match[str]) -> str:
        """Compare a name, path, place or commit, or the pieces of another word; leave what is none of them."""
        token = found[0]
        if (is_shown := self._shown.holds(token)) is not None:
            return self._compare(token, is_shown=is_shown)
        is_word = token[0].isdigit() or _PIECE.fullmatch(token)
        return token if is_word else _PIECE.sub(self._token, token)
