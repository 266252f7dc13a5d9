"""Every check of a draft that code makes before a model validates it.

Reads the repository at the cited commits, the run's ledger and memory/. A check that cannot be made has `ok` None and
does no harm, but a draft needs at least one proved citation (`grounded`). The reasons tell the investigator what to
change, because a second round receives them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from bot.agent.git.git_repo import GitRepo
from bot.agent.git.repositories import Repositories
from bot.agent.ledger import OWN_TOOLS, Ledger
from bot.casework.checks.addresses import address_checks, resolve
from bot.casework.checks.draft_claims import claim_checks
from bot.casework.checks.draft_words import shape_checks, word_checks
from bot.casework.checks.sources import Found, Lines, Sources
from bot.domain.questions.rubrics import Rubric, rubric_for
from bot.domain.questions.verdict_rules import GROUNDED
from bot.domain.returns import Check, EvidenceKind, InvestigatorReturn, ref_marks
from bot.domain.text.sanitize import strip_hidden
from bot.domain.threads import QuestionType
from bot.ports import NoteStore

_KIND_WORDS: Final = {
    EvidenceKind.FILE: "lines of a file (`file`)",
    EvidenceKind.LOG_QUERY: "the result of a query (`log_query`)",
    EvidenceKind.GIT_COMMIT: "a commit (`git_commit`)",
}
_OF_CODE: Final = frozenset({QuestionType.TECHNICAL_QA, QuestionType.API_CONTRACT})
"""Types of questions whose answer stands in program code."""


def check_return(
    ret: InvestigatorReturn,
    *,
    repo: Path | Repositories,
    ledger: Ledger | None,
    rubric: Rubric | None = None,
    notes: NoteStore | None = None,
    known_secrets: Collection[str] = (),
    question: str = "",
    team_language: str | None = None,
) -> list[Check]:
    """Return every check of a draft, the citations' as `ref[0].resolves` and `ref[0].quote`, the claims' as `claim[0]`.

    Args:
        ret: The draft with its evidence.
        repo: A git checkout, or all that a team's drafts may cite; only commits are read.
        ledger: What the run has read; without it no draft may call itself certain.
        rubric: What the question asks of the answer, unless the draft corrects its type; None asks for the least.
        notes: The approved notes; without them a citation of one is uncheckable.
        known_secrets: The process's own secret values, which no draft may hold.
        question: What the asker wrote; a claim that cites something may repeat it.
        team_language: A language that the draft may be in besides the question's.

    Raises:
        ConfigError: `repo` is no git checkout.
        ProviderError: git cannot read it.
    """
    repos = GitRepo(repo) if isinstance(repo, Path) else repo
    rubric = _rubric_of(ret, rubric)
    sources = Sources(repos, ledger, notes, known_secrets)
    found = [resolve(ref, sources) for ref in ret.evidence_refs]
    shown = ret.evolve(
        draft_reply=strip_hidden(ret.draft_reply)[0],
        claims=tuple(claim.evolve(text=strip_hidden(claim.text)[0]) for claim in ret.said_claims),
    )
    addresses = [
        check
        for index, (ref, each) in enumerate(zip(ret.evidence_refs, found, strict=True))
        for check in address_checks(index, ref, each)
    ]
    marks = ref_marks(addresses, len(found))
    lines = [each for each in found if isinstance(each, Lines)]
    return [
        *shape_checks(ret),
        *addresses,
        _required(ret, found, marks, rubric),
        _grounded(marks),
        _read(ret, found, has_ledger=ledger is not None),
        _place(ret, lines, rubric),
        *claim_checks(shown, found, repos, question),
        *word_checks(shown, [line for each in lines for line in each.lines], known_secrets, team_language),
    ]


def _rubric_of(ret: InvestigatorReturn, rubric: Rubric | None) -> Rubric:
    """Return the rubric of the type that the investigator found the question to be of, else the given one."""
    corrected = next((kind for kind in QuestionType if kind == ret.question_type), None)
    return rubric_for(corrected) if corrected else rubric or rubric_for(QuestionType.OTHER)


def _required(ret: InvestigatorReturn, found: Sequence[Found], marks: Sequence[bool | None], rubric: Rubric) -> Check:
    """A proved citation of a kind that the rubric asks for; what our own tools answered is no result of a log."""
    proved = {
        ref.kind
        for ref, each, mark in zip(ret.evidence_refs, found, marks, strict=True)
        if mark and isinstance(each, Lines) and each.tool not in OWN_TOOLS
    }
    kinds = " or ".join(_KIND_WORDS.get(kind, kind) for kind in sorted(rubric.required_kinds))
    ok = not rubric.required_kinds or not proved.isdisjoint(rubric.required_kinds)
    asked = f"a question of type {rubric.question_type} needs {kinds} as proved evidence"
    return Check(name="required_evidence", ok=ok, reason=asked if kinds else "any kind of citation will do")


def _grounded(marks: Sequence[bool | None]) -> Check:
    proved = marks.count(True)
    reason = f"{proved} of {len(marks)} citations proved" if proved else "no citation could be proved; cite an address"
    return Check(name=GROUNDED, ok=proved > 0, reason=reason)


def _read(ret: InvestigatorReturn, found: Sequence[Found], *, has_ledger: bool) -> Check:
    """`high` is for a draft all of whose cited lines this run has read, `medium` for one of which it has read some."""
    pairs = zip(ret.evidence_refs, found, strict=True)
    was_read = [(ref.ref[:80], each.was_read) for ref, each in pairs if isinstance(each, Lines)]
    if ret.confidence == "low":
        return Check(name="confidence.read", ok=True, reason="confidence low asks for no proof of reading")
    if ret.confidence == "medium" and not has_ledger:
        return Check(name="confidence.read", ok=None, reason="there is no record of what was read")
    enough = all if ret.confidence == "high" else any
    ok = has_ledger and bool(was_read) and enough(is_read for _, is_read in was_read)
    named = ", ".join(name for name, is_read in was_read if not is_read) or "anything it rests on"
    wrong = f"{ret.confidence} confidence, but not read in this run: {named}; read the lines, or say less"
    right = f"what {ret.confidence} confidence rests on was read in this run"
    return Check(name="confidence.read", ok=ok, reason=right if ok else wrong)


def _place(ret: InvestigatorReturn, lines: Sequence[Lines], rubric: Rubric) -> Check:
    """`high` on how the code works needs a line of program code: no test, comment or document alone."""
    places = {each.place for each in lines if each.place}
    needs = ret.confidence == "high" and rubric.question_type in _OF_CODE
    ok = not needs or "program" in places
    wrong = f"high confidence needs a cited line of program code, not only: {', '.join(sorted(places)) or 'no file'}"
    return Check(name="confidence.place", ok=ok, reason="the kind of place will do" if ok else wrong)
