"""What code alone finds for a question: which codebase it is about, what the search cannot look into, where a trace
leads.

A codebase is decided first by its id, then by frames of a stack trace, then by paths, then by names that only some
codebases define. An id is often an ordinary word ("the docs say"), so only forms such as "in infra, where …" or "the
shop repo" decide; a bare mention is a hint. Codebases of `kind: docs` are not searched for frames and definitions. If
nothing decides, the passages of all are ranked together. Before every investigation clones are fetched and indexes
brought up to HEAD; what is still missing stands in the return, so that "nothing found" is not read as "nowhere".
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from bot.agent.codebases import LIKELY, Codebase, Codebases, Likely
from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.casework.investigate.assignment import Assignment, Investigation, Investigator
from bot.casework.investigate.report_search import search_text
from bot.casework.investigate.trace_places import find_suspects, trace_notes, trace_places
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn
from bot.domain.search.files import path_weight
from bot.domain.search.passages import Passage
from bot.domain.search.questions import question_of
from bot.domain.search.report_parts import parts_of
from bot.domain.search.stack_frames import frames_in
from bot.errors import CodebaseUnreadable, NotCloned, TriageError
from bot.ports.code import Clones

log = logging.getLogger(__name__)

SHARES: Final = (1.0, 0.5, 0.25)
"""How much the best passages of a codebase count; measured with benchmarks/codebases.py."""

SIZE: Final = 0.25
"""How much less a passage counts in a larger codebase, which has more that may fit by chance: as its size to this."""

MENTIONED: Final = 1.5
"""How much more a codebase counts whose id stands in the question."""

DEFINES: Final = 0.7
"""The least weight of a file whose definitions tell where a name belongs."""

NO_INDEX: Final = "nobody can tell which files, for the search index cannot be used"
MAX_CHARS: Final = 4_000
_BEFORE: Final = r"\b(?:in|inside|within|of|from|im|in der|dans|en|em|del|della)\s+(?:the\s+|our\s+)?[`'\"]?"
_BEHIND: Final = r"[`'\"]?\s+(?:repo|repos|repository|codebase|checkout|project|repositório|repositorio|dépôt)\b"


def choose_codebase(question: str, codebases: Codebases, *, subject: str = "") -> Codebase:
    """Return the codebase a question is about; `subject` is what was asked before it.

    Raises:
        TriageError: as an index does.
    """
    if len(codebases) == 1:
        return codebases.first
    for hint in (_named, _framed, _with_paths, _defining):
        found = hint(question, codebases)
        if 0 < len(found) < len(codebases):
            codebases = Codebases(found)
        if len(codebases) == 1:
            return codebases.first
    return _ranked(question, codebases, subject)


def _named(question: str, codebases: Codebases) -> Sequence[Codebase]:
    names = _named_codebases(question, [one.id for one in codebases])
    return [one for one in codebases if one.id in names]


def _framed(question: str, codebases: Codebases) -> Sequence[Codebase]:
    """Return the codebases in which most frames of a stack trace stand."""
    if not frames_in(question):
        return []
    found = {one.id: len(trace_places(question, one.repo, one.index)) for one in _of_code(codebases)}
    most = max(found.values(), default=0)
    return [one for one in _of_code(codebases) if most and found[one.id] == most]


def _with_paths(question: str, codebases: Codebases) -> Sequence[Codebase]:
    """Return the codebases that have all files which are named with a folder or an ending."""
    files = question_of(question).files
    return [one for one in codebases if files and all(one.index.places_called(path) for path in files)]


def _defining(question: str, codebases: Codebases) -> Sequence[Codebase]:
    """Return the codebases that define what is surely a name of code, in code of their own."""
    names = [one.name for one in question_of(question).names]
    return [one for one in _of_code(codebases) if names and all(_defines(one, name) for name in names)]


def _of_code(codebases: Codebases) -> Sequence[Codebase]:
    return [one for one in codebases if not one.is_docs]


def _defines(codebase: Codebase, name: str) -> bool:
    found = codebase.index.definitions(name)
    return any(one.name == name and path_weight(one.path, "") >= DEFINES for one in found)


def _ranked(question: str, codebases: Codebases, subject: str) -> Codebase:
    mentioned = _mentioned_codebases(question, [one.id for one in codebases])

    def worth(one: Likely) -> float:
        best = one.codebase.index.search(question, limit=len(SHARES), subject=subject)
        total = sum(share * passage.score for share, passage in zip(SHARES, best, strict=False))
        size: float = max(one.size, 1) ** SIZE
        return total * one.rescaling * (MENTIONED if one.codebase.id in mentioned else 1.0) / size

    likely = codebases.likely(question, subject=subject)
    others = [one for one in likely[LIKELY:] if one.codebase.id in mentioned]
    return max([*likely[:LIKELY], *others], key=worth).codebase


def search_codebases(text: str, codebases: Codebases, *, limit: int) -> list[Passage]:
    """Return the best passages for a text of any length, as cited paths; those of several codebases ranked together.

    A report is searched for in the codebase that it is about. Raises as `search_text` does.
    """
    if len(codebases) == 1 or parts_of(text).is_report or frames_in(text):
        one = choose_codebase(text, codebases)
        found = search_text(text, one.repo, one.index, limit=limit)
        return [replace(passage, path=one.prefix + passage.path) for passage in found]
    named = _named_codebases(text, [one.id for one in codebases])
    return [
        replace(passage, path=one.prefix + passage.path)
        for one, passage in codebases.among(named).search(text, limit=limit)
    ]


@dataclass(frozen=True, slots=True)
class OneCodebaseInvestigator:
    """Port Investigator: chooses the codebase a question is about, and has `investigator_of` it work there."""

    codebases: Codebases
    investigator_of: Callable[[Codebase], Investigator]

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return the draft with its codebase in each citation; raises what the investigator raises."""
        chosen = self._chosen(assignment)
        found = self.investigator_of(chosen).investigate(assignment, run_id=run_id, on_progress=on_progress)
        return qualified(found, chosen.prefix) if chosen.prefix else found

    def _chosen(self, assignment: Assignment) -> Codebase:
        members = self.codebases.among(assignment.codebases)
        if len(members) == 1:
            return members.first
        readable = members.among(assignment.refreshed) if assignment.refreshed else _refreshed(members)
        said = "\n".join((assignment.question, *(one.text for one in assignment.human_context)))
        return choose_codebase(said, readable, subject="\n".join(assignment.earlier))


def _refreshed(codebases: Codebases) -> Codebases:
    """Return those whose index can be used, brought up to HEAD; all where none can."""
    usable = []
    for one in codebases:
        try:
            one.index.refresh()
        except TriageError:
            log.warning("left out of a search: %s", one.name, extra={"action": "codebase_unread"}, exc_info=True)
            continue
        usable.append(one)
    return Codebases(usable or codebases)


def qualified(found: Investigation, prefix: str) -> Investigation:
    """Return an investigation of one codebase as one of a team with several: each place begins with `prefix`."""
    ledger = found.ledger and Ledger(
        reads=[one.model_copy(update={"path": prefix + one.path}) for one in found.ledger.reads],
        queries=found.ledger.queries,
    )
    return replace(found, ret=_qualified_return(found.ret, prefix), ledger=ledger)


def _qualified_return(ret: InvestigatorReturn, prefix: str) -> InvestigatorReturn:
    refs, candidates = (
        tuple(_qualified_ref(ref, prefix) for ref in given) for given in (ret.evidence_refs, ret.candidates)
    )
    claims, summary = ret.claims, ret.summary_for_orchestrator
    for path in dict.fromkeys(one.ref.rpartition(":")[0] for one in ret.evidence_refs if _is_bare(one, prefix)):
        claims = tuple(one.evolve(text=_qualified_text(one.text, path, prefix)) for one in claims)
        summary = _qualified_text(summary, path, prefix)
    changed = ret.evolve(evidence_refs=refs, candidates=candidates, summary_for_orchestrator=summary)
    return changed if claims == ret.claims else changed.with_claims(claims)


def _qualified_ref(ref: EvidenceRef, prefix: str) -> EvidenceRef:
    """Return a citation with its codebase in its place and in its sentence."""
    if not _is_bare(ref, prefix):
        return ref
    said = _qualified_text(ref.supports_claim, ref.ref.rpartition(":")[0], prefix)
    return ref.evolve(ref=prefix + ref.ref, supports_claim=said)


def _is_bare(ref: EvidenceRef, prefix: str) -> bool:
    return ref.kind is EvidenceKind.FILE and not ref.ref.startswith(prefix)


def _qualified_text(text: str, path: str, prefix: str) -> str:
    """Return words in which each place in a file has its codebase; code spans alone are places."""
    return text.replace(f"`{path}:", f"`{prefix}{path}:")


@dataclass(frozen=True, slots=True)
class CodeFindings:
    """Port Investigator: what `investigator` found, with what code finds. `clones` keeps those of `cloned` fresh."""

    investigator: Investigator
    codebases: Codebases
    clones: Clones | None = None
    cloned: Collection[str] = ()

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return the draft.

        Raises what the investigator raises, and CodebaseUnreadable where nothing can be read.
        """
        aged = self.clones.before_investigation(self.cloned) if self.clones else ()
        members = self.codebases.among(assignment.codebases)
        # before, so that what is indexed meanwhile does not count as searched
        looked = [(one, _refreshed_index(one, may_fail=len(self.codebases) > 1)) for one in members]
        said = "\n\n".join((assignment.question, *(one.text for one in assignment.human_context)))
        commits = [(one, index.commit) for one, index in looked if index.commit]
        places, suspects = find_suspects(said, commits)
        refreshed = tuple(one.id for one, _ in commits)
        told = replace(assignment, trace_notes=trace_notes(places, suspects), refreshed=refreshed)
        found = self.investigator.investigate(told, run_id=run_id, on_progress=on_progress)
        told_by_code = {
            "aged_clones": aged or found.ret.aged_clones,
            "not_searched": "; ".join(index.gaps for _, index in looked if index.gaps) or None,
            "index_unfinished": any(index.is_unfinished for _, index in looked),
            "suspect_changes": suspects,
        }
        return replace(found, ret=found.ret.model_copy(update=told_by_code))


class _RefreshedIndex(NamedTuple):
    """The commit an index is at (None: it cannot be used), and what it does not have; maybe only not yet."""

    commit: str | None
    gaps: str
    is_unfinished: bool = False


def _refreshed_index(codebase: Codebase, *, may_fail: bool) -> _RefreshedIndex:
    try:
        report = codebase.index.refresh()
    except TriageError as error:
        if isinstance(error, CodebaseUnreadable) and not may_fail:
            raise
        if isinstance(error, NotCloned):
            return _RefreshedIndex(None, f"{codebase.prefix} all, because it is not cloned yet", is_unfinished=True)
        if isinstance(error, CodebaseUnreadable):
            return _RefreshedIndex(None, f"{codebase.prefix} all, because git cannot read the repository")
        log.warning("the index's gaps are not known", extra={"action": "gaps_unknown"}, exc_info=True)
        return _RefreshedIndex(None, _in_codebase(codebase, NO_INDEX))
    gaps = report.gaps
    return _RefreshedIndex(report.commit, _in_codebase(codebase, gaps.words()), is_unfinished=gaps.waiting > 0)


def _in_codebase(codebase: Codebase, words: str) -> str:
    return f"{codebase.prefix} {words}" if words and codebase.prefix else words


def _named_codebases(question: str, ids: Collection[str]) -> list[str]:
    """Return the ids that a question names as places to look in, in their own order.

    >>> _named_codebases("In infra, where is the queue scaled?", ["shop", "infra"])
    ['infra']
    >>> _named_codebases("what does the shop do with a full queue?", ["shop", "infra"])
    []
    """
    text = question[:MAX_CHARS]
    return [one for one in ids if _pattern(one).search(text)]


def _mentioned_codebases(question: str, ids: Collection[str]) -> list[str]:
    """Return the ids that stand in a question as words.

    >>> _mentioned_codebases("what does the shop do with a full queue?", ["shop", "infra"])
    ['shop']
    """
    words = {word.lower() for word in re.findall(r"[\w-]+", question[:MAX_CHARS])}
    return [one for one in ids if one in words]


def _pattern(name: str) -> re.Pattern[str]:
    word = re.escape(name)
    return re.compile(
        rf"{_BEFORE}{word}(?![\w-])|(?<![\w-]){word}{_BEHIND}|`{word}`|(?<![\w/.-]){word}:[\w./-]|^\s*{word}\s*[:,]",
        re.I,
    )
