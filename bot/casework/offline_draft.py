"""The offline investigator's words: what it says of the lines it found, and what it asks when it found none.

Pure. It names and quotes passages and claims no more; every line quoted is verbatim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.domain.hidden import one_line
from bot.domain.passages import MemoryHit
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn
from bot.domain.tokens import question_stems

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


def draft(excerpts: Sequence[Excerpt], notes: Sequence[MemoryHit]) -> str:
    """Return the reply: earlier answers by name, the closest excerpts under their places, the others by place."""
    parts = [f"An earlier answer is close to this: {note.title} (`{note.ref}`)." for note in notes]
    if excerpts:
        parts.append(f"I searched the code at `{excerpts[0].commit[:8]}` without a model. Closest lines:")
    parts += [f"`{excerpt.ref}`\n```\n{excerpt.text}\n```" for excerpt in excerpts[:QUOTED]]
    if others := excerpts[QUOTED:]:
        parts.append("Also close: " + ", ".join(f"`{excerpt.ref}`" for excerpt in others))
    return "\n\n".join(parts)


def answer(
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
        draft_reply=draft(excerpts, notes),
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
