"""The investigator that needs no model: one sentence and one quote, two more places to choose from, or silence.

Reads the index, memory hits, commits and the cited lines at their commit; writes nothing. The ways to search are tried
in the order of FINDERS; the first that finds something answers. Every quoted line is read in this run and recorded in
the ledger.

Finds the text of an error message, and the passages closest to a question that names nothing.

Reads the index and the files of one commit. A passage answers only if it holds enough of what the question says, rare
words counting most; a word that nothing in the codebase holds speaks against every answer.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from bot.agent.codebases import Codebase
from bot.agent.git.git_history import GitHistory
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import MEMORY_TOOL, Ledger
from bot.agent.model_run import OnProgress
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.code_findings import without_place
from bot.casework.investigate.findings import NONE, Answer, Finder, Finding, Search, of_lines
from bot.casework.investigate.history import change_answer, history_answer
from bot.casework.investigate.names import definition_answer, named_answer, use_answer, value_answer
from bot.casework.investigate.quotes import Quotes
from bot.casework.investigate.trace_places import OWN_CODE, is_report, trace_places
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.questions.approval_basis import OFFLINE
from bot.domain.returns import Claim, EvidenceKind, EvidenceRef, InvestigatorReturn, Usage, in_paragraphs
from bot.domain.search.files import is_indexed, path_weight
from bot.domain.search.passages import MemoryHit, is_quotable
from bot.domain.search.questions import CHANGES, ENGLISH, OF_PEOPLE, question_of
from bot.domain.search.tokens import shared_stems
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.errors import ProviderError
from bot.ports import PassageIndex

RERANKED: Final = 10
MAX_FINDINGS: Final = 3
MAX_FRAGMENTS: Final = 6
MIN_FRAGMENT_CHARS: Final = 10
MAX_FRAGMENT_CHARS: Final = 120
MAX_HITS: Final = 60
MIN_SHARE, MIN_SHARE_OF_FEW = 0.4, 0.65
FEW: Final = 2
"""Of a question's words, rare ones counting more, that one quote holds if any is an answer.

A few words need more, and tests and examples hold a few by chance.
"""

_QUOTED: Final = re.compile(r"[\"“«‘`]([^\"”»’`\n]{8,300})[\"”»’`]|'([^'\n]{8,300})'(?!\w)")
_BEHIND: Final = re.compile(r"(?:error|exception|warning|panic|fatal|fails? with|says?)\s{0,4}:\s{0,4}(.{8,300})", re.I)
_VARIES: Final = re.compile(
    r"['\"`][^'\"`\n]{0,80}['\"`]|[<{\[(][^<>{}()\[\]\n]{0,80}[>}\])]|\S*[\d/\\%$]\S*|[.:,;!?]+(?:\s|$)|\.\.\."
)


def trace_answer(search: Search) -> Answer:
    """Return the lines around the innermost frames of a stack trace; NONE without a trace of this codebase."""
    found: list[Finding] = []
    for place in trace_places(search.text, search.repo, search.index, search.commit):
        lead = "The stack trace leads to" if not found else "A frame further out is"
        if place.line and (one := search.at(place.path, place.line, lead)):
            found.append(one)
    return Answer(found[:MAX_FINDINGS]) if found else NONE


def error_answer(search: Search) -> Answer:
    """Return where the text of an error message stands; NONE where none is quoted, or code does not hold it."""
    for fragment in list(_fragments(search.text))[:MAX_FRAGMENTS]:
        hits, complete = GitHistory(search.repo).lines_with(search.commit, fragment)
        shown = [hit for hit in hits if is_indexed(hit.path)]
        if not complete or not 0 < len(shown) <= MAX_HITS:
            continue
        ranked = sorted(shown, key=lambda hit: (-path_weight(hit.path, search.text), hit.path, hit.line))
        lead = "The text of the message stands in"
        shown_at = (search.at(hit.path, hit.line, lead, before=7, behind=4) for hit in ranked[: 2 * MAX_FINDINGS])
        findings = [one for one in shown_at if one]
        if findings:
            return Answer(findings[:MAX_FINDINGS])
    return NONE


def _fragments(text: str) -> Iterator[str]:
    """Yield the parts of the messages in a text that stand in code as they are, the longest first."""
    messages = [found[1] or found[2] for found in _QUOTED.finditer(text)]
    messages += [found[1] for found in _BEHIND.finditer(text)]
    parts = (part.strip()[:MAX_FRAGMENT_CHARS] for message in messages for part in _VARIES.split(message))
    whole = {message.strip()[:MAX_FRAGMENT_CHARS] for message in messages}
    told = {part for part in (*whole, *parts) if len(part) >= MIN_FRAGMENT_CHARS and " " in part}
    yield from sorted(told, key=lambda part: (-len(part), part))


def passage_answer(search: Search) -> Answer:
    """Return the lines closest to the question, best first; NONE where no quote holds enough of it."""
    question, is_answered = search.question, is_report(search.text)
    if question.wants(OF_PEOPLE):
        return NONE
    ranked = []
    for passage in search.passages[:RERANKED]:
        if excerpt := search.quotes.best(passage.path, passage.start, passage.end, search.stems, head=passage.start):
            text = f"{excerpt.path} {excerpt.text}"
            share, is_few = search.share(text), len(shared_stems(search.stems, text)) <= FEW
            is_own = path_weight(excerpt.path, question.text) >= OWN_CODE
            is_answered |= (share >= MIN_SHARE_OF_FEW and is_own) if is_few else share >= MIN_SHARE
            ranked.append((passage.score / search.passages[0].score + share, excerpt))
    ranked.sort(key=lambda pair: -pair[0])
    leads = ("Closest", *["A close match"] * MAX_FINDINGS)
    best = [excerpt for _, excerpt in ranked[:MAX_FINDINGS]]
    findings = [of_lines(f"{lead}: `{one.ref}`.", one) for lead, one in zip(leads, best, strict=False)]
    return Answer(findings, is_certain=False) if findings and is_answered else NONE


log = logging.getLogger(__name__)

FINDERS: Final[Sequence[Finder]] = (
    trace_answer,
    history_answer,
    change_answer,
    value_answer,
    use_answer,
    error_answer,
    definition_answer,
    passage_answer,
    named_answer,
)
CANDIDATES: Final = 2
MAX_EARLIER_CHARS: Final = 2_000
MAX_FOLLOW_UPS: Final = 3
"""How many questions that were put later are looked into before the thread's own."""

SHOWN_CHARS: Final = 300
STRONG_MEMORY: Final = 0.6
NEAR, NEAR_DOUBTFUL = 0.5, 0.3  # the search halves the score of what changed
MAX_BESIDE: Final = 2
HELPS: Final = "A file, a name from the code or the exact text of an error would help."
ONLY_ENGLISH: Final = "Without a model this search reads English and names from the code."


class OfflineInvestigator:
    """Port Investigator over an index of passages; `now` returns the time, aware."""

    def __init__(
        self,
        repo: GitRepo,
        index: PassageIndex,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        *,
        name: str = "",
    ) -> None:
        """Take the codebase's `name` where there are several."""
        self._repo, self._index, self._now, self._name = repo, index, now, name

    @classmethod
    def in_codebase(cls, codebase: Codebase) -> OfflineInvestigator:
        """Return the investigator of one codebase."""
        return cls(codebase.repo, codebase.index, name=codebase.id)

    def investigate(
        self,
        assignment: Assignment,
        *,
        run_id: str,  # noqa: ARG002 - the port's
        on_progress: OnProgress | None = None,  # noqa: ARG002 - it is done before anybody could ask
    ) -> Investigation:
        """Return the best place as a draft, and up to two more as candidates.

        Raises:
            ProviderError: git cannot read the codebase.
            ConfigError: the codebase has no commit.
            StoreError: the index cannot be read or written.
        """
        ledger, report = Ledger(), self._index.refresh()
        quotes = Quotes(self._index, report.commit, refused=assignment.feedback or "")
        answer, answered = NONE, assignment.question
        for text, before in _questions(assignment):
            search = Search(
                text=text,
                question=question_of(without_place(text, self._name)),
                before=question_of(before),
                repo=self._repo,
                index=self._index,
                quotes=quotes,
                now=self._now(),
            )
            ledger.record_query("search_code", text)
            answer, answered = self._answer(search), text
            if answer.findings:
                break
        notes = [hit for hit in assignment.memory_hits if _is_near(hit)][: 1 + MAX_BESIDE]
        ret = _composed(
            answer, notes, f"{counted(report.files, 'file')} at `{report.commit[:12]}`", assignment.question
        )
        for one in (*ret.evidence_refs, *ret.candidates):
            _record(one, ledger)
        left = _not_answered(assignment, answered)
        ret = ret.evolve(investigator_round=assignment.round, risk="none", touches="none", not_answered=left)
        return Investigation(ret=ret, ledger=ledger, usage=Usage(), investigator=OFFLINE)

    @staticmethod
    def _answer(search: Search) -> Answer:
        """Return the first answer, and behind its findings what other ways to search find."""
        first, kept = NONE, list[Finding]()
        for finder in FINDERS:
            try:
                found = finder(search)
            except ProviderError:
                if finder is passage_answer and not first:
                    raise
                log.warning("one way to search failed", extra={"action": "finder_failed"}, exc_info=True)
                continue
            first = first or found
            for one in found.findings:
                if not any(one.is_same(other) for other in kept):
                    kept.append(one)
            is_alone = bool(first) and (not first.findings or search.question.wants(CHANGES))
            if is_alone or len(kept) > CANDIDATES:
                break
        return first._replace(findings=kept[: 1 + CANDIDATES])


def _questions(given: Assignment) -> list[tuple[str, str]]:
    """Return what to answer with what was said before it: the questions put later, the newest first, then the first.

    Names that somebody added are looked up before the question they were added to.
    """
    said = (given.question, *(said.text for said in given.human_context))
    before = "\n".join(given.earlier)[-MAX_EARLIER_CHARS:]
    asked = [one.text for one in given.follow_ups if one.is_question]
    remarks = [one.text for one in given.follow_ups if one.by_asker and not one.is_question]
    later = [
        (text, "\n".join((before, *said, *remarks, *asked[:-number]))[-MAX_EARLIER_CHARS:])
        for number, text in enumerate(asked[: -MAX_FOLLOW_UPS - 1 : -1], start=1)
    ]
    named = [(one.text, given.question) for one in given.human_context if question_of(one.text).names]
    return [*later, *named, ("\n".join(said), "\n".join((before, *remarks))[-MAX_EARLIER_CHARS:].strip())]


def _not_answered(given: Assignment, answered: str) -> tuple[str, ...]:
    """Return what else of the thread waits for an answer, or may need one; the newest first."""
    later = [one.text for one in reversed(given.follow_ups) if not one.opened]
    first = () if answered.startswith(given.question) else (given.question,)
    return tuple(one_line(text, SHOWN_CHARS) for text in (*later, *first) if text != answered)


def _composed(answer: Answer, notes: Sequence[MemoryHit], searched: str, asked: str) -> InvestigatorReturn:
    """Return the draft: what an earlier answer says and where, the first finding; the others are candidates.

    Without a finding and an earlier answer that still holds there is no draft, but what was searched and would help.
    """
    strong = [
        one for one in notes if one.score >= STRONG_MEMORY and one.is_settled and is_quotable(one.title + one.excerpt)
    ][:1]
    first = answer.findings[0] if answer.findings else None
    refs = first.refs if first else ()
    cites = tuple(range(len(refs)))
    claims = [
        Claim(text=f"An earlier answer is close to this: {one.title} (`{one.ref}`).", cites=(len(refs),))
        for one in strong
    ]
    if first:
        claims += (Claim(text=text, cites=cites) for text in (first.sentence, f"```\n{first.shown}\n```"))
    question, is_certain = question_of(asked), first is not None and answer.is_certain
    words = ", ".join(f"`{word}`" for word in question.told()[:5])
    nothing = answer.said or f"I found nothing for {words or 'this'}."
    hint = "" if question.wants(ENGLISH) else f" {ONLY_ENGLISH}"
    return InvestigatorReturn(
        confidence="medium" if is_certain else "low",
        confidence_reason="It was found by its name or text." if is_certain else "It is the closest text.",
        summary_for_orchestrator=one_line(
            claims[0].text if claims else f"Searched {searched} without a model and found nothing.", SHOWN_CHARS
        ),
        draft_reply="",
        evidence_refs=(*refs, *map(_of_note, (*strong, *(one for one in notes if one not in strong)))),
        candidates=tuple(one.refs[0] for one in answer.findings[1:]),
        open_questions=() if claims else (f"{nothing} I searched {searched}. {HELPS}{hint}",),
    ).with_claims(in_paragraphs(claims))


def _of_note(hit: MemoryHit) -> EvidenceRef:
    """Return an earlier answer with what people should know of it before they approve."""
    said = one_line("; ".join(filter(None, (hit.caution, hit.excerpt))), SHOWN_CHARS)
    return EvidenceRef(kind=EvidenceKind.MEMORY, ref=hit.ref, quote=hit.excerpt, supports_claim=said)


def _is_near(hit: MemoryHit) -> bool:
    """Whether a note is something to know of before a reply is approved; a reply is no file and cannot be cited."""
    return hit.ref.startswith("memory/") and hit.score >= (NEAR_DOUBTFUL if hit.caution else NEAR)


def _record(ref: EvidenceRef, ledger: Ledger) -> None:
    """Write down that what is cited was read."""
    if ref.kind is EvidenceKind.GIT_COMMIT:
        ledger.record_shown("git_show", ref.ref)
    elif ref.kind is EvidenceKind.MEMORY:
        ledger.record_shown(MEMORY_TOOL, ref.ref)
    elif lines := parse_lines(ref.ref):
        ledger.record_read(lines.path, lines.start, lines.end, commit=ref.commit or "", text=ref.quote)
