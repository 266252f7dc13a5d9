"""What a search without a model hands back: a sentence, the lines or commits it rests on, and how sure that is.

What a question names: a definition, and the files and folders to look in. Reads the index.

A name in code is looked up as it is written; plain words are one where the question's form says so ("where is the order
service?"), and so is that of a file; a misspelt name is taken for the one name of the index that is a slip away. A file
in the question restricts what is found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple

from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.quotes import Excerpt, Quotes
from bot.casework.investigate.trace_places import is_report, search_text
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.returns import EvidenceRef
from bot.domain.search.definitions import Definition, DefinitionKind
from bot.domain.search.files import path_weight
from bot.domain.search.passages import Passage
from bot.domain.search.questions import (
    DEFINITION,
    DEFINITION_WORDS,
    USE_WORDS,
    USES,
    VALUE_WORDS,
    Named,
    Question,
)
from bot.domain.search.tokens import WordCounts, shared_stems, stem, text_stems
from bot.ports import PassageIndex

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
        return _qualified(named, one), is_type, path_weight(one.path, question.text)

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


MAX_PASSAGES: Final = 20
ENOUGH, ENOUGH_OF_UNKNOWN = 0.3, 0.6
"""Of the question's words, rare ones counting more, that a value or a commit holds if it is the answer.

Of a question with a word that nothing in the codebase holds it is more: its subject may be somewhere else.
"""

ORDINARY: Final = 50
"""So many passages of any other code are counted with those of the codebase, and one of them holds any word: that a few
files do not hold a word says little.
"""


class Finding(NamedTuple):
    """One place that may answer.

    `sentence` says what it is, `refs` are what that rests on, the quoted one first, and `shown` is quoted below it.
    """

    sentence: str
    refs: tuple[EvidenceRef, ...]
    shown: str

    def is_same(self, other: Finding) -> bool:
        """Whether both quote the same place, or lines of it."""
        mine, theirs = self.refs[0].ref, other.refs[0].ref
        one, two = parse_lines(mine), parse_lines(theirs)
        return mine == theirs or (
            one is not None
            and two is not None
            and one.path == two.path
            and one.start <= two.end
            and two.start <= one.end
        )


class Answer(NamedTuple):
    """Findings, best first; `is_certain`: a definition, an assignment, a trace or a commit was found, no mere likeness.

    Without findings `said` is what is to be said of the search; an empty one leaves it to the next way to search.
    """

    findings: Sequence[Finding] = ()
    is_certain: bool = True
    said: str = ""

    def __bool__(self) -> bool:
        return bool(self.findings or self.said)


NONE = Answer()


@dataclass(frozen=True, kw_only=True)
class Search:
    """One question (`text` as it was written), what was asked before it, and where to look; `now` is aware."""

    text: str
    question: Question
    before: Question
    repo: GitRepo
    index: PassageIndex
    quotes: Quotes
    now: datetime

    @property
    def commit(self) -> str:
        """The commit that is searched."""
        return self.quotes.commit

    @cached_property
    def subject(self) -> Subject:
        """What the question names."""
        return subject_of(self.question, self.before, self.index)

    @cached_property
    def is_of_names(self) -> bool:
        """Whether only its names are looked for: code holds no other word of it, or each says only what is wanted."""
        return bool(self.question.names) and not self.question.others(without=DEFINITION_WORDS)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the question's words, of its names where these are all that counts; else those said before."""
        if self.is_of_names:
            return frozenset[str]().union(*(text_stems(one.name) for one in self.question.names))
        return frozenset(self.question.others() if self.question.words else self.before.others())

    @cached_property
    def passages(self) -> Sequence[Passage]:
        """The passages closest to the text, best first."""
        if is_report(self.text):
            return search_text(self.text, self.repo, self.index, limit=MAX_PASSAGES)
        if self.is_of_names:
            named = " ".join(f"`{one.name}`" for one in self.question.names)
            return self.index.search(named, limit=MAX_PASSAGES, subject=self.before.text)
        asked, text = self.question.asked, self.question.text
        around = self.before.text if asked == text else f"{self.before.text}\n{text}"
        return self.index.search(asked, limit=MAX_PASSAGES, subject=around)

    def at(self, path: str, line: int, lead: str, *, before: int = 5, behind: int = 6) -> Finding | None:
        """Return a line and those around it as what `lead` says of its place; None where it may not be quoted."""
        excerpt = self.quotes.around(path, line, before=before, behind=behind)
        return of_lines(f"{lead} `{path}:{line}`.", excerpt) if excerpt else None

    @cached_property
    def _unknown(self) -> frozenset[str]:
        """The stems of the question's words that nothing in the codebase holds."""
        return frozenset(stem(word) for word, count in self._counts.found.items() if not count)

    def enough(self, stems: frozenset[str]) -> float:
        """Return the share of some of the question's words that a text holds which answers."""
        return ENOUGH_OF_UNKNOWN if stems & self._unknown else ENOUGH

    @property
    def enough_of_code(self) -> float:
        """The share of the question's words that code holds which answers; a small codebase lacks most words."""
        return self.enough(self.stems) if self._counts.total > ORDINARY else ENOUGH

    def share(self, text: str) -> float:
        """Return the share of the question's words that a text holds, rare ones counting more; one unknown most."""
        whole = self.weight(self.stems)
        return self.weight(shared_stems(self.stems, text)) / whole if whole else 0.0

    def weight(self, stems: frozenset[str]) -> float:
        """Return what some of the question's words tell together, the rarer the more."""
        return sum(self._weights.get(one, 1.0) for one in stems)

    @cached_property
    def _counts(self) -> WordCounts:
        return self.index.word_counts(self.question.asked)

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        counts = self._counts
        found: dict[str, int] = {}
        for word, count in counts.found.items():
            least = ORDINARY if word in DEFINITION_WORDS | VALUE_WORDS else 1
            found[stem(word)] = max(found.get(stem(word), 0), count + least)
        total = counts.total + ORDINARY
        return {word: math.log(1 + total / count) for word, count in found.items()}


Finder = Callable[[Search], Answer]
"""One way to answer; NONE where the question is not of its form, or nothing was found that way."""


def of_lines(sentence: str, excerpt: Excerpt, *others: EvidenceRef) -> Finding:
    """Return quoted lines as a finding."""
    return Finding(sentence, (excerpt.cited_for(sentence), *others), excerpt.text)


def naming_all(findings: Sequence[Finding], sentence: str, places: Iterable[str]) -> list[Finding]:
    """Return findings, the first with a sentence that names the places of all of them where it has `{}`."""
    named = ", ".join(f"`{one}`" for one in places)
    refs = tuple(one.refs[0] for one in findings)
    return [findings[0]._replace(sentence=sentence.replace("{}", named), refs=refs), *findings[1:]]
