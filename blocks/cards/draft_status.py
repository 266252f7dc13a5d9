"""The card's status line: where a thread stands, what that rests on, who judged it and what it cost. Pure.

A ✓ is for a draft that every check and a second model let through, and for nothing else.

Why a draft did not pass, as the card shows it: each round with its own words and the objections to them. Pure.
"""

from __future__ import annotations

from datetime import timedelta

from slack_sdk.models.blocks import Block

from blocks.text.mrkdwn import to_mrkdwn
from blocks.text.outgoing_text import context, escape, inline_code, local_time, quote_block, section
from blocks.text.splitting import ROOMY_SECTION_CHARS, truncate
from bot.domain.questions.approval_basis import Basis, backed_words, basis_of_thread, passed_words
from bot.domain.questions.verdict_rules import objections as verdict_objections
from bot.domain.returns import CODE_CHECKS, Usage, ValidatorReturn, Verdict, assumed_words, claim_marks
from bot.domain.text.humanize import counted, duration
from bot.domain.threads import PendingReason, Resolution, Round, ThreadState, ThreadStatus
from bot.domain.waits import Wait, WaitFor

PROGRESS_CHARS = 200
WHY_CHARS = 200
SHOWN_READS = 3
READ_CHARS = 80

_RUNNING = {
    ThreadStatus.INVESTIGATING: ":hourglass_flowing_sand: Investigating",
    ThreadStatus.AWAITING_VALIDATION: ":hourglass_flowing_sand: Checking the draft against what it cites",
    ThreadStatus.BOUNCED: ":hourglass_flowing_sand: The draft did not pass the checks; correcting it once",
    ThreadStatus.ESCALATED: ":hourglass_flowing_sand: Long investigation under way",
}

WAITS_FOR_CODEBASE = (
    ":warning: *Waiting:* git cannot read the codebase; this question continues when it can, `triage status` says why"
)

EARLIER_DRAFT_CHARS = 800
_JUDGED = (PendingReason.DISAGREEMENT, PendingReason.APPROVAL)

_SHORTEST_SHOWN = timedelta(seconds=1)


def status_line(state: ThreadState, *, progress: str | None = None) -> str:
    """Return the badge; `progress` is plain text on the run under way, anybody's words in it included."""
    if not state.is_open:
        return _ending(state)
    if state.is_at_work and state.wait is not None and progress is None:
        return _waiting(state.wait)
    if state.status is not ThreadStatus.PENDING_USER:
        doing = truncate(escape(progress), PROGRESS_CHARS) if progress else ""
        return _joined(_RUNNING[state.status], _since(state), _again(state), doing)
    is_unpaid = state.pending_reason is PendingReason.FAILED and (state.usage is None or not state.usage.tokens)
    cost = "" if is_unpaid else thread_cost_line(state.usage)  # a provider that cannot be reached is not "offline"
    origin = "" if state.has_edited_draft else _origin(state)
    return _joined(_badge(state), _changed(state), origin, cost)


def _waiting(wait: Wait) -> str:
    """Return what a question waits for, and when it is tried again."""
    if wait.what is WaitFor.CODEBASE:
        return WAITS_FOR_CODEBASE
    why = f" {escape(wait.why.replace('_', ' '))};" if wait.why else ""
    return f":hourglass: *Waiting for the model:*{why} next try {local_time(wait.until)}"


def thread_cost_line(usage: Usage | None) -> str:
    """Return what the model runs cost, in words.

    >>> thread_cost_line(Usage(input_tokens=12_000, output_tokens=900, cost_usd=None))
    '12.9k tokens, cost unknown'
    >>> thread_cost_line(Usage(input_tokens=12_000, cost_usd=0.12, price_assumed=True))
    '$0.12 (no price is known, so the dearest counts)'
    """
    if usage is None:
        return ""
    if not usage.tokens:
        return "no model was used"
    if usage.cost_usd is None:
        return f"{usage.tokens / 1000:.1f}k tokens, cost unknown"
    cost = f"${usage.cost_usd:.2f}" if usage.cost_usd >= 0.005 else "less than $0.01"
    return cost + assumed_words(usage)


def judged_by(state: ThreadState) -> str | None:
    """Return the model that judged the latest draft; None where code alone did, or nobody."""
    verdict = state.validator_return
    return verdict.validator_model if verdict and verdict.validator_model != CODE_CHECKS else None


def _again(state: ThreadState) -> str:
    """Return why a question is investigated again, where the answer before was from part of the files."""
    ret = state.investigator_return
    is_again = state.status is ThreadStatus.INVESTIGATING and ret is not None and ret.index_unfinished
    return "again, because the draft before was from part of the files" if is_again else ""


def _since(state: ThreadState) -> str:
    """Return since when a long run is under way, and why; a short one is over before that matters."""
    if state.status is not ThreadStatus.ESCALATED or not state.status_history:
        return ""
    step = state.status_history[-1]
    why = escape(step.why, known_users=(step.by,) if step.by else ())
    return f"since {local_time(step.at)} · {truncate(why, WHY_CHARS)}"


def new_draft_line(state: ThreadState) -> str:
    """Return the badge of the new draft beside a human's text."""
    return _joined("*New draft*", _judgement(state), _origin(state))


def _badge(state: ThreadState) -> str:
    """Return what the draft's words rest on: a human, or the judgement of the investigator's draft."""
    if not state.has_edited_draft:
        return _judgement(state)
    by = f" (<@{state.draft_edited_by}>)" if state.draft_edited_by else ""
    return f":pencil2: *edited by a human*{by}, not checked since"


def _judgement(state: ThreadState) -> str:
    verdict, reason = state.validator_return, state.pending_reason or PendingReason.FAILED
    if reason is PendingReason.APPROVAL and (verdict is None or verdict.verdict is not Verdict.PASS):
        reason = PendingReason.DISAGREEMENT  # the badge is earned by the verdict alone
    if reason is PendingReason.APPROVAL:
        return _passed(state)
    return {
        PendingReason.DISAGREEMENT: "*Did not pass the checks*" if _is_search(state) else "*⚠ disagreement*",
        PendingReason.CONTEXT: ":grey_question: *needs context*",
        PendingReason.FAILED: ":x: *failed*",
        PendingReason.STOPPED: f"🛑 *stopped*{_by_whom(state)}",
    }[reason]


def _by_whom(state: ThreadState) -> str:
    by = state.status_history[-1].by if state.status_history else None
    return f" by <@{by}>" if by else ""


def _passed(state: ThreadState) -> str:
    """Return the badge of a draft that passed: what it rests on, and how many of its claims code found backed."""
    ret = state.investigator_return
    is_said = ret is not None and not _is_search(state)  # a search says nothing of its own
    matches = backed_words(claim_marks(state.checks, len(ret.said_claims))) if ret and is_said else ""
    read = state.validator_return.read if state.validator_return else ()
    places = [inline_code(place, READ_CHARS) for place in read[:SHOWN_READS]]
    more = [f"{len(read) - SHOWN_READS} more"] if len(read) > SHOWN_READS else []
    judge = escape(judged_by(state) or "")
    badge, rest = passed_words(basis_of_thread(state), judge=judge, matches=matches, read=[*places, *more])
    return _joined(f"*{badge}*", rest)


def _is_search(state: ThreadState) -> bool:
    """Whether no model was used: then there is nobody to disagree, or to be sure."""
    return basis_of_thread(state) is Basis.SEARCH


def _changed(state: ThreadState) -> str:
    """Return that the badge was earned before something changed; the card lists what."""
    count = len(state.stale_reasons)
    return f":warning: {counted(count, 'thing')} changed since" if count else ""


def _origin(state: ThreadState) -> str:
    ret, judge = state.investigator_return, judged_by(state)
    if ret is None:
        return ""
    took = f"took {duration(state.work_time)}" if state.work_time and state.work_time >= _SHORTEST_SHOWN else ""
    if _is_search(state):
        return took
    judged = f"judged by {escape(judge)}" if judge and state.pending_reason is PendingReason.DISAGREEMENT else ""
    corrected = "corrected once" if state.investigator_round > 1 else ""
    sure = _confidence(state, ret.confidence) if ret.draft_reply else ""
    return _joined(judged, sure, corrected, took)


def _confidence(state: ThreadState, said: str) -> str:
    """Return how sure a draft says it is, and that it is not where a check says so."""
    wrong = any(check.ok is False and check.name.startswith(("confidence.", "claim[")) for check in state.checks)
    return f"confidence {said}" + (", which the checks do not bear out" if wrong and said == "high" else "")


def _ending(state: ThreadState) -> str:
    why = state.status_history[-1].why if state.status_history else "closed"
    if state.resolution is Resolution.AUTO:
        return ":robot_face: *Sent automatically* · nobody approved it · the message with *Take back* is below"
    if state.resolution in (Resolution.APPROVED, Resolution.EDITED):
        return f":white_check_mark: *Posted* · {why}"
    reason = f" · {escape(state.dismiss_reason)}" if state.dismiss_reason else ""
    return truncate(f":no_entry_sign: *Closed* · {why}{reason}", ROOMY_SECTION_CHARS)


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def objections(state: ThreadState) -> list[Block]:
    """Return why the human is asked to look: what failed, what every round was told, or what a pass was given with."""
    if state.pending_reason is PendingReason.FAILED:
        return _failed_beside(state) if state.draft_pending else _failure(state)
    if state.validator_return is None or state.pending_reason not in _JUDGED:
        return []
    if state.pending_reason is PendingReason.APPROVAL:
        is_shown = state.draft_new is not None or not state.has_edited_draft
        return _noted(state.validator_return) if is_shown else []
    title = f"{'' if _is_search(state) else ':warning: '}*Why it did not pass*"
    rounds = state.rounds[-state.investigator_round :] if state.investigator_round else ()
    earlier = [_earlier(entry) for entry in rounds[:-1] if not _says_the_same(entry, rounds[-1])]
    return [section(f"{title}{_reasons(state.validator_return)}"), *earlier]


def _noted(verdict: ValidatorReturn) -> list[Block]:
    """Return what a second model has against a draft that passed; nothing where it has nothing."""
    said = "".join(f"\n• {escape(one)}" for one in verdict_objections(verdict))
    return [section(truncate(f":warning: *Second model noted:*{said}", ROOMY_SECTION_CHARS))] if said else []


def _failed_beside(state: ThreadState) -> list[Block]:
    """Return that the last investigation failed, where a human's text stands all the same."""
    return [context(f":x: *The last investigation failed:* {escape(_objection_reason(state))}")]


def _failure(state: ThreadState) -> list[Block]:
    """Return what went wrong; a draft that nobody could judge is shown, but not offered."""
    ret = state.investigator_return
    unjudged = ret.draft_reply if ret and state.validator_return is None else ""
    parts: list[Block] = [section(f"*Why there is no draft*\n{escape(_objection_reason(state))}")]
    if unjudged.strip():
        shown = quote_block(truncate(to_mrkdwn(unjudged), EARLIER_DRAFT_CHARS))
        parts.append(section(f"*Nobody could check this draft, so it is not offered:*\n{shown}"))
    return parts


def _objection_reason(state: ThreadState) -> str:
    return state.status_history[-1].why if state.status_history else "no reason was recorded"


def _says_the_same(entry: Round, last: Round) -> bool:
    """Whether a round came to the draft and the objections of the last one."""
    drafts = entry.investigator_return.draft_reply, last.investigator_return.draft_reply
    return drafts[0] == drafts[1] and _reasons(entry.validator_return) == _reasons(last.validator_return)


def _earlier(entry: Round) -> Block:
    """Return an earlier round: what it drafted and why that came back."""
    shown = quote_block(truncate(to_mrkdwn(entry.investigator_return.draft_reply), EARLIER_DRAFT_CHARS))
    return context(f"*The draft before*\n{shown}\n*Objections to it*{_reasons(entry.validator_return)}")


def _reasons(verdict: ValidatorReturn | None) -> str:
    noted = verdict_objections(verdict) if verdict else ()
    reasons = dict.fromkeys((*verdict.reasons, *noted)) if verdict else ()
    said = "".join(f"\n• {escape(reason)}" for reason in reasons) or "\n• no reason was given"
    note = verdict.spot_check_note if verdict and verdict.validator_model != CODE_CHECKS else ""
    return said + (f"\n• it looked up: {escape(note)}" if note else "")
