"""What an investigator and a validator hand back, and what their runs cost. Pure.

The models are lenient about size: the code checks report a breach with a reason a human can read, which a refused
parse could not. They are strict about shape: an unknown value of a closed field never gets this far.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AwareDatetime, Field, ValidationError

from bot.domain.frozen_value import FrozenValue
from bot.domain.text.humanize import duration

MAX_DRAFT_WORDS = 300
MAX_NOTES_WORDS = 500
MAX_EVIDENCE_REFS = 8
CODE_CHECKS: Final = "code-checks"
"""The validator of a verdict that no model made."""

_REF_NAME: Final = re.compile(r"ref\[(\d{1,4})\]\.")
_CLAIM_NAME: Final = re.compile(r"claim\[(\d{1,4})\]")
_STANDS_ALONE: Final = re.compile(r"[ \t]{0,12}(?:[-*+•][ \t]|\d{1,3}[.)][ \t]|#{1,6}[ \t]|>|```|~~~|\|)")
MAX_MARK_CHARS: Final = 40
"""A line begins with the mark of a list item, a heading or code within so many characters, or with none."""

_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n")


class EvidenceKind(StrEnum):
    """Where a citation points; the value is what is written to disk."""

    FILE = "file"
    LOG_QUERY = "log_query"
    GIT_COMMIT = "git_commit"
    EXTERNAL_DOC = "external_doc"
    MEMORY = "memory"
    TRIAGE_FILE = "triage_file"


class EvidenceRef(FrozenValue):
    """One citation.

    `ref` is an address: for `file` `path:start-end` or `path:line` (1-based, inclusive). `commit` is the SHA at which
    the lines were read and `quote` what stands there; code fills in both. A quote that arrives with an address (from
    an earlier release or another harness) has to stand there.
    """

    kind: EvidenceKind
    ref: str
    commit: str | None = None
    quote: str = ""
    supports_claim: str = ""


class ClaimKind(StrEnum):
    """What a sentence of a draft does; the value is what is written to disk."""

    FACT = "fact"
    ADVICE = "advice"
    OTHER = "other"


class Claim(FrozenValue):
    """One sentence of a draft; `cites` are the indexes of the citations it rests on, from 0."""

    text: str
    kind: ClaimKind = ClaimKind.FACT
    cites: tuple[int, ...] = ()


Risk = Literal["none", "code_change", "rollback", "destructive", "customer_action"]
Touches = Literal["none", "production", "customer_account"]


def join_claims(claims: Sequence[Claim]) -> str:
    """Return the sentences of a draft as the text that is posted.

    A blank joins them; a list item, a heading, a quotation or a block of code begins on a line of its own, as does
    what follows one, and the line breaks that a sentence brings stay.

    >>> join_claims([Claim(text="It waits 30 s."), Claim(text="Why:"), Claim(text="- one"), Claim(text="- two")])
    'It waits 30 s. Why:\\n- one\\n- two'
    """
    parts: list[str] = []
    line = ""  # how the last one begins
    for text in (claim.text for claim in claims):
        gap = ""
        if line and text and not text.startswith("\n"):
            gap = "\n" if _STANDS_ALONE.match(text) or _STANDS_ALONE.match(line) else " "
        parts += gap, text
        line = f"{line}{gap}{text}".rpartition("\n")[2][:MAX_MARK_CHARS]
    return "".join(parts).strip("\n")


def quoting_claims(ref: EvidenceRef) -> list[Claim]:
    """Return the draft that a search result is: its sentence, then its lines, both resting on the first citation.

    >>> found = EvidenceRef(kind=EvidenceKind.FILE, ref="a.py:1", quote="x = 1", supports_claim="`x = 1` is set.")
    >>> join_claims(quoting_claims(found))
    '`x = 1` is set.\\n\\n```\\nx = 1\\n```'
    """
    texts = [ref.supports_claim, *([f"```\n{ref.quote}\n```"] if ref.quote else [])]
    return in_paragraphs([Claim(text=text, cites=(0,)) for text in texts])


def in_paragraphs(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims, each a paragraph of its own."""
    return [one.evolve(text=f"\n\n{one.text}") if number else one for number, one in enumerate(claims)]


def remark_on(ref: EvidenceRef, mark: bool | None) -> str:
    """Return what a model says of its citation; nothing beside a ✓, which vouches for the lines and no other words.

    >>> remark_on(EvidenceRef(kind=EvidenceKind.FILE, ref="a.py:1", supports_claim="It waits."), True)
    ''
    """
    return "" if mark else " ".join(ref.supports_claim.split())


def evidence_in(record: Mapping[str, Any]) -> Iterator[EvidenceRef]:
    """Yield the citations of a line of the reply log; one that cannot be read is left out."""
    refs = record.get("evidence_refs")
    for ref in refs if isinstance(refs, list) else ():
        with suppress(ValidationError):
            yield EvidenceRef.model_validate(ref)


class TriageFile(FrozenValue):
    """A note the investigator proposes for memory/; `filename` is a bare name ending in .md."""

    filename: str
    content: str


class ProposedPatch(FrozenValue):
    """A change the investigator proposes; shown to the human, never applied."""

    title: str
    diff: str
    rationale: str

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show: no diff."""
        return not self.diff.strip()


class SuspectChange(FrozenValue):
    """A commit that lately changed what a stack trace or an alert's service leads to: a lead, not a proof.

    `ref` is `path:start-end` at the commit the draft was made at, or the path of the service's files; `author` and
    `subject` are empty where they may not be shown. `is_latest`: whether no later commit changed these lines.
    """

    ref: str
    commit: str
    author: str
    subject: str
    changed_at: AwareDatetime
    is_latest: bool = True


class CodeOwner(FrozenValue):
    """Whom code names for the files a question leads to; what may not be shown is left out.

    `name` is as CODEOWNERS or git writes it; `email` is how Slack may know them; `by_rule`: CODEOWNERS says so.
    """

    name: str
    email: str = ""
    by_rule: bool = False


class AgedClone(FrozenValue):
    """A codebase that was read at `read_at` as of `fetched_at`, since it was not fetched in time.

    `failed` is False where the fetch was still under way.

    >>> from datetime import UTC, datetime, timedelta
    >>> at = datetime(2026, 1, 1, 10, tzinfo=UTC)
    >>> AgedClone(codebase="infra", fetched_at=at, read_at=at + timedelta(hours=2), failed=True).words()
    'infra as of 2 h before: the fetch failed'
    """

    codebase: str
    fetched_at: AwareDatetime
    read_at: AwareDatetime
    failed: bool

    def words(self) -> str:
        """Return one line for people."""
        why = "the fetch failed" if self.failed else "the fetch was not finished"
        return f"{self.codebase} as of {duration(self.read_at - self.fetched_at)} before: {why}"


class InvestigatorReturn(FrozenValue):
    """A draft with its evidence."""

    confidence: Literal["high", "medium", "low"]
    confidence_reason: str
    summary_for_orchestrator: str
    draft_reply: str
    """The claims as one text, filled in by code; of a return without claims, its own text."""
    claims: tuple[Claim, ...] = ()
    question_type: str | None = None
    """What the investigator takes the question for, where it is something else than the rules chose."""
    risk: Risk | None = None
    touches: Touches | None = None
    """What it would touch if somebody acts on it; None (not said) counts as something."""
    question_language: str | None = None
    draft_language: str = "en"
    gloss: str | None = None
    evidence_refs: tuple[EvidenceRef, ...] = ()
    candidates: tuple[EvidenceRef, ...] = ()
    """What else a search found, best first; `quoting_claims` is the draft that each may become."""
    proposed_triage_file: TriageFile | None = None
    proposed_patch: ProposedPatch | None = None
    open_questions: tuple[str, ...] = ()
    escalation_requested: bool = False
    escalation_reason: str | None = None
    investigator_round: int = 1
    research_notes: str = ""
    not_searched: str | None = None
    """Which files of the codebase the search could not look into, filled in by code; one line."""
    aged_clones: tuple[AgedClone, ...] = ()
    """Which codebases were not as fresh as they should be, filled in by code."""
    index_unfinished: bool = False
    """Whether some of these were only not indexed yet, filled in by code."""
    images_read: int = 0
    """How many of the question's images the investigator saw, filled in by code."""
    images_problem: Annotated[str | None, Field(exclude_if=operator.not_)] = None
    """The chat's word for why an image could not be read, filled in by code."""
    track_record: Any = Field(default=None, exclude=True, repr=False)
    """Written by earlier releases: read, so that their returns are valid, and ignored."""
    suspect_changes: tuple[SuspectChange, ...] = ()
    """What changed lately where a stack trace or an alert's service leads, filled in by code; the newest first."""
    owners: Annotated[tuple[CodeOwner, ...], Field(exclude_if=operator.not_)] = ()
    """Who owns the files that a stack trace or an alert's service leads to, filled in by code."""
    not_answered: tuple[str, ...] = ()
    """What was written in the thread that a draft made without a model may not answer, the newest first."""

    @property
    def said_claims(self) -> tuple[Claim, ...]:
        """The claims; of a return without any, one `fact` for each paragraph, which cites every reference."""
        if self.claims:
            return self.claims
        every = tuple(range(len(self.evidence_refs)))
        paragraphs = (part.strip() for part in _PARAGRAPH_END.split(self.draft_reply))
        return tuple(Claim(text=part, cites=every) for part in paragraphs if part)

    def with_claims(self, claims: Sequence[Claim]) -> Self:
        """Return it with these claims as its draft."""
        return self.evolve(claims=tuple(claims), draft_reply=join_claims(claims))


class Check(FrozenValue):
    """One deterministic check of a draft; `ok` is None where code cannot tell (uncheckable)."""

    name: str
    ok: bool | None
    reason: str


def ref_marks(checks: Sequence[Check], refs: int) -> list[bool | None]:
    """Return one mark for each of `refs` citations: False if a check of it failed, True if all hold, None otherwise.

    >>> ref_marks([Check(name="ref[0].resolves", ok=True, reason=""), Check(name="tone", ok=False, reason="")], 2)
    [True, None]
    """
    found: list[list[bool | None]] = [[] for _ in range(refs)]
    for check in checks:
        match = _REF_NAME.match(check.name)
        if match and int(match[1]) < refs:
            found[int(match[1])].append(check.ok)
    return [False if False in oks else True if oks and None not in oks else None for oks in found]


def why_marked(checks: Sequence[Check], index: int, mark: bool | None) -> str:
    """Return why a citation has its mark, in the words of the last check that gave it.

    >>> why_marked([Check(name="ref[0].resolves", ok=False, reason="there is no such file")], 0, False)
    'there is no such file'
    """
    mine = (check.reason for check in reversed(checks) if check.name.startswith(f"ref[{index}].") and check.ok is mark)
    return next(mine, "" if mark else "its check was not recorded")


def claim_marks(checks: Sequence[Check], claims: int) -> list[bool | None]:
    """Return one mark for each of `claims`: True if it is backed, False if a word of it is not, None if unchecked.

    >>> claim_marks([Check(name="claim[1]", ok=False, reason="`x` is not there")], 2)
    [None, False]
    """
    found: dict[int, bool | None] = {
        int(match[1]): check.ok for check in checks if (match := _CLAIM_NAME.fullmatch(check.name))
    }
    return [found.get(index) for index in range(claims)]


def marked_draft(ret: InvestigatorReturn, checks: Sequence[Check]) -> str:
    """Return a draft with `[?]` behind each claim that is not backed; one without claims as it is."""
    marks = claim_marks(checks, len(ret.claims))
    if False not in marks:
        return ret.draft_reply
    return join_claims(
        [
            one.evolve(text=f"{one.text}{_mark_behind(one.text)}") if mark is False else one
            for one, mark in zip(ret.claims, marks, strict=True)
        ]
    )


def _mark_behind(text: str) -> str:
    """Return the mark of a claim: behind its last word, or on a line of its own where it ends in code or a table."""
    stands_alone = text.rstrip().endswith(("```", "~~~", "|"))
    return "\n[?]" if stands_alone else " [?]"


class Verdict(StrEnum):
    """What the validation of a draft came to."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    BOUNCE = "bounce"
    ESCALATE = "escalate"


class ValidatorReturn(FrozenValue):
    """A verdict on a draft, by the code checks alone or by a model that tried to break it."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    spot_check_ref: str | None = None
    spot_check_result: Literal["supports", "contradicts", "fabricated", "uncheckable"] = "uncheckable"
    spot_check_note: str = ""
    schema_check: Literal["ok", "fail"] = "ok"
    language_check: Literal["match", "mismatch"] = "match"
    confidence_language_match: Literal["match", "mismatch"] = "match"
    scope_drift: Literal["none", "minor", "major"] = "none"
    cross_investigation_consistency: str = "no_overlap"
    risk_gate_check: Literal["passes", "needs_high_confidence", "fails"] = "passes"
    risk: Risk | None = None
    touches: Touches | None = None
    tone_assessment: Literal["matches", "off", "ai_smell"] = "matches"
    bounce_feedback: str | None = None
    validator_model: str
    read: tuple[str, ...] = ()
    """What the validator itself opened, as `path:start-end`, filled in by code."""
    validated_at: AwareDatetime


class Usage(FrozenValue):
    """What model runs cost; all zero and free where no model was used. `cost_usd` is None when nobody said it."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = 0.0
    price_assumed: Annotated[bool, Field(exclude_if=operator.not_)] = False
    """Whether a model in it has no known price, so that `cost_usd` counts its tokens at the dearest known one."""

    @property
    def tokens(self) -> int:
        """All of them; none where no model was used."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


def assumed_words(usage: Usage) -> str:
    """Return what stands behind a shown cost: nothing, or that a price was assumed."""
    return " (no price is known, so the dearest counts)" if usage.price_assumed else ""


def total_usage(*usages: Usage | None) -> Usage:
    """Return the sum; its cost is None (unknown) as soon as one of the costs is.

    >>> total_usage(Usage(input_tokens=3, cost_usd=0.5), None, Usage(output_tokens=2, cost_usd=0.25)).cost_usd
    0.75
    >>> total_usage(Usage(cost_usd=0.5), Usage(input_tokens=3, cost_usd=None)).cost_usd is None
    True
    """
    known = [usage for usage in usages if usage is not None]
    costs = [usage.cost_usd for usage in known if usage.cost_usd is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in known),
        output_tokens=sum(usage.output_tokens for usage in known),
        cache_read_tokens=sum(usage.cache_read_tokens for usage in known),
        cache_write_tokens=sum(usage.cache_write_tokens for usage in known),
        cost_usd=sum(costs) if len(costs) == len(known) else None,
        price_assumed=any(usage.price_assumed for usage in known),
    )
