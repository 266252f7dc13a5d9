"""What a draft says, whatever it cites: confidence words, risk, tone, broadcasts, language and secrets. Pure.

The words are English and few; risk and language are read from fields of the return, never from its sentences.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from bot.domain.questions.draft_language import CODE_SEGMENT, hedges, overclaims, own_sentences, primary, tone_faults
from bot.domain.questions.risk_gate import risky_commands
from bot.domain.returns import Check, InvestigatorReturn
from bot.domain.secrets import find_secrets

_BROADCAST: Final = re.compile(
    r"<!(?:channel|here|everyone|group|subteam)\b[^>\n]{0,80}>?|(?<![A-Za-z0-9])@(?:channel|here|everyone|group)(?![A-Za-z0-9])",
    re.IGNORECASE,
)


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
