"""Errors planted in what a draft states in its own words, of which a quote holds the name and the number. Pure.

A number that the evidence or the draft holds as well is not put in, nor a name that stands beside the same number.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from bot.casework.evaluation.planted_citations import NUMBER, WORD, Source, other_words, with_citation
from bot.domain.citations.prose_spans import spans_of
from bot.domain.citations.verbatim_quotes import flaw_of, plain_text
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn

_VALUE: Final = re.compile(
    r"^\s{0,40}([A-Za-z_]\w{3,40})(?::[ \w.\[\]]{1,30})? ?[:=] ?(\d[\d_]{0,8})(?![\w.])", re.MULTILINE
)
"""A name and its value, as code and settings state them."""
_DEFINITION: Final = re.compile(
    r"^\s{0,40}(?:async |export |pub |public |static ){0,3}(?:def|class|func|function|fn|interface|struct|type)"
    r" ([A-Za-z_]\w{3,60})\b",
    re.MULTILINE,
)
_DEFINED: Final = re.compile(r"`([A-Za-z_]\w{3,60})` is defined there")
_COMMENT: Final = re.compile(r"^\s{0,40}(?:#|//|--|\*)\s{1,4}[A-Za-z]")
_PLACE: Final = re.compile(r"`[^`\n]{0,300}:\d[^`\n]{0,40}`")
_MAX_COMMENT_LINES: Final = 6


def with_statement(ret: InvestigatorReturn) -> InvestigatorReturn | None:
    """Return a draft that begins with a fact a quote states: a value, else a definition; None where none states any.

    Drafts made without a model only quote, so there is nothing in their words that could be wrong.
    """
    for pattern, says in ((_VALUE, "`{}` is {}"), (_DEFINITION, "`{}` is defined there")):
        for ref in ret.evidence_refs:
            if ref.kind is EvidenceKind.FILE and (fact := pattern.search(ref.quote)):
                said = f"{says.format(*fact.groups())} (`{ref.ref}`).\n\n"
                return ret.model_copy(update={"draft_reply": said + ret.draft_reply})
    return None


def states_anything(ret: InvestigatorReturn) -> bool:
    """Whether a draft states in its own words what one of its quotes holds."""
    return next(_facts(ret), None) is not None


@dataclass(frozen=True, slots=True)
class _Fact:
    """A statement of the draft's own words that a quote proves: of a name and a number on one line, or a definition.

    `number` is empty for a definition; `others` are the names of which the same would be true.
    """

    sentence: str
    ref: EvidenceRef
    name: str
    number: str
    others: frozenset[str]

    def is_in(self, text: str) -> bool:
        """Whether a text might prove it."""
        return self.name in text or bool(self.number and self.number in text)


def _facts(ret: InvestigatorReturn) -> Iterator[_Fact]:
    """Yield the statements of a draft's own words, blocks aside, that a quote proves."""
    own = re.sub(r"```.{0,20000}?```", "", ret.draft_reply, flags=re.DOTALL)
    for sentence in re.split(r"(?<=[.!?])\s|\n", own):
        names = set(re.findall(r"`([A-Za-z_]\w{3,60})`", sentence))
        numbers = set(NUMBER.findall(_PLACE.sub("", sentence)))
        for ref in ret.evidence_refs:
            defined = frozenset(_DEFINITION.findall(ref.quote))
            if (said := _DEFINED.match(sentence)) and said[1] in defined:
                yield _Fact(sentence, ref, said[1], "", defined)
            for line in ref.quote.split("\n"):
                words = frozenset(WORD.findall(line))
                held = names & words, numbers & set(NUMBER.findall(line))
                if all(held):
                    yield _Fact(sentence, ref, min(held[0]), min(held[1]), words)


def _restated(ret: InvestigatorReturn, fact: _Fact, before: str, after: str) -> InvestigatorReturn | None:
    changed = fact.sentence.replace(before, after, 1)
    if changed == fact.sentence:
        return None
    return ret.model_copy(update={"draft_reply": ret.draft_reply.replace(fact.sentence, changed, 1)})


def state_number(ret: InvestigatorReturn, _: Source, dice: random.Random) -> InvestigatorReturn | None:
    """Return the draft with another number in a statement."""
    held = set(NUMBER.findall("\n".join((ret.draft_reply, *(ref.quote for ref in ret.evidence_refs)))))
    for fact in _facts(ret):
        if not fact.number:
            continue
        other = next(
            str(number) for number in range(int(fact.number) + dice.randint(1, 9), 10**10) if str(number) not in held
        )
        place = re.compile(rf"(?<![\w.:-]){fact.number}(?![\w.-])")
        return _restated(ret, fact, fact.sentence, place.sub(other, fact.sentence, count=1))
    return None


def state_negation(ret: InvestigatorReturn, _: Source, __: random.Random) -> InvestigatorReturn | None:
    """Return the draft with a statement turned round."""
    for fact in _facts(ret):
        for verb in (" is ", " are ", " has ", " must ", " can ", " will "):
            if verb in fact.sentence and " not " not in fact.sentence:
                return _restated(ret, fact, verb, f"{verb}not ")
    return None


def state_name(ret: InvestigatorReturn, _: Source, dice: random.Random) -> InvestigatorReturn | None:
    """Return the draft with a statement about something else that the quote names."""
    for fact in _facts(ret):
        same = [line for ref in ret.evidence_refs for line in ref.quote.split("\n") if fact.number in line]
        beside = set(WORD.findall("\n".join(same))) if fact.number else fact.others
        others = [
            one for one in other_words(fact.name, fact.ref.quote) if one not in beside and one not in fact.sentence
        ]
        if others:
            return _restated(ret, fact, f"`{fact.name}`", f"`{dice.choice(others)}`")
    return None


def cite_comment(ret: InvestigatorReturn, source: Source, dice: random.Random) -> InvestigatorReturn | None:
    """Cite for a fact, instead of its proof, a comment of the same file that says nothing of it, word for word.

    The confidence becomes low, so that only what the citation proves is judged, not whether it was read.
    """
    for fact in _facts(ret):
        found = source.lines(fact.ref)
        others = [ref for ref in ret.evidence_refs if ref is not fact.ref and fact.is_in(ref.quote)]
        if found is None or others:
            continue
        cited, lines = found
        comments = [one for one in _comments(cited.path, lines) if not fact.is_in(one[1])]
        if comments:
            (start, end), quote = dice.choice(comments)
            other = fact.ref.model_copy(update={"ref": f"{cited.path}:{start}-{end}", "quote": quote})
            return with_citation(ret, fact.ref, other).model_copy(update={"confidence": "low"})
    return None


def _comments(path: str, lines: list[str]) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the comments of a file that may be quoted: their first and last line, and their text."""
    spans = spans_of(path, plain_text(lines))
    numbered = groupby(enumerate(lines, 1), key=lambda one: bool(_COMMENT.match(one[1])))
    for is_comment, group in numbered:
        block = list(group)
        if is_comment and len(block) <= _MAX_COMMENT_LINES:
            start, end, quote = block[0][0], block[-1][0], "\n".join(line for _, line in block)
            if flaw_of(quote, lines, spans, start=start, end=end) is None:
                yield (start, end), quote
