"""Marks that only code may set on a card: ✓, ✗, ⚠ and what looks like them, put into words where others wrote them.

Pure. A draft, a name or a question that holds a ✓ would read as checked. The card says which sign stood there; what is
posted keeps the sign.
"""

from __future__ import annotations

import html
import html.entities
import re
from typing import Final

from bot.domain.returns import EvidenceRef, InvestigatorReturn, SuspectChange, ValidatorReturn
from bot.domain.threads import Round, ThreadState

MAX_SPELLED: Final = 40
"""How many signs are put into words; more would make a card that fits too long."""

UNSPELLED: Final = "▯"

_SIGNS: Final = {
    "check mark": "✓✔✅☑🗸🗹⍻√∨⩗⌵",
    "cross": "✗✘❌❎☒✕✖╳⨯🗙🗴🗵🚫⛔",
    "warning sign": "⚠⛛🛑❗❕‼",
}
_WORDS: Final = {sign: f"({word})" for word, signs in _SIGNS.items() for sign in signs if not sign.isascii()}
_SIGN: Final = re.compile(f"[{''.join(_WORDS)}]\ufe0f?\ufe0e?")
_NAMES: Final = [name for name, sign in html.entities.html5.items() if name.endswith(";") and sign[0] in _WORDS]
_ENTITY: Final = re.compile(rf"&(?:#\w{{1,16}};|{'|'.join(_NAMES)})")
_CODE: Final = re.compile(
    r":(?=[\w+-]{1,60}:)[\w+-]{0,60}?(check|tick|verif|valid|approv|cross|negative|multiplication|warn|alert|no_entry"
    r"|octagonal|stop|ballot|passed|confirmed|trusted|certif)[\w+-]{0,60}:"
    r"|:(x):",
    re.IGNORECASE,
)
_CROSSES: Final = frozenset({"cross", "negative", "multiplication", "no_entry", "octagonal", "stop", "x"})
_WARNINGS: Final = frozenset({"warn", "alert"})


def without_marks(text: str) -> str:
    """Return a text whose check marks, crosses and warning signs stand in words, Slack's names of them too.

    >>> without_marks("✅ Validated :heavy_check_mark: ✗ &check; 3 × 4")
    '(check mark) Validated (check mark) (cross) (check mark) 3 × 4'
    """
    plain = _ENTITY.sub(lambda entity: _spelled(entity[0]), text)
    found = len(_SIGN.findall(plain)) + len(_CODE.findall(plain))
    if found > MAX_SPELLED:
        return _CODE.sub(UNSPELLED, _SIGN.sub(UNSPELLED, plain))
    return _CODE.sub(_word, _SIGN.sub(lambda sign: _WORDS[sign[0][0]], plain))


def without_marks_in(state: ThreadState) -> ThreadState:
    """Return a thread for its card: no word in it that others wrote sets a mark. Hashes and marks of ours stay."""
    changes = {
        "question": without_marks(state.question),
        "draft_pending": state.draft_pending and without_marks(state.draft_pending),
        "draft_new": state.draft_new and state.draft_new.evolve(text=without_marks(state.draft_new.text)),
        "dismiss_reason": state.dismiss_reason and without_marks(state.dismiss_reason),
        "stale_reasons": tuple(map(without_marks, state.stale_reasons)),
        "investigator_return": state.investigator_return and _return(state.investigator_return),
        "validator_return": state.validator_return and _verdict(state.validator_return),
        "rounds": tuple(map(_round, state.rounds)),
    }
    return state.evolve(**changes)


def _round(one: Round) -> Round:
    verdict = one.validator_return and _verdict(one.validator_return)
    return one.model_copy(update={"investigator_return": _return(one.investigator_return), "validator_return": verdict})


def _return(ret: InvestigatorReturn) -> InvestigatorReturn:
    changes = {
        "draft_reply": without_marks(ret.draft_reply),
        "gloss": ret.gloss and without_marks(ret.gloss),
        "open_questions": tuple(map(without_marks, ret.open_questions)),
        "not_answered": tuple(map(without_marks, ret.not_answered)),
        "evidence_refs": tuple(map(without_marks_of, ret.evidence_refs)),
        "suspect_changes": tuple(map(_suspect, ret.suspect_changes)),
    }
    return ret.model_copy(update=changes)


def without_marks_of(ref: EvidenceRef) -> EvidenceRef:
    """Return a citation whose name, quote and claim set no mark."""
    changes = {name: without_marks(getattr(ref, name)) for name in ("ref", "quote", "supports_claim")}
    return ref.model_copy(update=changes)


def _suspect(one: SuspectChange) -> SuspectChange:
    changes = {name: without_marks(getattr(one, name)) for name in ("ref", "author", "subject")}
    return one.model_copy(update=changes)


def _verdict(verdict: ValidatorReturn) -> ValidatorReturn:
    changes = {
        "reasons": tuple(map(without_marks, verdict.reasons)),
        "spot_check_note": without_marks(verdict.spot_check_note),
        "validator_model": without_marks(verdict.validator_model),
    }
    return verdict.model_copy(update=changes)


def _spelled(entity: str) -> str:
    """Return a character reference as its sign if that is a mark, else as it was."""
    sign = html.unescape(entity)[:1]
    return sign if sign in _WORDS else entity


def _word(code: re.Match[str]) -> str:
    kind = (code[1] or code[2]).lower()
    if kind in _CROSSES:
        return "(cross)"
    return "(warning sign)" if kind in _WARNINGS else "(check mark)"
