"""Which words a thread proposes: the investigator's, or a human's, with a new draft of the investigator beside them.

Once somebody saved an edit, no investigation replaces it: what comes later stands beside it until a human chooses. Each
function returns a thread with a new draft version, so that no click on an earlier card counts. Pure.
"""

from __future__ import annotations

from datetime import datetime

from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn, quoting_claims
from bot.domain.threads import HumanContext, NewDraft, ThreadState, hash_draft, with_fix_link

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
