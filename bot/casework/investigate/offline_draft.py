"""Writes the draft of an investigation without a model: excerpts, earlier answers, and what code found. Pure.

Every excerpt has whole lines, and mostly whole comments and strings. The draft claims no more than it quotes, and its
confidence is never high: that is for what somebody reasoned about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from bot.domain.citations.citation_lines import CitedLines, parse_lines
from bot.domain.citations.comments import Scan
from bot.domain.returns import (
    MAX_DRAFT_WORDS,
    Claim,
    ClaimKind,
    EvidenceKind,
    EvidenceRef,
    InvestigatorReturn,
    in_paragraphs,
    join_claims,
)
from bot.domain.search.definitions import Definition, definition_end
from bot.domain.search.files import is_prose
from bot.domain.search.passages import MemoryHit, Passage, best_lines, first_attached, is_quotable
from bot.domain.search.question_names import has_english_words
from bot.domain.search.tokens import question_stems, shared_stems, text_stems
from bot.domain.text.sanitize import one_line

MAX_LINE_CHARS = 1_000  # a longer line is data or made by a machine; half of it would be no verbatim line
MAX_ATTACHED = 8
"""How many lines of comments and decorators above a definition are quoted with it."""

SIZES = (12, 6, 3, 1)  # lines of an excerpt; only the best passage may have the most
MAX_SIGNATURE = 12
"""Lines of a definition's head, up to the bracket that closes it, that are quoted beside the usual ones."""

MIN_SHARED = 2
"""Telling words that a question of three or more shares with a passage, or nothing answers it."""

NEAR_LINES = 6
"""Words further apart than so many lines may belong to two subjects."""

MAX_WIDENED_CHARS: Final = 800
MAX_NOTICE = 60
_COMMENT = re.compile(r"\s*(?:#|//|/?\*|--|;|%|<!--|<\?|@?rem\b)", re.I)
_NOTICE = re.compile(r"\b(?:licen[cs]e[ds]?|copyright|warrant(?:y|ies)|liable|liability|redistribut\w*|spdx)\b", re.I)
_UNQUOTABLE = "```"  # stands for a line that no excerpt may hold

SPARSE: Final = 0.2
"""Of a question's telling words, that the lines hold."""

QUOTED = 2
CLAIM_CHARS = 300
MAX_WORDS: Final = MAX_DRAFT_WORDS - 40  # room for the line that names an earlier answer
MAX_CHARS: Final = 2_400  # of a draft, so that with the line on an earlier answer it fits into Slack's editor
FIRST_CLAIM: Final = "Closest to the first question."
NOTHING_FOUND = "No passage of the code answers this. Which component, file, setting or exact error text is it about?"
ONLY_ENGLISH = "This search uses no model: it knows English words and names from the code, no other language."


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """Lines of one file at one commit, verbatim, and how many of the question's words their passage holds.

    `near` is how many of these words stand within NEAR_LINES lines of the passage or in the path. `defines` is the name
    that the lines define, `frame` the place of a stack frame, where they were chosen for it.
    """

    path: str
    start: int
    end: int
    commit: str
    text: str
    covered: int
    near: int
    defines: str = ""
    frame: str = ""

    @property
    def ref(self) -> str:
        """The citation of these lines."""
        return str(CitedLines(self.path, self.start, self.end))

    def cited_for(self, claim: str) -> EvidenceRef:
        """Return the evidence that these lines are for a claim."""
        return EvidenceRef(
            kind=EvidenceKind.FILE, ref=self.ref, commit=self.commit, quote=self.text, supports_claim=claim
        )

    def as_claim(self, number: int) -> Claim:
        """Return the lines under their place, as a claim that rests on citation `number`, which is theirs."""
        return Claim(text=f"`{self.ref}`\n```\n{self.text}\n```", cites=(number,))

    def overlaps(self, other: Excerpt | CitedLines) -> bool:
        """Whether both quote a line."""
        return self.path == other.path and self.start <= other.end and other.start <= self.end

    def is_about(self, asked: int) -> bool:
        """Whether it answers more than one of the `asked` words of a question; one shared word of many is chance."""
        return bool(self.defines or self.frame) or self.covered >= MIN_SHARED or self.covered * 2 >= asked

    def is_plainly_about(self) -> bool:
        """Whether it shares so much with a question that it need not speak of everything that is asked."""
        return bool(self.defines or self.frame) or self.near > MIN_SHARED

    def answers_rest_of(self, stems: frozenset[str]) -> bool:
        """Whether it holds half of what a question says besides the name of what these lines define."""
        rest = stems - text_stems(f"{self.path} {self.defines}")
        return 2 * len(shared_stems(rest, self.text)) >= len(rest)


@dataclass(frozen=True, kw_only=True)
class QuotableFile:
    """A file at a commit, of which lines may be quoted."""

    path: str
    commit: str
    lines: Sequence[str]

    @cached_property
    def scan(self) -> Scan:
        """Where in the file comments and strings stand."""
        return Scan(self.path, self.lines)

    @cached_property
    def notice_end(self) -> int:
        """The last line of the licence or copyright notice that the file begins with; 0 where it has none."""
        return 0 if is_prose(self.path) else _notice_end(self.lines[:MAX_NOTICE])

    def cut(self, start: int, end: int, stems: frozenset[str]) -> Excerpt:
        """Return the lines from `start` to `end`, counted from 1."""
        lines = self.lines[start - 1 : end]
        covered, near = _shared(stems, self.path, lines)
        text = "\n".join(lines)
        return Excerpt(path=self.path, start=start, end=end, commit=self.commit, text=text, covered=covered, near=near)

    def widened(self, excerpt: Excerpt) -> Excerpt | None:
        """Return an excerpt with the rest of a comment or string that it cuts, unless that is long.

        None where it may not be quoted.
        """
        start, end = self.scan.widened(excerpt.start, excerpt.end)
        if sum(map(len, self.lines[start - 1 : end])) > MAX_WIDENED_CHARS:
            start, end = excerpt.start, excerpt.end
        lines = self.lines[start - 1 : end]
        text = "\n".join(lines)
        if not is_quotable(text) or max(map(len, lines)) > MAX_LINE_CHARS or not any(map(str.isalnum, text)):
            return None
        is_same = (start, end) == (excerpt.start, excerpt.end)
        return excerpt if is_same else replace(excerpt, start=start, end=end, text=text)


def _notice_end(lines: Sequence[str]) -> int:
    """Return the number of the last line of the notice that these lines, the first of a file, begin with.

    >>> _notice_end(["# Copyright 2024 A. Nobody", "# All rights reserved.", "", "# Retries.", "import os"])
    2
    """
    end, told, inside = 0, False, False
    for at, line in enumerate(lines, 1):
        if line.strip() and not inside and not _COMMENT.match(line):
            break
        told = (told and (inside or bool(line.strip()))) or bool(_NOTICE.search(line))
        end = at if told else end
        inside = (inside or "/*" in line) and "*/" not in line
    return end


def excerpts_of_passage(
    passage: Passage, file: QuotableFile, stems: frozenset[str], named: Sequence[Definition]
) -> Iterator[Excerpt]:
    """Yield the lines of a passage that answer best, the most first; before them what it defines of `named`."""
    for one in named:
        if one.path == passage.path and passage.start <= one.line <= passage.end:
            yield from excerpts_of_definition(one, file, stems)
    found = (_excerpt_of_passage(passage, file, stems, size) for size in SIZES)
    yield from (whole for excerpt in found if excerpt and (whole := file.widened(excerpt)))


def _excerpt_of_passage(passage: Passage, file: QuotableFile, stems: frozenset[str], size: int) -> Excerpt | None:
    """Return the at most `size` lines of a passage that answer best; None if none may be quoted."""
    lines = passage.text.split("\n")
    notice = min(max(0, file.notice_end - passage.start + 1), len(lines))
    lines[:notice] = [_UNQUOTABLE] * notice
    window = best_lines([line if len(line) <= MAX_LINE_CHARS else _UNQUOTABLE for line in lines], stems, size)
    if window is None:
        return None
    covered, near = _shared(stems, passage.path, lines)
    return Excerpt(
        path=passage.path,
        start=passage.start + window[0],
        end=passage.start + window[1] - 1,
        commit=passage.commit,
        text="\n".join(lines[slice(*window)]),
        covered=covered,
        near=near,
    )


def _shared(stems: frozenset[str], path: str, lines: Sequence[str]) -> tuple[int, int]:
    """Return how many stems a path and lines hold, and how many the path and those NEAR_LINES that hold most."""
    of_path, *found = (shared_stems(stems, text) for text in (path, *lines))
    near = (found[at : at + NEAR_LINES] for at in range(len(found)))
    return len(of_path.union(*found)), max((len(of_path.union(*few)) for few in near), default=len(of_path))


def excerpts_of_definition(definition: Definition, file: QuotableFile, stems: frozenset[str]) -> Iterator[Excerpt]:
    """Yield a definition's first lines as they may be quoted, the most first; nothing if it is not on its line."""
    lines = file.lines
    if definition.line > len(lines) or definition.name not in lines[definition.line - 1]:
        return
    end = definition_end(lines, definition.line)
    above = first_attached(lines, definition.line - 1) + 1
    starts = [above] if definition.line - above <= MAX_ATTACHED else []
    head = _signature_lines(lines, definition.line)
    for size in (SIZES[0] + head, *SIZES) if head else SIZES:
        for start in dict.fromkeys((*starts, definition.line)):
            cut = file.cut(start, min(end, definition.line + size - 1), stems)
            if whole := file.widened(replace(cut, defines=definition.name)):
                yield whole


def _signature_lines(lines: Sequence[str], line: int) -> int:
    """Return how many lines below its first one the head of a definition has; 0 where it is written on one line."""
    first = lines[line - 1]
    if not first.rstrip().endswith(("(", "[")):
        return 0
    indent = first[: len(first) - len(first.lstrip())]
    below = lines[line : line + MAX_SIGNATURE]
    return next((at for at, text in enumerate(below, 1) if text.startswith((f"{indent})", f"{indent}]"))), 0)


def excerpts_of_file(file: QuotableFile, stems: frozenset[str]) -> Iterator[Excerpt]:
    """Yield a file's first lines as they may be quoted, the most first."""
    for size in SIZES:
        text = "\n".join(file.lines[:size]).rstrip()
        if text and (whole := file.widened(file.cut(1, text.count("\n") + 1, stems))):
            yield whole


def is_close(excerpts: Sequence[Excerpt], *, is_report: bool, asked: int) -> bool:
    """Whether the quoted lines, the best of them first, hold enough of a question; `asked` are the question's stems."""
    if is_report or excerpts[0].defines or any(one.frame for one in excerpts):
        return True
    covered = max(one.covered for one in excerpts)
    return covered >= MIN_SHARED and covered >= SPARSE * asked


def compose_draft(excerpts: Sequence[Excerpt], notes: Sequence[MemoryHit]) -> list[Claim]:
    """Return the reply: earlier answers by name, the closest excerpts under their places, the others by place.

    Its citations are those of the excerpts, then those of the notes.
    """
    found = [
        Claim(text=f"An earlier answer is close to this: {note.title} (`{note.ref}`).", cites=(len(excerpts) + number,))
        for number, note in enumerate(notes)
    ]
    if excerpts:
        found.append(Claim(text=f"{searched_at(excerpts[0].commit)} {_lead(excerpts[0])}", cites=(0,)))
    found += [excerpt.as_claim(number) for number, excerpt in enumerate(excerpts[:QUOTED])]
    if others := excerpts[QUOTED:]:
        places = ", ".join(f"`{excerpt.ref}`" for excerpt in others)
        found.append(Claim(text=f"Also close: {places}", cites=tuple(range(QUOTED, len(excerpts)))))
    return in_paragraphs(found)


def searched_at(commit: str) -> str:
    """Return the sentence that says what was searched."""
    return f"I searched the code at `{commit[:8]}` without a model."


def with_first_question(ret: InvestigatorReturn, excerpts: Sequence[Excerpt]) -> InvestigatorReturn | None:
    """Return a draft that answers a follow-up, with the closest lines to the thread's own question behind its answer.

    Unchanged where it quotes them already; None where there are none, or no room for them.
    """
    if not excerpts:
        return None
    first = excerpts[0]
    held = (parse_lines(ref.ref) for ref in ret.evidence_refs)
    if any(one is not None and first.overlaps(one) for one in held):
        return ret
    number = len(ret.evidence_refs)
    lead = Claim(text="To the first question, the closest lines:", kind=ClaimKind.OTHER)
    claims = [*ret.claims, *in_paragraphs([Claim(text=""), lead, first.as_claim(number)])[1:]]
    if not has_room(claims):
        return None
    return ret.evolve(evidence_refs=(*ret.evidence_refs, first.cited_for(FIRST_CLAIM))).with_claims(claims)


def has_room(claims: Sequence[Claim]) -> bool:
    """Whether a reply is short enough."""
    reply = join_claims(claims)
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
    beside: Sequence[MemoryHit],
    *,
    is_report: bool,
) -> InvestigatorReturn:
    """Return the draft with its evidence; with neither excerpts nor notes, a question back and no draft.

    Args:
        question: What is asked.
        excerpts: The lines to quote, best first.
        notes: Earlier answers that are close to the question.
        beside: Notes that are near, or whose lines have changed; for whoever approves they stand among the evidence
            with what is to be known of them, and the reply does not mention them.
        is_report: The question is a report, of which each part was searched for.
    """
    if not excerpts and not notes:
        return question_back(question)
    asked = len(question_stems(question))
    covered = max((excerpt.covered for excerpt in excerpts), default=0)
    best = excerpts[0].ref if excerpts else notes[0].ref
    held = f"The closest passage holds {covered} of the question's {asked} telling words."
    is_medium = bool(excerpts) and is_close(excerpts, is_report=is_report, asked=asked)
    defines = excerpts[0].defines if excerpts else ""
    return InvestigatorReturn(
        confidence="medium" if is_medium else "low",
        confidence_reason=f"The first quote is the definition of `{defines}`." if defines else held,
        summary_for_orchestrator=f"Searched without a model; closest is {best}.",
        draft_reply="",
        evidence_refs=(*_refs(excerpts, notes), *map(_beside, beside)),
    ).with_claims(compose_draft(excerpts, notes))


def _refs(excerpts: Sequence[Excerpt], notes: Sequence[MemoryHit]) -> Iterator[EvidenceRef]:
    for number, excerpt in enumerate(excerpts):
        yield excerpt.cited_for(_claim(excerpt, is_first=not number))
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


def _beside(hit: MemoryHit) -> EvidenceRef:
    """Return what people should read before they approve."""
    said = one_line("; ".join(filter(None, (hit.caution, hit.excerpt))), CLAIM_CHARS)
    return EvidenceRef(kind=EvidenceKind.MEMORY, ref=hit.ref, quote=hit.excerpt, supports_claim=said)


def question_back(question: str) -> InvestigatorReturn:
    """Return a question instead of a draft; where the question may not be English, it says what is searched for."""
    is_english = has_english_words(question)
    return InvestigatorReturn(
        confidence="low",
        confidence_reason="No passage of the code covers enough of the question.",
        summary_for_orchestrator="Searched without a model; nothing in the code is close to the question.",
        draft_reply="",
        open_questions=(NOTHING_FOUND if is_english else f"{NOTHING_FOUND} {ONLY_ENGLISH}",),
    )
