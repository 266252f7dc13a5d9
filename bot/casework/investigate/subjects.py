"""What a question names: a definition, and the files and folders to look in. Reads the index.

A name in code is looked up as it is written; plain words are one where the question's form says so ("where is the order
service?"), and so is that of a file; a misspelt name is taken for the one name of the index that is a slip away. A file
in the question restricts what is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from bot.domain.search.definitions import Definition, DefinitionKind
from bot.domain.search.files import path_weight
from bot.domain.search.questions import (
    DEFINITION,
    DEFINITION_WORDS,
    USE_WORDS,
    USES,
    VALUE_WORDS,
    Named,
    Question,
)
from bot.ports import PassageIndex

VALUE: Final = 0.9
"""How much a constant counts beside a type or function of the same name."""

TYPE_WORDS: Final = frozenset({"class", "struct", "interface", "enum"})
"""A question with one of them asks for a type, however its name is capitalised."""


class Subject(NamedTuple):
    """What a question names: `name` as it stands in the code, its definitions, best first, and where to look.

    `used` are the question's words that stand for it, `written` is what was taken for a slip, `places` are files, and
    folders that end in a slash. `is_plain`: no word of it is written as code.
    """

    name: str = ""
    definitions: tuple[Definition, ...] = ()
    places: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    written: str = ""
    is_plain: bool = False

    def holds(self, path: str) -> bool:
        """Whether a path lies in the files and folders that are named; every one does where none is."""
        folders = tuple(one for one in self.places if one.endswith("/"))
        return not self.places or path in self.places or path.startswith(folders)


def subject_of(question: Question, before: Question, index: PassageIndex) -> Subject:
    """Return what a question names, or what was named before it where it has no name and hardly a word of its own."""
    found = _subject(question, index)
    if found.name or found.places or len(question.words) > 2:
        return found
    return _subject(before, index) if before.text else found


def _subject(question: Question, index: PassageIndex) -> Subject:
    places = _places(question.files, index)
    named = [one for one in question.names if not any(place.endswith(f".{one.name}") for place in places)]
    subject = Subject(places=places)
    for one in named:
        if defined := _fitting(one, question, index, subject):
            return subject._replace(name=defined[0].name, definitions=defined, used=(*one.qualifiers, defined[0].name))
    for run in question.runs():
        if found := _of_words(run, question, index, subject):
            return found
    told = question.told(without=DEFINITION_WORDS)
    if len(told) == 1 and question.wants(DEFINITION) and (found_there := _places(told, index)):
        return subject._replace(places=found_there, used=tuple(told), is_plain=True)
    return _respelt(named, question, index, subject)


def _places(written: Sequence[str], index: PassageIndex) -> tuple[str, ...]:
    """Return the file, else the folder, meant by each of what is written like one, the shallowest of a name."""

    def depth(place: str) -> tuple[bool, float, int, str]:
        return place.endswith("/"), -path_weight(place, ""), place.count("/"), place

    found = (min(index.places_called(one), key=depth, default="") for one in written)
    return tuple(dict.fromkeys(filter(None, found)))


def _fitting(named: Named, question: Question, index: PassageIndex, subject: Subject) -> tuple[Definition, ...]:
    """Return the definitions of a name that fit what else the question says, best first."""
    found = [one for one in index.definitions(named.name) if subject.holds(one.path)]
    wants_type = not TYPE_WORDS.isdisjoint(question.words)
    exact = [one for one in found if one.name == named.name and not wants_type]
    exact = exact or ([] if named.name.isupper() else found)

    def fit(one: Definition) -> tuple[float, bool, float]:
        is_type = wants_type and one.kind is DefinitionKind.TYPE
        return (
            _qualified(named, one),
            is_type,
            path_weight(one.path, question.text) * (VALUE if one.kind is DefinitionKind.VALUE else 1),
        )

    def rank(one: Definition) -> tuple[object, ...]:
        return *(-each for each in fit(one)), len(one.scope.split(".")), one.path.count("/"), one.path, one.line

    ranked = sorted(exact, key=rank)
    return tuple(one for one in ranked if fit(one) == fit(ranked[0]))


def _qualified(named: Named, one: Definition) -> int:
    """Return how well what stands before a name fits: an enclosing name counts twice, a folder or file once."""
    scope = [part.lower() for part in one.scope.split(".")]
    folders = {part.partition(".")[0].lower() for part in one.path.split("/")}
    return sum(2 if part in scope else part in folders for part in map(str.lower, named.qualifiers))


def _of_words(run: Sequence[str], question: Question, index: PassageIndex, subject: Subject) -> Subject | None:
    """Return what neighbouring plain words name: several may be one name, a single one only where the form says so."""
    is_single = len(run) == 1
    if is_single and run[0].lower() in DEFINITION_WORDS | VALUE_WORDS | USE_WORDS:
        return None
    others = question.others(run, without=DEFINITION_WORDS | USE_WORDS)
    is_asked_for = (question.wants(DEFINITION) or question.wants(USES)) and len(others) <= 1
    for name in dict.fromkeys(("".join(run), "_".join(run))):
        found = _fitting(Named(name), question, index, subject)
        if is_single:
            is_type = run[0][0].isupper() and any(one.kind is DefinitionKind.TYPE and one.name == name for one in found)
            found = tuple(one for one in found if one.kind is not DefinitionKind.VALUE and (is_asked_for or is_type))
        if found:
            return subject._replace(name=found[0].name, definitions=found, used=tuple(run), is_plain=True)
    return None


def _respelt(named: Sequence[Named], question: Question, index: PassageIndex, subject: Subject) -> Subject:
    """Return the one name of the index that a name which it does not hold is a slip away from.

    A plain word is looked at only where hardly another is asked for, and nothing in the codebase holds it.
    """
    written = [one.name for one in named]
    if not named and question.wants(DEFINITION):
        written = [
            word
            for word in question.words
            if len(question.others([word], without=DEFINITION_WORDS)) <= 1
            and not any(index.word_counts(word).found.values())
        ]
    for one in written:
        near = [] if index.definitions(one) else index.near_names(one)
        if len(near) == 1 and (found := _fitting(Named(near[0]), question, index, subject)):
            return subject._replace(name=near[0], definitions=found, used=(one,), written=one)
    return subject
