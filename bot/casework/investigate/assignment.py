"""The input of an investigator (`Assignment`), its result (`Investigation`), and the port Investigator.

An assignment is made for one round from the thread's state, the chat, memory and one line on each other open thread,
never from the codebase; its size is counted as orchestrator tokens (UTF-8 bytes / 4). The thread's messages are passed
on unread and are not counted.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol

from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.casework.thread_service import ThreadService
from bot.domain.questions.rubrics import rubric_for
from bot.domain.returns import Check, InvestigatorReturn, Usage, ValidatorReturn, total_usage
from bot.domain.search.passages import MemoryHit
from bot.domain.threads import QuestionType, Round, ThreadState
from bot.errors import ProviderError
from bot.ports import ChatMessage, is_stranger

log = logging.getLogger(__name__)

QUESTION_CHARS = 100
FINDING_CHARS = 160
MAX_SUMMARIES: Final = 10
SUMMARY_TOKENS: Final = 500
"""Of the lines on other open threads together, however many are open."""

MAX_FILES: Final = 4

Points = Mapping[QuestionType, Sequence[str]]
"""What a team asks of answers to a type of question, besides the rubric."""

NO_POINTS: Final[Points] = {}


class ThreadMessage(NamedTuple):
    """What somebody said, and who."""

    sender: str
    text: str


class FollowUp(NamedTuple):
    """What was written in the thread after the question; `opened`: it called the bot to that question."""

    text: str
    by_asker: bool = True
    opened: bool = False

    @property
    def is_question(self) -> bool:
        """Whether it asks something, whoever wrote it."""
        return "?" in self.text or "？" in self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class Assignment:
    """One question to look into: all an investigator knows when it starts.

    `summaries` has one line for each other open thread; `feedback` is why the draft of the round before came back;
    `spent_usd` is what the thread has cost so far; `earlier` is what people wrote in the thread before the question,
    oldest first, so that "and where is it set?" can be understood; `follow_ups` came after it, oldest first, and are in
    `thread_context` as well, if the chat could be read, behind the long files of the question; `trace_notes` says where
    the frames of a stack trace in the question stand in the codebase, and what changed there; `codebases` are the ids
    of those that the channel is about, none: all of the team's; `images` are the file ids of the question's images;
    `refreshed` are the ids of those codebases whose index was brought up to HEAD for this question, none: nobody has
    tried, or none can be used; `service` is what the tool of an alert names, "" where it names none.
    """

    question: str
    asked_by: str | None = None
    question_type: QuestionType
    rubric: str
    round: int
    thread_context: tuple[ThreadMessage, ...] = ()
    human_context: tuple[ThreadMessage, ...] = ()
    summaries: tuple[str, ...] = ()
    memory_hits: tuple[MemoryHit, ...] = ()
    feedback: str | None = None
    spent_usd: float = 0.0
    earlier: tuple[str, ...] = ()
    follow_ups: tuple[FollowUp, ...] = ()
    trace_notes: str = ""
    codebases: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    refreshed: tuple[str, ...] = ()
    service: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Investigation:
    """A draft, what was read for it (None: nobody knows), what it cost and who made it (a model's id, or `offline`).

    `convergence_forced` says that the run made no progress and was told to answer with what it had. `images`
    says of each image that was shown what it is, and its size.
    """

    ret: InvestigatorReturn
    ledger: Ledger | None
    usage: Usage
    investigator: str
    convergence_forced: bool = False
    images: tuple[str, ...] = ()

    def as_trace(self) -> dict[str, Any]:
        """Return what the record of the run keeps."""
        return {
            "investigator": self.investigator,
            "convergence_forced": self.convergence_forced,
            "images": self.images,
            "usage": self.usage.model_dump(),
            "ledger": self.ledger.model_dump() if self.ledger else None,
            "return": self.ret.model_dump(mode="json"),
        }

    def as_transcript(self, assignment: Assignment) -> str:
        """Return the run for a human to read: what was asked, what was read, what came of it."""
        known = self.ledger.reads if self.ledger else ()
        reads = "\n".join(f"- {read.path}:{read.start}-{read.end} at {read.commit[:12]}" for read in known)
        return (
            f"# Question\n\n{assignment.question}\n\n# Rubric\n\n{assignment.rubric}\n\n"
            f"# Read\n\n{reads or '(nothing)'}\n\n"
            f"# Draft ({self.investigator}, confidence {self.ret.confidence})\n\n{self.ret.draft_reply}\n"
        )

    def as_products(self) -> dict[str, str]:
        """Return the files that people may take from the run: the draft, the proposed patch and note."""
        patch, note = self.ret.proposed_patch, self.ret.proposed_triage_file
        found = {
            "draft.md": self.ret.draft_reply,
            "proposed.patch": patch.diff if patch else "",
            "proposed-note.md": note.content if note else "",
        }
        return {name: f"{text.strip()}\n" for name, text in found.items() if text.strip()}


class Investigator(Protocol):
    """Looks into a question; never posts, never writes."""

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return a draft with its evidence, or open questions instead; raises ProviderError."""


def build_assignment(
    service: ThreadService, state: ThreadState, number: int, thread: Sequence[ChatMessage]
) -> tuple[Assignment, int]:
    """Return the assignment of round `number` and what reading it cost, in tokens; `thread` is from `read_thread`."""
    hits = service.memory.search(state.question)
    lines = summaries(service, state)
    feedback = state.validator_return.bounce_feedback if state.validator_return and number > 1 else None
    context = tuple(ThreadMessage(entry.by, entry.text) for entry in state.human_context)
    assignment = Assignment(
        question=state.question,
        asked_by=_name_of(state),
        question_type=state.question_type,
        rubric=state.rubric or "",
        round=number,
        thread_context=(*_long_files(service, state, thread), *_conversation(service, state, thread)),
        earlier=tuple(said.text for said in _conversation(service, state, _before(state, thread))),
        follow_ups=tuple(_follow_ups(state, thread)),
        human_context=context,
        summaries=lines,
        memory_hits=tuple(hits),
        feedback=feedback,
        spent_usd=(state.usage.cost_usd if state.usage else None) or 0.0,
        codebases=service.codebases.picked(state),
        images=state.images,
        service=state.alert.service if state.alert else "",
    )
    added = [said.text for said in context]
    found = [f"{hit.ref} {hit.title} {hit.excerpt}" for hit in hits]
    return assignment, count_tokens([state.question, state.rubric or "", feedback or "", *added, *lines, *found])


def summaries(service: ThreadService, state: ThreadState) -> tuple[str, ...]:
    """Return one line on each of the other open threads, the newest first.

    At most `MAX_SUMMARIES` of them, and `SUMMARY_TOKENS` together.
    """
    others = (one for one in reversed(service.store.open_threads()) if one.thread_id != state.thread_id)
    lines: list[str] = []
    for line in islice((_summary(one) for one in others if one.twin_of is None), MAX_SUMMARIES):
        if count_tokens([*lines, line]) > SUMMARY_TOKENS:
            break
        lines.append(line)
    return tuple(lines)


def count_tokens(read: Sequence[str]) -> int:
    """Return what reading these texts costs, by the measure of AC-02: UTF-8 bytes / 4.

    >>> count_tokens(["é" * 10, "abcd"])
    6
    """
    return sum(len(text.encode("utf-8", "replace")) for text in read) // 4


def words_of_return(ret: InvestigatorReturn) -> list[str]:
    """Return what the orchestrator reads of a structured return: all but the investigator's notes and files."""
    refs = [f"{ref.ref} {ref.quote} {ref.supports_claim}" for ref in ret.evidence_refs]
    said = [ret.summary_for_orchestrator, ret.confidence_reason, ret.draft_reply, ret.gloss or ""]
    return [*said, *refs, *ret.open_questions, ret.escalation_reason or ""]


def changes_of_return(
    now: ThreadState,
    ret: InvestigatorReturn,
    *,
    run_id: str,
    investigator: str | None = None,
    usage: Usage | None,
    read: int = 0,
    points: Points = NO_POINTS,
) -> dict[str, Any]:
    """Return what an investigator's return changes in its thread.

    `read` is what its assignment cost, in tokens; `points` are the team's own for the rubric of a corrected type.
    """
    number = now.investigator_round + 1
    ret = ret.model_copy(update={"investigator_round": number})
    return {
        "investigator_task_id": run_id,
        "investigator": investigator,
        "investigator_round": number,
        "investigator_return": ret,
        "rounds": (*now.rounds, Round(round=number, investigator_return=ret)),
        "usage": total_usage(now.usage, usage),
        "orchestrator_tokens": (now.orchestrator_tokens or 0) + read + count_tokens(words_of_return(ret)),
        **corrected_type(now, ret, points),
    }


def corrected_type(now: ThreadState, ret: InvestigatorReturn, points: Points = NO_POINTS) -> dict[str, Any]:
    """Return the type and rubric of a thread whose investigator takes the question for another type, else nothing."""
    if ret.question_type == now.question_type or ret.question_type not in set(QuestionType):
        return {}
    kind = QuestionType(ret.question_type)
    return {"question_type": kind, "rubric": rubric_for(kind, also=points.get(kind, ())).render()}


def words_of_verdict(verdict: ValidatorReturn, checks: Sequence[Check]) -> list[str]:
    """Return what the orchestrator reads of a validation: the verdict, and what the checks said."""
    return [*verdict.reasons, verdict.bounce_feedback or "", *(check.reason for check in checks)]


def read_thread(service: ThreadService, state: ThreadState) -> Sequence[ChatMessage]:
    """Return the thread's messages, oldest first; empty where the chat cannot say."""
    try:
        return service.workspace.thread(state.chat_id, state.thread_ts)
    except ProviderError:
        log.warning("thread could not be read", extra={"action": "thread_unread", "thread_id": state.thread_id})
        return ()


def _conversation(
    service: ThreadService, state: ThreadState, thread: Sequence[ChatMessage]
) -> tuple[ThreadMessage, ...]:
    """Return what people whom triage listens to said in the thread besides the question, oldest first."""
    others = [one for one in thread if one.message_id != state.original_message_id and not one.is_bot]
    heard = {sender for sender in dict.fromkeys(one.sender_id for one in others) if _is_heard(service, sender)}
    return tuple(ThreadMessage(one.sender_id, one.text) for one in others if one.sender_id in heard)


def _long_files(service: ThreadService, state: ThreadState, thread: Sequence[ChatMessage]) -> Iterator[ThreadMessage]:
    """Yield what stands in the question's text files of which the question shows the beginning, as far as it can."""
    found = next((one.long_files for one in thread if one.message_id == state.original_message_id), ())
    for file_id in found[:MAX_FILES]:
        try:
            yield ThreadMessage(f"{_name_of(state)}, in a file", service.attachments.text(file_id))
        except ProviderError as error:
            log.warning("a file was not read: %s", error, extra={"action": "file_unread", "thread_id": state.thread_id})


def _before(state: ThreadState, thread: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Return the messages of the thread that came before the question; none where the question is not among them."""
    ids = [one.message_id for one in thread]
    return thread[: ids.index(state.original_message_id)] if state.original_message_id in ids else ()


def _follow_ups(state: ThreadState, thread: Sequence[ChatMessage]) -> Iterator[FollowUp]:
    """Yield what was recorded of the thread, as it reads now: no guest's words, and no mere thanks."""
    now = {one.message_id: one.text for one in thread}
    for one in state.followups:
        yield FollowUp(
            now.get(one.message_id, one.text),
            by_asker=one.sender_id == state.original_sender_id,
            opened=one.message_id == state.opened_by_message_id,
        )


def _is_heard(service: ThreadService, user_id: str) -> bool:
    """Whether what somebody writes may reach an investigator; nobody's words do whom the chat cannot tell of."""
    if service.settings.watcher.allow_external:
        return True
    try:
        return bool(user_id) and not is_stranger(service.workspace.person(user_id))
    except ProviderError:
        log.warning("left out of a thread: nobody can say who wrote", extra={"action": "sender_unknown"}, exc_info=True)
        return False


def _name_of(state: ThreadState) -> str:
    """Return who asked, by id and by the name they chose."""
    name = state.original_sender_name
    return f"{state.original_sender_id} ({name})" if name else state.original_sender_id


def _summary(state: ThreadState) -> str:
    """Return one line on an open thread for the others to know of: its id first, what is known of the answer last."""
    ret = state.investigator_return
    found = f" -> {' '.join(ret.summary_for_orchestrator.split())[:FINDING_CHARS]}" if ret else ""
    return f"{state.thread_id} [{state.status}] {' '.join(state.question.split())[:QUESTION_CHARS]}{found}"
