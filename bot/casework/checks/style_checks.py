"""What a draft says and how: confidence, risk, tone, broadcasts, language, secrets.

Pure. The evidence's own words are not the draft's: what repeats a quote is not judged, but for secrets.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from bot.casework.checks.citation_checks import CitationResult
from bot.domain.questions.draft_tone import CODE, hedges, overclaims, own_sentences, tone_faults, without_quotes
from bot.domain.questions.risk_gate import risky_advice
from bot.domain.questions.rubrics import Rubric
from bot.domain.returns import Check, InvestigatorReturn
from bot.domain.secrets import find_secrets
from bot.domain.text.language import is_in_language, primary

_BROADCAST: Final = re.compile(
    r"<!(?:channel|here|everyone|group|subteam)\b[^>\n]{0,80}>?|(?<![A-Za-z0-9])@(?:channel|here|everyone|group)(?![A-Za-z0-9])",
    re.IGNORECASE,
)


def style_checks(ret: InvestigatorReturn, rubric: Rubric, known_secrets: Collection[str] = ()) -> Iterator[Check]:
    """Yield one check for each way a draft can be wrong in what it says, whatever it cites."""
    quotes = [ref.quote for ref in ret.evidence_refs if ref.quote]
    said = own_sentences(ret.draft_reply, quotes)
    yield _check("confidence.words", _confidence_words(ret.confidence, said))
    risks = risky_advice(ret.draft_reply, quotes) + (["code change: a patch is proposed"] if ret.proposed_patch else [])
    yield _check("risk_gate", _risk_gate(ret.confidence, risks))
    faults = tone_faults(said)
    yield _check(
        "tone",
        CitationResult(not faults, f"sounds machine-written: {'; '.join(faults)}" if faults else "tone is plain"),
    )
    yield _check("broadcast", _broadcast(ret.draft_reply, quotes))
    yield _check("language", _language(ret.draft_language, said, rubric))
    yield _check("secrets", _secrets(ret, known_secrets))


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
    found = _BROADCAST.search(without_quotes(draft, quotes).replace("\u200b", ""))
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


def _check(name: str, finding: CitationResult) -> Check:
    return Check(name=name, ok=finding.ok, reason=finding.reason)
