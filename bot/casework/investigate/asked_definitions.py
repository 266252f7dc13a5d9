"""Looks up the definitions that a question names, before any passage is ranked, and chooses the best of several.

Reads the index of definitions, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from bot.domain.search.definitions import Definition, DefinitionKind
from bot.domain.search.files import path_weight
from bot.domain.search.question_names import HISTORY_WORDS, MAX_BARE_WORDS, Named, QuestionNames, names_in
from bot.domain.search.tokens import akin_stems, stem, text_stems
from bot.ports import PassageIndex

MAX_SUBJECTS = 4
MAX_WORDS = 20

_DECLARES_ONLY: Final = re.compile(r"\.d\.[cm]?ts$|\.pyi$|\.hh?$|\.hpp$")
_TYPESCRIPT: Final = re.compile(r"(?<!\.d)\.[cm]?tsx?$")
_JAVASCRIPT: Final = re.compile(r"\.[cm]?jsx?$")
_BUILT: Final = re.compile(r"(?:^|/)(?:dist|build|out|target|cjs|esm|umd|lib/(?:cjs|esm))/|\.cjs$")


class Asked(NamedTuple):
    """What a question names: its definitions in the order of the question, places, and whether these are the answer.

    A place is a file, or a folder that ends in a slash. `may_answer`: the first lines of the one definition are the
    answer if they hold what else the question says.
    """

    definitions: tuple[Definition, ...] = ()
    places: tuple[str, ...] = ()
    is_answer: bool = False
    may_answer: bool = False

    def __bool__(self) -> bool:
        return bool(self.definitions or self.places)


def asked_definitions(question: str, index: PassageIndex, *, subject: str = "") -> Asked:
    """Return the definitions and files that a question names, or that `subject` names where the question names none.

    Args:
        question: What is asked.
        index: Where names are looked up.
        subject: What was asked before in the thread: "and where is it defined?" is about that.
    """
    names = names_in(question)
    asked = _asked(names, question, index)
    if asked or not subject or names.words:
        return asked
    earlier = names_in(subject)
    meant = names._replace(names=earlier.names, files=earlier.files)
    return _asked(meant, f"{question}\n{subject}", index)


def asked_history(question: str, index: PassageIndex, *, subject: str = "") -> Asked:
    """Return what a question about history names; plain words count as well, those that tell of changes aside."""
    names = names_in(question)
    words = tuple(word for word in names.words if word not in HISTORY_WORDS)
    if not (words or names.names or names.files) and subject:
        return _asked(names_in(subject), subject, index)
    found = _asked(names._replace(words=words), question, index)
    if found or not 0 < len(words) <= MAX_BARE_WORDS:
        return found
    plain = names._replace(words=words, is_explicit=True, is_about_use=False)
    spellings = [one.name for run in plain.bare() for one in run]
    if places := next((places for one in spellings if (places := _places([one], index))), ()):
        return Asked((), places)
    return Asked(tuple(_called_so(plain, question, index) or _types_called_so(plain, question, index)))


def _asked(names: QuestionNames, question: str, index: PassageIndex) -> Asked:
    places = _places(names.files, index)
    named = [one for one in names.names if not any(place.endswith(f".{one.name}") for place in places)]
    found = _chosen(named, names, question, index)
    members = _members(names, found, places, index)
    chosen = members or found
    consumed = [one.name.lower() for one in members]
    if not chosen and not places:
        if chosen := _called_so(names, question, index):
            return Asked(tuple(chosen), is_answer=True)
        chosen = _types_called_so(names, question, index)
        consumed = [one.name.lower() for one in chosen]
    of_value = bool(chosen) and chosen[0].kind is DefinitionKind.VALUE
    consumed += [word for word in names.words if chosen and _is_told_by_place(word, chosen[0])]
    may_answer = len(chosen) == 1 and not names.is_about_use
    return Asked(tuple(chosen), places, names.wants_definition(of_value=of_value, consumed=consumed), may_answer)


def _called_so(names: QuestionNames, question: str, index: PassageIndex) -> list[Definition]:
    """Return the definition that the longest run of plain words names, that of a test only if there is no other."""
    for run in names.bare():
        if found := _chosen(run, names, question, index):
            return [max(found, key=lambda one: path_weight(one.path, question))]
    return []


def _types_called_so(names: QuestionNames, question: str, index: PassageIndex) -> list[Definition]:
    """Return the types called as a capitalised word is written: `Email` of "the Email validator"."""
    found = _chosen(map(Named, names.capitalised), names, question, index)
    return [one for one in found if one.kind is DefinitionKind.TYPE and one.name in names.capitalised]


def _is_told_by_place(word: str, definition: Definition) -> bool:
    """Whether a word says what the path or the enclosing name does: a "validator" of `validate.py`."""
    path = definition.path.rpartition(".")[0]
    return bool(akin_stems(frozenset({stem(word)}), text_stems(f"{path} {definition.scope}")))


def _chosen(named: Iterable[Named], names: QuestionNames, question: str, index: PassageIndex) -> list[Definition]:
    """Return the definition of each name that has one."""
    stems = frozenset(map(stem, names.words)) | {stem(one.name.lower()) for one in names.names}
    best = (
        best_definition(one, index.definitions(one.name), question=question, stems=stems - {stem(one.name.lower())})
        for one in named
    )
    return list(dict.fromkeys(one for one in best if one))[:MAX_SUBJECTS]


def _members(
    names: QuestionNames, holders: Sequence[Definition], places: Sequence[str], index: PassageIndex
) -> list[Definition]:
    """Return what the question's other words call inside of a definition or a file: "the send method of `Client`"."""
    scopes = {(one.path, ".".join(filter(None, (one.scope, one.name)))) for one in holders}
    scopes |= {(place, "") for place in places} if not holders else set()
    words = names.words[:MAX_WORDS] if scopes else ()
    found = (one for word in words for one in index.definitions(word) if (one.path, one.scope) in scopes)
    return list(dict.fromkeys(found))[:MAX_SUBJECTS]


def _places(written: Sequence[str], index: PassageIndex) -> tuple[str, ...]:
    """Return the file, else the folder, meant by each of what is written like one, the shallowest of a name."""
    found = (min(index.places_called(one), key=_depth, default="") for one in written)
    return tuple(dict.fromkeys(filter(None, found)))


def _depth(place: str) -> tuple[bool, float, int, str]:
    return place.endswith("/"), -path_weight(place, ""), place.count("/"), place


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
        -len(akin_stems(stems, text_stems(f"{one.path} {one.scope}"))),
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
