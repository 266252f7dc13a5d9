"""What a click on a card is about: the draft its button belongs to, whether it still counts, and else who was first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.drafts import offered_candidates
from bot.domain.text.humanize import utc_text
from bot.domain.threads import ThreadState, ThreadStatus


class OnCard(str):
    """What became of a click, where the card shows it as well: beside the card nobody has to be told."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftClick:
    """The draft a button belongs to, and how many of its doubts the card showed.

    `twins` is how many of the thread's twins the card showed, where the click is about them, too.
    """

    thread_id: str
    version: int
    draft_hash: str
    seen: int = 0
    twins: int = 0


About = Callable[[DraftClick, ThreadState], bool]


def is_of_draft(click: DraftClick, state: ThreadState) -> bool:
    """Whether a click is about what its thread proposes now."""
    return (click.version, click.draft_hash) == (state.draft_version, state.clicked_hash)


def is_of_run_under_way(click: DraftClick, state: ThreadState) -> bool:
    """Whether a click is about the run that has not ended yet."""
    return state.status is not ThreadStatus.PENDING_USER and is_of_draft(click, state)


def is_of_new_draft(click: DraftClick, state: ThreadState) -> bool:
    """Whether a click chooses between a human's text and the new draft beside it."""
    return state.draft_new is not None and (click.version, click.draft_hash) == (
        state.draft_version,
        state.draft_new.hash,
    )


def is_of_edit(click: DraftClick, state: ThreadState) -> bool:
    """Whether words were typed over what the thread proposes, or over a draft that is being made anew since."""
    is_remade = state.status is not ThreadStatus.PENDING_USER and click.version == state.draft_version
    return is_of_draft(click, state) or is_remade


def is_of_candidate(click: DraftClick, state: ThreadState) -> bool:
    """Whether a click is about something else that the search found."""
    return click.version == state.draft_version and click.draft_hash in offered_candidates(state)


def is_of_run(click: DraftClick, state: ThreadState) -> bool:
    """Whether a click is about the thread as it stands, or about the run whose result now waits."""
    return is_of_draft(click, state) or (
        not click.draft_hash and click.version in (state.draft_version, state.draft_version - 1)
    )


def is_bound(click: DraftClick, state: ThreadState, about: About = is_of_draft, running: bool = False) -> bool:
    """Whether a click counts: nobody has decided yet, and with `running` also while an investigation is under way."""
    waits = state.is_open and not state.post_intent and (running or state.status is ThreadStatus.PENDING_USER)
    return waits and about(click, state)


def who_decided(state: ThreadState | None) -> str:
    """Return who was first and what they decided, for who came second."""
    if state is None:
        return "This thread is not open any more."
    if state.is_open and state.post_intent:
        if state.post_intent.is_auto:
            return (
                "This automatic reply is being posted. If Slack does not confirm it, triage looks in the thread "
                "within a minute; if it is not there, the card opens again."
            )
        return (
            f"<@{state.approved_by}> approved this draft; it is being posted. If Slack does not confirm it, triage "
            "checks within a minute, then posts it or reopens the card."
        )
    if state.is_open:
        return f"{last_decision(state) or 'Somebody changed this thread. '}The card shows the current state."
    at = f" at {utc_text(state.closed_at)}" if state.closed_at else ""
    return f"Already closed: {state.status_history[-1].why}{at}. Your click changed nothing."


def last_decision(state: ThreadState) -> str:
    """Return who decided last on an open thread, for who came second; "" where nobody did."""
    if state.draft_decided_by:
        return f"<@{state.draft_decided_by}> changed what is proposed. "
    asked = (step.why for step in reversed(state.status_history) if step.from_ is ThreadStatus.PENDING_USER)
    return next((f"{why[:1].upper()}{why[1:]}. " for why in asked), "")
