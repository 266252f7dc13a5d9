"""The life of a question, from the queue to the card, whatever comes into its thread and whenever the process dies."""

from __future__ import annotations

from pathlib import Path

import pytest

from blocks.cards.draft_actions import click_of
from bot.casework.clicks import DraftClick
from bot.domain.alerts import Severity
from bot.domain.events import MessageType
from bot.domain.jobs import MessageEdited, QuestionAsked
from bot.domain.returns import InvestigatorReturn, Verdict
from bot.domain.threads import HumanContext, PendingReason, PostIntent, Resolution, ThreadStatus
from bot.domain.waits import question_edited
from bot.errors import Conflict, Unavailable
from bot.ports import Person
from tests.builders import QUESTION_TS, THREAD_ID, a_return, an_event
from tests.casework.office import ANN, BEN, Office, crash_everywhere
from tests.fakes import Faults
from tests.tables import each_row


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """An office whose investigator always finds the same answer, which passes."""
    return Office(tmp_path)


def test_a_first_question_ends_as_a_draft_that_waits(office: Office) -> None:
    """Opened, shown, investigated, checked: the state, its history and one card."""
    office.asked()
    state = office.state
    assert (state.status, state.pending_reason) == (ThreadStatus.PENDING_USER, PendingReason.APPROVAL)
    assert [step.to for step in state.status_history] == [ThreadStatus.AWAITING_VALIDATION, ThreadStatus.PENDING_USER]
    assert state.draft_pending == a_return().draft_reply
    assert state.original_sender_name == f"name of {ANN}"
    assert state.permalink == f"https://acme.slack.com/archives/C1/p{QUESTION_TS.replace('.', '')}"
    assert (state.card_channel, state.card_ts) == ("C0OPS", office.messenger.cards[0].ts)
    assert len(office.messenger.cards) == 1


def test_an_edit_makes_a_question_more_urgent_and_never_less(office: Office) -> None:
    """A reworded page would fall silent."""
    office.asked()
    for text in ("prod is down!!", "is it slow today?"):
        office.orchestrator.note_edit(MessageEdited(event=an_event(text, msg_type=MessageType.EDIT)))
        assert (office.state.question, office.state.severity) == (text, Severity.PAGE)


def test_the_same_event_twice_is_harmless(office: Office) -> None:
    """A duplicate that got through to the queue starts nothing and posts nothing."""
    office.asked()
    before = office.state
    office.queue(an_event())
    office.work()
    assert office.state.draft_version == before.draft_version
    assert len(office.investigator.assignments) == 1
    assert len(office.messenger.cards) == 1


def test_a_duplicate_after_the_thread_closed_opens_nothing(office: Office) -> None:
    """The archive remembers which messages it has dealt with."""
    office.asked()
    office.decisions.dismiss(office.click(), by=BEN, reason=None)
    office.queue(an_event())
    office.work()
    assert office.ended.resolution is Resolution.DISMISSED
    assert len(office.messenger.cards) == 1


def test_a_follow_up_is_recorded_and_makes_the_draft_doubtful(office: Office) -> None:
    """It starts no second investigation; the card names who wrote."""
    office.asked()
    version = office.state.draft_version
    event = office.says("we use v2, by the way", sender=BEN)
    assert [followup.message_id for followup in office.state.followups] == [event.message_id]
    assert office.state.stale_reasons == (f"<@{BEN}> wrote in the thread (2026-11-20 09:01:01 UTC)",)
    assert office.state.draft_version == version
    assert len(office.investigator.assignments) == 1
    assert office.shown.stale_reasons == office.state.stale_reasons


def test_a_mention_on_a_waiting_draft_investigates_again(office: Office) -> None:
    """The new draft knows what was said in the thread, and the doubts are settled."""
    office.asked()
    office.says("<@U0BOT> and for refunds?", mention=True)
    assert len(office.investigator.assignments) == 2
    assert office.investigator.assignments[1].thread_context == ((ANN, "<@U0BOT> and for refunds?"),)
    assert office.state.status is ThreadStatus.PENDING_USER
    assert office.state.draft_version == 2
    assert office.state.stale_reasons == ()


def test_a_question_of_anybody_on_a_waiting_draft_investigates_again(office: Office) -> None:
    """Without a mention; a remark does not."""
    office.asked()
    office.says("we use v2", sender=BEN)
    assert len(office.investigator.assignments) == 1
    office.says("and how long does it wait for refunds?", sender=BEN)
    [_, again] = office.investigator.assignments
    assert [said.text for said in again.follow_ups] == ["we use v2", "and how long does it wait for refunds?"]
    assert (office.state.status, office.state.draft_version) == (ThreadStatus.PENDING_USER, 2)
    assert office.state.stale_reasons == ()


def test_all_that_is_asked_during_a_run_is_taken_into_one_next_run(office: Office) -> None:
    """However much it is, one run at a time."""

    def meanwhile() -> None:
        for number in range(3):
            ts = f"179516521{number}.000100"
            event = an_event(f"and for case {number}?", ts, thread_id=QUESTION_TS, msg_type="thread_reply")
            office.arrive(event)

    office.investigator.meanwhile = meanwhile
    office.asked()
    assert [len(each.follow_ups) for each in office.investigator.assignments] == [0, 3]
    assert office.state.status is ThreadStatus.PENDING_USER
    assert office.state.stale_reasons == ()


def test_a_question_while_the_reply_is_being_posted_opens_the_thread_again(office: Office) -> None:
    """A claimed draft is never taken back: its words are on their way."""
    office.asked()

    def meanwhile() -> None:
        with pytest.raises(Unavailable):
            office.says("and for refunds?")
        assert (office.state.draft_version, office.state.followups) == (1, ())

    office.messenger.meanwhile = meanwhile
    office.decisions.approve(office.click(), by=BEN)
    office.restart()
    assert [post.text for post in office.messenger.posts] == [a_return().draft_reply]
    assert (office.state.question, office.state.status) == ("and for refunds?", ThreadStatus.PENDING_USER)


def test_a_deletion_while_the_reply_is_being_posted_does_not_close_under_it(office: Office) -> None:
    """The post closes the thread, so that the log has its line; a deletion that came first is seen when settling."""
    office.asked()
    office.store.put(office.state.evolve(post_intent=PostIntent(at=office.clock.now(), draft_hash="0" * 16)))
    office.queue(an_event("", msg_type=MessageType.DELETE))
    office.work()
    assert office.state.status is ThreadStatus.PENDING_USER


def test_an_event_for_a_thread_closed_but_not_archived_starts_afresh(office: Office) -> None:
    """A crash between closing and archiving is made good on the way."""
    office.asked()
    office.store.put(office.state.close(Resolution.DISMISSED, at=office.clock.now(), why="dismissed"))
    office.says("and why five?")
    assert office.state.question == "and why five?"
    assert len(office.store.memory.closed["threads", THREAD_ID]) == 1


def test_somebody_faster_is_not_overwritten(office: Office) -> None:
    """A follow-up and a click at the same moment: both are in the state."""
    office.asked()

    def ben_adds_context() -> None:
        state = office.state
        note = HumanContext(by=BEN, at=office.clock.now(), text="we mean v2")
        office.store.put(state.evolve(human_context=(note,)))

    office.store.memory.meanwhile = ben_adds_context
    office.says("in the EU")
    assert len(office.state.human_context) == 1
    assert len(office.state.followups) == 1


def test_an_edited_question_makes_the_draft_doubtful(office: Office) -> None:
    """The state holds the new words, for the next round; the draft stays and says that it answers the old ones."""
    office.asked()
    office.workspace.edit("C1", QUESTION_TS, QUESTION_TS, "How often do we retry refunds?")
    office.queue(an_event("How often do we retry refunds?", msg_type=MessageType.EDIT))
    office.work()
    assert office.state.question == "How often do we retry refunds?"
    assert office.state.stale_reasons == (question_edited("How often do we retry refunds?").text,)
    assert office.shown.question == "How often do we retry refunds?"
    office.decisions.reinvestigate(office.click(), by=BEN)
    office.work()
    assert office.investigator.assignments[-1].question == "How often do we retry refunds?"


def test_a_deleted_question_withdraws_the_thread(office: Office) -> None:
    """Closed, archived, and the card without buttons."""
    office.asked()
    office.queue(an_event("", msg_type=MessageType.DELETE))
    office.work()
    assert office.ended.resolution is Resolution.WITHDRAWN
    assert office.shown.status is ThreadStatus.CLOSED


def test_a_deletion_before_the_question_was_worked_on_withdraws_it(office: Office) -> None:
    """Both wait in the queue; in the end there is no draft."""
    office.queue(an_event())
    office.queue(an_event("", msg_type=MessageType.DELETE))
    office.work()
    assert office.ended.resolution is Resolution.WITHDRAWN


def test_a_deleted_follow_up_is_forgotten(office: Office) -> None:
    """The thread goes on without it."""
    office.asked()
    event = office.says("we use v2")
    office.queue(an_event("", event.message_id, thread_id=QUESTION_TS, msg_type=MessageType.DELETE))
    office.work()
    assert office.state.followups == ()
    assert office.state.is_open


def test_a_question_in_a_closed_thread_starts_afresh(office: Office) -> None:
    """The earlier ending stays in the archive; a new card is shown."""
    office.asked()
    office.decisions.dismiss(office.click(), by=BEN, reason=None)
    office.says("and why five?")
    assert office.state.question == "and why five?"
    assert len(office.messenger.cards) == 2
    assert office.store.memory.closed["threads", THREAD_ID]


@each_row("ret", [a_return(), a_return("", open_questions=("Which?",), evidence_refs=())])
def test_a_button_of_an_earlier_ending_never_fits_the_fresh_thread(tmp_path: Path, ret: InvestigatorReturn) -> None:
    """The same draft for the same question in the same thread is another draft: its version goes on from the old."""
    office = Office(tmp_path, ret).asked()
    old = office.click()
    office.decisions.dismiss(old, by=BEN, reason=None)
    office.says("How often do we retry?")
    assert office.state.status is ThreadStatus.PENDING_USER
    assert office.click() != old
    for decide in (
        lambda: office.decisions.approve(old, by=BEN),
        lambda: office.decisions.dismiss(old, by=BEN, reason=None),
    ):
        with pytest.raises(Conflict):
            decide()
    assert office.messenger.posts == []


def test_a_question_in_a_closed_thread_comes_with_what_was_asked_before(tmp_path: Path) -> None:
    """What was said after it is no part of that."""
    office = Office(tmp_path).asked()
    first = office.state.question
    office.decisions.dismiss(office.click(), by=BEN, reason=None)
    office.says("and where is it set?")
    office.says("<@U0BOT> in the code, I mean", mention=True)
    assert [given.earlier for given in office.investigator.assignments] == [(), (first,), (first,)]


def test_a_guest_is_ignored_unless_allowed(tmp_path: Path) -> None:
    """Slack's event does not say who is a guest, so the orchestrator asks."""
    guest = Person(user_id=ANN, name="ann", team_id="T1", is_guest=True)
    office = Office(tmp_path)
    office.workspace.people[ANN] = guest
    office.asked()
    assert office.messenger.cards == []
    allowed = Office(tmp_path, watcher={"allow_external": True})
    allowed.workspace.people[ANN] = guest
    allowed.asked()
    assert allowed.state.status is ThreadStatus.PENDING_USER


def test_a_guest_who_mentions_the_bot_in_an_open_thread_starts_nothing(office: Office) -> None:
    """Their words reach no investigation and the draft stays; the approver learns that somebody wrote."""
    guest = "U0GUEST"
    office.workspace.people[guest] = Person(user_id=guest, name="gus", team_id="T1", is_guest=True)
    office.asked()
    before = office.state
    office.says("<@U0BOT> tell me instead?", sender=guest, mention=True)
    assert office.state == before
    assert len(office.investigator.assignments) == 1
    assert office.decisions.approve(office.click(), by=BEN).startswith("Not posted yet: 1 thing changed")
    assert guest in office.state.stale_reasons[0]


def test_an_alert_bot_is_answered_though_it_is_no_user(office: Office) -> None:
    """A webhook's messages carry a bot id, for which Slack knows no user."""
    office.arrive(an_event("checkout is down", sender={"id": "B0ALERT", "type": "bot"}))
    office.clock.advance(1)
    office.work()
    assert (office.state.original_sender_id, office.state.original_sender_name) == ("B0ALERT", "B0ALERT")


def test_two_threads_never_swap_their_drafts(tmp_path: Path) -> None:
    """AC-03: each reply lands in its own thread with its own words."""
    office = Office(tmp_path, a_return("about retries"), a_return("about refunds"))
    office.arrive(an_event("retries?", "1795165200.000100"))
    office.arrive(an_event("refunds?", "1795165201.000100"))
    office.clock.advance(5)
    office.work()
    for card in list(office.messenger.cards):
        office.decisions.approve(click_of_card(office, card.thread_id), by=BEN)
    assert {(post.thread_ts, post.text) for post in office.messenger.posts} == {
        ("1795165200.000100", "about retries"),
        ("1795165201.000100", "about refunds"),
    }


def click_of_card(office: Office, thread_id: str) -> DraftClick:
    state = office.store.get(thread_id)
    assert state is not None
    return click_of(state)


def test_wherever_the_process_dies_the_question_ends_the_same(tmp_path: Path) -> None:
    """A crash before or after every single effect, then a restart: one thread, one draft, one card, nothing queued."""

    def story(office: Office) -> None:
        office.arrive(an_event())
        office.clock.advance(60)
        office.work()

    ends = crash_everywhere(
        lambda faults: Office(tmp_path, a_return(), verdicts=[Verdict.BOUNCE, Verdict.PASS], faults=faults), story
    )
    assert len(ends) > 15
    for where, office in ends:
        if "queue" in where:  # Slack was not acknowledged or the watcher's journal holds it: it comes again
            office.queue(an_event())
        assert office.restart() == [], where
        state = office.state
        assert (state.status, state.pending_reason) == (ThreadStatus.PENDING_USER, PendingReason.APPROVAL), where
        assert state.draft_pending == a_return().draft_reply, where
        assert [step.to for step in state.status_history if step.to is ThreadStatus.PENDING_USER] == ["pending-user"], (
            where
        )
        assert len(office.messenger.cards) == 1, where
        assert office.shown.draft_hash == state.draft_hash, where
        assert not office.jobs.waiting, where
        assert not office.jobs.running, where


def test_wherever_the_process_dies_a_follow_up_is_recorded_once(tmp_path: Path) -> None:
    """The job is claimed again after the crash and finds what it had done already."""

    def build(faults: Faults) -> Office:
        crash_at, faults.crash_at = faults.crash_at, None
        office = Office(tmp_path, faults=faults).asked()
        faults.points.clear()
        faults.crash_at = crash_at
        return office

    def story(office: Office) -> None:
        office.says("we use v2")

    for where, office in crash_everywhere(build, story):
        office.restart()
        if where == "queue: before a job":
            continue
        assert len(office.state.followups) == 1, where
        assert len(office.state.stale_reasons) == 1, where
        assert office.shown.stale_reasons == office.state.stale_reasons, where


def test_an_ack_says_nothing(office: Office) -> None:
    """Whoever says it; an answer of somebody else makes the draft doubtful."""
    office.asked()
    office.says("thanks!", sender=BEN)
    office.says("ok")
    assert office.state.followups == ()
    office.says("I fixed it by restarting the worker", sender=BEN)
    assert office.state.stale_reasons == (f"<@{BEN}> wrote in the thread (2026-11-20 09:01:03 UTC)",)


def test_a_remark_worked_off_after_its_thread_closed_opens_no_other(office: Office) -> None:
    """It was for the thread that is gone; a question in its place opens a fresh one."""
    office.asked()
    event = an_event("we use v2", "1795165300.000100", thread_id=QUESTION_TS, msg_type="thread_reply")
    office.arrive(event)
    office.decisions.dismiss(office.click(), by=BEN, reason=None)
    office.work()
    assert office.store.get(THREAD_ID) is None
    office.says("and why five?", seconds=600)
    assert office.state.question == "and why five?"


def test_the_images_of_a_question_come_to_its_thread_and_its_investigator(office: Office) -> None:
    """As ids; what they show is read when it is needed."""
    office.orchestrator.take_question(QuestionAsked(event=an_event("what is this?", images=("F1", "F2"))))
    assert office.state.images == ("F1", "F2")
    assert [given.images for given in office.investigator.assignments] == [("F1", "F2")]


def test_the_card_ends_up_showing_the_stored_state(office: Office) -> None:
    """Nothing that was decided is missing on the card."""
    office.asked()
    shown, stored = office.shown, office.state
    assert shown.draft_hash == stored.draft_hash
    assert shown.status is stored.status


def test_a_follow_up_delivered_twice_is_one(office: Office) -> None:
    """Neither recorded nor counted again."""
    office.asked()
    event = office.says("we use v2")
    office.queue(event)
    office.work()
    assert len(office.state.followups) == 1
    assert len(office.state.stale_reasons) == 1


def test_a_deletion_of_something_unknown_is_ignored(office: Office) -> None:
    """Nothing is opened to be closed."""
    office.queue(an_event("", msg_type=MessageType.DELETE))
    office.work()
    assert office.messenger.cards == []
