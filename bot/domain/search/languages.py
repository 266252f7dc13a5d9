"""How each language defines names and gives values: the patterns of languages.yml, compiled by the endings of files.

Pure. Each pattern takes time that grows with the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from bot.domain.tables import Parts, Words, WordSet, fill, read_table

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
