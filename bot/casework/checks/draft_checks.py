"""Every check of a draft that code makes before a model validates it.

Reads the repository at the cited commits, the run's ledger and memory/. A check that cannot be made has `ok` None and
does no harm, but a draft needs at least one proved citation (`grounded`). The reasons tell the investigator what to
change, because a second round receives them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from bot.agent.git.git_history import GitHistory
from bot.agent.git.git_repo import GitRepo
from bot.agent.git.repositories import Repositories
from bot.agent.ledger import Ledger
from bot.casework.checks.addresses import Found, Lines, Sources, address_checks, resolve
from bot.casework.checks.claim_checks import (
    CitationResult,
    Proved,
    modules_named,
    places_check,
    statements_check,
    style_checks,
    to_check,
)
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.citations.draft_statements import ModuleTree
from bot.domain.questions.draft_language import sentences, word_count
from bot.domain.questions.rubrics import Rubric, rubric_for
from bot.domain.returns import (
    MAX_DRAFT_WORDS,
    MAX_EVIDENCE_REFS,
    MAX_NOTES_WORDS,
    STATEMENTS,
    Check,
    EvidenceKind,
    EvidenceRef,
    InvestigatorReturn,
    ref_marks,
)
from bot.domain.search.files import is_secret_file
from bot.domain.secrets import find_secrets
from bot.domain.text.sanitize import strip_hidden
from bot.domain.threads import QuestionType
from bot.ports import NoteStore

MAX_DRAFT_CHARS: Final = 12_000  # what `check_outbound` lets leave: nobody could post a longer draft
MAX_SUMMARY_SENTENCES: Final = 2
_KIND_WORDS: Final = {
    EvidenceKind.FILE: "lines of a file (`file`)",
    EvidenceKind.LOG_QUERY: "the result of a query (`log_query`)",
    EvidenceKind.GIT_COMMIT: "a commit (`git_commit`)",
}
_TYPE_WORDS: Final = {
    QuestionType.TECHNICAL_QA: "a question about the code",
    QuestionType.STATUS_CHECK: "a question about how things stand now",
    QuestionType.DATA_LOOKUP: "a question about data",
    QuestionType.API_CONTRACT: "a question about an interface",
}
_NOTE_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,100}\.md")

GROUNDED: Final = "grounded"
_NOTES: Final = frozenset({EvidenceKind.MEMORY, EvidenceKind.TRIAGE_FILE})
_READABLE: Final = frozenset({EvidenceKind.FILE, EvidenceKind.GIT_COMMIT, EvidenceKind.LOG_QUERY})


def check_return(
    ret: InvestigatorReturn,
    *,
    repo: Path | Repositories,
    ledger: Ledger | None,
    rubric: Rubric | None = None,
    notes: NoteStore | None = None,
    known_secrets: Collection[str] = (),
) -> list[Check]:
    """Return every check of a draft, the citations' as `ref[0].resolves` and `ref[0].quote`.

    Args:
        ret: The draft with its evidence.
        repo: A git checkout, or all that a team's drafts may cite; only commits are read.
        ledger: What the run has read; without it no draft may call itself certain.
        rubric: What the question asks of the answer; None asks for the least.
        notes: The approved notes; without them a citation of one is uncheckable.
        known_secrets: The process's own secret values, which no draft may hold.

    Raises:
        ConfigError: `repo` is no git checkout.
        ProviderError: git cannot read it.
    """
    rubric = rubric or rubric_for(QuestionType.OTHER)
    sources = Sources(GitRepo(repo) if isinstance(repo, Path) else repo, ledger, notes, known_secrets)
    found = [resolve(ref, sources) for ref in ret.evidence_refs]
    pairs = zip(ret.evidence_refs, found, strict=True)
    of_refs = [check for index, (ref, one) in enumerate(pairs) for check in address_checks(index, ref, one)]
    marks = ref_marks(of_refs, len(found))
    shown = _as_shown(ret, found, known_secrets)
    return [
        *_shape_checks(ret),
        to_check("required_evidence", _required(ret.evidence_refs, rubric)),
        *of_refs,
        to_check(GROUNDED, _grounded(marks)),
        to_check("confidence.read", _read_check(ret, found, ledger)),
        to_check("draft.places", places_check(shown, _proved(shown, marks, sources))),
        to_check(STATEMENTS, statements_check(shown, marks)),
        *style_checks(shown, rubric, known_secrets),
    ]


def _as_shown(ret: InvestigatorReturn, found: Sequence[Found], known_secrets: Collection[str]) -> InvestigatorReturn:
    """Return a draft as its readers see it, hidden characters left out; with the lines that its citations print.

    A quote that came with a secret in it stays, so that the check of secrets refuses it.
    """
    refs = []
    for ref, one in zip(ret.evidence_refs, found, strict=True):
        is_printed = isinstance(one, Lines) and not find_secrets(ref.quote, known_secrets)
        quote = "\n".join(one.shown) if isinstance(one, Lines) and is_printed else ref.quote
        refs.append(ref.evolve(quote=strip_hidden(quote)[0]))
    return ret.evolve(draft_reply=strip_hidden(ret.draft_reply)[0], evidence_refs=tuple(refs))


def _shape_checks(ret: InvestigatorReturn) -> Iterator[Check]:
    """Yield one check for each cap, `schema.…` by field."""
    yield _text("draft_reply", ret.draft_reply, max_words=MAX_DRAFT_WORDS)
    yield _within("draft_chars", len(ret.draft_reply), MAX_DRAFT_CHARS, "characters")
    yield _count(len(ret.evidence_refs))
    yield _text("summary", ret.summary_for_orchestrator, max_sentences=MAX_SUMMARY_SENTENCES)
    yield _text("confidence_reason", ret.confidence_reason, max_sentences=1)
    yield _claims(ret)
    yield _within("research_notes", word_count(ret.research_notes), MAX_NOTES_WORDS, "words")
    if ret.proposed_triage_file is not None:
        name = ret.proposed_triage_file.filename
        ok = bool(_NOTE_NAME.fullmatch(name))
        yield _shape_check("triage_file", ok, f"{name[:80]!r} is {'' if ok else 'not '}a bare file name ending in .md")
    if ret.escalation_requested:
        said = bool((ret.escalation_reason or "").strip())
        yield _shape_check(
            "escalation", said, "the escalation has its reason" if said else "say why it should be escalated"
        )


def _text(name: str, text: str, *, max_words: int | None = None, max_sentences: int | None = None) -> Check:
    if not text.strip():
        return _shape_check(name, False, f"{name} is empty")
    if max_words is not None:
        return _within(name, word_count(text), max_words, "words")
    assert max_sentences is not None
    return _within(name, len(sentences(text)), max_sentences, "sentences")


def _count(refs: int) -> Check:
    if not refs:
        return _shape_check("evidence_refs", False, "the draft cites nothing; cite at least one place")
    return _within("evidence_refs", refs, MAX_EVIDENCE_REFS, "citations")


def _claims(ret: InvestigatorReturn) -> Check:
    """Each citation says in one sentence what it is cited for."""
    long = [ref.ref[:80] for ref in ret.evidence_refs if len(sentences(ref.supports_claim)) > 1]
    reason = f"supports_claim is one sentence; it is not for {', '.join(long)}" if long else "one claim a citation"
    return _shape_check("supports_claim", not long, reason)


def _within(name: str, count: int, limit: int, unit: str) -> Check:
    ok = count <= limit
    return _shape_check(name, ok, f"{name} has {count} {unit} of {limit}" + ("" if ok else "; shorten it"))


def _shape_check(name: str, ok: bool, reason: str) -> Check:
    return Check(name=f"schema.{name}", ok=ok, reason=reason)


def _required(refs: Sequence[EvidenceRef], rubric: Rubric) -> CitationResult:
    kinds = " or ".join(_KIND_WORDS.get(kind, kind) for kind in sorted(rubric.required_kinds))
    if rubric.required_kinds and not any(ref.kind in rubric.required_kinds for ref in refs):
        asks = _TYPE_WORDS.get(rubric.question_type, "a question of this type")
        return CitationResult(False, f"{asks} needs {kinds} as evidence, and the draft cites none")
    return CitationResult(True, f"cites {kinds}" if kinds else "any kind of citation will do")


def _grounded(marks: Sequence[bool | None]) -> CitationResult:
    proved = marks.count(True)
    if not proved:
        return CitationResult(False, "no citation could be proved; cite lines of a file, verbatim")
    return CitationResult(True, f"{proved} of {len(marks)} citations proved")


def _proved(ret: InvestigatorReturn, marks: Sequence[bool | None], sources: Sources) -> Proved:
    """Return what the draft may name: what its proved citations hold, were read at, and which files commits changed."""
    proved = [ref for ref, mark in zip(ret.evidence_refs, marks, strict=True) if mark]
    cited_commits = {sources.commit(ref.ref) for ref in proved if ref.kind is EvidenceKind.GIT_COMMIT} - {None}
    read_at = {sources.commit(ref.commit, _path_of(ref)) for ref in proved if ref.commit} - {None}
    histories = [(commit, GitHistory(sources.repo.holder(commit))) for commit in cited_commits if commit]
    changed = {path for commit, of in histories for path in of.changed_paths(commit) if not is_secret_file(path)}
    repos = _repos_of(ret.evidence_refs, sources) if modules_named(ret) else ()
    paths = [entry.path for repo in repos for entry in repo.tree(repo.head())]
    cited = [found for ref in proved if ref.kind is EvidenceKind.FILE and (found := parse_lines(ref.ref))]
    lines = [one._replace(path=sources.repo.locate(one.path).path) for one in cited]
    refs = zip(ret.evidence_refs, marks, strict=True)
    return Proved(
        lines=lines,
        commits={commit for commit in cited_commits | read_at if commit},
        quotes=[ref.quote for ref in proved if ref.quote.strip()],
        names={*(ref.ref for ref, mark in refs if ref.kind in _NOTES and mark is not False), *changed},
        modules=ModuleTree(paths),
        cited={one.path for one, bare in zip(cited, lines, strict=True) if one != bare},
    )


def _repos_of(refs: Sequence[EvidenceRef], sources: Sources) -> Sequence[GitRepo]:
    """Return the repositories that the cited files lie in, each once."""
    found = [sources.repo.locate(path, ref.commit).repo for ref in refs if (path := _path_of(ref))]
    return list({repo.root: repo for repo in found or [sources.repo.locate("").repo]}.values())


def _path_of(ref: EvidenceRef) -> str:
    """Return the path that a citation of a file names; empty of any other."""
    cited = parse_lines(ref.ref) if ref.kind is EvidenceKind.FILE else None
    return cited.path if cited else ""


def _read_check(ret: InvestigatorReturn, found: Sequence[Found], ledger: Ledger | None) -> CitationResult:
    """`high` is for lines that this run has all seen, `medium` for at least one of them."""
    if ret.confidence == "low":
        return CitationResult(True, "confidence low asks for no proof of reading")
    if ledger is None:
        is_high = ret.confidence == "high"
        return CitationResult(
            False if is_high else None, f"{ret.confidence} confidence without a record of what was read"
        )
    pairs = [pair for pair in zip(ret.evidence_refs, found, strict=True) if pair[0].kind in _READABLE]
    unread = [ref.ref[:80] for ref, one in pairs if not (isinstance(one, Lines) and one.was_read)]
    is_enough = bool(pairs) and (not unread or (ret.confidence == "medium" and len(unread) < len(pairs)))
    if is_enough or (not pairs and ret.confidence == "medium"):
        return CitationResult(True, f"what {ret.confidence} confidence rests on was read in this run")
    named = ", ".join(unread) or "anything it rests on"
    return CitationResult(
        False, f"{ret.confidence} confidence, but not read in this run: {named}; read the lines, or say low"
    )
