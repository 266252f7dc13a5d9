"""The offline investigator's words: what it says of the lines it found, and what it asks when it found none.

Pure. It names and quotes passages and claims no more; every line quoted is verbatim.

The investigator that needs no model: it searches, and quotes what it found.

Reads the passage index, memory hits and the cited lines at their commit; writes nothing. Every line it quotes is read
from git in this run and stands in the ledger; with nothing relevant there is no draft.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import MEMORY_TOOL, Ledger
from bot.agent.model_run import OnProgress
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.domain.citations.prose_spans import Spans, spans_of
from bot.domain.citations.verbatim_quotes import flaw_of, plain_text
from bot.domain.questions.approval_basis import OFFLINE
from bot.domain.returns import MAX_DRAFT_WORDS, EvidenceKind, EvidenceRef, InvestigatorReturn, Usage
from bot.domain.search.file_kinds import is_indexed
from bot.domain.search.passages import MemoryHit, Passage, best_lines, is_quotable
from bot.domain.search.tokens import question_stems, text_stems
from bot.domain.text.sanitize import one_line
from bot.ports import PassageIndex

MEDIUM_COVERAGE = 0.6
QUOTED = 2
CLAIM_CHARS = 300
NOTHING_FOUND = "No passage of the code answers this. Which component, file, setting or exact error text is it about?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """Lines of one file at one commit, verbatim, and how many of the question's words their passage holds."""

    path: str
    start: int
    end: int
    commit: str
    text: str
    covered: int

    @property
    def ref(self) -> str:
        """The citation of these lines."""
        return f"{self.path}:{self.start}-{self.end}"


def compose_draft(excerpts: Sequence[Excerpt], notes: Sequence[MemoryHit]) -> str:
    """Return the reply: earlier answers by name, the closest excerpts under their places, the others by place."""
    parts = [f"An earlier answer is close to this: {note.title} (`{note.ref}`)." for note in notes]
    if excerpts:
        parts.append(f"I searched the code at `{excerpts[0].commit[:8]}` without a model. Closest lines:")
    parts += [f"`{excerpt.ref}`\n```\n{excerpt.text}\n```" for excerpt in excerpts[:QUOTED]]
    if others := excerpts[QUOTED:]:
        parts.append("Also close: " + ", ".join(f"`{excerpt.ref}`" for excerpt in others))
    return "\n\n".join(parts)


def compose_answer(
    question: str, excerpts: Sequence[Excerpt], notes: Sequence[MemoryHit], lessons: Sequence[MemoryHit] = ()
) -> InvestigatorReturn:
    """Return the draft with its evidence; with neither excerpts nor notes, a question back and no draft.

    `lessons`, and notes whose lines have changed, are for whoever approves: they stand among the evidence with what is
    to be known of them, and the reply does not mention them.
    """
    if not excerpts and not notes:
        return _question_back()
    asked = len(question_stems(question))
    covered = max((excerpt.covered for excerpt in excerpts), default=0)
    best = excerpts[0].ref if excerpts else notes[0].ref
    return InvestigatorReturn(
        confidence=_confidence(covered, asked),
        confidence_reason=f"The closest passage holds {covered} of the question's {asked} telling words.",
        summary_for_orchestrator=f"Searched without a model; closest is {best}.",
        draft_reply=compose_draft(excerpts, notes),
        evidence_refs=(*_refs(excerpts, notes), *map(_cautioned, lessons)),
    )


def _confidence(covered: int, asked: int) -> Literal["medium", "low"]:
    """Return how sure a search can be; `high` is for what somebody reasoned about."""
    return "medium" if covered >= 2 and covered >= MEDIUM_COVERAGE * asked else "low"


def _refs(excerpts: Sequence[Excerpt], notes: Sequence[MemoryHit]) -> Iterator[EvidenceRef]:
    for number, excerpt in enumerate(excerpts):
        yield EvidenceRef(
            kind=EvidenceKind.FILE,
            ref=excerpt.ref,
            commit=excerpt.commit,
            quote=excerpt.text,
            supports_claim="Also close to the question." if number else "Closest to the question.",
        )
    for note in notes:
        yield EvidenceRef(
            kind=EvidenceKind.MEMORY,
            ref=note.ref,
            quote=note.excerpt,
            supports_claim="An earlier approved answer is close to the question.",
        )


def _cautioned(hit: MemoryHit) -> EvidenceRef:
    """Return what people should read before they approve; a lesson's first words say what became of the draft."""
    said = one_line("; ".join(filter(None, (hit.doubt, hit.excerpt if hit.is_lesson else ""))), CLAIM_CHARS)
    return EvidenceRef(kind=EvidenceKind.MEMORY, ref=hit.ref, quote=hit.excerpt, supports_claim=said)


def _question_back() -> InvestigatorReturn:
    return InvestigatorReturn(
        confidence="low",
        confidence_reason="No passage of the code covers enough of the question.",
        summary_for_orchestrator="Searched without a model; nothing in the code is close to the question.",
        draft_reply="",
        open_questions=(NOTHING_FOUND,),
    )


MAX_EXCERPTS = 4
MAX_PER_FILE = 2
MAX_WORDS = MAX_DRAFT_WORDS - 40  # room for the line that names an earlier answer
MAX_CHARS = 2_400  # of a draft, so that with the line on an earlier answer it fits into Slack's editor
MAX_LINE_CHARS = 1_000  # a longer line is data or made by a machine; half of it would be no verbatim line
SIZES = (12, 6, 3, 1)  # lines of an excerpt; only the best passage may have the most
WIDENINGS = ((0, 0), (0, 1), (1, 0), (1, 1), (0, 3), (3, 0), (3, 3), (6, 6))  # lines before and behind an excerpt
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
        ret = compose_answer(question, excerpts, notes, lessons).model_copy(
            update={"investigator_round": assignment.round}
        )
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
        found = [excerpt for size in SIZES if (excerpt := _excerpt(passage, stems, size))]
        spans = spans_of(passage.path, plain_text(lines))
        excerpts = [whole for excerpt in found if (whole := _whole(excerpt, lines, spans))]
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


def _whole(excerpt: Excerpt, lines: Sequence[str], spans: Spans) -> Excerpt | None:
    """Return an excerpt with as many lines around it as a quotation needs to keep its sense; None if it needs many."""
    for before, after in WIDENINGS:
        start, end = max(1, excerpt.start - before), min(len(lines), excerpt.end + after)
        text = "\n".join(lines[start - 1 : end])
        can_be_quoted = is_quotable(text) and max(map(len, text.split("\n"))) <= MAX_LINE_CHARS
        if can_be_quoted and flaw_of(text, lines, spans, start=start, end=end) is None:
            is_same = (start, end) == (excerpt.start, excerpt.end)
            return excerpt if is_same else replace(excerpt, start=start, end=end, text=text)
    return None


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
    reply = compose_draft([*chosen, excerpt], ())
    fits = len(reply) <= MAX_CHARS and len(reply.split()) <= MAX_WORDS
    return fits and len(chosen) < MAX_EXCERPTS and of_file < MAX_PER_FILE
