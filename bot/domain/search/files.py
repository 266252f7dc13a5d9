"""What a path says about a file, which lines it has, and how its language defines names and gives values. Pure."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from bot.domain.tables import Alternatives, Parts, Words, WordSet, fill, read_table

_MAX_PATH_CHARS: Final = 1_024
_SAMPLE: Final = re.compile(
    r"[._-](?:example|sample|template|dist|tpl|default)(?:\.\w{1,10})?$|(?:^|/)(?:example|sample)\.env$"
)

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_WESTERN: Final = "cp1252"  # Latin-1 with the characters that Windows puts in place of its control codes
_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")


class FileKind(StrEnum):
    """What a tracked file is for."""

    SOURCE = "source"
    DOCS = "docs"
    SETTINGS = "settings"
    TEST = "test"
    EXAMPLE = "example"
    CHANGELOG = "changelog"
    LEGAL = "legal"
    VENDORED = "vendored"
    GENERATED = "generated"
    SECRET = "secret"  # noqa: S105 - a kind of file


class _FileKindsTable(NamedTuple):
    parts: Parts
    weights: dict[FileKind, float]
    asked_for: dict[FileKind, Alternatives]
    secret_names: tuple[Alternatives, ...]
    secret_folders: Alternatives
    rules: dict[FileKind, Alternatives]
    media: Alternatives


_LISTS: Final = read_table(__file__, "files.yml", _FileKindsTable)
_NAMES: Final = fill("|".join(_LISTS.secret_names), _LISTS.parts)
_SECRET: Final = re.compile(
    rf"(?:^|/)(?:{_NAMES})$|(?:^|/)(?:{_LISTS.secret_folders})(?:/|$)"
    r"|(?:^|/)\.?(?:secrets?|credentials|private[_-]keys?|passwords)/(?:[^/]{1,100}/){0,8}"
    + fill(r"(?:[^/.]{1,100}|[^/]{1,150}\.{DATA})$|^auth\.json$", _LISTS.parts),
    re.I,
)
_ASKED_FOR: Final = {kind: re.compile(pattern, re.I) for kind, pattern in _LISTS.asked_for.items()}
_RULES: Final = [(kind, re.compile(fill(pattern, _LISTS.parts), re.I)) for kind, pattern in _LISTS.rules.items()]
_MEDIA: Final = re.compile(rf"\.(?:{_LISTS.media})$", re.I)


def is_secret_file(path: str) -> bool:
    """Whether the name of the file at `path` says that it holds credentials.

    >>> is_secret_file("deploy/.env"), is_secret_file(".env.example"), is_secret_file("secrets/prod.yaml")
    (True, False, True)
    """
    end = path[-_MAX_PATH_CHARS:]
    return bool(_SECRET.search(end)) and not _SAMPLE.search(end)


@lru_cache(maxsize=4096)  # an index asks four times about each file of a batch
def file_kind(path: str) -> FileKind:
    """Return what the file at `path` is for; the first rule that fits decides.

    >>> [str(file_kind(path)) for path in ("src/app.py", "tests/test_app.py", "deploy/.env", ".env.example", "uv.lock")]
    ['source', 'test', 'secret', 'settings', 'generated']
    """
    if is_secret_file(path):
        return FileKind.SECRET
    end = path[-_MAX_PATH_CHARS:]
    return next((kind for kind, pattern in _RULES if pattern.search(end)), FileKind.SOURCE)


def is_indexed(path: str) -> bool:
    """Whether text of the file at `path` may be read and quoted; a path that cannot be cited in one line may not."""
    return path.isprintable() and _LISTS.weights[file_kind(path)] > 0


def may_hold_text(path: str) -> bool:
    """Whether a file whose content is not at hand might be read if it were: by its name no picture and no archive.

    >>> may_hold_text("docs/guide.md"), may_hold_text("docs/logo.PNG"), may_hold_text("uv.lock")
    (True, False, False)
    """
    return is_indexed(path) and _MEDIA.search(path[-_MAX_PATH_CHARS:]) is None


def is_prose(path: str) -> bool:
    """Whether the file is divided by headings rather than by definitions."""
    return path.lower().endswith((".md", ".mdx", ".rst", ".adoc", ".org", ".txt"))


def path_weight(path: str, question: str) -> float:
    """Return how much a match in `path` counts for `question`, 0 to 1; what the question names by kind counts in full.

    >>> path_weight("tests/test_app.py", "why is it slow?"), path_weight("tests/test_app.py", "which test covers it?")
    (0.45, 1.0)
    """
    kind = file_kind(path)
    asked = _ASKED_FOR.get(kind)
    return 1.0 if asked and asked.search(question) else _LISTS.weights[kind]


def text_of(content: bytes) -> str | None:
    r"""Return the text of a file without its byte order mark; None where it is binary or cannot be decoded.

    UTF-8; UTF-16 and UTF-32 with a byte order mark; else Latin-1 (Windows-1252), if nothing in it speaks against that.

    >>> text_of(b"caf\xc3\xa9"), text_of(b"caf\xe9"), text_of("x".encode("utf-16")), text_of(b"\x00\x01")
    ('café', 'café', 'x', None)
    """
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    text = _decoded(content, encoding)
    if text is None and encoding == "utf-8":
        text = _western(content)
    return None if text is None or "\0" in text else text


def file_lines(content: bytes) -> list[str] | None:
    r"""Return the lines of a file without their line ends; None where it is no text.

    A line ends at LF, CR LF or a lone CR; form feeds and Unicode separators end nothing.

    >>> file_lines(b"a\r\nb\x0cc\rd\n"), file_lines(b""), file_lines(b"\x00")
    (['a', 'b\x0cc', 'd'], [], None)
    """
    text = text_of(content)
    if text is None:
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removesuffix("\n").split("\n") if text else []


def _decoded(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _western(content: bytes) -> str | None:
    """Return Latin-1 text; None where the bytes are partly UTF-8, or hold control codes that no text has."""
    is_mixed = any(char > "\x7f" and char != "\ufffd" for char in content.decode("utf-8", "replace"))
    text = None if is_mixed else _decoded(content, _WESTERN)
    return None if text is None or _CONTROLS.search(text) else text


_ANY_GROUP: Final = re.compile(r"\(\?P<(\w+)>")


class _Ending(NamedTuple):
    endings: Words
    forms: Words = ()
    values: str = "lines"


class _LanguagesTable(NamedTuple):
    parts: Parts
    forms: dict[str, list[str]]
    values: dict[str, str]
    languages: list[_Ending]
    keywords: WordSet


_TABLE: Final = read_table(__file__, "languages.yml", _LanguagesTable)
KEYWORDS: Final = _TABLE.keywords
PARAMETER, SIGNATURE, CALL = (
    re.compile(fill(_TABLE.values[name], _TABLE.parts)) for name in ("parameter", "signature", "call")
)


class Language(NamedTuple):
    """What finds the definitions, and the values at the beginning of lines; either may be unknown.

    `defining` is one pattern for all, so that each line is looked at once; `roles` has the names and numbers of the
    groups of each of its parts.
    """

    defining: re.Pattern[str] | None
    roles: list[list[tuple[str, int]]]
    assigning: re.Pattern[str] | None

    def groups(self, match: re.Match[str]) -> dict[str, str]:
        """Return what a match of `defining` says by the names of languages.yml."""
        part = (match.lastgroup or "").rpartition("_")[2]
        return {role: found for role, at in self.roles[int(part)] if (found := match[at]) is not None}


def language_of(path: str) -> Language:
    """Return the language of a file by its ending; of an unknown one no definitions are known.

    >>> language_of("a.py").defining is not None, language_of("Makefile").defining, language_of("a.md").assigning
    (True, None, None)
    """
    return _LANGUAGES.get(path.rpartition(".")[2].lower(), _OTHER)


def _language(forms: Sequence[str], values: str) -> Language:
    assigning = None if values == "none" else re.compile(fill(_TABLE.values[values], _TABLE.parts), re.M)
    patterns = [fill(pattern, _TABLE.parts).removeprefix("^") for form in forms for pattern in _TABLE.forms[form]]
    if not patterns:
        return Language(None, [], assigning)
    parts = [_ANY_GROUP.sub(rf"(?P<\1_{at}>", one) for at, one in enumerate(patterns)]
    defining = re.compile(f"^(?:{'|'.join(parts)})", re.M)
    roles: list[list[tuple[str, int]]] = [[] for _ in parts]
    for group, at in defining.groupindex.items():
        role, _, part = group.rpartition("_")
        roles[int(part)].append((role, at))
    return Language(defining, roles, assigning)


_OTHER: Final = _language((), "lines")
_LANGUAGES: Final = {
    ending: language
    for one in _TABLE.languages
    for language in (_language(one.forms, one.values),)
    for ending in one.endings
}
