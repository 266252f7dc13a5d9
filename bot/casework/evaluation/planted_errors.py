"""Plants errors in true drafts: one change each, in a citation, its quote, or a statement that it proves.

A change that would leave the draft true is not made: a quote that also stands among the cited lines, a number that the
evidence holds. The same draft always gets the same errors.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import count
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from bot.agent.git.repositories import Repositories
from bot.casework.checks.addresses import resolve, stands_at
from bot.casework.checks.sources import Lines, Sources
from bot.domain.citations.citation_lines import CitedLines, parse_lines
from bot.domain.returns import Claim, EvidenceKind, EvidenceRef, InvestigatorReturn

_WORD: Final = re.compile(r"\b[A-Za-z_]\w{3,60}\b")
_NUMBER: Final = re.compile(r"(?<![\w.])\d{1,9}(?![\w.])")
_VALUE: Final = re.compile(
    r"^\s{0,40}([A-Za-z_]\w{3,40})(?::[ \w.\[\]]{1,30})? ?[:=] ?(\d{1,9})(?![\w.])", re.MULTILINE
)
"""A name and its value, as code and settings state them."""

_DEFINITION: Final = re.compile(
    r"^\s{0,40}(?:async |export |pub |public |static ){0,3}(?:def|class|func|function|fn|interface|struct|type)"
    r" ([A-Za-z_]\w{3,60})()\b",
    re.MULTILINE,
)


class PlantedKind(StrEnum):
    """What is made wrong; the value is how the table calls it."""

    LINES = "citation: lines moved"
    FILE = "citation: file does not exist"
    COMMIT = "citation: commit does not exist"
    WORD = "quote: a word altered"
    NUMBER = "quote: a number changed"
    STATED_NUMBER = "statement: a number changed"
    STATED_NEGATION = "statement: negated"


IN_CITATION: Final = tuple(one for one in PlantedKind if not one.startswith("statement"))


class Stated(NamedTuple):
    """A draft with a true statement put in front, and the same with the statement made wrong."""

    ret: InvestigatorReturn
    wrong: Mapping[PlantedKind, InvestigatorReturn]


def _cited_lines(repos: Repositories, ref: EvidenceRef) -> tuple[CitedLines, list[str]] | None:
    """Return what a citation of a file points at, and all lines of that file; None where it is no such one."""
    cited = parse_lines(ref.ref) if ref.kind is EvidenceKind.FILE else None
    if cited is None or ref.commit is None:
        return None
    place = repos.locate(cited.path, ref.commit)
    lines = place.repo.lines_at(ref.commit, place.path)
    return (cited, lines) if lines else None


def wrong_citations(ret: InvestigatorReturn, repos: Repositories) -> dict[PlantedKind, InvestigatorReturn]:
    """Return the draft with one wrong citation of each kind that it can have.

    Raises:
        ProviderError: git fails.
    """
    found = {}
    for kind in IN_CITATION:
        dice = random.Random(f"{kind} {ret.draft_reply}")  # noqa: S311 - the same errors every time
        wrong = (
            _with_citation(ret, ref, other)
            for ref in dice.sample(ret.evidence_refs, len(ret.evidence_refs))
            if (known := _cited_lines(repos, ref))
            for other in _changed(kind, ref, *known, dice)
            if not _is_true(repos, other)
        )
        if (first := next(wrong, None)) is not None:
            found[kind] = first
    return found


def with_statement(ret: InvestigatorReturn) -> Stated | None:
    """Return a draft that begins with a fact a quote states: a value, else a definition; None where none states any.

    Drafts made without a model only quote, so there is nothing in their words that could be wrong.
    """
    for pattern in (_VALUE, _DEFINITION):
        for ref in ret.evidence_refs:
            if ref.kind is EvidenceKind.FILE and (fact := pattern.search(ref.quote)):
                return _stated(ret, ref, name=fact[1], number=fact[2])
    return None


def _stated(ret: InvestigatorReturn, ref: EvidenceRef, *, name: str, number: str) -> Stated:
    def saying(said: str) -> InvestigatorReturn:
        first = Claim(text=f"`{name}` is {said} (`{ref.ref}`).\n\n", cites=(ret.evidence_refs.index(ref),))
        return ret.with_claims([first, *ret.said_claims])

    said = number or "defined there"
    wrong = {PlantedKind.STATED_NEGATION: saying(f"not {said}")}
    if number:
        held = "\n".join((ret.draft_reply, *(f"{one.ref}\n{one.quote}" for one in ret.evidence_refs)))
        other = next(str(one) for one in count(int(number) + 1) if str(one) not in held)
        wrong[PlantedKind.STATED_NUMBER] = saying(other)
    return Stated(saying(said), wrong)


def _changed(
    kind: PlantedKind, ref: EvidenceRef, cited: CitedLines, lines: list[str], dice: random.Random
) -> Iterator[EvidenceRef]:
    """Yield changes of a citation, which may be true all the same."""
    start, end = cited.start, cited.end
    if kind is PlantedKind.LINES:
        starts = range(1, len(lines) - (end - start) + 1)
        places = [f"{cited.path}:{at}-{at + end - start}" for at in dice.sample(starts, len(starts))]
        yield from (ref.model_copy(update={"ref": place}) for place in places)
    elif kind is PlantedKind.FILE:
        path = PurePosixPath(cited.path)
        renamed = path.with_stem(f"{path.stem}_{dice.choice(('base', 'core', 'old', 'util'))}")
        yield ref.model_copy(update={"ref": f"{renamed}:{start}-{end}"})
    elif kind is PlantedKind.COMMIT:
        yield ref.model_copy(update={"commit": f"{dice.getrandbits(160):040x}"})
    else:
        is_number = kind is PlantedKind.NUMBER
        found = list((_NUMBER if is_number else _WORD).finditer(ref.quote))
        for one in dice.sample(found, len(found)):
            words = [str(int(one[0]) + dice.randint(1, 9))] if is_number else [word[0] for word in found]
            quote = ref.quote[: one.start()] + dice.choice(words) + ref.quote[one.end() :]
            yield ref.model_copy(update={"quote": quote})


def _is_true(repos: Repositories, ref: EvidenceRef) -> bool:
    found = resolve(ref, Sources(repos))
    return isinstance(found, Lines) and stands_at(ref.quote, found)


def _with_citation(ret: InvestigatorReturn, before: EvidenceRef, after: EvidenceRef) -> InvestigatorReturn:
    """Return a draft with another citation, which its words repeat as they repeated the one before."""
    swaps = [(before.quote, after.quote), (f"`{before.ref}`", f"`{after.ref}`")]
    if before.commit and after.commit:
        swaps.append((before.commit[:8], after.commit[:8]))

    def swapped(claim: Claim) -> Claim:
        text = claim.text
        for old, new in swaps:
            text = text.replace(old, new) if old else text
        return claim.evolve(text=text)

    refs = tuple(after if one is before else one for one in ret.evidence_refs)
    return ret.evolve(evidence_refs=refs).with_claims(list(map(swapped, ret.said_claims)))
