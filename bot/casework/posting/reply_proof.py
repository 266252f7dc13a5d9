"""What of a posted reply is proved, and who may read the proof.

Rests on the checks that were stored with the draft. Of a reply that a human edited only the sentences that stand in it
unchanged count, each for what it cites. Reads the thread's record, open or archived, and looks the places up anew.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from bot.casework.approvers import UNKNOWN, Approvers, is_member
from bot.casework.checks.shown_evidence import EvidenceReader, ShownCitation
from bot.domain.drafts import is_auto
from bot.domain.returns import Claim, ClaimKind, EvidenceKind, EvidenceRef, claim_marks
from bot.domain.text.humanize import counted
from bot.domain.threads import ThreadState
from bot.errors import InputError, ProviderError
from bot.ports import Workspace
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
