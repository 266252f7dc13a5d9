"""The investigator that needs no model: it searches, and quotes what it found.

Reads the passage index, memory hits and the cited lines at their commit; writes nothing. Every line it quotes is read
from git in this run and stands in the ledger; with nothing relevant there is no draft.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent.git import GitRepo
from bot.agent.ledger import MEMORY_TOOL, Ledger
from bot.agent.run import OnProgress
from bot.casework.investigator import Assignment, Investigation
from bot.casework.offline_draft import Excerpt, answer, draft
from bot.domain.approval import OFFLINE
from bot.domain.excerpts import best_lines, is_quotable
from bot.domain.filekinds import is_indexed
from bot.domain.passages import MemoryHit, Passage
from bot.domain.returns import MAX_DRAFT_WORDS, Usage
from bot.domain.tokens import question_stems, text_stems
from bot.ports import PassageIndex

MAX_EXCERPTS = 4
MAX_PER_FILE = 2
MAX_WORDS = MAX_DRAFT_WORDS - 40  # room for the line that names an earlier answer
MAX_CHARS = 2_400  # of a draft, so that with the line on an earlier answer it fits into Slack's editor
MAX_LINE_CHARS = 1_000  # a longer line is data or made by a machine; half of it would be no verbatim line
SIZES = (12, 6, 3, 1)  # lines of an excerpt; only the best passage may have the most
WORTH_QUOTING = 0.5
STRONG_MEMORY = 0.6
NEAR_LESSON, NEAR_DOUBTFUL = 0.5, 0.3  # the search halves the score of what changed
MAX_LESSONS = 2
_UNQUOTABLE = "```"  # stands for a line that no excerpt may hold


class OfflineInvestigator:
    """Port Investigator over an index of passages."""

    def __init__(self, repo: GitRepo, index: PassageIndex) -> None:
        self._repo = repo
        self._index = index

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
        question = "\n".join((assignment.question, *(said.text for said in assignment.human_context)))
        ledger = Ledger()
        self._index.refresh()
        excerpts = self._excerpts(question, assignment.feedback or "", ledger)
        notes = [hit for hit in assignment.memory_hits if _is_strong(hit)][:1]
        lessons = [hit for hit in assignment.memory_hits if _is_warning(hit)][:MAX_LESSONS]
        for hit in (*notes, *lessons):
            ledger.record_query(MEMORY_TOOL, hit.ref)
        ret = answer(question, excerpts, notes, lessons).model_copy(update={"investigator_round": assignment.round})
        return Investigation(ret=ret, ledger=ledger, usage=Usage(), investigator=OFFLINE)

    def _excerpts(self, question: str, feedback: str, ledger: Ledger) -> list[Excerpt]:
        """Return the lines worth quoting, best first, that fit into one reply; what feedback names is left out."""
        ledger.record_query("search_code", question)
        passages = self._index.search(question)
        chosen: list[Excerpt] = []
        for passage in passages:
            if passage.score >= WORTH_QUOTING * passages[0].score:
                chosen.extend(self._fitting(passage, question_stems(question), feedback, chosen))
        for one in chosen:
            ledger.record_read(one.path, one.start, one.end, commit=one.commit, text=one.text)
        return chosen

    def _fitting(
        self, passage: Passage, stems: frozenset[str], feedback: str, chosen: Sequence[Excerpt]
    ) -> list[Excerpt]:
        """Return the best lines of a passage as they stand in git, as many as there is room for; maybe none."""
        lines = self._repo.lines_at(passage.commit, passage.path) if is_indexed(passage.path) else None
        if lines is None or "\n".join(lines[passage.start - 1 : passage.end]) != passage.text:
            return []
        excerpts = [excerpt for size in SIZES if (excerpt := _excerpt(passage, stems, size))]
        if any(excerpt.ref in feedback for excerpt in excerpts):
            return []
        return [excerpt for excerpt in excerpts[bool(chosen) :] if _has_room(chosen, excerpt)][:1]


def _excerpt(passage: Passage, stems: frozenset[str], size: int) -> Excerpt | None:
    lines = passage.text.split("\n")
    window = best_lines([line if len(line) <= MAX_LINE_CHARS else _UNQUOTABLE for line in lines], stems, size)
    if window is None:
        return None
    return Excerpt(
        path=passage.path,
        start=passage.start + window[0],
        end=passage.start + window[1] - 1,
        commit=passage.commit,
        text="\n".join(lines[slice(*window)]),
        covered=len(stems & text_stems(f"{passage.path} {passage.text}")),
    )


def _is_strong(hit: MemoryHit) -> bool:
    """Whether an earlier answer is near enough to be cited, and settled; a reply is no file and cannot be."""
    is_near = hit.score >= STRONG_MEMORY and hit.ref.startswith("memory/")
    return is_near and hit.is_settled and is_quotable(hit.title + hit.excerpt)


def _is_warning(hit: MemoryHit) -> bool:
    """Whether an entry of memory/ is something to know of before a reply is approved."""
    is_near = hit.score >= (NEAR_LESSON if hit.is_lesson else NEAR_DOUBTFUL)
    return is_near and bool(hit.caution) and hit.ref.startswith("memory/")


def _has_room(chosen: Sequence[Excerpt], excerpt: Excerpt) -> bool:
    of_file = sum(one.path == excerpt.path for one in chosen)
    reply = draft([*chosen, excerpt], ())
    fits = len(reply) <= MAX_CHARS and len(reply.split()) <= MAX_WORDS
    return fits and len(chosen) < MAX_EXCERPTS and of_file < MAX_PER_FILE
