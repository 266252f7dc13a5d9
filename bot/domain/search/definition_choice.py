"""Which of several definitions of a name a question means. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.domain.search.definitions import Definition, DefinitionKind
from bot.domain.search.file_kinds import path_weight
from bot.domain.search.question_names import Named
from bot.domain.search.tokens import text_stems

_DECLARES_ONLY: Final = re.compile(r"\.d\.[cm]?ts$|\.pyi$|\.hh?$|\.hpp$")
_TYPESCRIPT: Final = re.compile(r"(?<!\.d)\.[cm]?tsx?$")
_JAVASCRIPT: Final = re.compile(r"\.[cm]?jsx?$")
_BUILT: Final = re.compile(r"(?:^|/)(?:dist|build|out|target|cjs|esm|umd|lib/(?:cjs|esm))/|\.cjs$")


def best_definition(
    named: Named, found: Sequence[Definition], *, question: str, stems: frozenset[str]
) -> Definition | None:
    """Return the definition that a name in a question means; None if none fits.

    Args:
        named: The name with what stands before it in the question.
        found: All definitions of it, however they are capitalised.
        question: The question; tests count where it asks about tests.
        stems: Those of the question's other words; a file or class of that name is meant rather than another.
    """
    fitting = [one for one in found if _qualified(named, one) or not named.qualifiers]
    if not fitting and len({(one.path, one.scope) for one in found}) <= 1:
        fitting = list(found)
    if not named.is_code and "_" not in named.name:
        fitting = [one for one in fitting if one.kind is not DefinitionKind.VALUE or one.name == named.name]
    sources = frozenset(name for one in fitting if (name := _TYPESCRIPT.sub("", one.path)) != one.path)
    return min(fitting, key=lambda one: _rank(named, one, question, stems, sources), default=None)


def _rank(
    named: Named, one: Definition, question: str, stems: frozenset[str], sources: frozenset[str]
) -> tuple[object, ...]:
    is_same = one.name == named.name
    return (
        named.is_code and not is_same,
        -_qualified(named, one),
        -path_weight(one.path, question),
        _DECLARES_ONLY.search(one.path) is not None,
        _is_built(one.path, sources),
        one.kind is DefinitionKind.VALUE,
        -len(stems & text_stems(f"{one.path} {one.scope}")),
        one.scope.count(".") + bool(one.scope),
        not is_same,
        one.path.count("/"),
        one.path,
        one.line,
    )


def _is_built(path: str, sources: frozenset[str]) -> bool:
    """Whether a file was made by a compiler: by its folder, or JavaScript beside TypeScript of the same name."""
    name = _JAVASCRIPT.sub("", path).rpartition("/")[2]
    has_source = _JAVASCRIPT.search(path) is not None and any(one.rpartition("/")[2] == name for one in sources)
    return has_source or _BUILT.search(path) is not None


def _qualified(named: Named, one: Definition) -> int:
    """Return how well what stands before a name fits: an enclosing name counts twice, a folder or file once."""
    scope = one.scope.split(".")
    folders = {part.partition(".")[0] for part in one.path.split("/")}
    return sum(2 if part in scope else part in folders for part in named.qualifiers)
