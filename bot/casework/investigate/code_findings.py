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
from bot.casework.investigate.leads import find_leads
from bot.casework.investigate.trace_places import is_report, search_text, trace_notes, trace_places
from bot.domain.returns import EvidenceKind
from bot.domain.search.files import path_weight
from bot.domain.search.passages import Passage
from bot.domain.search.questions import question_of
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
    for hint in (_named, _framed, _with_paths, _defining):
        found = hint(question, codebases) if len(codebases) > 1 else ()
        if 0 < len(found) < len(codebases):
            codebases = Codebases(found)
    return codebases.first if len(codebases) == 1 else _ranked(question, codebases, subject)


def _named(question: str, codebases: Codebases) -> Sequence[Codebase]:
    """Return the codebases that are named as places to look in: "in infra, where …"."""
    return [one for one in codebases if _pattern(one.id).search(question[:MAX_CHARS])]


def without_place(question: str, name: str) -> str:
    """Return a question without the codebase that it names as its place, which no word of the code has to match.

    >>> without_place("In infra, how many workers are there?", "infra")
    ' , how many workers are there?'
    """
    if not name:
        return question
    place = rf"\b(?:in|inside|within)\s+(?:the\s+|our\s+)?[`'\"]?{re.escape(name)}(?![\w:/.-])(?:{_BEHIND})?"
    return re.sub(place, " ", question[:MAX_CHARS], flags=re.I) + question[MAX_CHARS:]


def _framed(question: str, codebases: Codebases) -> Sequence[Codebase]:
    """Return the codebases in which most frames of a stack trace stand."""
    if not frames_in(question):
        return []
    found = {one.id: len(trace_places(question, one.repo, one.index)) for one in codebases if not one.is_docs}
    most = max(found.values(), default=0)
    return [one for one in codebases if most and found.get(one.id) == most]


def _with_paths(question: str, codebases: Codebases) -> Sequence[Codebase]:
    """Return the codebases that have all files which are named with a folder or an ending."""
    files = question_of(question).files
    return [one for one in codebases if files and all(map(one.index.places_called, files))]


def _defining(question: str, codebases: Codebases) -> Sequence[Codebase]:
    """Return the codebases that define what is surely a name of code, in code of their own."""
    names = [one.name for one in question_of(question).names]

    def defines(codebase: Codebase, name: str) -> bool:
        found = codebase.index.definitions(name)
        return any(one.name == name and path_weight(one.path, "") >= DEFINES for one in found)

    return [one for one in codebases if names and not one.is_docs and all(defines(one, name) for name in names)]


def _ranked(question: str, codebases: Codebases, subject: str) -> Codebase:
    """Return the likeliest codebase by its words and best passages; an id that is a word of the question raises it."""
    words = {word.lower() for word in re.findall(r"[\w-]+", question[:MAX_CHARS])}

    def worth(one: Likely) -> float:
        best = one.codebase.index.search(question, limit=len(SHARES), subject=subject)
        total = sum(share * passage.score for share, passage in zip(SHARES, best, strict=False))
        size: float = max(one.size, 1) ** SIZE
        return total * one.rescaling * (MENTIONED if one.codebase.id in words else 1.0) / size

    likely = enumerate(codebases.likely(question, subject=subject))
    return max((one for at, one in likely if at < LIKELY or one.codebase.id in words), key=worth).codebase


def search_codebases(text: str, codebases: Codebases, *, limit: int) -> list[Passage]:
    """Return the best passages for a text of any length, as cited paths; those of several codebases ranked together.

    A report is searched for in the codebase that it is about. Raises as `search_text` does.
    """
    if is_report(text) or frames_in(text):
        one = choose_codebase(text, codebases)
        found = search_text(text, one.repo, one.index, limit=limit)
        return [replace(passage, path=one.prefix + passage.path) for passage in found]
    named = Codebases(_named(text, codebases) or codebases)
    return [replace(passage, path=one.prefix + passage.path) for one, passage in named.search(text, limit=limit)]


def qualified(found: Investigation, prefix: str) -> Investigation:
    """Return an investigation of one codebase as one of a team with several: each place begins with `prefix`."""
    ret, ledger = found.ret, found.ledger
    bare = [
        one
        for one in (*ret.evidence_refs, *ret.candidates)
        if one.kind is EvidenceKind.FILE and not one.ref.startswith(prefix)
    ]

    def named(text: str) -> str:
        """Return words in which each place in a file has its codebase; code spans alone are places."""
        for path in dict.fromkeys(one.ref.rpartition(":")[0] for one in bare):
            text = text.replace(f"`{path}:", f"`{prefix}{path}:")
        return text

    refs, candidates = (
        tuple(
            one.evolve(ref=prefix + one.ref, supports_claim=named(one.supports_claim)) if one in bare else one
            for one in given
        )
        for given in (ret.evidence_refs, ret.candidates)
    )
    summary = named(ret.summary_for_orchestrator)
    changed = ret.evolve(evidence_refs=refs, candidates=candidates, summary_for_orchestrator=summary)
    claims = tuple(one.evolve(text=named(one.text)) for one in ret.claims)
    reads = [one.model_copy(update={"path": prefix + one.path}) for one in ledger.reads] if ledger else []
    return replace(
        found,
        ret=changed if claims == ret.claims else changed.with_claims(claims),
        ledger=ledger and Ledger(reads=reads, queries=ledger.queries),
    )


@dataclass(frozen=True, slots=True)
class CodeFindings:
    """Port Investigator: what code finds for a question, then one of two who look into it.

    `across` works in all codebases at once; without it `within` returns who works in the one that the question is
    about. `clones` keeps those of `cloned` fresh.
    """

    codebases: Codebases
    across: Investigator | None = None
    within: Callable[[Codebase], Investigator] | None = None
    clones: Clones | None = None
    cloned: Collection[str] = ()

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return the draft; where there are several codebases each citation names its own.

        Raises what the investigator raises, and CodebaseUnreadable where nothing can be read.
        """
        aged = self.clones.before_investigation(self.cloned) if self.clones else ()
        members = self.codebases.among(assignment.codebases)
        # before, so that what is indexed meanwhile does not count as searched
        looked = [_refreshed_index(one) for one in members]
        if len(self.codebases) == 1 and looked[0].unreadable:
            raise looked[0].unreadable
        said = "\n\n".join((assignment.question, *(one.text for one in assignment.human_context)))
        commits = [(one, index.commit) for one, index in zip(members, looked, strict=True) if index.commit]
        leads = find_leads(said, assignment.service, commits)
        refreshed = tuple(one.id for one, _ in commits)
        told = replace(assignment, trace_notes=trace_notes(leads.places, leads.suspects), refreshed=refreshed)
        if self.across is not None:
            found = self.across.investigate(told, run_id=run_id, on_progress=on_progress)
        else:
            assert self.within is not None
            chosen = self._chosen(told, said)
            found = self.within(chosen).investigate(told, run_id=run_id, on_progress=on_progress)
            found = qualified(found, chosen.prefix) if chosen.prefix else found
        told_by_code = {
            "aged_clones": aged or found.ret.aged_clones,
            "not_searched": "; ".join(index.gaps for index in looked if index.gaps) or None,
            "index_unfinished": any(index.is_unfinished for index in looked),
            "suspect_changes": leads.suspects,
            "owners": leads.owners,
        }
        return replace(found, ret=found.ret.model_copy(update=told_by_code))

    def _chosen(self, told: Assignment, said: str) -> Codebase:
        members = self.codebases.among(told.codebases)
        if len(members) == 1:
            return members.first
        return choose_codebase(said, members.among(told.refreshed), subject="\n".join(told.earlier))


class _RefreshedIndex(NamedTuple):
    """The commit an index is at (None: it cannot be used), and what it does not have; maybe only not yet."""

    commit: str | None
    gaps: str
    is_unfinished: bool = False
    unreadable: CodebaseUnreadable | None = None


def _refreshed_index(codebase: Codebase) -> _RefreshedIndex:
    """Bring an index up to HEAD and return what it has; what cannot be read or used stands in `gaps`."""
    try:
        report = codebase.index.refresh()
    except NotCloned as error:
        return _RefreshedIndex(None, f"{codebase.prefix} all, because it is not cloned yet", True, error)
    except CodebaseUnreadable as error:
        gaps = f"{codebase.prefix} all, because git cannot read the repository"
        return _RefreshedIndex(None, gaps, unreadable=error)
    except TriageError:
        log.warning(
            "the gaps of an index are not known: %s", codebase.name, extra={"action": "gaps_unknown"}, exc_info=True
        )
        return _RefreshedIndex(None, f"{codebase.prefix} {NO_INDEX}".lstrip())
    words = report.gaps.words()
    return _RefreshedIndex(report.commit, words and f"{codebase.prefix} {words}".lstrip(), report.gaps.waiting > 0)


def _pattern(name: str) -> re.Pattern[str]:
    word = re.escape(name)
    return re.compile(
        rf"{_BEFORE}{word}(?![\w-])|(?<![\w-]){word}{_BEHIND}|`{word}`|(?<![\w/.-]){word}:[\w./-]|^\s*{word}\s*[:,]",
        re.I,
    )
