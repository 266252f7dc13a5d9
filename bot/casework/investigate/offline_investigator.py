"""The investigator that needs no model: looks up names, asks git, searches, and quotes what it found.

Reads the index, memory hits, commits and the cited lines at their commit; writes nothing. Every quoted line is read
from git in this run and recorded in the ledger. If nothing relevant is found there is no draft.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from bot.agent.codebases import Codebase
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import MEMORY_TOOL, Ledger
from bot.agent.model_run import OnProgress
from bot.casework.investigate.asked_definitions import Asked, asked_definitions, asked_history
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.history_answer import Subject, history_answer, history_subject
from bot.casework.investigate.offline_draft import (
    Excerpt,
    QuotableFile,
    compose_answer,
    compose_draft,
    excerpts_of_definition,
    excerpts_of_file,
    excerpts_of_passage,
    has_room,
    question_back,
    with_first_question,
)
from bot.casework.investigate.report_search import search_parts
from bot.casework.investigate.trace_places import TracePlace, excerpts_of_frame, trace_places
from bot.casework.investigate.use_answer import use_answer
from bot.domain.languages.packs import tells_of_alarm
from bot.domain.questions.approval_basis import OFFLINE
from bot.domain.returns import InvestigatorReturn, Usage
from bot.domain.search.definitions import Definition, definition_end
from bot.domain.search.files import is_indexed
from bot.domain.search.passages import MemoryHit, Passage, is_quotable
from bot.domain.search.question_names import asks_for_history, has_english_words, in_context, names_in
from bot.domain.search.report_parts import parts_of
from bot.domain.search.tokens import question_stems
from bot.domain.text.sanitize import one_line
from bot.ports import PassageIndex

MAX_EXCERPTS = 5
MAX_PER_FILE = 2
MAX_FRAMES = 3
"""Frames of a stack trace that are quoted before anything else."""

MAX_PASSAGES = 40
WORTH_QUOTING = 0.5
WORTH_QUOTING_OF_REPORT = 0.2
"""Of a report more files are worth a look: its parts seldom agree on one."""

NAMED_WORTH = 1.25
"""How much more a passage counts that defines what the question names, where it asks for something else."""

MAX_EARLIER_CHARS = 2_000
MAX_OUTAGE_WORDS = 3
"""Telling words of a message that says no more than that something is wrong."""

MAX_FOLLOW_UPS = 3
"""How many questions that were put later are looked into before the thread's own."""

SHOWN_CHARS = 300
_CALENDAR = re.compile(
    r"(?i)\b(?:on[- ]call|tomorrow|tonight|weekend|next (?:week|month|quarter|year|sprint|release|version))\b"
)
"""What people's plans are asked for with; the past is left out, for faults begin there."""

LEAST_PASSAGES = 100
"""A smaller codebase lacks many words that belong to what it does."""

STRONG_MEMORY = 0.6
NEAR, NEAR_DOUBTFUL = 0.5, 0.3  # the search halves the score of what changed
MAX_BESIDE = 2


class _Question(NamedTuple):
    """What is asked, and what was said in the thread that it may be about; `is_own`: the thread's own question, and
    what called the bot to it."""

    text: str
    subject: str
    is_own: bool = False


class _Found(NamedTuple):
    """The lines worth quoting, and whether they were found for a report."""

    excerpts: Sequence[Excerpt] = ()
    is_report: bool = False


def _questions(given: Assignment) -> list[_Question]:
    """Return what to answer: the questions that were put later in the thread, the newest first, then its own."""
    said = (given.question, *(said.text for said in given.human_context))
    before = "\n".join(given.earlier)[-MAX_EARLIER_CHARS:]
    asked = [one for one in given.follow_ups if one.is_question]
    remarks = [one.text for one in given.follow_ups if one.by_asker and not one.is_question]
    found = []
    for number, one in enumerate(asked[: -MAX_FOLLOW_UPS - 1 : -1], start=1):
        known = (before, *said, *remarks, *(earlier.text for earlier in asked[:-number]))
        found.append(_Question(one.text, "\n".join(known)[-MAX_EARLIER_CHARS:], is_own=one.opened))
    own = "\n".join((before, *remarks))[-MAX_EARLIER_CHARS:]
    return [*found, _Question("\n".join(said), own, is_own=True)]


def _not_answered(given: Assignment, answered: Collection[str]) -> tuple[str, ...]:
    """Return what else of the thread waits for an answer, or may need one; the newest first."""
    later = [one.text for one in reversed(given.follow_ups) if not one.opened]
    left = [text for text in (*later, given.question) if text not in answered]
    return tuple(one_line(text, SHOWN_CHARS) for text in left)


class OfflineInvestigator:
    """Port Investigator over an index of passages."""

    def __init__(self, repo: GitRepo, index: PassageIndex) -> None:
        self._repo = repo
        self._index = index

    @classmethod
    def in_codebase(cls, codebase: Codebase) -> OfflineInvestigator:
        """Return the investigator of one codebase."""
        return cls(codebase.repo, codebase.index)

    def investigate(
        self,
        assignment: Assignment,
        *,
        run_id: str,  # noqa: ARG002 - the port's
        on_progress: OnProgress | None = None,  # noqa: ARG002 - it is done before anybody could ask
    ) -> Investigation:
        """Return the closest passages as a draft.

        Raises:
            ProviderError: git cannot read the codebase.
            ConfigError: the codebase has no commit.
            StoreError: the index cannot be read or written.
        """
        ledger = Ledger()
        commit = self._index.refresh().commit
        ret = self._answer_newest(assignment, ledger, commit)
        ret = ret.evolve(investigator_round=assignment.round, risk="none", touches="none")
        return Investigation(ret=ret, ledger=ledger, usage=Usage(), investigator=OFFLINE)

    def _answer_newest(self, assignment: Assignment, ledger: Ledger, commit: str) -> InvestigatorReturn:
        """Return the answer to the newest question of the thread that has one, and to its own, where there is room."""
        asked = _questions(assignment)
        answers = ((one, self._answer(one, assignment, ledger, commit)) for one in asked)
        question, ret = next(
            (found for found in answers if found[1].draft_reply), (asked[-1], question_back(assignment.question))
        )
        answered = {assignment.question}
        if not question.is_own:
            has_lines = not asks_for_history(asked[-1].text)
            found = self._find(asked[-1], assignment.feedback or "", ledger, commit) if has_lines else _Found()
            both = with_first_question(ret, found.excerpts)
            ret, answered = (both, {question.text, *answered}) if both else (ret, {question.text})
        return ret.model_copy(update={"not_answered": _not_answered(assignment, answered)})

    def _answer(self, question: _Question, assignment: Assignment, ledger: Ledger, commit: str) -> InvestigatorReturn:
        """Return the answer to one question, without a draft where nothing is close to it."""
        feedback = assignment.feedback or ""
        if asks_for_history(question.text) and (ret := self._history(question, feedback, ledger, commit)):
            return ret
        if ret := use_answer(question.text, self._index, self._repo, ledger, commit=commit):
            return ret
        if self._is_bare_outage(question.text):
            latest = history_answer(question.text, Subject(), self._repo, ledger, excerpts=(), commit=commit)
            if latest is not None:
                return latest
        found = self._find(question, feedback, ledger, commit)
        notes = [hit for hit in assignment.memory_hits if _is_strong(hit)][:1]
        beside = [hit for hit in assignment.memory_hits if hit not in notes and _is_near(hit)][:MAX_BESIDE]
        for hit in (*notes, *beside):
            ledger.record_shown(MEMORY_TOOL, hit.ref)
        return compose_answer(question.text, found.excerpts, notes, beside, is_report=found.is_report)

    def _is_bare_outage(self, text: str) -> bool:
        """Whether something is said to be down that the code has no name for: what changed last is all there is."""
        names = names_in(text)
        if names.names or names.files or len(names.words) > MAX_OUTAGE_WORDS or not tells_of_alarm(text):
            return False
        return not any(self._index.definitions(word) or self._index.places_called(word) for word in names.words)

    def _history(self, question: _Question, feedback: str, ledger: Ledger, commit: str) -> InvestigatorReturn | None:
        """Return what git says of who changed what the question names, and when; None where it does not say."""
        asked = asked_history(question.text, self._index, subject=question.subject)
        changed = history_subject(question.text, asked, self._repo, commit)
        if changed is None:
            return None
        shown = self._defining(Asked(asked.definitions[:1]), question_stems(question.text), feedback, commit)
        answer = history_answer(question.text, changed, self._repo, ledger, excerpts=shown, commit=commit)
        _record(shown if answer else (), ledger)
        return answer

    def _find(self, question: _Question, feedback: str, ledger: Ledger, commit: str) -> _Found:
        """Return the lines worth quoting, best first, that fit into one reply; what feedback names is left out."""
        text, subject = question.text, question.subject
        ledger.record_query("search_code", text)
        parts, places = parts_of(text), trace_places(text, self._repo, self._index, commit)
        searched, before = in_context(text, subject)
        stems = question_stems(searched) or question_stems(before)
        named: tuple[Definition, ...] = ()
        if is_report := parts.is_report or bool(places):
            chosen = self._of_frames(places, stems, feedback, commit)
            ranked = search_parts(parts, places, self._repo, self._index, commit=commit, limit=MAX_PASSAGES)
            passages = _best_of_each_file(ranked)
            worth = WORTH_QUOTING_OF_REPORT
        else:
            asked = asked_definitions(text, self._index, subject=subject)
            named = asked.definitions
            chosen = self._defining(asked, stems, feedback, commit)
            if not asked.is_answer and not (asked.may_answer and chosen and chosen[0].answers_rest_of(stems)):
                chosen = []
            passages = self._with_named_first(self._closest(searched, before, commit), asked, commit)
            worth = WORTH_QUOTING
        for passage in passages:
            if passage.score >= worth * passages[0].score:
                chosen.extend(self._fitting(passage, stems, feedback, chosen, named))
        if not any(one.is_about(len(stems)) for one in chosen):
            return _Found()
        if not is_report and not any(one.is_plainly_about() for one in chosen) and self._is_foreign(searched):
            return _Found()
        _record(chosen, ledger)
        return _Found(chosen, is_report)

    def _closest(self, question: str, subject: str, commit: str) -> list[Passage]:
        """Return the best passages, best first; none where no passage covers enough of the question."""
        found = self._index.search(question, subject=subject)
        if subject or not found:
            return found
        return search_parts(parts_of(question), (), self._repo, self._index, commit=commit, limit=MAX_PASSAGES)

    def _is_foreign(self, question: str) -> bool:
        """Whether a question names what the code knows nothing of, or when something will be.

        Most words of a question in another language are not in the code, which is written in English.
        """
        shown = question[:SHOWN_CHARS]
        if _CALENDAR.search(shown):
            return True
        if not has_english_words(shown):
            return False
        counts = self._index.word_counts(question)
        is_unknown = any(not found and not word[0].isdigit() for word, found in counts.found.items())
        return is_unknown and counts.total >= LEAST_PASSAGES

    def _of_frames(
        self, places: Sequence[TracePlace], stems: frozenset[str], feedback: str, commit: str
    ) -> list[Excerpt]:
        """Return the lines of the innermost frames that may be quoted and that there is room for."""
        chosen: list[Excerpt] = []
        for place in places:
            file = self._file(place.path, commit) if place.line else None
            if file is not None and len(chosen) < MAX_FRAMES:
                chosen.extend(_first_fitting(excerpts_of_frame(place, file, stems), feedback, chosen))
        return chosen

    def _defining(self, asked: Asked, stems: frozenset[str], feedback: str, commit: str) -> list[Excerpt]:
        """Return the first lines of each definition, or of the files where there is none, that there is room for."""
        chosen: list[Excerpt] = []
        for one in asked.definitions or asked.places:
            file = self._file(one if isinstance(one, str) else one.path, commit)
            if file is not None:
                found = (
                    excerpts_of_file(file, stems) if isinstance(one, str) else excerpts_of_definition(one, file, stems)
                )
                chosen.extend(_first_fitting(found, feedback, chosen))
        return chosen

    def _with_named_first(self, passages: Sequence[Passage], asked: Asked, commit: str) -> list[Passage]:
        """Return the passages best first, those raised that lie in what the question names."""
        extents = [(one, self._end_of(one, commit)) for one in asked.definitions]
        raised = [
            replace(one, score=one.score * NAMED_WORTH)
            if any(of.path == one.path and one.start <= end and one.end >= of.line for of, end in extents)
            else one
            for one in passages
        ]
        return sorted(raised, key=lambda one: -one.score)

    def _file(self, path: str, commit: str) -> QuotableFile | None:
        """Return a file that may be quoted; None for any other."""
        lines = self._repo.lines_at(commit, path) if is_indexed(path) else None
        return None if lines is None else QuotableFile(path=path, commit=commit, lines=lines)

    def _end_of(self, definition: Definition, commit: str) -> int:
        file = self._file(definition.path, commit)
        if file is None or definition.line > len(file.lines):
            return definition.line
        return definition_end(file.lines, definition.line)

    def _fitting(
        self,
        passage: Passage,
        stems: frozenset[str],
        feedback: str,
        chosen: Sequence[Excerpt],
        named: Sequence[Definition],
    ) -> list[Excerpt]:
        """Return the best lines of a passage as they stand in git, as many as there is room for; maybe none.

        Where it defines something `named`, these are its first lines.
        """
        file = self._file(passage.path, passage.commit)
        if file is None or "\n".join(file.lines[passage.start - 1 : passage.end]) != passage.text:
            return []
        excerpts = list(excerpts_of_passage(passage, file, stems, named))
        if any(excerpt.ref in feedback for excerpt in excerpts):
            return []
        return [excerpt for excerpt in excerpts[bool(chosen) :] if _has_room(chosen, excerpt)][:1]


def _first_fitting(found: Iterator[Excerpt], feedback: str, chosen: Sequence[Excerpt]) -> Iterator[Excerpt]:
    """Yield the first excerpt that feedback does not name and that there is room for."""
    return islice((one for one in found if one.ref not in feedback and _has_room(chosen, one)), 1)


def _record(excerpts: Sequence[Excerpt], ledger: Ledger) -> None:
    for one in excerpts:
        ledger.record_read(one.path, one.start, one.end, commit=one.commit, text=one.text)


def _is_strong(hit: MemoryHit) -> bool:
    """Whether an earlier answer is near enough to be cited, and settled; a reply is no file and cannot be."""
    is_near = hit.score >= STRONG_MEMORY and hit.ref.startswith("memory/")
    return is_near and hit.is_settled and is_quotable(hit.title + hit.excerpt)


def _is_near(hit: MemoryHit) -> bool:
    """Whether an entry of memory/ is something to know of before a reply is approved."""
    return hit.score >= (NEAR_DOUBTFUL if hit.caution else NEAR) and hit.ref.startswith("memory/")


def _best_of_each_file(ranked: Sequence[Passage]) -> list[Passage]:
    best: dict[str, Passage] = {}
    for one in ranked:
        best.setdefault(one.path, one)
    return list(best.values())


def _has_room(chosen: Sequence[Excerpt], excerpt: Excerpt) -> bool:
    of_file = sum(one.path == excerpt.path for one in chosen)
    reply = compose_draft([*chosen, excerpt], ())
    is_new = not any(one.overlaps(excerpt) for one in chosen)
    return has_room(reply) and is_new and len(chosen) < MAX_EXCERPTS and of_file < MAX_PER_FILE
