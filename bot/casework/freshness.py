"""What changed between a draft and the click that would post it.

Reads the chat and the codebase, writes nothing. A `hard` change forbids posting; the others are shown, and a human who
has seen them may post anyway.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.citation_staleness import find_at_head
from bot.casework.thread_service import ThreadService
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.threads import ThreadState
from bot.intake.classifier.message_text import without_names
from bot.ports import ChatMessage

SAID_CHARS = 100

StillStands = Callable[[EvidenceRef], bool]

WORDING_CHARS = 6


def question_edited(wording: str) -> str:
    """Return the doubt that an edit casts on a draft: one for each wording, so that a second edit is asked about, too.

    >>> question_edited("six?") == question_edited("six?"), question_edited("six?") == question_edited("five?")
    (True, False)
    """
    digest = hashlib.sha256(wording.encode("utf-8", "replace")).hexdigest()[:WORDING_CHARS]
    return f"the question was edited (to wording {digest}); the draft answers its earlier wording"


def wrote_in_thread(user_id: str, at: datetime) -> str:
    """Return the doubt a newer message casts on a draft; the time tells two messages of one person apart."""
    return f"<@{user_id}> wrote in the thread at {at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def settled_by(user_id: str, text: str) -> str:
    """Return the doubt that the asker's "never mind" casts on a draft: their own words, on one line."""
    said = " ".join(without_names(text).split())
    return f"<@{user_id}> wrote: {said[:SAID_CHARS].rstrip()}{'…' * (len(said) > SAID_CHARS)}"


def is_settled(state: ThreadState) -> bool:
    """Whether the asker's last word in the thread was that no answer is needed any more."""
    asker = f"<@{state.original_sender_id}> wrote"
    last = next((doubt for doubt in reversed(state.stale_reasons) if doubt.startswith(asker)), "")
    return last.startswith(f"{asker}: ")


def with_doubts(state: ThreadState, doubts: Iterable[str]) -> ThreadState:
    """Return the thread with those doubts added that it does not name yet; known ones are never dropped."""
    new = [doubt for doubt in dict.fromkeys(doubts) if doubt not in state.stale_reasons]
    return state.evolve(stale_reasons=(*state.stale_reasons, *new))


@dataclass(frozen=True, kw_only=True, slots=True)
class StalenessReason:
    """One thing that is no longer as it was; `hard` forbids posting."""

    text: str
    hard: bool = False


def find_changes(
    desk: ThreadService, state: ThreadState, still_stands: StillStands, messages: Sequence[ChatMessage] | None = None
) -> list[StalenessReason]:
    """Return everything that changed since the draft was made, hard stops first.

    `still_stands` says whether a file citation's quote is still at HEAD; `messages` is the thread, if it was just read.

    Raises:
        ProviderError: the chat cannot say; posting would be a guess.
    """
    if messages is None:
        messages = desk.workspace.thread(state.chat_id, state.thread_ts)
    if not any(message.message_id == state.thread_ts for message in messages):
        return [StalenessReason(text="the message to answer is gone", hard=True)]
    if not desk.privacy.is_private_now():
        return [StalenessReason(text="the ops channel is no longer private", hard=True)]
    if desk.workspace.channel(state.chat_id).is_archived:
        return [StalenessReason(text="the channel was archived", hard=True)]
    return [*_in_chat(state, messages, desk.chat_ahead()), *_in_code(state, still_stands)]


def _in_chat(state: ThreadState, messages: Sequence[ChatMessage], ahead: timedelta) -> list[StalenessReason]:
    original = next((m for m in messages if m.message_id == state.original_message_id), None)
    if original is None:
        return [StalenessReason(text="the question was deleted", hard=True)]
    texts = [question_edited(original.text)] if original.text != state.question else []
    known = {state.original_message_id, *(followup.message_id for followup in state.followups)}
    since = int((state.status_history[-1].at - ahead).timestamp())
    newer = [m for m in messages if not m.is_bot and m.message_id not in known and float(m.message_id) >= since]
    texts += [wrote_in_thread(m.sender_id, datetime.fromtimestamp(float(m.message_id), UTC)) for m in newer]
    return [StalenessReason(text=text) for text in dict.fromkeys(texts)]


def _in_code(state: ThreadState, still_stands: StillStands) -> list[StalenessReason]:
    ret = state.investigator_return
    refs = [ref for ref in (ret.evidence_refs if ret else ()) if ref.kind is EvidenceKind.FILE]
    return [StalenessReason(text=f"`{ref.ref}` changed in the codebase") for ref in refs if not still_stands(ref)]


def quotes_at_head(codebase: Path) -> StillStands:
    """Return a test whether a citation's quote still stands in its file at HEAD, wherever in the file."""

    def still_stands(ref: EvidenceRef) -> bool:
        repo = GitRepo(codebase)
        return find_at_head(repo, repo.head(), ref.ref.rpartition(":")[0], ref.quote)

    return still_stands
