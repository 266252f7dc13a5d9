"""Errors planted in the citations of a draft: another place, or another quote. Reads lines at commits.

What is no error is not planted: a quote that stands among the cited lines all the same.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from bot.agent.git.repositories import Repositories
from bot.domain.citations.citation_lines import CitedLines, parse_lines
from bot.domain.citations.verbatim_quotes import plain_text
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn

WORD: Final = re.compile(r"\b[A-Za-z_]\w{3,60}\b")
NUMBER: Final = re.compile(r"(?<![\w.])\d{1,9}(?![\w.])")
_NEGATED: Final = MappingProxyType(
    {" is not ": " is ", " not in ": " in ", " == ": " != ", " != ": " == ", "True": "False", "False": "True"}
    | {" must not ": " must ", " never ": " always ", " if not ": " if ", " and ": " or "}
)
_MOVES: Final = 30

Planter = Callable[[InvestigatorReturn, "Source", random.Random], InvestigatorReturn | None]
"""Returns the draft with an error; None where it cannot have one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where the lines of citations are read."""

    repos: Repositories

    def lines(self, ref: EvidenceRef) -> tuple[CitedLines, list[str]] | None:
        """Return what a citation of a file points at, and all lines of that file; None where it is no such one."""
        cited = parse_lines(ref.ref) if ref.kind is EvidenceKind.FILE and ref.commit else None
        if cited is None or ref.commit is None:
            return None
        place = self.repos.locate(cited.path, ref.commit)
        found = place.repo.lines_at(ref.commit, place.path)
        return (cited, found) if found else None

    def has_all(self, refs: Iterable[EvidenceRef]) -> bool:
        """Whether the commits of all citations of files are in the history of the codebases."""
        held = ((parse_lines(ref.ref), ref.commit) for ref in refs if ref.kind is EvidenceKind.FILE)
        return all(
            cited is not None and commit and self.repos.locate(cited.path, commit).repo.resolve_in("HEAD", commit)
            for cited, commit in held
        )

    def has_file(self, path: str, commit: str) -> bool:
        """Whether a file is there at a commit."""
        place = self.repos.locate(path, commit)
        return place.repo.entry_at(commit, place.path) is not None


def in_citation(
    change: Callable[[EvidenceRef, CitedLines, list[str], Source, random.Random], EvidenceRef | None],
) -> Planter:
    """Return what applies a change to the first citation, in a random order, that allows it."""

    def planter(ret: InvestigatorReturn, source: Source, dice: random.Random) -> InvestigatorReturn | None:
        for ref in dice.sample(ret.evidence_refs, len(ret.evidence_refs)):
            found = source.lines(ref)
            changed = change(ref, *found, source, dice) if found else None
            if changed is not None:
                return with_citation(ret, ref, changed)
        return None

    return planter


def with_citation(ret: InvestigatorReturn, before: EvidenceRef, after: EvidenceRef) -> InvestigatorReturn:
    """Return a draft with another citation, which its words repeat as they repeated the one before."""
    draft = ret.draft_reply.replace(before.quote, after.quote) if before.quote else ret.draft_reply
    draft = draft.replace(f"`{before.ref}`", f"`{after.ref}`")
    if before.commit and after.commit and before.commit != after.commit:
        draft = draft.replace(before.commit[:8], after.commit[:8])
    refs = tuple(after if one is before else one for one in ret.evidence_refs)
    return ret.model_copy(update={"draft_reply": draft, "evidence_refs": refs})


def move_lines(
    ref: EvidenceRef, cited: CitedLines, lines: list[str], _: Source, dice: random.Random
) -> EvidenceRef | None:
    """Return the citation of other lines of the file, among which the quote does not stand."""
    moves = [by for by in range(-_MOVES, _MOVES + 1) if cited.start + by >= 1 and cited.end + by <= len(lines)]
    for by in dice.sample(moves, len(moves)):
        start, end = cited.start + by, cited.end + by
        if not _stands_in(ref.quote, lines[start - 1 : end]):
            return ref.model_copy(update={"ref": f"{cited.path}:{start}-{end}"})
    return None


def rename_file(
    ref: EvidenceRef, cited: CitedLines, _: list[str], source: Source, dice: random.Random
) -> EvidenceRef | None:
    """Return the citation of a file that is not there."""
    folder, slash, name = cited.path.rpartition("/")
    stem, dot, ending = name.partition(".")
    renamed = f"{folder}{slash}{stem}_{dice.choice(('base', 'core', 'old', 'util'))}{dot}{ending}"
    is_taken = source.has_file(renamed, ref.commit or "")
    return None if is_taken else ref.model_copy(update={"ref": f"{renamed}:{cited.start}-{cited.end}"})


def invent_commit(
    ref: EvidenceRef, _: CitedLines, __: list[str], ___: Source, dice: random.Random
) -> EvidenceRef | None:
    """Return the citation at a commit that is not there."""
    return ref.model_copy(update={"commit": f"{dice.getrandbits(160):040x}"})


def alter_word(
    ref: EvidenceRef, cited: CitedLines, lines: list[str], _: Source, dice: random.Random
) -> EvidenceRef | None:
    """Return the citation with a word of the quote replaced by another one of it."""
    words = [(one.span(), other) for one in WORD.finditer(ref.quote) for other in other_words(one[0], ref.quote)]
    return _requoted(ref, cited, lines, dice.sample(words, len(words)))


def alter_number(
    ref: EvidenceRef, cited: CitedLines, lines: list[str], _: Source, dice: random.Random
) -> EvidenceRef | None:
    """Return the citation with another number in the quote."""
    numbers = [(one.span(), str(int(one[0]) + dice.randint(1, 9))) for one in NUMBER.finditer(ref.quote)]
    return _requoted(ref, cited, lines, dice.sample(numbers, len(numbers)))


def negate_quote(
    ref: EvidenceRef, cited: CitedLines, lines: list[str], _: Source, dice: random.Random
) -> EvidenceRef | None:
    """Return the citation with the quote turned round."""
    found = [
        (one.span(), after) for before, after in _NEGATED.items() for one in re.finditer(re.escape(before), ref.quote)
    ]
    return _requoted(ref, cited, lines, dice.sample(found, len(found)))


def other_words(word: str, text: str) -> list[str]:
    """Return the other names and words of a text, each once."""
    return sorted({other for other in WORD.findall(text) if other.lower() != word.lower()})


def _requoted(
    ref: EvidenceRef, cited: CitedLines, lines: list[str], changes: list[tuple[tuple[int, int], str]]
) -> EvidenceRef | None:
    """Return a citation with the first change of its quote after which it does not stand in the cited lines."""
    for (start, end), other in changes:
        quote = ref.quote[:start] + other + ref.quote[end:]
        if not _stands_in(quote, lines[cited.start - 1 : cited.end]):
            return ref.model_copy(update={"quote": quote})
    return None


def _stands_in(quote: str, lines: Collection[str]) -> bool:
    return plain_text(quote.split("\n")).strip() in plain_text(list(lines))
