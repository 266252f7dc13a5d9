"""The life of one question: its state, and the one table of steps it may take.

A step that is not in `TRANSITIONS` raises IllegalTransition and changes nothing. `closed` is terminal: its row is
empty, and a later question in the same Slack thread starts a fresh state.

    investigating ──> awaiting-validation ──> pending-user ──> closed
          │  ^               │  ^                 │  ^
          │  └─ bounced-round-1 ┘ <───────────────┘  └ failed, context, disagreement
          └───────> escalated ─────────────────────────┘      (every open status may close)
"""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Final, Self

from pydantic import AwareDatetime, Field

from bot.domain.alerts import Severity, ThreadAlert
from bot.domain.events import thread_key as thread_key
from bot.domain.frozen_value import WITHOUT_UNDERSCORE, FrozenValue
from bot.domain.paging import Paging
from bot.domain.questions.autonomy_record import AutoJudgement
from bot.domain.returns import Check, EvidenceRef, InvestigatorReturn, ProposedPatch, Usage, ValidatorReturn, ref_marks
from bot.domain.waits import Doubt, Wait
from bot.errors import IllegalTransition, InputError

REPLY_MARK: Final = "triage_reply:"
"""How the id of the first block of every reply begins."""

PROOF_MARK: Final = "triage_proof:"
"""How the id of the block begins that says under a reply what of it is proved."""

_MENTION: Final = re.compile(r"<@(\w+)")

_PEOPLE: Final = ("U", "W")

THREAD_ID = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[0-9]+\.[0-9]+")


class ThreadStatus(StrEnum):
    """Where a thread is in its life; `escalated` means a long headless run is under way."""

    INVESTIGATING = "investigating"
    AWAITING_VALIDATION = "awaiting-validation"
    PENDING_USER = "pending-user"
    BOUNCED = "bounced-round-1"
    ESCALATED = "escalated"
    CLOSED = "closed"


class PendingReason(StrEnum):
    """Why a thread waits for a human."""

    APPROVAL = "approval"
    DISAGREEMENT = "disagreement"
    CONTEXT = "context"
    FAILED = "failed"
    STOPPED = "stopped"


class Resolution(StrEnum):
    """How a thread ended; `superseded`: without a reply of ours, after a person had answered in the thread."""

    APPROVED = "approved"
    EDITED = "edited"
    AUTO = "auto"
    DISMISSED = "dismissed"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"


class QuestionType(StrEnum):
    """What kind of answer a question wants; each has its own rubric."""

    TECHNICAL_QA = "technical_qa"
    STATUS_CHECK = "status_check"
    DATA_LOOKUP = "data_lookup"
    API_CONTRACT = "api_contract"
    OTHER = "other"


_AT_WORK: Final = frozenset({ThreadStatus.INVESTIGATING, ThreadStatus.AWAITING_VALIDATION, ThreadStatus.BOUNCED})
_NO_REASON: frozenset[PendingReason | None] = frozenset({None})
_P = PendingReason

TRANSITIONS: Mapping[ThreadStatus, Mapping[ThreadStatus, frozenset[PendingReason | None]]] = MappingProxyType(
    {
        ThreadStatus.INVESTIGATING: {
            ThreadStatus.AWAITING_VALIDATION: _NO_REASON,
            ThreadStatus.ESCALATED: _NO_REASON,
            ThreadStatus.PENDING_USER: frozenset({_P.FAILED, _P.CONTEXT, _P.STOPPED}),
            ThreadStatus.CLOSED: _NO_REASON,
        },
        ThreadStatus.AWAITING_VALIDATION: {
            ThreadStatus.PENDING_USER: frozenset({_P.APPROVAL, _P.DISAGREEMENT, _P.FAILED, _P.STOPPED}),
            ThreadStatus.BOUNCED: _NO_REASON,
            ThreadStatus.CLOSED: _NO_REASON,
        },
        ThreadStatus.BOUNCED: {
            ThreadStatus.AWAITING_VALIDATION: _NO_REASON,
            ThreadStatus.ESCALATED: _NO_REASON,
            ThreadStatus.PENDING_USER: frozenset({_P.FAILED, _P.STOPPED}),
            ThreadStatus.CLOSED: _NO_REASON,
        },
        ThreadStatus.ESCALATED: {
            ThreadStatus.AWAITING_VALIDATION: _NO_REASON,
            ThreadStatus.PENDING_USER: frozenset({_P.FAILED, _P.STOPPED}),
            ThreadStatus.CLOSED: _NO_REASON,
        },
        ThreadStatus.PENDING_USER: {
            ThreadStatus.INVESTIGATING: _NO_REASON,
            ThreadStatus.ESCALATED: _NO_REASON,
            ThreadStatus.CLOSED: _NO_REASON,
        },
        ThreadStatus.CLOSED: {},
    }
)


class Transition(FrozenValue):
    """One line of a thread's history."""

    at: AwareDatetime
    from_: ThreadStatus
    to: ThreadStatus
    why: str
    by: Annotated[str | None, Field(exclude_if=operator.not_)] = None
    """The user id of who asked for this step, where `why` names them."""
    round: Annotated[int | None, Field(exclude_if=operator.not_)] = None
    """The round whose draft arrived with this step."""

    model_config = WITHOUT_UNDERSCORE


class Round(FrozenValue):
    """One pass of investigator, checks and validator; `chosen_by` chose its lines among what a search had found."""

    round: int
    investigator_return: InvestigatorReturn
    checks: tuple[Check, ...] = ()
    validator_return: ValidatorReturn | None = None
    chosen_by: Annotated[str | None, Field(exclude_if=operator.not_)] = None


class Followup(FrozenValue):
    """A message that came into the thread while it was open.

    `waits`: it asks something that the run under way does not know of.
    """

    message_id: str
    sender_id: str
    text: str
    at: AwareDatetime
    waits: Annotated[bool, Field(exclude_if=operator.not_)] = False


class HumanContext(FrozenValue):
    """What a human added that neither the code nor the message holds."""

    by: str
    at: AwareDatetime
    text: str


class PostIntent(FrozenValue):
    """Written before a reply is posted, so that a crash in between is noticed and settled."""

    at: AwareDatetime
    draft_hash: str
    doubts: int = 0
    """How many of the `doubts` the approver had seen; more by now, and the reply is not posted late."""
    twins: Annotated[tuple[str, ...], Field(exclude_if=operator.not_)] = ()
    """The ids of the twins in whose threads the reply is to be posted as well."""
    is_auto: Annotated[bool, Field(exclude_if=operator.not_)] = False
    """Whether no human approved it."""
    is_unsent: Annotated[bool, Field(exclude_if=operator.not_)] = False
    """Whether nothing was sent yet, so that nothing can be on its way; `at` is when it was sent once something was."""


class Twin(FrozenValue):
    """Another thread in which the same was asked while this one was open; its own record names this one as `twin_of`.

    The list only grows, so that a click can say how much of it the card showed.
    """

    thread_id: str
    chat_id: str
    message_id: str
    asker: str
    asked_at: AwareDatetime
    permalink: str | None = None
    reason: str = ""
    """Read by earlier versions only, which need it."""
    joined_by: Annotated[str | None, Field(exclude_if=operator.not_)] = None
    """Who said that it asks the same; None where it has the same text, trace or alert."""
    question: Annotated[str, Field(exclude_if=operator.not_)] = ""
    """How its words begin, where somebody joined it; they are others."""
    is_apart: bool = False
    """Whether it is no twin any more: taken out, deleted, edited, or somebody went on in its thread."""


class EarlierReply(FrozenValue):
    """A reply that was approved to the same question before."""

    chat_id: str
    message_id: str
    text: str
    posted_at: AwareDatetime
    approved_by: str | None = None
    changed: tuple[str, ...] = ()
    """Its citations of files whose lines are no longer as they were."""


class HandOver(FrozenValue):
    """Who gave a thread to its assignee, and whether that person or group was told."""

    by: str
    at: AwareDatetime
    is_told: bool = False


class NewDraft(FrozenValue):
    """The investigator's draft that is shown beside a human's text; bot/domain/drafts.py decides between them."""

    text: str
    hash: str


class ThreadState(FrozenValue):
    """Everything known about one open thread; the document in state/<thread_id>.json."""

    thread_id: str
    team_id: str
    chat_id: str
    chat_name: str | None = None
    original_message_id: str
    opened_by_message_id: str | None = None
    """The message that opened this state, where that is not the question itself: a mention that points to it."""
    original_sender_id: str
    original_sender_name: str | None = None
    question: str
    images: Annotated[tuple[str, ...], Field(exclude_if=operator.not_)] = ()
    """Slack's file ids of the images in the question."""
    codebases: Annotated[tuple[str, ...], Field(exclude_if=operator.not_)] = ()
    """The ids of the codebases it is about; none: those of its channel."""
    alert: ThreadAlert | None = None
    """What an alert bot reported, where that opened the thread."""
    assignee: str | None = None
    """Who has it: a Slack user or user group id."""
    handed: Annotated[HandOver | None, Field(exclude_if=operator.not_)] = None
    """How the assignee got it; None where they took it themselves."""
    permalink: str | None = None
    question_type: QuestionType = QuestionType.OTHER
    severity: Severity = Severity.ACT
    """`page` where the rules heard an alarm ("prod is down!!")."""
    paging: Paging = Field(default_factory=Paging)
    from_bot: Annotated[bool, Field(exclude_if=operator.not_)] = False
    """Whether an app wrote the question; most post as a user of their own, whose id looks like a person's."""
    mentions_bot: Annotated[bool, Field(exclude_if=operator.not_)] = False
    """Whether the question itself named the bot."""
    status: ThreadStatus = ThreadStatus.INVESTIGATING
    status_history: tuple[Transition, ...] = ()
    pending_reason: PendingReason | None = None
    resolution: Resolution | None = None
    rubric: str | None = None
    investigator_task_id: str | None = None
    investigator: str | None = None
    """Who made the latest draft: a model, or `offline`; None in records that do not say."""
    investigator_round: int = 0
    investigator_return: InvestigatorReturn | None = None
    validator_task_id: str | None = None
    validator_return: ValidatorReturn | None = None
    rounds: tuple[Round, ...] = ()
    is_escalated: bool = False
    escalation_tmux_session: str | None = None
    escalation_transcript_path: str | None = None
    draft_pending: str | None = None
    draft_version: int = 0
    draft_hash: str | None = None
    draft_edited_by: str | None = None
    """Whose words the draft is; None where the investigator's, or where the record does not say whose."""
    draft_new: NewDraft | None = None
    """The investigator's draft beside a human's text."""
    draft_decided_by: Annotated[str | None, Field(exclude_if=operator.not_)] = None
    """Who last edited the draft, or chose between two."""
    drafts_replaced: Annotated[tuple[HumanContext, ...], Field(exclude_if=operator.not_)] = ()
    """What humans wrote, each with its author, and somebody exchanged for the investigator's draft."""
    card_channel: str | None = None
    card_ts: str | None = None
    followups: tuple[Followup, ...] = ()
    human_context: tuple[HumanContext, ...] = ()
    doubts: Annotated[tuple[Doubt, ...], Field(exclude_if=operator.not_)] = ()
    """What changed since the draft was made; `with_doubts` adds to them."""
    stale_reasons: tuple[str, ...] = ()
    """The same in words, as the card shows them."""
    wait: Annotated[Wait | None, Field(exclude_if=operator.not_)] = None
    """What the machine's work waits for, where it does."""
    doubts_settled: Annotated[int, Field(exclude_if=operator.not_)] = 0
    """How many of the `doubts`, which are a human's text's, `draft_new` has taken into account."""
    post_intent: PostIntent | None = None
    dismiss_reason: str | None = None
    orchestrator_tokens: int | None = None
    approved_by: str | None = None
    user_approved_at: AwareDatetime | None = None
    posted_message_id: str | None = None
    triage_file_path: str | None = None
    usage: Usage | None = None
    twins: Annotated[tuple[Twin, ...], Field(exclude_if=operator.not_)] = ()
    """The other threads in which the same was asked, in the order in which they were found."""
    twin_of: Annotated[str | None, Field(exclude_if=operator.not_)] = None
    """The thread that is investigated for this one, which has no card of its own."""
    fix_url: Annotated[str | None, Field(exclude_if=operator.not_)] = None
    """The pull request with the draft's patch, which the reply then names."""
    earlier_reply: Annotated[EarlierReply | None, Field(exclude_if=operator.not_)] = None
    """An approved answer to the same question in another thread."""
    auto: Annotated[AutoJudgement | None, Field(exclude_if=operator.not_)] = None
    """Whether the latest draft could have been sent without a human; None where nobody asked."""
    started_at: AwareDatetime
    last_event_at: AwareDatetime
    closed_at: AwareDatetime | None = None
    version: int = 0

    @property
    def thread_ts(self) -> str:
        """Slack's ts of the thread the reply goes to."""
        return self.thread_id.split(".", 2)[2]

    @property
    def is_open(self) -> bool:
        """Whether work on the thread may still happen."""
        return self.status is not ThreadStatus.CLOSED

    @property
    def shown_twins(self) -> tuple[Twin, ...]:
        """The twins that are answered with it if somebody wants that; once it is closed, those that were."""
        if self.is_open:
            return tuple(twin for twin in self.twins if not twin.is_apart)
        answered = self.post_intent.twins if self.post_intent else ()
        return tuple(twin for twin in self.twins if twin.thread_id in answered)

    @property
    def has_edited_draft(self) -> bool:
        """Whether there is a draft whose words are a human's; where no editor is on record, the words tell."""
        if not self.draft_pending or self.draft_edited_by:
            return bool(self.draft_pending)
        ret = self.investigator_return
        return ret is None or self.draft_pending not in (ret.draft_reply, with_fix_link(ret.draft_reply, self.fix_url))

    @property
    def clicked_hash(self) -> str:
        """What the buttons of the card name as the draft; "" while there is none to decide on."""
        return "" if self.is_open and self.status is not ThreadStatus.PENDING_USER else self.draft_hash or ""

    @property
    def withdrawal(self) -> dict[str, Any]:
        """What `transition` takes where the investigator's draft is withdrawn; a human's text and its doubts stay."""
        known = tuple(said.evolve(waits=False) for said in self.followups)
        gone = {"investigator_round": 0, "draft_new": None, "draft_decided_by": None, "followups": known}
        if self.has_edited_draft:
            return {**gone, "doubts_settled": len(self.doubts)}
        return {**gone, "draft_pending": None, "draft_hash": None, "doubts": (), "stale_reasons": ()}

    @property
    def answered_by(self) -> str | None:
        """Who answered the asker in the thread, as far as code can tell: the last who did not ask, nor write to others.

        A message that ends in a question mark, or mentions anybody but the asker, is no answer.
        """
        return next((said.sender_id for said in reversed(self.followups) if self._answers(said)), None)

    def _answers(self, said: Followup) -> bool:
        others = set(_MENTION.findall(said.text)) - {self.original_sender_id}
        return said.sender_id != self.original_sender_id and not others and not said.text.rstrip().endswith(("?", "？"))

    @property
    def is_asked_more(self) -> bool:
        """Whether its draft waits and does not know of a question in the thread."""
        may_reopen = self.status is ThreadStatus.PENDING_USER and self.post_intent is None
        return may_reopen and any(said.waits for said in self.followups)

    @property
    def work_time(self) -> timedelta | None:
        """How long the latest draft took, from the question or the click that asked for it; None before it waits."""
        waits = [at for at, step in enumerate(self.status_history) if step.to is ThreadStatus.PENDING_USER]
        if not waits:
            return None
        before = [step for step in self.status_history[: waits[-1]] if step.from_ is ThreadStatus.PENDING_USER]
        return self.status_history[waits[-1]].at - (before[-1].at if before else self.started_at)

    @property
    def checks(self) -> tuple[Check, ...]:
        """What code found of `investigator_return`; empty while nobody has checked it, whatever it said of another."""
        last = self.rounds[-1] if self.rounds else None
        return last.checks if last and last.investigator_return == self.investigator_return else ()

    @property
    def message_ids(self) -> frozenset[str]:
        """The question and what was written in its thread, as far as it is recorded."""
        return frozenset((self.original_message_id, *(said.message_id for said in self.followups)))

    @property
    def evidence_refs(self) -> tuple[EvidenceRef, ...]:
        """What the latest draft cites."""
        return self.investigator_return.evidence_refs if self.investigator_return else ()

    @property
    def citations(self) -> list[tuple[EvidenceRef, bool | None]]:
        """The same, each with the mark of its checks."""
        refs = self.evidence_refs
        return list(zip(refs, ref_marks(self.checks, len(refs)), strict=True))

    @property
    def patch(self) -> ProposedPatch | None:
        """The patch that the latest draft proposes; None where there is none to show."""
        patch = self.investigator_return.proposed_patch if self.investigator_return else None
        return None if patch is None or patch.is_empty else patch

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with fields replaced; status changes go through `transition` instead."""
        if "status" in changes:
            raise IllegalTransition("status changes only through transition()")
        return self.model_copy(update=changes)

    def with_doubts(self, found: Iterable[Doubt]) -> Self:
        """Return a copy with those doubts added that it does not have yet; known ones are never dropped."""
        return self.in_doubt((*self.doubts, *(each for each in dict.fromkeys(found) if each not in self.doubts)))

    def in_doubt(self, doubts: Sequence[Doubt]) -> Self:
        """Return a copy with these doubts and no others."""
        return self.evolve(doubts=tuple(doubts), stale_reasons=tuple(doubt.text for doubt in doubts))

    @property
    def is_at_work(self) -> bool:
        """Whether it is being investigated or validated; a long run is not."""
        return self.status in _AT_WORK

    @property
    def is_alert(self) -> bool:
        """Whether a bot said it, or it pages."""
        return self.severity is Severity.PAGE or not self.is_from_person

    @property
    def is_from_person(self) -> bool:
        """Whether a person wrote the question."""
        return not self.from_bot and self.original_sender_id.startswith(_PEOPLE)

    def with_draft(self, text: str, *, by: str | None = None) -> Self:
        """Return a copy that proposes `text`: a new version and a new hash, so that earlier clicks no longer count.

        `by` is whose words they are; None: the investigator's.
        """
        return self.evolve(
            draft_pending=text, draft_version=self.draft_version + 1, draft_hash=hash_draft(text), draft_edited_by=by
        )

    def transition(
        self,
        to: ThreadStatus,
        *,
        at: datetime,
        why: str,
        by: str | None = None,
        reason: PendingReason | None = None,
        **changes: Any,
    ) -> Self:
        """Return the thread one step further, no longer waiting.

        Raises:
            IllegalTransition: `TRANSITIONS` holds no such step, or not for this reason. Nothing is changed.
        """
        allowed = TRANSITIONS[self.status].get(to)
        if allowed is None or reason not in allowed:
            suffix = f" ({reason})" if reason else ""
            raise IllegalTransition(f"{self.thread_id}: no step {self.status} -> {to}{suffix}")
        new = changes.get("rounds", ())[len(self.rounds) :]
        step = Transition(at=at, from_=self.status, to=to, why=why, by=by, round=new[-1].round if new else None)
        return self.model_copy(
            update={
                "wait": None,
                **changes,
                "status": to,
                "pending_reason": reason,
                "status_history": (*self.status_history, step),
            }
        )

    def reopened(self, *, at: datetime, why: str) -> Self:
        """Return a waiting thread sent back to the investigator, whose draft is withdrawn; a human's text stays."""
        return self.transition(ThreadStatus.INVESTIGATING, at=at, why=why, **self.withdrawal)

    def failed(self, *, at: datetime, why: str, **changes: Any) -> Self:
        """Return a thread that the machine cannot go on with: it waits for a human, who is told why."""
        return self.transition(ThreadStatus.PENDING_USER, at=at, why=why, reason=PendingReason.FAILED, **changes)

    def withdrawn(self, *, at: datetime) -> Self:
        """Return a thread closed because its question is gone; raises IllegalTransition if it is closed already."""
        return self.close(Resolution.WITHDRAWN, at=at, why="the question was deleted")

    def close(self, resolution: Resolution, *, at: datetime, why: str, **changes: Any) -> Self:
        """Return the thread closed, with how and when; raises IllegalTransition if it is closed already."""
        return self.transition(ThreadStatus.CLOSED, at=at, why=why, resolution=resolution, closed_at=at, **changes)


def with_fix_link(draft: str, url: str | None) -> str:
    """Return a draft that names the pull request of its patch, if there is one.

    >>> with_fix_link("The limit is 5.", "https://git.example/7")
    'The limit is 5.\\n\\nDraft PR: https://git.example/7'
    """
    return f"{draft}\n\nDraft PR: {url}" if url else draft


class LiveShown(FrozenValue):
    """Where the steps of a run stand since when, and to which `line` they fold; `ts` once the chat confirmed it."""

    line: str
    channel: str
    thread_ts: str
    at: AwareDatetime
    ts: str | None = None
    is_stream: bool = False


class CardShown(FrozenValue):
    """What a thread's card shows, so that a new process need not show it again."""

    digest: str = ""
    """Of its blocks and its text; empty where nobody knows, or where it shows how far a run is."""
    live: Annotated[LiveShown | None, Field(exclude_if=operator.not_)] = None
    """The steps below the card that are not folded yet; its run may have ended with its process."""


def reply_mark(state: ThreadState) -> str:
    """Return the mark of the reply to a question, which the hash of the posted words follows, after a colon."""
    return REPLY_MARK + reply_id_of(state)


def reply_id_of(state: ThreadState) -> str:
    """Return the id of the reply to a question, the same in every process that answers it.

    It names the thread and the message that opened it, so a question asked later in the same thread has another id.
    """
    opened_by = state.opened_by_message_id or state.original_message_id
    return hash_draft(f"{state.thread_id} {opened_by}")


def hash_draft(text: str) -> str:
    """Return the short hash a click is bound to.

    >>> hash_draft("Yes.") == hash_draft("Yes."), hash_draft("Yes.") == hash_draft("yes.")
    (True, False)
    """
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def check_thread_id(thread_id: str) -> str:
    """Return `thread_id` if it has the form `<team>.<channel>.<thread_ts>`, which is also safe as a file name.

    Raises:
        InputError: anything else, for example a path.
    """
    if not THREAD_ID.fullmatch(thread_id):
        raise InputError(f"{thread_id[:80]!r} is not a thread id; one looks like T01.C01.1700000000.000100")
    return thread_id
