"""Why a draft did not pass, as the card shows it: each round with its own words and the objections to them. Pure."""

from __future__ import annotations

from slack_sdk.models.blocks import Block

from blocks.parts import context, section
from blocks.text import escape, quote, truncate
from bot.domain.returns import CODE_CHECKS, ValidatorReturn
from bot.domain.threads import PendingReason, Round, ThreadState

SECTION_TEXT_CHARS = 2_900
EARLIER_DRAFT_CHARS = 800


def objections(state: ThreadState) -> list[Block]:
    """Return why the human is asked to look: what failed, or what every round of this draft was told."""
    if state.pending_reason is PendingReason.FAILED:
        return [] if state.draft_pending else _failure(state)
    if state.pending_reason is not PendingReason.DISAGREEMENT or state.validator_return is None:
        return []
    title = ":warning: *Why it did not pass*"
    rounds = state.rounds[-state.investigator_round :] if state.investigator_round else ()
    return [section(f"{title}{_reasons(state.validator_return)}"), *(_earlier(entry) for entry in rounds[:-1])]


def _failure(state: ThreadState) -> list[Block]:
    """Return what went wrong; a draft that nobody could judge is shown, but not offered."""
    ret = state.investigator_return
    unjudged = ret.draft_reply if ret and state.validator_return is None else ""
    parts: list[Block] = [section(f"*Why there is no draft*\n{escape(_why(state))}")]
    if unjudged.strip():
        shown = quote(truncate(escape(unjudged), EARLIER_DRAFT_CHARS))
        parts.append(section(f"*Nobody has judged this draft, so it is not offered:*\n{shown}"))
    return parts


def _why(state: ThreadState) -> str:
    return state.status_history[-1].why if state.status_history else "no reason was recorded"


def _earlier(entry: Round) -> Block:
    """Return an earlier round: what it drafted and why that came back."""
    shown = quote(truncate(escape(entry.investigator_return.draft_reply), EARLIER_DRAFT_CHARS))
    return context(f"*Round {entry.round}* drafted\n{shown}\nand was told{_reasons(entry.validator_return)}")


def _reasons(verdict: ValidatorReturn | None) -> str:
    reasons = verdict.reasons if verdict else ()
    said = "".join(f"\n• {escape(reason)}" for reason in reasons) or "\n• no reason was given"
    note = verdict.spot_check_note if verdict and verdict.validator_model != CODE_CHECKS else ""
    return said + (f"\n• spot check: {escape(note)}" if note else "")
