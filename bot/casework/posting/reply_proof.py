"""What of a posted reply is proved, and who may read the proof.

Rests on the checks that were stored with the draft. Of a reply that a human edited only the sentences that stand in it
unchanged count, each for what it cites. Reads the thread's record, open or archived, and looks the places up anew.

The records of the journal of posted replies, replies.ndjson.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from bot.casework.approvers import UNKNOWN, Approvers, is_member
from bot.casework.checks.addresses import EvidenceReader, ShownCitation
from bot.domain.drafts import is_auto
from bot.domain.questions.twins import keys_of, question_keys
from bot.domain.returns import Claim, ClaimKind, EvidenceKind, EvidenceRef, Verdict, claim_marks
from bot.domain.text.humanize import counted
from bot.domain.threads import EarlierReply, PendingReason, ThreadState
from bot.errors import InputError, ProviderError
from bot.ports import Journal, Workspace
from bot.ports.threads import Threads

log = logging.getLogger(__name__)

IN_CODE: Final = frozenset({EvidenceKind.FILE, EvidenceKind.GIT_COMMIT})
"""What anybody of the workspace may read; results of tools and notes are for approvers."""

SHORT_COMMIT: Final = 7
MAX_NAMED_COMMITS: Final = 2
_SPACE: Final = re.compile(r"[ \t]+")
_SENTENCE_ENDS: Final = (".", "!", "?", "\n", "。", "！", "？")

GONE: Final = "The record of this reply is not on file any more, so its proof cannot be shown."
ELSEWHERE: Final = "Only who can read the thread of this reply may see its proof. Ask somebody who is in that channel."


class ProofAccess(IntEnum):
    """How much of a proof somebody may see."""

    PLACES = 1
    """Where it points, without a line: guests and people of other companies."""
    LINES = 2
    """The printed code and commits as well."""
    ALL = 3
    """Results of tools and notes as well: approvers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplyProof:
    """What a reply rests on.

    `thread` is the thread with the round that the words are of. `cited` are the numbers of the citations that count
    for the reply, `backed` the sentences that code found in what they cite; `unproved` counts the draft's others, but
    for those that state nothing.
    """

    thread: ThreadState
    cited: tuple[int, ...] = ()
    backed: tuple[Claim, ...] = ()
    unproved: int = 0

    @property
    def places(self) -> list[tuple[EvidenceRef, bool | None]]:
        """The citations that count, each with its mark."""
        citations = self.thread.citations
        return [citations[index] for index in self.cited]

    def sentences(self, index: int) -> list[str]:
        """Return the proved sentences that rest on a citation; a block of code says nothing of its own."""
        return [one.text.strip() for one in self.backed if index in one.cites and "```" not in one.text]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadProof:
    """A proof as somebody may see it: its citations with their sentences; `withheld` more are for approvers only."""

    proof: ReplyProof
    access: ProofAccess
    shown: list[tuple[ShownCitation, list[str]]]
    withheld: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class ProofReader:
    """Reads the proofs of one team's replies for people."""

    store: Threads
    evidence: EvidenceReader
    workspace: Workspace
    approvers: Approvers

    def read(self, thread_id: str, reply_id: str, *, user: str, team: str, chat_id: str) -> ReadProof:
        """Return what a user may see of a reply's proof, who clicked in a channel.

        Raises:
            InputError: it is not on file, they may not read its thread, or the chat cannot say.
            StoreError: the record or a note cannot be read.
        """
        state = self.store.with_reply(thread_id, reply_id)
        if state is None:
            raise InputError(GONE)
        access, proof = self._access(state, user, team, chat_id), proof_of(with_checks(state, self.store))
        every = self.evidence.citations(proof.thread, at_most=len(proof.thread.evidence_refs))
        allowed = [at for at in proof.cited if access is ProofAccess.ALL or every[at].ref.kind in IN_CODE]
        shown = [(every[at], proof.sentences(at)) for at in allowed]
        return ReadProof(proof=proof, access=access, shown=shown, withheld=len(proof.cited) - len(shown))

    def _access(self, state: ThreadState, user: str, team: str, chat_id: str) -> ProofAccess:
        if self.approvers.allow(user, team):
            return ProofAccess.ALL
        try:
            person = self.workspace.person(user, fresh=True)
            if chat_id != state.chat_id or person.is_deactivated or not self._is_inside(user, chat_id):
                raise InputError(ELSEWHERE)
        except ProviderError as error:
            raise InputError(UNKNOWN) from error
        return ProofAccess.LINES if is_member(person, team, state.team_id) else ProofAccess.PLACES

    def _is_inside(self, user: str, chat_id: str) -> bool:
        """Whether somebody can read a channel in which they clicked; one that left a private channel cannot."""
        is_closed = chat_id.startswith("D") or self.workspace.channel(chat_id).is_private
        return not is_closed or user in self.workspace.members(chat_id)


def approver_name(state: ThreadState, workspace: Workspace) -> str | None:
    """Return who approved a reply, by name, None for nobody; a chat that names nobody holds up no reply."""
    try:
        return workspace.person(state.approved_by).name if state.approved_by else None
    except ProviderError:
        log.info("an approver is not named", extra={"action": "approver_unnamed"}, exc_info=True)
        return "an approver"


def posted_proof(store: Threads, workspace: Workspace, state: ThreadState) -> tuple[ReplyProof, str | None]:
    """Return what is proved of a reply that is being posted, and who approved it, by name."""
    return proof_of(with_checks(state, store)), approver_name(state, workspace)


def with_checks(state: ThreadState, store: Threads) -> ThreadState:
    """Return a twin with the checks of the thread that was investigated for it; any other thread as it is."""
    first = store.latest(state.twin_of) if state.twin_of and not state.rounds else None
    return state.evolve(rounds=first.rounds) if first is not None else state


def proof_of(state: ThreadState) -> ReplyProof:
    """Return what is proved of the words that a thread proposes or has posted."""
    words = None
    if state.has_edited_draft:
        words = _SPACE.sub(" ", state.draft_pending or "")
        state = _as_of_round(state, words)
    ret = state.investigator_return
    if ret is None:
        return ReplyProof(thread=state)
    refs, marks = len(ret.evidence_refs), claim_marks(state.checks, len(ret.said_claims))
    said = [(one, mark) for one, mark in zip(ret.said_claims, marks, strict=True) if _stands(one.text, words)]
    backed = tuple(one for one, mark in said if mark)
    counts = list(range(refs))
    if words is not None:  # a sentence of an earlier release has no mark of its own
        kept = backed if ret.claims else [one for one, _ in said]
        counts = sorted({at for one in kept for at in one.cites if at < refs})
    stated = [one for one, mark in said if not mark and (mark is False or one.kind is not ClaimKind.OTHER)]
    unproved = len(stated) if ret.claims else 0
    return ReplyProof(thread=state, cited=tuple(counts), backed=backed, unproved=unproved)


def _as_of_round(state: ThreadState, words: str) -> ThreadState:
    """Return a thread as of the latest round of which a sentence stands in a human's words; else as it is."""
    for one in reversed(state.rounds):
        ret = one.investigator_return
        if any(_stands(claim.text, words) for claim in ret.said_claims):
            return state.evolve(investigator_return=ret, rounds=(one,))
    return state


def _stands(sentence: str, words: str | None) -> bool:
    """Whether a sentence stands in a text unchanged and as a whole; None: the text is made of it."""
    if words is None:
        return True
    one = _SPACE.sub(" ", sentence).strip()
    at = words.find(one) if one else -1
    while at >= 0:
        before, after = words[:at].rstrip(" "), words[at + len(one) :].lstrip(" ")
        is_whole = one.endswith(_SENTENCE_ENDS) or not after or after.startswith("\n")
        if is_whole and (not before or before.endswith(_SENTENCE_ENDS)):
            return True
        at = words.find(one, at + 1)
    return False


def proof_words(proof: ReplyProof, approver: str | None) -> str:
    """Return the line under a reply: what is proved, what is not, and who approved it.

    `approver` is their name, made inert; None where nobody approved it, or nobody knows who did.
    """
    proved = [ref for ref, mark in proof.places if mark]
    in_code = [ref for ref in proved if ref.kind in IN_CODE]
    said = [_matches(in_code)] if in_code else []
    if others := len(proved) - len(in_code):
        said.append(f"✓ {counted(others, 'tool result or note', 'tool results or notes')}")
    state = proof.thread
    is_edited = state.has_edited_draft
    rest = [counted(len(proof.places) - len(proved), "place")] if len(proof.places) > len(proved) else []
    rest += [counted(proof.unproved, "sentence")] if proof.unproved else []
    rest += ["what was edited"] if is_edited else []
    said = said or ["Code proved nothing of this reply"]
    said += [f"not proved: {', '.join(rest)}"] if rest else []
    by = f"{'edited and ' if is_edited else ''}approved by {approver}"
    return " · ".join([*said, by if approver else "sent automatically" if is_auto(state) else "posted earlier"])


def _matches(refs: Collection[EvidenceRef]) -> str:
    """Return how many places match which commits."""
    commits = {(ref.commit or ref.ref)[:SHORT_COMMIT] for ref in refs}
    named = " and ".join(sorted(commits)) if len(commits) <= MAX_NAMED_COMMITS else f"{len(commits)}"
    verb = "matches" if len(refs) == 1 else "match"
    return f"✓ {counted(len(refs), 'place')} {verb} {'commit' if len(commits) == 1 else 'commits'} {named}"


LOG_TAIL_BYTES: Final = 1024 * 1024
EARLIER_REPLIES: Final = 500
"""How many of the newest replies are looked through for an answer to the same question."""

EARLIER_CHARS: Final = 1_000


def reply_record(state: ThreadState, *, at: datetime) -> Mapping[str, Any]:
    """Return the line of replies.ndjson for a posted reply."""
    ret, usage = state.investigator_return, state.usage
    edited = state.has_edited_draft
    return {
        "question": state.question,
        "chat_id": state.chat_id,
        "reply_to_message_id": state.original_message_id,
        "posted_message_id": state.posted_message_id,
        "posted_at": at.isoformat(),
        "reply_text": state.draft_pending,
        "investigator_task_id": state.investigator_task_id,
        "validator_verdict": _verdict_line(state),
        "investigator_rounds": state.investigator_round,
        "was_escalated": state.is_escalated,
        "triage_file": state.triage_file_path,
        "thread_id": state.thread_id,
        "approved_by": state.approved_by,
        "edited": edited,
        "draft_text": ret.draft_reply if ret and edited else None,
        "evidence_refs": [ref.model_dump(mode="json") for ref in _refs_of_reply(state)],
        "claims": [claim.model_dump(mode="json") for claim in ret.said_claims] if ret and not edited else [],
        "latency_s": round((at - state.started_at).total_seconds(), 3),
        "usage": usage.model_dump() if usage else None,
        **({"twin_of": state.twin_of} if state.twin_of else {}),
        **({"fingerprint": state.alert.fingerprint} if state.alert else {}),
        **({"auto": True} if is_auto(state) else {}),
    }


def _refs_of_reply(state: ThreadState) -> Iterator[EvidenceRef]:
    """Yield what the reply cites: all that its draft does, or of those what a human's words still name."""
    for ref in state.evidence_refs:
        if not state.has_edited_draft or (ref.ref.rpartition(":")[0] or ref.ref) in (state.draft_pending or ""):
            yield ref


def _verdict_line(state: ThreadState) -> str:
    verdict = state.validator_return
    if verdict is None or state.pending_reason in (PendingReason.FAILED, PendingReason.CONTEXT):
        return "none"
    if verdict.verdict is Verdict.PASS:
        return "pass" if state.investigator_round == 1 else "bounce-then-pass"
    return "escalate-then-user-approved"


def is_logged(replies: Journal, state: ThreadState) -> bool:
    """Whether the log has the line of a thread's posted reply."""
    return any(line.get("posted_message_id") == state.posted_message_id for line in _lines_of(replies, state))


def logged_claim(replies: Journal, state: ThreadState) -> str | None:
    """Return as what message the log says that a claimed draft was posted; None where it does not say so."""
    claimed_at = state.user_approved_at or (state.post_intent.at if state.post_intent else state.started_at)
    lines = [(posted_at(line), line.get("posted_message_id")) for line in _lines_of(replies, state)]
    return next((posted for at, posted in reversed(lines) if at is not None and at >= claimed_at), None)


def posted_at(line: Mapping[str, Any]) -> datetime | None:
    """Return when the reply of a line was posted; None where the line does not say so."""
    try:
        at = datetime.fromisoformat(str(line.get("posted_at")))
    except ValueError:
        return None
    return at if at.tzinfo else None


def _lines_of(replies: Journal, state: ThreadState) -> Iterator[Mapping[str, Any]]:
    records = replies.records(last_bytes=LOG_TAIL_BYTES)
    return (record for record in records if record.get("thread_id") == state.thread_id)


def earlier_reply(
    replies: Journal, state: ThreadState, still_stands: Callable[[EvidenceRef], bool]
) -> EarlierReply | None:
    """Return the newest approved reply to the same question or alert in another thread, if there is one."""
    keys = keys_of(state)
    for record in islice(replies.newest_first(), EARLIER_REPLIES if keys else 0):
        said = question_keys(str(record.get("question") or ""), str(record.get("fingerprint") or ""))
        if not said.isdisjoint(keys) and record.get("thread_id") != state.thread_id and not record.get("auto"):
            return _read(record, still_stands)
    return None


def _read(record: Mapping[str, Any], still_stands: Callable[[EvidenceRef], bool]) -> EarlierReply | None:
    """Return a reply, and which of the lines it cites are not as they were; None for a record of another shape."""
    try:
        refs = [EvidenceRef.model_validate(ref) for ref in record.get("evidence_refs") or ()]
        return EarlierReply(
            chat_id=record["chat_id"],
            message_id=record["posted_message_id"],
            text=str(record["reply_text"])[:EARLIER_CHARS],
            posted_at=record["posted_at"],
            approved_by=record.get("approved_by"),
            changed=tuple(ref.ref for ref in refs if ref.kind is EvidenceKind.FILE and not still_stands(ref)),
        )
    except (KeyError, ValidationError):
        log.warning("an earlier reply could not be read", extra={"action": "reply_unread"}, exc_info=True)
        return None
