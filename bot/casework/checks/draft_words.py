"""What a return says, whatever it cites: caps, confidence, risk, tone, broadcasts, language and secrets. Pure.

Every cap is a check of its own, `schema.…` by field. The words are English and few; risk and language are read from
fields of the return, never from its sentences.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

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
from bot.domain.questions.risk_gate import risky_commands
from bot.domain.returns import (
    MAX_DRAFT_WORDS,
    MAX_EVIDENCE_REFS,
    MAX_NOTES_WORDS,
    Check,
    InvestigatorReturn,
    join_claims,
)
from bot.domain.secrets import find_secrets
from bot.domain.text.sanitize import strip_hidden

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
