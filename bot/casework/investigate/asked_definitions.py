"""The definitions a question is about: looked up by name before any passage is ranked.

Reads the index of definitions, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bot.domain.search.definition_choice import best_definition
from bot.domain.search.definitions import Definition, DefinitionKind
from bot.domain.search.file_kinds import path_weight
from bot.domain.search.question_names import HISTORY_WORDS, MAX_BARE_WORDS, Named, QuestionNames, names_in
from bot.domain.search.tokens import stem
from bot.ports import PassageIndex

MAX_SUBJECTS = 4
MAX_WORDS = 20


class Asked(NamedTuple):
    """What a question names: its definitions in the order of the question, places, and whether these are the answer.

    A place is a file, or a folder that ends in a slash.
    """

    definitions: tuple[Definition, ...] = ()
    places: tuple[str, ...] = ()
    is_answer: bool = False

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
    bare = names._replace(words=words, is_explicit=True, is_about_use=False).bare()
    meant = [one.name for one in bare]
    places = next((places for one in meant if (places := _places([one], index))), ())
    named = (_chosen([Named(one, is_code=False)], names, question, index) for one in meant)
    return Asked(next((tuple(one) for one in named if one), ()) if not places else (), places)


def _asked(names: QuestionNames, question: str, index: PassageIndex) -> Asked:
    places = _places(names.files, index)
    named = [one for one in names.names if not any(place.endswith(f".{one.name}") for place in places)]
    found = _chosen(named, names, question, index)
    members = _members(names, found, places, index)
    chosen = members or found
    consumed = [one.name.lower() for one in members]
    if not chosen and not places:
        chosen = next((one for each in names.bare() if (one := _chosen([each], names, question, index))), [])
        return Asked(tuple(chosen), is_answer=bool(chosen))
    of_value = bool(chosen) and chosen[0].kind is DefinitionKind.VALUE
    return Asked(tuple(chosen), places, names.wants_definition(of_value=of_value, consumed=consumed))


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
