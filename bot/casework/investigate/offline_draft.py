"""The draft that is written without a model, from excerpts, earlier answers and what code knows of them.

Pure. It claims no more than it quotes, and says how often drafts like it named a right file: the counts stand in
draft_bands.yml and come from a benchmark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from bot.casework.investigate.excerpts import Excerpt
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.returns import MAX_DRAFT_WORDS, EvidenceKind, EvidenceRef, InvestigatorReturn, TrackRecord
from bot.domain.search.passages import MemoryHit
from bot.domain.search.tokens import question_stems
from bot.domain.tables import read_table
from bot.domain.text.outages import tells_of_outage
from bot.domain.text.sanitize import one_line

MEDIUM_SHARE: Final = 0.85
"""Of such drafts as named a right file, for a confidence of medium; high is for what somebody reasoned about."""
COVERED: Final = 0.6
SPARSE: Final = 0.2
LEADING: Final = 0.2


class Band(StrEnum):
    """What a draft rests on."""

    DEFINITION = "definition"
    FRAME = "frame"
    COVERED_QUESTION = "covered_question"
    QUESTION = "question"
    SPARSE_QUESTION = "sparse_question"
    LEADING_REPORT = "leading_report"
    REPORT = "report"


class DraftSigns(NamedTuple):
    """What code knows of a draft.

    `coverage` is the share of the question's telling words in the best excerpt, `lead` by how much of its score the
    best file is ahead of the second, both 0 to 1.
    """

    has_definition: bool = False
    has_frame: bool = False
    is_report: bool = False
    coverage: float = 0.0
    lead: float = 0.0


class Counted(NamedTuple):
    """How many drafts of a band there were, and how many of them named a right file."""

    right: int
    drafts: int

    @property
    def share(self) -> float:
        """The share to expect of the next ones, by Laplace's rule of succession: few drafts prove little."""
        return (self.right + 1) / (self.drafts + 2)


_COUNTS: Final = read_table(__file__, "draft_bands.yml", dict[Band, Counted])


def band_of(signs: DraftSigns) -> Band:
    """Return the band of a draft.

    >>> band_of(DraftSigns(coverage=0.75)), band_of(DraftSigns(is_report=True, has_frame=True))
    (<Band.COVERED_QUESTION: 'covered_question'>, <Band.FRAME: 'frame'>)
    """
    if signs.has_frame:
        return Band.FRAME
    if signs.has_definition:
        return Band.DEFINITION
    if signs.is_report:
        return Band.LEADING_REPORT if signs.lead >= LEADING else Band.REPORT
    if signs.coverage >= COVERED:
        return Band.COVERED_QUESTION
    return Band.QUESTION if signs.coverage >= SPARSE else Band.SPARSE_QUESTION


def counted(band: Band) -> Counted:
    """Return what became of the drafts of a band."""
    return _COUNTS[band]


QUOTED = 2
CLAIM_CHARS = 300
MIN_COVERED = 2
"""Telling words that a passage holds; one alone is no coverage."""
MAX_WORDS: Final = MAX_DRAFT_WORDS - 40  # room for the line that names an earlier answer
MAX_CHARS: Final = 2_400  # of a draft, so that with the line on an earlier answer it fits into Slack's editor
FIRST_CLAIM: Final = "Closest to the first question."
NOTHING_FOUND = "No passage of the code answers this. Which component, file, setting or exact error text is it about?"


def compose_draft(excerpts: Sequence[Excerpt], notes: Sequence[MemoryHit]) -> str:
    """Return the reply: earlier answers by name, the closest excerpts under their places, the others by place."""
    parts = [f"An earlier answer is close to this: {note.title} (`{note.ref}`)." for note in notes]
    if excerpts:
        parts.append(f"I searched the code at `{excerpts[0].commit[:8]}` without a model. {_lead(excerpts[0])}")
    parts += [f"`{excerpt.ref}`\n```\n{excerpt.text}\n```" for excerpt in excerpts[:QUOTED]]
    if others := excerpts[QUOTED:]:
        parts.append("Also close: " + ", ".join(f"`{excerpt.ref}`" for excerpt in others))
    return "\n\n".join(parts)


def with_first_question(ret: InvestigatorReturn, excerpts: Sequence[Excerpt]) -> InvestigatorReturn | None:
    """Return a draft that answers a follow-up, with the closest lines to the thread's own question behind its answer.

    Unchanged where it quotes them already; None where there are none, or no room for them.
    """
    if not excerpts:
        return None
    first = excerpts[0]
    held = (parse_lines(ref.ref) for ref in ret.evidence_refs)
    if any(one and one.path == first.path and one.start <= first.end and first.start <= one.end for one in held):
        return ret
    reply = f"{ret.draft_reply}\n\nTo the first question, the closest lines:\n\n`{first.ref}`\n```\n{first.text}\n```"
    if not has_room(reply):
        return None
    ref = EvidenceRef(
        kind=EvidenceKind.FILE, ref=first.ref, commit=first.commit, quote=first.text, supports_claim=FIRST_CLAIM
    )
    return ret.model_copy(update={"draft_reply": reply, "evidence_refs": (*ret.evidence_refs, ref)})


def has_room(reply: str) -> bool:
    """Whether a reply is short enough."""
    return len(reply) <= MAX_CHARS and len(reply.split()) <= MAX_WORDS


def _lead(first: Excerpt) -> str:
    """Return what the first quote is."""
    if first.frame:
        return "The stack trace leads here first:"
    return f"The first quote defines `{first.defines}`:" if first.defines else "Closest lines:"


def compose_answer(
    question: str,
    excerpts: Sequence[Excerpt],
    notes: Sequence[MemoryHit],
    lessons: Sequence[MemoryHit] = (),
    *,
    is_report: bool = False,
    lead: float = 0.0,
) -> InvestigatorReturn:
    """Return the draft with its evidence; with neither excerpts nor notes, a question back and no draft.

    Args:
        question: What is asked.
        excerpts: The lines to quote, best first.
        notes: Earlier answers that are close to the question.
        lessons: Like notes whose lines have changed, these are for whoever approves: they stand among the evidence
            with what is to be known of them, and the reply does not mention them.
        is_report: The question is a report, of which each part was searched for.
        lead: By how much of its score the best file is ahead of the second, 0 to 1.
    """
    if not excerpts and not notes:
        return question_back()
    asked = len(question_stems(question))
    covered = max((excerpt.covered for excerpt in excerpts), default=0)
    best = excerpts[0].ref if excerpts else notes[0].ref
    held = f"The closest passage holds {covered} of the question's {asked} telling words."
    signs = DraftSigns(
        has_definition=any(one.defines for one in excerpts),
        has_frame=any(one.frame for one in excerpts),
        is_report=is_report,
        coverage=covered / asked if asked and covered >= MIN_COVERED else 0.0,
        lead=lead,
    )
    record = _record_of(signs) if excerpts else None
    defines = excerpts[0].defines if excerpts else ""
    return InvestigatorReturn(
        confidence="medium" if record and record.expected >= MEDIUM_SHARE else "low",
        confidence_reason=f"The first quote is the definition of `{defines}`." if defines else held,
        summary_for_orchestrator=f"Searched without a model; closest is {best}.",
        draft_reply=compose_draft(excerpts, notes),
        evidence_refs=(*_refs(excerpts, notes), *map(_cautioned, lessons)),
        track_record=None if tells_of_outage(question) else record,  # measured with questions and reports, not alarms
    )


def _record_of(signs: DraftSigns) -> TrackRecord:
    band = band_of(signs)
    known = counted(band)
    return TrackRecord(band=band, right=known.right, drafts=known.drafts, expected=round(known.share, 2))


def _refs(excerpts: Sequence[Excerpt], notes: Sequence[MemoryHit]) -> Iterator[EvidenceRef]:
    for number, excerpt in enumerate(excerpts):
        yield EvidenceRef(
            kind=EvidenceKind.FILE,
            ref=excerpt.ref,
            commit=excerpt.commit,
            quote=excerpt.text,
            supports_claim=_claim(excerpt, is_first=not number),
        )
    for note in notes:
        yield EvidenceRef(
            kind=EvidenceKind.MEMORY,
            ref=note.ref,
            quote=note.excerpt,
            supports_claim="An earlier approved answer is close to the question.",
        )


def _claim(excerpt: Excerpt, *, is_first: bool) -> str:
    if excerpt.frame:
        where = "Innermost frame" if is_first else "Frame"
        return f"{where} of the stack trace in this codebase: `{excerpt.frame}`."
    if excerpt.defines:
        return f"Defines `{excerpt.defines}`."
    return "Closest to the question." if is_first else "Also close to the question."


def _cautioned(hit: MemoryHit) -> EvidenceRef:
    """Return what people should read before they approve; a lesson's first words say what became of the draft."""
    said = one_line("; ".join(filter(None, (hit.doubt, hit.excerpt if hit.is_lesson else ""))), CLAIM_CHARS)
    return EvidenceRef(kind=EvidenceKind.MEMORY, ref=hit.ref, quote=hit.excerpt, supports_claim=said)


def question_back() -> InvestigatorReturn:
    """Return a question instead of a draft."""
    return InvestigatorReturn(
        confidence="low",
        confidence_reason="No passage of the code covers enough of the question.",
        summary_for_orchestrator="Searched without a model; nothing in the code is close to the question.",
        draft_reply="",
        open_questions=(NOTHING_FOUND,),
    )
