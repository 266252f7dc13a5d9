"""Which places of a codebase a text names: files, their lines, commits.

Pure and linear. It finds what reads as a place and leaves alone what only looks like one: versions, times, hosts with
ports, addresses of the web, products such as Node.js, calls such as `response.json()`, commands in a code span.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple

from bot.domain.citations.number_words import with_digits
from bot.domain.search.files import FileKind, file_kind
from bot.domain.tables import Alternatives, Parts, Words, WordSet, fill, read_table
from bot.domain.text.sanitize import strip_hidden

MAX_CHARS: Final = 20_000
"""So much of a text is looked at; no draft that may be posted is longer."""

_SINGLE: Final = frozenset("chm")
_TOKEN: Final = re.compile(
    r"(?:[^\s`'\"“”‘’«»„()\[\]{}<>|,;*!?:#=\\&$]|(?<=/)\[[\w.-]{1,60}\]|(?<=/)\([\w.-]{1,60}\)(?=/)){1,300}"
)
"""A word as files are named; a folder or a stem may stand in brackets below another: `app/[id].tsx`."""

_URL: Final = re.compile(r"\b(?:https?|ssh|git|ftp)://[^\s<>`\"')\]]{1,2000}", re.IGNORECASE)
_URL_LINES: Final = re.compile(
    r"/(?:blob|src|blame|raw)/[^/\s]{1,200}/([^#?\s]{1,500})#(?:L|lines-)(\d{1,9})(?:C\d+)?(?:-L?(\d{1,9}))?"
)
_URL_FILE: Final = re.compile(r"/(?:blob|src|blame|raw)/[^/\s]{1,200}/([^#?\s]{1,500})")
_URL_COMMIT: Final = re.compile(r"/commits?/([0-9a-f]{7,40})\b")
_FENCE: Final = re.compile(r"^[ \t]{0,3}(```|~~~).*?(?:^[ \t]{0,3}\1[^\n]*|\Z)", re.DOTALL | re.MULTILINE)
_SPAN: Final = re.compile(r"`[^`\n]{1,400}`")

_MORE_AT_MOST: Final = 20

_EMPHASIS: Final = re.compile(r"(?<!\w)_([\w./-]{1,200}\.\w{1,8})_(?!\w)")
_COLONS: Final = re.compile("[\u2236\ua789\u02d0\u02f8\u05c3]")
"""Characters that look like a colon."""

_LOOK_BACK: Final = 120

_HEX: Final = re.compile(r"(?<![\w#\-/])(?<!\w\.)[0-9a-fA-F]{7,40}(?![\w\-/])")

_JOINERS: Final = re.compile("[\u200c\u200d\u2060\ufe0e\ufe0f]")
_ID_CHARS: Final = 40


class _NamedPlacesTable(NamedTuple):
    endings: WordSet
    endings_below_a_folder: WordSet
    file_names: WordSet
    any_of_them: str
    of_all: str
    products: Alternatives
    attributes_of: Words
    parts: Parts
    more: Alternatives
    behind: Alternatives
    ahead: Alternatives
    alone: Alternatives
    first_ahead: Alternatives
    first_behind: Alternatives
    first_alone: Alternatives
    called_commit: Alternatives
    since: Alternatives


_LISTS: Final = read_table(__file__, "named_places.yml", _NamedPlacesTable)


def _pattern(said: str) -> re.Pattern[str]:
    return re.compile(fill(said, _LISTS.parts), re.IGNORECASE)


ENDINGS: Final = _LISTS.endings
"""By which a bare word is the name of a file."""

_ENDINGS_BELOW_A_FOLDER: Final = _LISTS.endings_below_a_folder | ENDINGS
_NAMES: Final = frozenset(name.lower() for name in _LISTS.file_names)
_ANY_OF_THEM: Final = re.compile(_LISTS.any_of_them, re.IGNORECASE)
_OF_ALL: Final = re.compile(_LISTS.of_all, re.IGNORECASE)
_PRODUCTS: Final = re.compile(rf"(?:{_LISTS.products})\.js", re.IGNORECASE)
_ATTRIBUTES: Final = re.compile(rf"(?:{'|'.join(_LISTS.attributes_of)})\.\w+", re.IGNORECASE)

_MORE: Final = re.compile(fill(_LISTS.more, _LISTS.parts))
_BEHIND: Final = _pattern(_LISTS.behind)
_AHEAD: Final = _pattern(_LISTS.ahead)
_ALONE: Final = _pattern(_LISTS.alone)
_FIRST_AHEAD: Final = _pattern(_LISTS.first_ahead)
_FIRST_BEHIND: Final = _pattern(_LISTS.first_behind)
_FIRST_ALONE: Final = _pattern(_LISTS.first_alone)
_CALLED_COMMIT: Final = _pattern(_LISTS.called_commit)
_SINCE: Final = _pattern(_LISTS.since)
_AT_LINE: Final = re.compile(
    rf"(?P<ending>\.(?:{'|'.join(sorted(ENDINGS))}))(?:[@~+/.]|%3A|%23)L?(?=\d{{1,9}}(?!\w|\.\d|[@/]))", re.IGNORECASE
)


class NamedPlace(NamedTuple):
    """A place as a text names it: lines of a file (`path` empty: of some file), a whole file, or a commit."""

    path: str = ""
    start: int = 0
    end: int = 0
    commit: str = ""

    def __str__(self) -> str:
        if self.commit:
            return f"commit {self.commit}"
        lines = f"{self.start}-{self.end}" if self.end > self.start else f"{self.start}"
        if not self.path:
            return f"line {lines}"
        return f"{self.path}:{lines}" if self.start else self.path


def places_in(text: str) -> list[NamedPlace]:
    """Return the places a text of Markdown names, in order, each once.

    >>> [str(place) for place in places_in("`a/b.py:3-9`, line 4 of x.go, since commit abc1234; v1.2, 12:30, db:5432.")]
    ['a/b.py:3-9', 'x.go:4', 'commit abc1234']
    """
    known = unicodedata.normalize("NFKC", strip_hidden(text[:MAX_CHARS])[0])
    known = _JOINERS.sub("", known)
    known = with_digits(re.sub("[‐‑‒–—−〜]", "-", known))
    known = _AT_LINE.sub(_with_colon, _COLONS.sub(":", _EMPHASIS.sub(r"\1", known)))
    urls = [place for url in _URL.finditer(known) for place in _in_url(url[0])]
    rest = _URL.sub(lambda url: " " * len(url[0]), known)
    return list(dict.fromkeys([*urls, *_in_files(rest), *_commits(rest)]))


def without_commands(text: str) -> str:
    """Return a text of Markdown without addresses of the web, fenced code and commands in code spans.

    >>> without_commands("see `a.b` and `python -m a.b` https://a.b")
    'see `a.b` and    '
    """
    rest = _FENCE.sub(" ", _URL.sub(" ", text[:MAX_CHARS]))
    return _SPAN.sub(lambda span: " " if " " in span[0].strip("` ") else span[0], rest)


def _with_colon(found: re.Match[str]) -> str:
    """Return "shop.py@" as "shop.py:"; what follows a product such as `vue.js@` is its version."""
    name = re.split(r"[^\w.]", found.string[max(0, found.start() - _LOOK_BACK) : found.end("ending")])[-1]
    return found[0] if _PRODUCTS.fullmatch(name) else f"{found['ending']}:"


def _in_url(url: str) -> Iterator[NamedPlace]:
    if found := _URL_LINES.search(url):
        yield _lines(found[1], found[2], found[3])
    elif found := _URL_FILE.search(url):
        path = found[1].rstrip(".,:;*_")
        if _is_file(path, path, len(path)):
            yield NamedPlace(path=_clean(path))
    if commit := _URL_COMMIT.search(url):
        yield NamedPlace(commit=commit[1].lower())


def _in_files(text: str) -> Iterator[NamedPlace]:
    """Yield the files with their lines, then the lines that stand alone."""
    commands = [match.span() for match in _FENCE.finditer(text)]
    commands += [match.span() for match in _SPAN.finditer(text) if " " in match[0].strip("` ")]
    taken: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(text):
        path = token[0].rstrip(".-/")
        behind = _BEHIND.match(text, token.start() + len(path))
        count = _count(text, token.start(), token.start() + len(path)) if _may_have_lines(path) else None
        if count:
            yield _lines(path, "1", count)
        elif _may_have_lines(path) and (behind or (ahead := _ahead(text, token.start()))):
            yield from _with_lines(path, text, behind or ahead)
            taken.append((token.start() - _LOOK_BACK * (not behind), behind.end() if behind else token.end()))
        elif _is_file(path, text, token.end()) and not _within(token.start(), commands):
            yield NamedPlace(path=_clean(path))
    yield from (_lines("", "1", found[1] or found[2]) for found in _FIRST_ALONE.finditer(text))
    for found in _ALONE.finditer(text):
        if not _within(found.start(), taken) and not _within(found.start(), commands):
            yield _lines("", *[number for number in found.groups() if number][:2])
            yield from _more("", text, found.end())


def _with_lines(path: str, text: str, found: re.Match[str] | None) -> Iterator[NamedPlace]:
    """Yield a file with the lines named beside it: "3-9", "3, 5 and 9"."""
    assert found is not None
    numbers = [number for number in found.groups() if number and number.isdigit()]
    yield _lines(path, *numbers[:2])
    if found.string is text:
        yield from _more(path, text, found.end())


def _more(path: str, text: str, at: int) -> Iterator[NamedPlace]:
    """Yield the lines that a list goes on with: ", 9 and 12-14"."""
    for _ in range(_MORE_AT_MOST):
        more = _MORE.match(text, at)
        if more is None:
            return
        first, last, *_rest = [number for number in more.groups() if number] + [None]
        yield _lines(path, first or "", last)
        at = more.end()


def _count(text: str, start: int, end: int) -> str | None:
    """Return how many of a file's first lines are named beside it: "the first 90 lines of"."""
    found = _FIRST_AHEAD.search(text[max(0, start - _LOOK_BACK) : start]) or _FIRST_BEHIND.match(text, end)
    return next(number for number in found.groups() if number) if found else None


def _ahead(text: str, at: int) -> re.Match[str] | None:
    return _AHEAD.search(text[max(0, at - _LOOK_BACK) : at])


def _lines(path: str, start: str, end: str | None = None) -> NamedPlace:
    first = int(start)
    return NamedPlace(_clean(path) if path else "", first, max(first, int(end) if end else first))


def _clean(path: str) -> str:
    return path.removeprefix("./").lstrip("/~@")


def _within(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def _may_have_lines(path: str) -> bool:
    """Whether numbers behind a word are lines of it: a host has a port there, a time its minutes."""
    name = path.rpartition("/")[2].lower()
    ending = name.rpartition(".")[2] if "." in name else ""
    if name in _NAMES or (ending in ENDINGS and _has_stem(name)) or re.match(r"\.[a-z]{2}", name):
        return True
    if "." in name and file_kind(path) is FileKind.SECRET:
        return True
    first = path.partition("/")[0]
    is_host = "." in first.strip(".") or first == "localhost"
    return "/" in path.strip("/") and not is_host and any(map(str.isalpha, name)) and "@" not in path


def _is_file(path: str, text: str, end: int) -> bool:
    """Whether a word by itself names a file."""
    name = path.rpartition("/")[2]
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    below = "/" in path.strip("/")
    if name.lower() in _NAMES:
        return below or text[end : end + 1] == "`" or _is_meant(path, text, end)
    is_known = ending in (_ENDINGS_BELOW_A_FOLDER if below else ENDINGS)
    if not is_known or not _has_stem(name) or "@" in path or file_kind(path) is FileKind.SECRET:
        return False
    if not below and (ending in _SINGLE or _PRODUCTS.fullmatch(path) or _ATTRIBUTES.fullmatch(path)):
        return False
    is_bold = text.startswith(("**", "* ", "*\n"), end) and text[max(0, end - len(path) - 1)] == "*"
    return is_bold or text[end : end + 1] not in ("(", "=", "*")


def _is_meant(name: str, text: str, end: int) -> bool:
    """Whether "Makefile" is the project's own, not one of many: "a Makefile", "Makefile syntax"."""
    start = text.rfind(name, 0, end)
    before = text[max(0, start - _LOOK_BACK) : start]
    return name in _LISTS.file_names and not _ANY_OF_THEM.search(before) and not _OF_ALL.match(text, start + len(name))


def _has_stem(name: str) -> bool:
    return any(map(str.isalpha, name.rpartition(".")[0]))


def _commits(text: str) -> Iterator[NamedPlace]:
    """Yield what reads as the id of a commit: so called, or a mix of digits and letters behind "in" or "since"."""
    for token in _HEX.finditer(text):
        before = text[max(0, token.start() - 40) : token.start()]
        word = token[0]
        is_mixed = any(map(str.isdigit, word)) and any(map(str.isalpha, word)) and word == word.lower()
        is_id = is_mixed and (len(word) <= 12 or len(word) == _ID_CHARS)
        is_shown = before.endswith("`") and text.startswith("`", token.end())
        is_whole = len(word) == _ID_CHARS or text.startswith("..", token.end()) or is_shown
        if _CALLED_COMMIT.search(before) or (is_id and (is_whole or _SINCE.search(before))):
            yield NamedPlace(commit=word.lower())
