"""Finds what a question names: definitions, settings and their values, and the lines that use a name.

Reads the index and the files of one commit. A name in code is looked up as it is written; plain words are one where the
question's form says so ("where is the order service?") or a class they name has such a member; a misspelt name is taken
for the one name of the index that is a slip away. A file or class in the question restricts what is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from bot.agent.git.git_history import GitHistory
from bot.casework.investigate.findings import NONE, Answer, Finding, Search, naming_all, of_lines
from bot.casework.investigate.quotes import SETS_NUMBER, Excerpt, Wanted
from bot.domain.citations.comments import Scan
from bot.domain.search import questions
from bot.domain.search.definitions import Definition, DefinitionKind
from bot.domain.search.files import is_prose, path_weight
from bot.domain.search.passages import is_import
from bot.domain.search.questions import DEFINITION_WORDS, USE_WORDS, VALUE_WORDS, Named, Question
from bot.domain.search.settings import Setting
from bot.domain.search.tokens import shared_stems, text_stems
from bot.ports import PassageIndex

MAX_DEFINITIONS: Final = 3
MAX_USES: Final = 400
"""A name on more lines is an ordinary word; a list of them answers nothing."""

SHOWN_USES: Final = 3
MIN_SHARE: Final = 0.5
"""Of a question's other words that a definition holds, if it is the answer."""

SETTING_SHARE, NUMBER_SHARE = 0.5, 0.25
"""Of a question's words that a setting holds with what stands around it."""

# What the choice of a setting counts besides the shares of the words that its name and its surroundings hold.
DEFAULT, GIVEN, NOTHING = 0.3, 0.2, 0.6

_VALUE: Final = re.compile(r"[=:,(]\s*(?:[-+]?\d|[rbuf]{0,2}[\"']|:)")
_NO_VALUE: Final = re.compile(r"[=:]\s*[^\W\d]\w*$")
_REMARK: Final = re.compile(r"\s(?:#|//)\s[^\"']*$")
_LISTED: Final = re.compile(r"\s*\w+,?\s*")
"""A line of an import or a list that holds a name and nothing else."""

_DESCRIBES: Final = re.compile(r"\s*[:@](?:param|type|keyword|raises?)\b")
OWN: Final = 0.5
"""The least weight of a file whose settings count: those of tests are others."""

MAX_ASSIGNMENT_CHARS: Final = 80

_DECLARES_ONLY: Final = re.compile(r"\.d\.[cm]?ts$|\.pyi$|\.hh?$|\.hpp$")
_BUILT: Final = re.compile(r"(?:^|/)(?:dist|build|out|target|cjs|esm|umd|lib/(?:cjs|esm))/|\.(?:cjs|min\.js)$")


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


def subject_of(search: Search) -> Subject:
    """Return what the question names, or what was named before it where it has no name and hardly a word of its own."""
    found = _subject(search.question, search.index)
    if found.name or found.places or len(search.question.words) > 2:
        return found
    return _subject(search.before, search.index) if search.before.text else found


def _subject(question: Question, index: PassageIndex) -> Subject:
    places = _places(question.files, index)
    named = [one for one in question.names if not any(place.endswith(f".{one.name}") for place in places)]
    subject = Subject(places=places)
    if found := _member(question, index, subject):
        return found
    for one in named:
        if defined := _fitting(one, question, index, subject):
            return subject._replace(name=defined[0].name, definitions=defined, used=(*one.qualifiers, defined[0].name))
    for run in question.runs():
        if found := _of_words(run, question, index, subject):
            return found
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
    exact = [one for one in found if one.name == named.name] or ([] if named.name.isupper() else found)
    stems = frozenset(question.others([named.name]))

    def fit(one: Definition) -> tuple[float, float]:
        return _qualified(named, one), _worth(one, question)

    def rank(one: Definition) -> tuple[object, ...]:
        near = len(stems & text_stems(f"{one.path} {one.scope}"))
        return *(-each for each in fit(one)), -near, len(one.scope.split(".")), one.path.count("/"), one.path, one.line

    ranked = sorted(exact, key=rank)
    return tuple(one for one in ranked if fit(one) == fit(ranked[0]))


def _worth(one: Definition, question: Question) -> float:
    """Return how much a definition counts for the kind of its file and of itself."""
    lessened = 0.5 if _DECLARES_ONLY.search(one.path) or _BUILT.search(one.path) else 1.0
    return path_weight(one.path, question.text) * lessened * (0.9 if one.kind is DefinitionKind.VALUE else 1.0)


def _qualified(named: Named, one: Definition) -> int:
    """Return how well what stands before a name fits: an enclosing name counts twice, a folder or file once."""
    scope = [part.lower() for part in one.scope.split(".")]
    folders = {part.partition(".")[0].lower() for part in one.path.split("/")}
    return sum(2 if part in scope else part in folders for part in map(str.lower, named.qualifiers))


def _member(question: Question, index: PassageIndex, subject: Subject) -> Subject | None:
    """Return what a word calls inside of a class or module that is named, else in one of another word or in a file.

    "The mutes of the inhibitor", "what does `Client` close?", "send in client.py".
    """
    words = [word for word in question.words if word.lower() not in DEFINITION_WORDS | VALUE_WORDS]
    holders = {one.lower() for one in ([named.name for named in question.names] or words)}
    for word in words:
        for one in sorted(index.definitions(word), key=lambda one: -_worth(one, question)):
            holder = one.scope.rpartition(".")[2]
            in_file = not question.names and one.path in subject.places and one.kind is not DefinitionKind.VALUE
            if in_file or holder.lower() in holders - {word.lower()}:
                used = (word, holder)
                return subject._replace(name=one.name, definitions=(one,), used=used, is_plain=not question.names)
    return None


def _of_words(run: Sequence[str], question: Question, index: PassageIndex, subject: Subject) -> Subject | None:
    """Return what neighbouring plain words name: several may be one name, a single one only where the form says so."""
    is_single = len(run) == 1
    if is_single and run[0].lower() in DEFINITION_WORDS | VALUE_WORDS | USE_WORDS:
        return None
    others = question.others(run, without=DEFINITION_WORDS | USE_WORDS)
    is_asked_for = (question.wants(questions.DEFINITION) or question.wants(questions.USES)) and len(others) <= 1
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
    if not named and question.wants(questions.DEFINITION):
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


def definition_answer(search: Search) -> Answer:
    """Return what defines the name that is asked for, all of them named; NONE where more than that is asked."""
    question, subject = search.question, subject_of(search)
    found = subject.definitions[:MAX_DEFINITIONS]
    others = question.others(subject.used, without=DEFINITION_WORDS | VALUE_WORDS)
    wanted = Wanted(frozenset(others), meaning=question.wants(questions.MEANING))
    quoted = [(one, excerpt) for one in found if (excerpt := search.quotes.of_definition(one, wanted))]
    is_asked_for = question.wants(questions.DEFINITION) and not subject.is_plain
    if not quoted or not (is_asked_for or _holds(quoted[0][1], others)):
        return NONE
    if subject.is_plain and search.is_outdone(quoted[0][1].path, quoted[0][1].text):
        return NONE
    findings = [_as_finding(one, excerpt, subject) for one, excerpt in quoted]
    total = len(subject.definitions)
    if total == 1:
        return Answer(findings)
    many = f"{total} definitions" if total <= len(quoted) else "Several definitions"
    first = "" if total <= len(quoted) else ", the first"
    places = (f"{excerpt.path}:{min(max(one.line, excerpt.start), excerpt.end)}" for one, excerpt in quoted)
    return Answer(naming_all(findings, f"{many} of `{subject.name}`{first}: {{}}.", places))


def _holds(excerpt: Excerpt, others: Sequence[str]) -> bool:
    """Whether lines hold enough of what a question says besides a name."""
    return len(shared_stems(frozenset(others), f"{excerpt.path} {excerpt.text}")) >= MIN_SHARE * len(others)


def _as_finding(one: Definition, excerpt: Excerpt, subject: Subject) -> Finding:
    is_head = excerpt.start <= one.line <= excerpt.end
    said = (
        f"`{one.name}` is defined in `{excerpt.path}:{one.line}`."
        if is_head
        else f"From `{one.name}`: `{excerpt.ref}`."
    )
    found = of_lines(said, excerpt)
    return found._replace(sentence=f"Did you mean `{subject.name}`? {said}") if subject.written else found


def setting_answer(search: Search) -> Answer:
    """Return the assignments of what the question asks the value of; NONE where it asks for none, or none fits."""
    question = search.question
    if not question.wants(questions.VALUE):
        return NONE
    subject = subject_of(search)
    is_type = bool(subject.definitions) and subject.definitions[0].kind is DefinitionKind.TYPE
    if is_type and not question.others(subject.used, without=DEFINITION_WORDS | VALUE_WORDS):
        return NONE
    words = question.told(without=VALUE_WORDS)
    stems = frozenset(found for word in words for found in text_stems(word))
    ranked = [
        (-worth, place, one)
        for place, one in enumerate(search.index.settings(" ".join((*words, "default")), limit=60) if words else ())
        if subject.holds(one.path) and (worth := _worth_of(one, stems, search))
    ]
    for _, _, one in sorted(ranked)[: 2 * MAX_DEFINITIONS]:
        line = search.quotes.lines(one.path)[one.line - 1].strip().rstrip(",;{")
        what = line if len(line) <= MAX_ASSIGNMENT_CHARS and "`" not in line else one.name
        if excerpt := search.quotes.around(one.path, one.line, before=5, behind=6):
            found = of_lines(f"`{what}` is set in `{one.path}:{one.line}`.", excerpt)
            return NONE if search.is_outdone(one.path, excerpt.text) else Answer([found])
    return NONE


def _worth_of(one: Setting, stems: frozenset[str], search: Search) -> float:
    """Return how well a setting answers, 0 where not: its own name first, then what stands around it."""
    lines = search.quotes.lines(one.path)
    if one.line > len(lines):
        return 0.0
    line, weight = lines[one.line - 1], path_weight(one.path, search.question.text)
    called = shared_stems(stems, f"{one.name} {one.scope}")
    near = shared_stems(stems, " ".join((one.path, one.name, one.scope, *lines[max(0, one.line - 4) : one.line])))
    share, is_number = len(near) / len(stems), SETS_NUMBER.search(line) is not None
    least = NUMBER_SHARE if is_number and search.question.wants(questions.NUMBER) else SETTING_SHARE
    if (
        weight < OWN
        or not called
        or _DESCRIBES.match(line)
        or share < least
        or (search.question.wants(questions.NUMBER) and not is_number and len(called) < len(stems))
    ):
        return 0.0
    is_default = one.name.lower().startswith("default") or one.name.isupper()
    worth = share + len(called) / len(stems) + DEFAULT * is_default + GIVEN * bool(_VALUE.search(line))
    return (worth - NOTHING * bool(_NO_VALUE.search(_REMARK.sub("", line).rstrip(" ,;{")))) * weight


class _Use(NamedTuple):
    """A line of code that holds a name."""

    path: str
    line: int
    is_call: bool


def use_answer(search: Search) -> Answer:
    """Return the lines that use the name a question asks for; NONE where it asks for something else.

    A line counts by its text: a use under another name is not seen, and a line that means something else of the same
    name is.
    """
    question = search.question
    if not question.wants(questions.USES):
        return NONE
    subject = subject_of(search)
    name = subject.name or next((one.name for one in question.names), "")
    others = question.others((*subject.used, name), without=DEFINITION_WORDS | USE_WORDS)
    if not name or (question.wants(questions.ENGLISH) and len(others) > 1):
        return NONE
    uses = _lines(name, subject.definitions, search)
    if uses is None:
        return NONE
    if not uses:
        found = [
            _as_finding(one, excerpt, subject)
            for one in subject.definitions[:1]
            if (excerpt := search.quotes.of_definition(one, Wanted()))
        ]
        said = f"No line but its definition, imports and comments holds `{name}`."
        return Answer([one._replace(sentence=f"{said} {one.sentence}") for one in found])
    quoted = [
        (one, excerpt)
        for one in uses[:SHOWN_USES]
        if (excerpt := search.quotes.around(one.path, one.line, before=2, behind=2))
    ]
    findings = [of_lines(f"`{name}` is used in `{one.path}:{one.line}`.", excerpt) for one, excerpt in quoted]
    more = ", and on further lines" if len(uses) > len(quoted) else ""
    places = (f"{one.path}:{one.line}" for one, _ in quoted)
    return Answer(naming_all(findings, f"`{name}` is used in {{}}{more}.", places)) if findings else NONE


def _lines(name: str, defined: Sequence[Definition], search: Search) -> list[_Use] | None:
    """Return the lines that use a name, those of the product's own code first; None where there are too many."""
    hits, complete = GitHistory(search.repo).lines_with(search.commit, name)
    if not complete or len(hits) > MAX_USES:
        return None
    found = [
        use
        for path, _ in groupby(hits, key=lambda hit: hit.path)
        for use in _of_file(name, path, search.quotes.lines(path), {one.line for one in defined if one.path == path})
    ]
    text = search.question.text
    return sorted(found, key=lambda one: (-path_weight(one.path, text), not one.is_call, one.path, one.line))


def _of_file(name: str, path: str, lines: Sequence[str], defining: set[int]) -> Iterator[_Use]:
    """Yield the lines of a file that hold a name outside of comments, imports and what defines it."""
    if is_prose(path) or not lines:
        return
    scan = Scan(path, lines)
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    for number, line in enumerate(lines, 1):
        found = None if number in defining or is_import(line) or _LISTED.fullmatch(line) else word.search(line)
        if found and not scan.is_comment_at(number, found.start()):
            yield _Use(path, number, line[found.end() :].lstrip().startswith("("))
