"""Checks before a reply is posted: text that must not leave, and what changed since the draft was made.

Reads the chat and the codebase, writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.agent.git.repositories import Repositories
from bot.casework.checks.sources import stands_at_head
from bot.casework.thread_service import ThreadService
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.secrets import find_secrets
from bot.domain.text.sanitize import check_whole, has_visible
from bot.domain.threads import ThreadState
from bot.domain.waits import Doubt, DoubtCode, question_edited, wrote_in_thread
from bot.errors import CodebaseUnreadable, ConfigError, InputError, ProviderError
from bot.ports import ChatMessage

MAX_REPLY_CHARS: Final = 12_000

StillStands = Callable[[EvidenceRef], bool]


def check_outbound(text: str, known_secrets: Collection[str] = ()) -> None:
    """Refuse a reply that must not leave.

    Raises:
        InputError: nothing of it can be seen, it cannot be sent, is too long, or holds what looks like a secret.
    """
    if not text.strip():
        raise InputError("The reply is empty; write one, or dismiss the draft.")
    if not has_visible(check_whole(text)):
        raise InputError("The reply has only invisible characters; write one, or dismiss the draft.")
    if len(text) > MAX_REPLY_CHARS:
        raise InputError(f"The reply has {len(text):,} characters; shorten it to {MAX_REPLY_CHARS:,}.")
    if kinds := find_secrets(text, known_secrets):
        raise InputError(f"The reply contains what looks like a secret ({', '.join(kinds)}); remove it.")


def find_changes(
    service: ThreadService, state: ThreadState, still_stands: StillStands, messages: Sequence[ChatMessage] | None = None
) -> list[Doubt]:
    """Return everything that changed since the draft was made, hard stops first.

    `still_stands` says whether the printed lines of a file citation are still at HEAD; `messages` is the thread, if
    it was just read.

    Raises:
        ProviderError: the chat cannot say; posting would be a guess.
        CodebaseUnreadable: git cannot say.
    """
    if messages is None:
        messages = service.workspace.thread(state.chat_id, state.thread_ts)
    if not any(message.message_id == state.thread_ts for message in messages):
        return [Doubt(code=DoubtCode.MESSAGE_GONE)]
    if not service.cards.guard.is_private_now():
        return [Doubt(code=DoubtCode.OPS_CHANNEL_PUBLIC)]
    if service.workspace.channel(state.chat_id).is_archived:
        return [Doubt(code=DoubtCode.CHANNEL_ARCHIVED)]
    return [*_in_chat(state, messages, service.chat_ahead()), *_in_code(state, still_stands)]


def _in_chat(state: ThreadState, messages: Sequence[ChatMessage], ahead: timedelta) -> list[Doubt]:
    original = next((m for m in messages if m.message_id == state.original_message_id), None)
    if original is None:
        return [Doubt(code=DoubtCode.QUESTION_DELETED)]
    may_differ = original.edited or original.is_bot  # else only a preview of a link came or went
    is_edited = may_differ and state.alert is None and original.text != state.question  # an alert's state tells
    doubts = [question_edited(original.text)] if is_edited else []
    drafted_at = state.status_history[-1].at if state.status_history else state.started_at
    since = int((drafted_at - ahead).timestamp())
    known = state.message_ids
    newer = [m for m in messages if not m.is_bot and m.message_id not in known and float(m.message_id) >= since]
    doubts += [wrote_in_thread(m.sender_id, datetime.fromtimestamp(float(m.message_id), UTC)) for m in newer]
    return list(dict.fromkeys(doubts))


def _in_code(state: ThreadState, still_stands: StillStands) -> list[Doubt]:
    refs = [ref for ref in state.evidence_refs if ref.kind is EvidenceKind.FILE]
    return [Doubt(code=DoubtCode.CODE_CHANGED, about=ref.ref) for ref in refs if not still_stands(ref)]


def quotes_at_head(repos: Repositories) -> StillStands:
    """Return a test whether the printed lines of a citation still stand in their file at HEAD, wherever in it.

    The test raises CodebaseUnreadable where git cannot say.
    """

    def still_stands(ref: EvidenceRef) -> bool:
        try:
            repo, path = repos.locate(ref.ref.rpartition(":")[0], ref.commit)
            return stands_at_head(repo, repo.head(), path, ref.quote)
        except (ProviderError, ConfigError) as error:
            raise CodebaseUnreadable(str(error)) from error

    return still_stands
