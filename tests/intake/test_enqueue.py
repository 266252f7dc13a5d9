"""Which job a message becomes: decided by its words and by the place it was written in, without any state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.domain.alerts import Alert
from bot.domain.events import Event, thread_key
from bot.domain.jobs import (
    AlertArrived,
    FollowUpArrived,
    MentionInstruction,
    MessageDeleted,
    MessageEdited,
    MessageWork,
    QuestionAsked,
    Work,
)
from bot.domain.mention_instructions import InstructionKind
from bot.intake.classifier.classification import classify
from bot.intake.enqueue import requeue_lost_jobs
from tests.builders import QUESTION_TS, a_sorter, a_thread, an_event
from tests.fakes import FakeClock, MemoryJobQueue, MemoryJournal, MemoryThreads
from tests.tables import each_row

UNDER_A_CARD: dict[str, Any] = {"chat_id": "C0OPS", "thread_id": QUESTION_TS, "msg_type": "thread_reply"}


def said(text: str, **changes: Any) -> Event:
    return an_event(text, mentions=("U0BOT",) if "<@U0BOT>" in text else (), **changes)


def sort(event: Event, *, inflight: bool = True, **sessions: str) -> MessageWork | None:
    sorter = a_sorter(**sessions)
    return sorter.sort(event, classify(event, sorter.rules, inflight=inflight))


@each_row(
    "state, msg_type, is_work",
    [
        ("firing", "text", True),
        ("firing", "thread_reply", True),
        ("firing", "edit", True),
        ("resolved", "text", True),
        ("acknowledged", "edit", True),
        ("info", "text", False),
        ("info", "edit", True),
    ],
)
def test_what_an_alert_tool_says_is_about_its_alert_wherever_it_stands(
    state: str, msg_type: str, is_work: bool
) -> None:
    """Whatever its words, and whether the Slack thread it stands in is worked on."""
    alert = Alert(tool="", state=state, name="CPU", fingerprint="x:cpu")
    for text, inflight in (("is prod down?", False), ("<@U0BOT> status", True), ("ok", True)):
        sender = {"id": "B1", "type": "bot"}
        found = sort(said(text, alert=alert, msg_type=msg_type, sender=sender), inflight=inflight)
        assert type(found) is (AlertArrived if is_work else type(None))


def test_what_asks_for_nothing_is_no_work_outside_a_thread_in_flight() -> None:
    """An edit neither."""
    assert sort(said("we use v2"), inflight=False) is None
    assert sort(said("why?", msg_type="edit"), inflight=False) is None


def test_jobs_that_may_be_lost_are_queued_anew_unless_their_thread_is_known() -> None:
    """Questions and every alert since then; an alert's job changes nothing twice, so nobody has to know."""
    sorter, journal, store, clock = a_sorter(), MemoryJournal(), MemoryThreads(), FakeClock()
    jobs = MemoryJobQueue(clock)
    alert = Alert(tool="", state="resolved", name="CPU", fingerprint="x:cpu")
    asked = [said("why?", ts=f"179516520{number}.000100") for number in range(2)]
    for event in [*asked, said("ok", ts="1795165203.000100"), said("CPU", ts="1795165204.000100", alert=alert)]:
        found = classify(event, sorter.rules, inflight=False).model_copy(update={"classified_at": clock.now()})
        journal.append({**event.model_dump(mode="json"), **found.model_dump(mode="json")})
    store.put(a_thread(thread_id=thread_key(asked[0]), original_message_id=asked[0].message_id))
    since_ms = int(clock.now().timestamp() * 1000)
    assert requeue_lost_jobs(journal, store, jobs, sorter, since_ms=since_ms) == 2
    assert [type(job.work) for job in jobs.waiting.values()] == [QuestionAsked, AlertArrived]
    assert requeue_lost_jobs(journal, store, jobs, sorter, since_ms=since_ms + 3_600_000) == 0


@each_row(
    "text, work, is_ack",
    [
        ("why?", QuestionAsked, False),
        ("we use v2", FollowUpArrived, False),
        ("ok", FollowUpArrived, True),
        ("<@U0BOT> why does it fail?", QuestionAsked, False),
        ("<@U0BOT> ok", FollowUpArrived, True),
    ],
)
def test_a_remark_opens_no_thread_and_an_ack_is_nobodys_answer(text: str, work: type[Work], is_ack: bool) -> None:
    """An ack with the bot's name in it asks for nothing either."""
    found = sort(said(text))
    assert isinstance(found, FollowUpArrived)
    assert (type(found), found.is_ack) == (work, is_ack)


def test_a_picture_is_no_ack_whatever_its_caption() -> None:
    """A screenshot may be the answer."""
    found = sort(said("ok", msg_type="image"))
    assert isinstance(found, FollowUpArrived)
    assert not found.is_ack


def test_what_pages_says_so() -> None:
    """The rules' alarm goes with the question."""
    found = sort(said("prod is down!!"))
    assert isinstance(found, QuestionAsked)
    assert found.is_alarm


@each_row("msg_type, work", [("edit", MessageEdited), ("delete", MessageDeleted)])
def test_changes_are_their_own_work_whatever_they_say(msg_type: str, work: type[Work]) -> None:
    """Also where the words are an order."""
    found = sort(said("<@U0BOT> watch the CDN hourly", msg_type=msg_type), shop="Shop")
    assert type(found) is work


@each_row(
    "text, kind, command",
    [
        ("<@U0BOT> status", InstructionKind.COMMAND, "status"),
        ("<@U0BOT> lgtm", InstructionKind.DECISION, ""),
        ("<@U0BOT>", InstructionKind.BARE, ""),
        ("<@U0BOT> any idea?", InstructionKind.LOOK, ""),
    ],
)
def test_a_mention_that_is_nothing_but_an_instruction_is_read(text: str, kind: InstructionKind, command: str) -> None:
    """What it asks for goes with the job."""
    found = sort(said(text))
    assert isinstance(found, MentionInstruction)
    assert (found.instruction.kind, found.instruction.command) == (kind, command)


def test_a_mention_in_a_thread_of_the_ops_channel_may_stand_under_a_card() -> None:
    """Whether it does only the threads say, when the job is done; elsewhere the same words are a question."""
    found = sort(said("<@U0BOT> also check the retry path", **UNDER_A_CARD))
    assert isinstance(found, MentionInstruction)
    assert found.instruction.kind is InstructionKind.QUESTION
    assert type(sort(said("<@U0BOT> also check the retry path"))) is QuestionAsked


def test_an_order_to_a_session_is_a_question() -> None:
    """Nothing is special about a mention that asks for a recurring check."""
    for text in ("<@U0BOT> check the migrations every hour in shop", "<@U0BOT> stop checking stale branches"):
        assert type(sort(said(text), shop="Shop")) is QuestionAsked


@each_row(
    "text, changes",
    [
        ("<@U0BOT> why does the hourly job fail?", {}),
        ("watch the CDN hourly in shop?", {}),
        ("<@U0BOT> watch the CDN hourly", {"sender": {"id": "B1", "type": "bot"}}),
        ("<@U0BOT> status", {"sender": {"id": "B1", "type": "bot"}}),
        ("<@U0BOT> status", {"msg_type": "image"}),
        ("<@U0BOT> can you look into this?", {"images": ["F0FORWARDED"]}),
    ],
)
def test_only_what_a_person_says_to_the_bot_is_an_order(text: str, changes: dict[str, Any]) -> None:
    """All else that deserves work is a question."""
    assert type(sort(said(text, **changes), shop="Shop")) is QuestionAsked


@each_row(
    "text, inflight, kind",
    [
        ("isn't that the deploy?", False, FollowUpArrived),
        ("false alarm", False, FollowUpArrived),
        ("ok", False, FollowUpArrived),
        ("is it back?", True, FollowUpArrived),
        ("<@U0BOT> why is it down?", False, MentionInstruction),
    ],
)
def test_what_is_written_below_a_heartbeats_alert_is_no_question_unless_it_calls_the_bot(
    text: str, inflight: bool, kind: type[Work]
) -> None:
    """It may end a page, and is for the thread of a question that somebody asked there."""
    sorter = replace(a_sorter(), is_under_alert=lambda event: event.thread_id == QUESTION_TS)
    event = said(text, chat_id="D0ANA", thread_id=QUESTION_TS, msg_type="thread_reply")
    found = sorter.sort(event, classify(event, sorter.rules, inflight=inflight))
    assert type(found) is kind
