"""Every check of a draft that code makes before a model validates it.

Reads the repository at the cited commits, the run's ledger and memory/. A check that cannot be made has `ok` None and
does no harm, but a draft needs at least one proved citation (`grounded`). The reasons tell the investigator what to
change, because a second round receives them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from bot.agent.git.git_repo import GitRepo
from bot.agent.git.repositories import Repositories
from bot.agent.ledger import OWN_TOOLS, Ledger
from bot.casework.checks.addresses import address_checks, resolve
from bot.casework.checks.draft_claims import claim_checks
from bot.casework.checks.sources import Found, Lines, Sources
from bot.domain.questions.draft_language import (
    CODE_SEGMENT,
    hedges,
    overclaims,
    own_sentences,
    primary,
    sentences,
    tone_faults,
    word_count,
)
from bot.domain.questions.rubrics import Rubric, rubric_for
from bot.domain.questions.verdict_rules import GROUNDED, risky_commands
from bot.domain.returns import (
    MAX_DRAFT_WORDS,
    MAX_EVIDENCE_REFS,
    MAX_NOTES_WORDS,
    Check,
    EvidenceKind,
    InvestigatorReturn,
    join_claims,
    ref_marks,
)
from bot.domain.secrets import find_secrets
from bot.domain.text.sanitize import strip_hidden
from bot.domain.threads import QuestionType
from bot.ports import NoteStore

MAX_DRAFT_CHARS: Final = 12_000
"""What `check_outbound` lets leave: nobody could post a longer draft."""

MAX_SUMMARY_SENTENCES: Final = 2
_NOTE_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,100}\.md")
_BROADCAST: Final = re.compile(
    r"<!(?:channel|here|everyone|group|subteam)\b[^>\n]{0,80}>?|(?<![A-Za-z0-9])@(?:channel|here|everyone|group)(?![A-Za-z0-9])",
    re.IGNORECASE,
)


def shape_checks(ret: InvestigatorReturn) -> Iterator[Check]:
    """Yield one check for each cap of a return."""
    longest = max((len(sentences(ref.supports_claim)) for ref in ret.evidence_refs), default=0)
    sizes = (
        ("draft_reply", _visible_words(ret.draft_reply), "words", 1, MAX_DRAFT_WORDS),
        ("draft_chars", len(ret.draft_reply), "characters", 0, MAX_DRAFT_CHARS),
        ("evidence_refs", len(ret.evidence_refs), "citations", 1, MAX_EVIDENCE_REFS),
        ("summary", len(sentences(ret.summary_for_orchestrator)), "sentences", 1, MAX_SUMMARY_SENTENCES),
        ("confidence_reason", len(sentences(ret.confidence_reason)), "sentences", 1, 1),
        ("supports_claim", longest, "sentences", 0, 1),
        ("research_notes", word_count(ret.research_notes), "words", 0, MAX_NOTES_WORDS),
    )
    for name, count, unit, least, most in sizes:
        yield _rule(name, least <= count <= most, f"{name} has {count} {unit}; it must have {least} to {most}")
    is_whole = not ret.claims or join_claims(ret.claims).strip() == ret.draft_reply.strip()
    yield _rule("claims", is_whole, "draft_reply must be what the claims make together")
    note = ret.proposed_triage_file
    is_named = note is None or _NOTE_NAME.fullmatch(note.filename) is not None
    yield _rule("triage_file", is_named, "a proposed note must have a bare file name ending in .md")
    is_said = not ret.escalation_requested or bool((ret.escalation_reason or "").strip())
    yield _rule("escalation", is_said, "an escalation must say why")


def _visible_words(text: str) -> int:
    """Return how many words a text has; none where nothing in it can be read aloud, as in `**` or hidden signs."""
    shown = strip_hidden(text)[0]
    return word_count(shown) if any(map(str.isalnum, shown)) else 0


def _rule(name: str, ok: bool, rule: str) -> Check:
    return Check(name=f"schema.{name}", ok=ok, reason=rule)


def word_checks(
    ret: InvestigatorReturn, cited: Sequence[str], known_secrets: Collection[str], team_language: str | None
) -> Iterator[Check]:
    """Yield one check for each way a draft can be wrong in its words; `cited` are the lines its citations print."""
    said = own_sentences(ret.draft_reply)
    words = hedges(said) if ret.confidence == "high" else overclaims(said)
    yield _check("confidence.words", words, f"confidence is {ret.confidence}, but the draft says", "the words match it")
    yield _risk(ret, cited)
    yield _check("tone", tone_faults(said), "sounds machine-written:", "tone is plain")
    loud = [found[0] for found in _BROADCAST.finditer(CODE_SEGMENT.sub("", ret.draft_reply))]
    yield _check("broadcast", loud, "the draft would notify many people:", "no broadcast in the draft")
    yield _language(ret, team_language)
    yield _check("secrets", list(_secrets(ret, known_secrets)), "looks like a secret:", "no secrets found")


def _check(name: str, found: Sequence[str], wrong: str, right: str) -> Check:
    return Check(name=name, ok=not found, reason=f"{wrong} {'; '.join(found)}" if found else right)


def _risk(ret: InvestigatorReturn, cited: Sequence[str]) -> Check:
    """What may break things needs confidence `high`; a risk that was not said counts as one."""
    risks = risky_commands(ret.draft_reply, cited)
    risks += [] if ret.risk == "none" else [f"risk: {ret.risk}" if ret.risk else "how risky it is was not said"]
    risks += ["a patch is proposed"] if ret.proposed_patch else []
    found = risks if ret.confidence != "high" else []
    return _check("risk_gate", found, f"needs high confidence, not {ret.confidence}:", "; ".join(risks) or "no risk")


def _language(ret: InvestigatorReturn, team_language: str | None) -> Check:
    """The draft speaks the question's language or the team's; unchecked where nobody said which the question's is."""
    spoken, asked = primary(ret.draft_language), primary(ret.question_language or "")
    if spoken and spoken in (asked, primary(team_language or "")):
        return Check(name="language", ok=True, reason=f"the draft is in {spoken}")
    if not asked:
        return Check(name="language", ok=None, reason="the language of the question was not said")
    return Check(name="language", ok=False, reason=f"the question is in {asked}, the draft in {spoken}")


def _secrets(ret: InvestigatorReturn, known: Collection[str]) -> Iterator[str]:
    """Yield each field that holds a secret, with its kinds."""
    for field, value in ret.model_dump(mode="json").items():
        kinds = {kind for text in _texts(value) for kind in find_secrets(text, known)}
        if kinds:
            yield f"{field} ({', '.join(sorted(kinds))})"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


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
