"""Whether the places and the facts that a draft states are covered by its citations, and how it says them. Pure.

Places: a file that is only named is covered by a citation of it, by a quote that names it, and by a cited commit that
changed it; lines only by citations of those lines; a commit by a citation of it or at it. Facts: a
statement without a citation beside it is marked on the card and told to the validator; it keeps a draft from confidence
`high`, and from nothing else. The evidence's own words are not the draft's: what repeats a quote is judged for secrets
only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from bot.domain.citations.citation_lines import CitedLines
from bot.domain.citations.draft_statements import (
    DottedName,
    ModuleTree,
    dotted_names_in,
    is_quoted,
    statements_without_source,
)
from bot.domain.citations.named_places import NamedPlace, places_in, without_commands
from bot.domain.questions.draft_language import (
    CODE,
    hedges,
    is_in_language,
    overclaims,
    own_sentences,
    primary,
    tone_faults,
    without_quotes,
)
from bot.domain.questions.risk_gate import risky_advice
from bot.domain.questions.rubrics import Rubric
from bot.domain.returns import Check, EvidenceKind, InvestigatorReturn
from bot.domain.secrets import find_secrets
from bot.domain.text.sanitize import one_line

NAMED_AT_MOST = 5
_QUALIFIED: Final = re.compile(r"(?<![\w:/.-])[a-z][a-z0-9_-]{0,39}:[\w@+.-]{1,200}(?:/[\w@+.-]{1,200}){0,40}")
"""A path behind the id of a codebase."""

_OF_CODE = frozenset({EvidenceKind.FILE, EvidenceKind.GIT_COMMIT})
STATED_AT_MOST: Final = 3
STATEMENT_CHARS: Final = 90
_BROADCAST: Final = re.compile(
    r"<!(?:channel|here|everyone|group|subteam)\b[^>\n]{0,80}>?|(?<![A-Za-z0-9])@(?:channel|here|everyone|group)(?![A-Za-z0-9])",
    re.IGNORECASE,
)


class CitationResult(NamedTuple):
    """What looking something up came to; `ok` is None where code cannot tell."""

    ok: bool | None
    reason: str


def to_check(name: str, finding: CitationResult) -> Check:
    """Return a result as a check of a draft."""
    return Check(name=name, ok=finding.ok, reason=finding.reason)


class Proved(NamedTuple):
    """What the citations hold: lines of files, full ids of commits, quotes, and names that may be mentioned.

    These are the notes that nothing refutes, and the files that cited commits changed. `modules` are the codebase's.
    """

    lines: Sequence[CitedLines]
    commits: Collection[str]
    quotes: Sequence[str]
    names: Collection[str]
    modules: ModuleTree
    cited: Collection[str] = ()
    """The cited paths as they are written, with their codebase where there are several."""

    def holds_module(self, dotted: DottedName) -> bool:
        """Whether a dotted name is no module of the codebase, or one that is cited, changed or quoted.

        A name of two parts that bears no file's name may be what a quotation defines.
        """
        files = self.modules.files_of(dotted)
        if files and dotted.line:
            return any(self.holds(NamedPlace(path, dotted.line, dotted.line)) for path in files)
        cited = {one.path for one in self.lines} | set(self.names)
        if files is None or not cited.isdisjoint(files) or is_quoted(dotted, self.quotes):
            return True
        last = dotted.name.partition(".")[2]
        return not files and not dotted.is_called and any(last in re.findall(r"\w+", quote) for quote in self.quotes)

    def holds(self, place: NamedPlace) -> bool:
        """Whether a place lies inside of it."""
        if place.commit:
            return any(commit.startswith(place.commit) for commit in self.commits)
        ranges = [one for one in self.lines if not place.path or _is_same(one.path, place.path)]
        if not place.start:
            return bool(ranges) or self._names(place.path)
        covered = {line for one in ranges for line in range(one.start, one.end + 1)}
        is_short = place.end - place.start <= len(covered)
        return is_short and covered.issuperset(range(place.start, place.end + 1))

    def strange_codebases(self, text: str) -> list[str]:
        """Return the paths that a text puts into another codebase than the citations do."""
        bare = {path.partition(":")[2] for path in self.cited}
        named = (one.rstrip(".") for one in _QUALIFIED.findall(text) if bare)
        return [one for one in named if one not in self.cited and one.partition(":")[2] in bare]

    def _names(self, path: str) -> bool:
        """Whether a note or a changed file bears the name, or a proved quote holds it as a word of its own."""
        if any(_is_same(name, path) for name in self.names):
            return True
        return any(path in word.split("/") or path == word for quote in self.quotes for word in _words(quote))


def places_check(ret: InvestigatorReturn, proved: Proved) -> CitationResult:
    """Return whether all places in the draft, and in the claims of its citations of code, are proved."""
    lines = [line for quote in proved.quotes for line in quote.split("\n")]
    draft = without_quotes(ret.draft_reply, [*proved.quotes, *lines])
    claims = [ref.supports_claim for ref in ret.evidence_refs if ref.kind in _OF_CODE]
    named = [place for text in (draft, *claims) for place in places_in(text)]
    modules = modules_named(ret)
    strange = [str(place) for place in named if not proved.holds(place)]
    strange += [str(name) for name in modules if not proved.holds_module(name)]
    strange = list(dict.fromkeys([*strange, *proved.strange_codebases("\n".join((draft, *claims)))]))
    if strange:
        more = f" and {len(strange) - NAMED_AT_MOST} more" if len(strange) > NAMED_AT_MOST else ""
        said = ", ".join(strange[:NAMED_AT_MOST])
        return CitationResult(
            False, f"named, but not inside a proved citation: {said}{more}; cite them or leave them out"
        )
    return CitationResult(True, "every place the draft names is proved" if named else "the draft names no place")


def modules_named(ret: InvestigatorReturn) -> list[DottedName]:
    """Return the dotted names in the draft and in the claims of its citations of code, commands aside."""
    claims = [ref.supports_claim for ref in ret.evidence_refs if ref.kind in _OF_CODE]
    return [name for text in (ret.draft_reply, *claims) for name in dotted_names_in(without_commands(text))]


def _is_same(path: str, named: str) -> bool:
    """Whether a text may name a path so: whole, by its last parts, or with a prefix such as the repository's name.

    A name without an ending is also that of the file with one: "the README".
    """
    if "." not in named and path.rpartition("/")[2].partition(".")[0] == named:
        return True
    return path == named or path.endswith(f"/{named}") or named.endswith(f"/{path}")


def _words(quote: str) -> list[str]:
    return "".join(char if char.isalnum() or char in "._-/" else " " for char in quote).split()


def statements_check(ret: InvestigatorReturn, marks: Sequence[bool | None]) -> CitationResult:
    """Return which statements have no citation beside them; a citation that is refuted counts as none."""
    refs = [ref for ref, mark in zip(ret.evidence_refs, marks, strict=True) if mark is not False]
    bare = statements_without_source(ret.draft_reply, [ref.quote for ref in refs], [ref.ref for ref in refs])
    if not bare:
        return CitationResult(True, "every statement of fact has a citation beside it")
    said = "; ".join(f"“{one_line(sentence, STATEMENT_CHARS)}”" for sentence in bare[:STATED_AT_MOST])
    more = f" and {len(bare) - STATED_AT_MOST} more" if len(bare) > STATED_AT_MOST else ""
    if ret.confidence != "high":
        return CitationResult(None, f"stated without a citation beside it: {said}{more}")
    return CitationResult(
        False, f"high confidence, but stated without a citation beside it: {said}{more}; cite it, or say medium"
    )


def style_checks(ret: InvestigatorReturn, rubric: Rubric, known_secrets: Collection[str]) -> Iterator[Check]:
    """Yield one check for each way a draft can be wrong in what it says, whatever it cites."""
    quotes = [ref.quote for ref in ret.evidence_refs if ref.quote]
    said = own_sentences(ret.draft_reply, quotes)
    yield to_check("confidence.words", _confidence_words(ret.confidence, said))
    risks = risky_advice(ret.draft_reply, quotes) + (["code change: a patch is proposed"] if ret.proposed_patch else [])
    yield to_check("risk_gate", _risk_gate(ret.confidence, risks))
    faults = tone_faults(said)
    yield to_check(
        "tone",
        CitationResult(not faults, f"sounds machine-written: {'; '.join(faults)}" if faults else "tone is plain"),
    )
    yield to_check("broadcast", _broadcast(ret.draft_reply, quotes))
    yield to_check("language", _language(ret.draft_language, said, rubric))
    yield to_check("secrets", _secrets(ret, known_secrets))


def _confidence_words(confidence: str, said: Sequence[str]) -> CitationResult:
    words = hedges(said) if confidence == "high" else overclaims(said)
    if words:
        return CitationResult(False, f"confidence is {confidence}, but the draft says “{'”, “'.join(words)}”")
    return CitationResult(True, f"the words match confidence {confidence}")


def _risk_gate(confidence: str, risks: Sequence[str]) -> CitationResult:
    if not risks:
        return CitationResult(True, "nothing in the draft is risky advice")
    if confidence == "high":
        return CitationResult(True, f"risky advice with high confidence: {'; '.join(risks)}")
    return CitationResult(False, f"needs high confidence, not {confidence}: {'; '.join(risks)}")


def _broadcast(draft: str, quotes: Sequence[str]) -> CitationResult:
    found = _BROADCAST.search(without_quotes(draft, quotes))
    if found:
        return CitationResult(False, f"the draft would notify many people: {found[0]!r}")
    return CitationResult(True, "no broadcast in the draft")


def _language(claimed: str, said: Sequence[str], rubric: Rubric) -> CitationResult:
    if rubric.language and primary(rubric.language) != primary(claimed):
        return CitationResult(False, f"the answer should be in {rubric.language}, not in {claimed}")
    verdict = is_in_language("\n".join(said).replace(CODE, " "), claimed)
    reason = {True: "is", False: "is not", None: "is too short or too mixed to be told to be"}[verdict]
    return CitationResult(verdict, f"the draft {reason} in {claimed}")


def _secrets(ret: InvestigatorReturn, known: Collection[str]) -> CitationResult:
    places = {
        "the draft": ret.draft_reply,
        "the summary": ret.summary_for_orchestrator,
        "the notes": ret.research_notes,
    }
    places |= {f"the quote of {ref.ref[:80]}": ref.quote for ref in ret.evidence_refs}
    if ret.proposed_triage_file:
        places["the proposed note"] = ret.proposed_triage_file.content
    found = [f"{place} ({', '.join(kinds)})" for place, text in places.items() if (kinds := find_secrets(text, known))]
    return CitationResult(not found, f"looks like a secret: {'; '.join(found)}" if found else "no secrets found")
