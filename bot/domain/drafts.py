"""Which words a thread proposes, whose they are, and the steps of a draft on its way to its thread. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot.domain.questions.autonomy_record import AutoJudgement
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn, quoting_claims
from bot.domain.threads import HumanContext, NewDraft, PostIntent, Resolution, ThreadState, hash_draft, with_fix_link

MAX_CANDIDATES = 2


def propose_draft(state: ThreadState, text: str) -> ThreadState:
    """Return a thread with the investigator's draft: as what is proposed, or beside a human's text."""
    if not state.has_edited_draft:
        return state.with_draft(text)
    is_same = text == state.draft_pending
    return _next_version(state).evolve(draft_new=None if is_same else NewDraft(text=text, hash=hash_draft(text)))


def edit_draft(state: ThreadState, text: str, *, by: str) -> ThreadState:
    """Return a thread that proposes the words of `by`; what the investigator proposes beside them stays."""
    return state.with_draft(text, by=by).evolve(draft_decided_by=by)


def use_new_draft(state: ThreadState, *, by: str, at: datetime) -> ThreadState:
    """Return a thread that proposes the investigator's new draft; the human's text it replaces is kept on record.

    Doubts that the new draft has taken into account are settled.
    """
    assert state.draft_new is not None
    mine = HumanContext(by=state.draft_edited_by or "", at=at, text=state.draft_pending or "")
    chosen = state.with_draft(state.draft_new.text).evolve(
        draft_new=None,
        draft_decided_by=by,
        drafts_replaced=(*state.drafts_replaced, mine),
        doubts_settled=0,
        last_event_at=at,
    )
    return chosen.in_doubt(state.doubts[state.doubts_settled :])


def keep_human_text(state: ThreadState, *, by: str, at: datetime) -> ThreadState:
    """Return a thread that proposes the human's text alone."""
    return _next_version(state).evolve(draft_new=None, draft_decided_by=by, last_event_at=at)


def offered_candidates(state: ThreadState) -> dict[str, EvidenceRef]:
    """Return what else a search found and the card offers, by what a click names: it and the draft it stands below."""
    ret = state.investigator_return
    if ret is None or not state.clicked_hash:
        return {}
    offered = ret.candidates[:MAX_CANDIDATES]
    return {hash_draft(f"{state.clicked_hash} {ref.ref} {ref.supports_claim} {ref.quote}"): ref for ref in offered}


def use_candidate(ret: InvestigatorReturn, chosen: EvidenceRef) -> InvestigatorReturn:
    """Return a search's return with one of its candidates as the draft; what the draft quoted becomes a candidate."""
    others = [ref for ref in ret.candidates if ref != chosen]
    notes = [ref for ref in ret.evidence_refs[1:] if ref.kind is EvidenceKind.MEMORY]  # to be known all the same
    return ret.evolve(
        confidence="low",
        confidence_reason="A human chose these lines among what the search found.",
        summary_for_orchestrator=f"Searched without a model; a human chose {chosen.ref}.",
        evidence_refs=(chosen, *notes),
        candidates=(*ret.evidence_refs[:1], *others)[:MAX_CANDIDATES],
    ).with_claims(quoting_claims(chosen))


def name_request(state: ThreadState, url: str) -> ThreadState:
    """Return a waiting thread in which the draft that proposed a patch names its pull request."""
    named = state.evolve(fix_url=url)
    if state.draft_new is None:
        return named.with_draft(with_fix_link(state.draft_pending or "", url), by=state.draft_edited_by)
    text = with_fix_link(state.draft_new.text, url)
    return _next_version(named).evolve(draft_new=NewDraft(text=text, hash=hash_draft(text)))


def _next_version(state: ThreadState) -> ThreadState:
    return state.evolve(draft_version=state.draft_version + 1)


def claimed_as_seen(
    now: ThreadState,
    seen: ThreadState,
    *,
    at: datetime,
    by: str | None,
    twins: Sequence[str] = (),
    auto: AutoJudgement | None = None,
) -> ThreadState | None:
    """Return the thread with its draft claimed; None where it is not as `seen`: another draft, doubt, step or claim.

    `by` is who approved it; with `auto` nobody did. The intent says that the post is sent at `at`.
    """
    assert seen.draft_hash is not None
    if now.status is not seen.status or now.post_intent or _draft(now) != _draft(seen):
        return None
    intent = PostIntent(
        at=at, draft_hash=seen.draft_hash, doubts=len(seen.doubts), twins=tuple(twins), is_auto=auto is not None
    )
    claim = {"approved_by": by, "user_approved_at": at} if auto is None else {"auto": auto}
    return now.evolve(post_intent=intent, **claim)


def _draft(state: ThreadState) -> tuple[Any, ...]:
    """Return what an approval is about: the draft and the doubts shown with it."""
    return state.draft_version, state.draft_hash, state.doubts


def is_auto(state: ThreadState) -> bool:
    """Whether a thread's reply was claimed by no human."""
    return state.post_intent is not None and state.post_intent.is_auto


def replied(now: ThreadState, posted: ThreadState, *, at: datetime) -> ThreadState | None:
    """Return the thread closed with the words and the message id of `posted`; None where it is closed already."""
    if not now.is_open:
        return None
    ending = Resolution.AUTO if is_auto(posted) else Resolution.APPROVED
    ending = Resolution.EDITED if posted.has_edited_draft else ending
    words = ("draft_pending", "draft_version", "draft_hash", "draft_edited_by", "posted_message_id")
    return now.close(ending, at=at, why=_why(posted), **{name: getattr(posted, name) for name in words})


def _why(posted: ThreadState) -> str:
    if is_auto(posted):
        return "sent automatically: every condition held"
    if posted.approved_by is None:
        return "its reply was already in the thread, posted by another process or before a restore"
    return f"{'edited and posted' if posted.has_edited_draft else 'approved'} by <@{posted.approved_by}>"
