"""Whether a return keeps its form: every cap is a check of its own, `schema.…` by field. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.domain.questions.draft_language import sentences, word_count
from bot.domain.returns import (
    MAX_DRAFT_WORDS,
    MAX_EVIDENCE_REFS,
    MAX_NOTES_WORDS,
    Check,
    InvestigatorReturn,
    join_claims,
)
from bot.domain.text.sanitize import strip_hidden

MAX_DRAFT_CHARS: Final = 12_000
"""What `check_outbound` lets leave: nobody could post a longer draft."""

MAX_SUMMARY_SENTENCES: Final = 2
_NOTE_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,100}\.md")


def shape_checks(ret: InvestigatorReturn) -> Iterator[Check]:
    """Yield one check for each cap of a return."""
    yield _text("draft_reply", ret.draft_reply, max_words=MAX_DRAFT_WORDS)
    yield _within("draft_chars", len(ret.draft_reply), MAX_DRAFT_CHARS, "characters")
    is_whole = not ret.claims or join_claims(ret.claims).strip() == ret.draft_reply.strip()
    yield _shape("claims", is_whole, f"the draft is {'' if is_whole else 'not '}what its claims make together")
    if ret.evidence_refs:
        yield _within("evidence_refs", len(ret.evidence_refs), MAX_EVIDENCE_REFS, "citations")
    else:
        yield _shape("evidence_refs", False, "the draft cites nothing; cite at least one place")
    yield _text("summary", ret.summary_for_orchestrator, max_sentences=MAX_SUMMARY_SENTENCES)
    yield _text("confidence_reason", ret.confidence_reason, max_sentences=1)
    yield _supports_claim(ret)
    yield _within("research_notes", word_count(ret.research_notes), MAX_NOTES_WORDS, "words")
    if ret.proposed_triage_file is not None:
        name = ret.proposed_triage_file.filename
        ok = bool(_NOTE_NAME.fullmatch(name))
        yield _shape("triage_file", ok, f"{name[:80]!r} is {'' if ok else 'not '}a bare file name ending in .md")
    if ret.escalation_requested:
        said = bool((ret.escalation_reason or "").strip())
        reason = "the escalation has its reason" if said else "say why it should be escalated"
        yield _shape("escalation", said, reason)


def _text(name: str, text: str, *, max_words: int | None = None, max_sentences: int | None = None) -> Check:
    if not any(map(str.isalnum, strip_hidden(text)[0])):
        return _shape(name, False, f"{name} is empty")
    if max_words is not None:
        return _within(name, word_count(text), max_words, "words")
    assert max_sentences is not None
    return _within(name, len(sentences(text)), max_sentences, "sentences")


def _supports_claim(ret: InvestigatorReturn) -> Check:
    """Each citation says in one sentence what it is cited for."""
    long = [ref.ref[:80] for ref in ret.evidence_refs if len(sentences(ref.supports_claim)) > 1]
    reason = f"supports_claim is one sentence; it is not for {', '.join(long)}" if long else "one sentence a citation"
    return _shape("supports_claim", not long, reason)


def _within(name: str, count: int, limit: int, unit: str) -> Check:
    ok = count <= limit
    return _shape(name, ok, f"{name} has {count} {unit} of {limit}" + ("" if ok else "; shorten it"))


def _shape(name: str, ok: bool, reason: str) -> Check:
    return Check(name=f"schema.{name}", ok=ok, reason=reason)
