"""Posting exactly once: whenever the process dies, one reply stands in the thread and one line in the log."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

import pytest

from bot.casework.posting.replies import SLOW_IN_FLIGHT, Replies
from bot.casework.posting.reply_proof import reply_record
from bot.casework.recovery import CrashRecovery
from bot.domain.returns import Usage, Verdict
from bot.domain.threads import PendingReason, PostIntent, Resolution, ThreadState, ThreadStatus, hash_draft, reply_mark
from bot.errors import Conflict, ProviderError, StoreError, Unconfirmed
from bot.ports import ChatMessage
from bot.ports.chat import IN_FLIGHT
from tests.builders import NOW, QUESTION_TS, REF, THREAD_ID, a_return, in_status
from tests.casework.office import BEN, Office, crash_everywhere
from tests.fakes import Crash, Faults

FIELDS = """
question chat_id reply_to_message_id posted_message_id posted_at reply_text investigator_task_id validator_verdict
investigator_rounds was_escalated triage_file thread_id approved_by edited draft_text evidence_refs claims latency_s
usage
"""


def waiting(tmp_path: Path, faults: Faults) -> Office:
    """Return an office with a draft that waits, whose faults begin to count only now."""
    crash_at, faults.crash_at = faults.crash_at, None
    office = Office(tmp_path, faults=faults).asked()
    faults.points.clear()
    faults.crash_at = crash_at
    return office


def approve(office: Office) -> None:
    office.decisions.approve(office.click(), by=BEN)


def posted_once(office: Office) -> None:
    """Check the one end an approval may have."""
    assert [post.text for post in office.messenger.posts] == [a_return().draft_reply]
    [record] = office.log.records()
    assert record["posted_message_id"] == office.messenger.posts[0].ts
    assert record["approved_by"] == BEN
    assert (office.ended.resolution, office.ended.approved_by) == (Resolution.APPROVED, BEN)
    assert len(office.store.memory.closed["threads", THREAD_ID]) == 1
    assert len(office.messenger.cards) == 1
    assert office.shown.status is ThreadStatus.CLOSED


def test_wherever_the_process_dies_the_reply_is_posted_once(tmp_path: Path) -> None:
    """A crash before or after every effect from the click to the archive, then a restart and, if need be, a click."""
    ends = crash_everywhere(lambda faults: waiting(tmp_path, faults), approve)
    assert len(ends) >= 12
    for where, office in ends:
        assert office.restart() == [], where
        if office.store.get(THREAD_ID) is not None:
            assert where == "threads: before pending-user", where
            approve(office)
        posted_once(office)


def test_who_comes_second_is_told_who_was_first(tmp_path: Path) -> None:
    """Also in the very moment in which the first approval is being written down."""
    office, said = waiting(tmp_path, Faults()), []
    click = office.click()

    def second() -> None:
        try:
            office.decisions.approve(click, by="U0ANA")
        except Conflict as error:
            said.append(str(error))

    other = threading.Thread(target=second)

    def in_between() -> None:
        other.start()
        other.join(timeout=0.2)  # it is held up until the first is written down

    office.store.memory.meanwhile = in_between
    office.decisions.approve(click, by=BEN)
    other.join()
    [text] = said
    assert f"approved by <@{BEN}>" in text or f"<@{BEN}> approved this draft" in text
    posted_once(office)


def test_a_second_crash_during_the_recovery_does_no_harm_either(tmp_path: Path) -> None:
    """Dying again while settling, at every point, and starting a third time: still one post and one line."""
    for where, office in crash_everywhere(lambda faults: waiting(tmp_path, faults), approve):
        if where == "threads: before pending-user":
            continue
        for crash_at in range(1, 30):
            again = clone(tmp_path, office, crash_at)
            try:
                again.restart()
            except Crash:
                again.restart()
                posted_once(again)
            else:
                break  # there is no such point


def clone(tmp_path: Path, office: Office, crash_at: int) -> Office:
    """Return an office with a copy of everything that outlives a process."""
    copy = Office(tmp_path, faults=Faults(crash_at))
    copy.store.memory.texts.update(office.store.memory.texts)
    copy.store.memory.closed.update({key: list(closed) for key, closed in office.store.memory.closed.items()})
    copy.log.lines += office.log.lines
    copy.messenger.posts += office.messenger.posts
    copy.messenger.cards += office.messenger.cards
    copy.workspace.threads.update({place: list(said) for place, said in office.workspace.threads.items()})
    copy.messenger.count = office.messenger.count
    copy.clock.at = office.clock.at
    return copy


def test_a_refused_post_withdraws_the_claim(tmp_path: Path) -> None:
    """Slack said no: nothing was posted, the draft waits as before and can be approved again."""
    office = Office(tmp_path).asked()
    office.messenger.refuse = ProviderError("Slack could not post the reply: is_archived")
    with pytest.raises(ProviderError, match="is_archived"):
        approve(office)
    state = office.state
    assert (state.post_intent, state.approved_by, state.user_approved_at) == (None, None, None)
    assert state.status is ThreadStatus.PENDING_USER
    office.messenger.refuse = None
    approve(office)
    posted_once(office)


def test_an_unconfirmed_post_that_stands_in_the_thread_is_adopted(tmp_path: Path) -> None:
    """The connection broke after Slack had posted; nobody need do anything."""
    office = Office(tmp_path).asked()
    office.messenger.lose = Unconfirmed("lost")
    approve(office)
    posted_once(office)


def test_a_claim_whose_question_is_gone_is_withdrawn(tmp_path: Path) -> None:
    """After a crash and a deletion nobody told us of, a reply would land in the channel."""
    office = Office(tmp_path).asked()
    office.store.put(office.state.evolve(post_intent=PostIntent(at=NOW, draft_hash="0" * 16), approved_by=BEN))
    office.workspace.threads.clear()
    problems = office.restart()
    assert len(problems) == 1
    assert "is gone" in problems[0]
    assert office.messenger.posts == []
    assert office.ended.resolution is Resolution.WITHDRAWN


def test_a_slow_post_is_not_taken_for_an_interrupted_one(tmp_path: Path) -> None:
    """While the first click still waits for Slack, settling refuses; one post in the end."""
    office = Office(tmp_path).asked()
    refusals: list[str] = []

    def somebody_clicks_meanwhile() -> None:
        with pytest.raises(Conflict) as refused:
            office.replies.settle(office.state)
        refusals.append(str(refused.value))

    office.messenger.meanwhile = somebody_clicks_meanwhile
    approve(office)
    assert refusals == ["The reply is being posted right now."]
    posted_once(office)


def die_while_posting(office: Office) -> None:
    """Approve, and die while the chat has the post."""

    def die() -> None:
        raise Crash("mid-post")

    office.messenger.meanwhile = die
    with pytest.raises(Crash):
        approve(office)


def recovered(office: Office) -> list[str]:
    """Let another process start over what this one left; returns its problems."""
    return CrashRecovery(office.service, Replies(office.service, office._still_stands)).recover()


def test_a_reply_that_slack_takes_forty_seconds_after_its_sender_died_is_not_posted_again(tmp_path: Path) -> None:
    """It is looked for every ten seconds, and missed only when no post comes any more."""
    office = Office(tmp_path).asked()
    die_while_posting(office)
    office.clock.advance(12)
    recovery = CrashRecovery(office.service, Replies(office.service, office._still_stands))
    assert recovery.recover() == []
    assert recovery.settle_late() == []
    for _ in range(2):
        office.clock.advance(IN_FLIGHT.total_seconds())
        assert recovery.is_due()
        assert recovery.settle_late() == []
        assert office.messenger.posts == []
    office.messenger.post_reply(office.state, a_return().draft_reply)
    office.clock.advance(IN_FLIGHT.total_seconds())
    assert recovery.settle_late() == []
    posted_once(office)


def test_a_reply_whose_sender_died_is_posted_once_no_post_can_come_any_more(tmp_path: Path) -> None:
    """Not before."""
    office = Office(tmp_path).asked()
    die_while_posting(office)
    recovery = CrashRecovery(office.service, Replies(office.service, office._still_stands))
    office.clock.advance(SLOW_IN_FLIGHT.total_seconds() - 1)
    assert recovery.recover() == []
    assert recovery.settle_late() == []
    assert office.messenger.posts == []
    office.clock.advance(IN_FLIGHT.total_seconds())
    assert recovery.settle_late() == []
    posted_once(office)


def test_a_reply_that_was_not_sent_yet_when_its_sender_died_is_posted_at_the_start(tmp_path: Path) -> None:
    """Nothing can be on its way, so nobody waits."""
    office = Office(tmp_path).asked()
    hashed = office.state.draft_hash or ""
    intent = PostIntent(at=office.clock.now(), draft_hash=hashed, is_unsent=True)
    claims = {"approved_by": BEN, "user_approved_at": office.clock.now()}
    office.store.put(office.state.evolve(post_intent=intent, **claims))
    assert recovered(office) == []
    posted_once(office)


def test_each_start_counts_from_the_last_post_that_may_be_on_its_way(tmp_path: Path) -> None:
    """A recovery that is killed in its own post leaves a young intent, not the old one."""
    office = Office(tmp_path).asked()
    intent = PostIntent(at=office.clock.now(), draft_hash=office.state.draft_hash or "")
    office.store.put(office.state.evolve(post_intent=intent, approved_by=BEN))
    office.clock.advance(60)

    def die() -> None:
        raise Crash("mid-post")

    office.messenger.meanwhile = die
    with pytest.raises(Crash):
        recovered(office)
    assert recovered(office) == []
    assert office.messenger.posts == []


def test_an_intent_from_the_future_is_given_back_at_once(tmp_path: Path) -> None:
    """The clock went back an hour since: nobody can say how old the approval is, and nobody waits an hour."""
    office = Office(tmp_path).asked()
    intent = PostIntent(at=office.clock.now() + timedelta(hours=1), draft_hash=office.state.draft_hash or "")
    office.store.put(office.state.evolve(post_intent=intent, approved_by=BEN))
    [line] = recovered(office)
    assert "Not posted" in line
    assert (office.messenger.posts, office.state.post_intent) == ([], None)


class TestLate:
    """A post that was cut before the chat read it: settled by the running bot, and never posted late unseen."""

    @pytest.fixture
    def office(self, tmp_path: Path) -> Office:
        """A draft that Ben approved, and whose post nobody can confirm."""
        office = Office(tmp_path).asked()
        office.messenger.lose, office.messenger.lost_before_posting = Unconfirmed("lost"), True
        with pytest.raises(Unconfirmed):
            approve(office)
        office.messenger.lose = None
        return office

    @staticmethod
    def settle(office: Office, *, after_s: float = IN_FLIGHT.total_seconds()) -> list[str]:
        """Let the running bot settle what is due after some time."""
        office.clock.advance(after_s)
        recovery = CrashRecovery(office.service, office.replies)
        return recovery.settle_late() if recovery.is_due() else []

    def test_one_that_a_full_disk_did_not_let_note_is_settled_as_well(self, tmp_path: Path) -> None:
        """That it was slow cannot be written; whoever clicked is told that it is unconfirmed all the same."""
        office = Office(tmp_path).asked()

        def slow() -> None:
            office.clock.advance(40)
            office.store.memory.full = True

        office.messenger.meanwhile = slow
        office.messenger.lose, office.messenger.lost_before_posting = Unconfirmed("lost"), True
        with pytest.raises(Unconfirmed):
            approve(office)
        office.messenger.lose, office.store.memory.full = None, False
        assert self.settle(office) == []
        posted_once(office)

    def test_one_whose_end_a_full_disk_did_not_take_is_ended_by_the_running_bot(self, tmp_path: Path) -> None:
        """The reply stands in the thread and is not on record; nobody need click again."""
        office = Office(tmp_path).asked()
        memory = office.store.memory
        office.messenger.meanwhile = lambda: setattr(memory, "full", True)
        with pytest.raises(StoreError):
            approve(office)
        memory.full = False
        assert (len(office.messenger.posts), office.state.post_intent is None) == (1, False)
        assert self.settle(office) == []
        posted_once(office)

    def test_one_that_is_logged_and_was_deleted_since_is_not_posted_again(self, tmp_path: Path) -> None:
        """A human removed it while the bot could not write that it was posted."""
        office = Office(tmp_path).asked()
        office.messenger.meanwhile = lambda: setattr(office.store.memory, "full", True)
        with pytest.raises(StoreError):
            approve(office)
        office.store.memory.full = False
        office.workspace.delete("C1", QUESTION_TS, office.messenger.posts[0].ts)
        office.clock.advance(SLOW_IN_FLIGHT.total_seconds())
        assert self.settle(office) == []
        posted_once(office)

    def test_one_that_slack_kept_unanswered_has_longer_to_arrive(self, tmp_path: Path) -> None:
        """Given up after 20 s, taken after 40: it is adopted, and there is no second one."""
        office = Office(tmp_path).asked()
        office.messenger.lose, office.messenger.lost_before_posting = Unconfirmed("lost"), True
        office.messenger.meanwhile = lambda: office.clock.advance(20)
        with pytest.raises(Unconfirmed):
            approve(office)
        office.messenger.lose = None
        assert self.settle(office, after_s=19) == []
        assert office.messenger.posts == []
        office.messenger.post_reply(office.state, a_return().draft_reply)
        assert self.settle(office, after_s=12) == []
        posted_once(office)

    def test_a_reply_of_a_human_meanwhile_gives_the_card_back(self, office: Office) -> None:
        """The draft waits again, with what changed and what happened, and can be approved, edited, dismissed."""
        ts = f"{office.clock.now().timestamp() + 2:.6f}"
        office.workspace.say("C1", QUESTION_TS, ChatMessage(message_id=ts, sender_id="U3", text="it is 3"))
        [line] = self.settle(office)
        assert "Not posted: <@U3> wrote in the thread" in line
        assert (office.messenger.posts, office.state.post_intent, office.state.approved_by) == ([], None, None)
        assert "was not posted" in office.state.stale_reasons[-1]
        office.service.cards.catch_up(at_once=True)
        assert office.decisions.dismiss(office.click(), by=BEN, reason=None).startswith("Dismissed")

    def test_a_reply_of_a_human_that_was_heard_meanwhile_counts_too(self, office: Office) -> None:
        """It is a follow-up of the thread by then, and a doubt that nobody has seen who approved."""
        office.says("it is 3", sender="U3")
        [line] = self.settle(office)
        assert "Not posted: <@U3> wrote in the thread" in line
        assert office.messenger.posts == []

    @pytest.mark.parametrize("change", ["edited", "public", "archived", "code"])
    def test_whatever_changed_meanwhile_gives_the_card_back(self, office: Office, change: str) -> None:
        """The same gate as at the click."""
        if change == "edited":
            office.workspace.edit("C1", QUESTION_TS, QUESTION_TS, "Something else?")
        elif change == "public":
            office.workspace.private.clear()
        elif change == "archived":
            office.workspace.archived.add("C1")
        else:
            office.changed_refs.add(REF.ref)
        assert len(self.settle(office)) == 1
        assert (office.messenger.posts, office.state.post_intent) == ([], None)

    def test_an_old_approval_needs_another_click(self, office: Office) -> None:
        """Six minutes of outage: the card is back and says so; the next click posts it, once."""
        [line] = self.settle(office, after_s=360)
        assert "approved more than 5 minutes ago" in line
        assert office.messenger.posts == []
        office.service.cards.catch_up(at_once=True)
        approve(office)
        posted_once(office)

    def test_a_new_click_counts_as_a_new_approval(self, office: Office) -> None:
        """Whoever clicks the unconfirmed draft hours later has it posted in their own name."""
        office.clock.advance(7200)
        assert office.decisions.approve(office.click(), by="U3") == "Posted."
        assert office.ended.approved_by == "U3"
        assert len(office.messenger.posts) == 1

    def test_while_the_chat_is_down_it_is_tried_every_ten_seconds(self, office: Office) -> None:
        """Kept as it is until the chat can say, and told once."""
        office.workspace.unreadable.add("C1")
        recovery = CrashRecovery(office.service, office.replies)
        office.clock.advance(IN_FLIGHT.total_seconds())
        assert len(recovery.settle_late()) == 1
        assert not recovery.is_due()
        office.clock.advance(IN_FLIGHT.total_seconds())
        assert recovery.is_due()
        assert recovery.settle_late() == []
        office.workspace.unreadable.clear()
        office.clock.advance(IN_FLIGHT.total_seconds())
        assert recovery.settle_late() == []
        posted_once(office)

    def test_a_second_cut_is_settled_as_well(self, office: Office) -> None:
        """Looked for again after its own time."""
        office.messenger.lose = Unconfirmed("lost")
        assert self.settle(office) == []
        office.messenger.lose = None
        assert self.settle(office, after_s=3) == []
        assert office.messenger.posts == []
        assert self.settle(office) == []
        posted_once(office)

    def test_a_restart_hours_later_posts_nothing_unasked(self, office: Office) -> None:
        """The same after a crash."""
        office.clock.advance(7200)
        [line] = office.restart()
        assert "Not posted" in line
        assert (office.messenger.posts, office.state.post_intent) == ([], None)


class TestAdopted:
    """Our reply stands in the thread, and this data directory knows nothing of it."""

    @staticmethod
    def reply_of(state: ThreadState, text: str = "Three times.", ts: str = "1795165300.000100") -> ChatMessage:
        """Return a reply as another process posted it."""
        mark = f"{reply_mark(state)}:{hash_draft(text)}"
        return ChatMessage(message_id=ts, sender_id="U0BOT", text=text, is_bot=True, reply_mark=mark)

    def adopted(self, office: Office, text: str) -> None:
        """Check that nothing more was posted, and that it is on record with the words that stand there."""
        [record] = office.log.records()
        assert (office.messenger.posts, record["posted_message_id"]) == ([], "1795165300.000100")
        assert record["reply_text"] == text
        assert office.ended.posted_message_id == "1795165300.000100"
        assert office.shown.status is ThreadStatus.CLOSED

    def test_a_restored_card_is_closed_before_it_is_shown_again(self, tmp_path: Path) -> None:
        """The backup was made while the card waited; its thread was answered since."""
        office = Office(tmp_path).asked()
        office.workspace.say("C1", QUESTION_TS, self.reply_of(office.state, a_return().draft_reply))
        shown = len(office.messenger.cards[-1].shown)
        [line] = office.restart()
        assert "was already in the thread" in line
        self.adopted(office, a_return().draft_reply)
        assert all(not state.is_open for state in office.messenger.cards[-1].shown[shown:])

    def test_a_click_on_an_answered_thread_posts_nothing(self, tmp_path: Path) -> None:
        """A second replica answered; the click finds its reply, also where the words are others."""
        office = Office(tmp_path).asked()
        office.workspace.say("C1", QUESTION_TS, self.reply_of(office.state))
        assert "nothing was posted again" in office.decisions.approve(office.click(), by=BEN)
        self.adopted(office, "Three times.")

    def test_of_two_replies_posted_in_the_same_moment_the_older_one_stays(self, tmp_path: Path) -> None:
        """Two processes got the same click; whoever posted second takes its reply back."""
        office = Office(tmp_path).asked()
        state = office.state

        def somebody_else_posts() -> None:
            office.workspace.say("C1", QUESTION_TS, self.reply_of(state))

        office.messenger.meanwhile = somebody_else_posts
        approve(office)
        self.adopted(office, "Three times.")

    def test_a_second_reply_of_a_process_that_died_is_deleted_at_the_next_start(self, tmp_path: Path) -> None:
        """It was posted in the same moment as another one, and nobody had looked yet."""
        office = Office(tmp_path).asked()
        intent = PostIntent(at=office.clock.now(), draft_hash=office.state.draft_hash or "")
        office.store.put(office.state.evolve(post_intent=intent, approved_by=BEN, user_approved_at=intent.at))
        office.workspace.say("C1", QUESTION_TS, self.reply_of(office.state))
        ts = office.messenger.post_reply(office.state, a_return().draft_reply)
        office.workspace.say("C1", QUESTION_TS, self.reply_of(office.state, ts=ts))
        office.restart()
        self.adopted(office, "Three times.")

    def test_a_question_answered_before_it_was_known_is_not_investigated(self, tmp_path: Path) -> None:
        """The backup is older than the question, which is read back from the channel."""
        office = Office(tmp_path)
        state = in_status(ThreadStatus.INVESTIGATING)
        office.workspace.say("C1", QUESTION_TS, self.reply_of(state))
        office.asked()
        assert office.investigator.assignments == []
        self.adopted(office, "Three times.")

    def test_a_question_asked_again_gets_its_second_reply(self, tmp_path: Path) -> None:
        """The reply to the first question has another mark than that to the second one."""
        office = Office(tmp_path).asked()
        first = office.state
        approve(office)
        office.workspace.say("C1", QUESTION_TS, self.reply_of(first, a_return().draft_reply))
        office.says("and how often do we retry uploads?", seconds=600)
        assert reply_mark(office.state) != reply_mark(first)
        approve(office)
        assert len(office.messenger.posts) == 2

    def test_a_mention_that_points_to_the_same_question_again_gets_a_reply(self) -> None:
        """What opened the state counts, not only what is asked."""
        state = in_status(ThreadStatus.INVESTIGATING)
        assert reply_mark(state.evolve(opened_by_message_id="1795169999.000100")) != reply_mark(state)

    def test_an_interrupted_post_is_recognised_in_other_words(self, tmp_path: Path) -> None:
        """Posted by another process with its own draft while ours was claimed here."""
        office = Office(tmp_path).asked()
        intent = PostIntent(at=office.clock.now(), draft_hash=office.state.draft_hash or "")
        office.store.put(office.state.evolve(post_intent=intent, approved_by=BEN, user_approved_at=intent.at))
        office.workspace.say("C1", QUESTION_TS, self.reply_of(office.state))
        office.restart()
        self.adopted(office, "Three times.")


def test_nothing_is_settled_that_was_not_claimed(tmp_path: Path) -> None:
    """A draft that merely waits is nobody's to post."""
    office = Office(tmp_path).asked()
    with pytest.raises(Conflict):
        office.replies.settle(office.state)
    assert office.messenger.posts == []


def test_a_claim_made_on_an_older_state_is_a_conflict(tmp_path: Path) -> None:
    """A follow-up between the look and the claim: the doubt was not shown, so nothing is posted."""
    office = Office(tmp_path).asked()
    before = office.state
    office.says("wait", sender="U3")
    with pytest.raises(Conflict):
        office.replies.post(before, by=BEN)
    assert office.messenger.posts == []


class TestLogLine:
    """The line of replies.ndjson, which other programs read."""

    def test_it_has_the_fields_of_the_spec_and_no_other(self) -> None:
        """Other programs read them by name."""
        record = reply_record(in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL), at=NOW)
        assert sorted(record) == sorted(FIELDS.split())

    def test_it_holds_what_was_posted_and_how_long_it_took(self) -> None:
        """Latency is counted from the question's arrival here, citations are kept whole."""
        state = in_status(
            ThreadStatus.PENDING_USER,
            PendingReason.APPROVAL,
            posted_message_id="1.2",
            approved_by=BEN,
            usage=Usage(input_tokens=3, cost_usd=None),
        )
        record = reply_record(state, at=NOW + timedelta(seconds=61.5))
        assert record["question"] == state.question
        assert record["reply_text"] == a_return().draft_reply
        assert (record["edited"], record["draft_text"]) == (False, None)
        assert record["reply_to_message_id"] == QUESTION_TS
        assert record["latency_s"] == 61.5
        assert record["evidence_refs"] == [REF.model_dump(mode="json")]
        assert record["claims"] == [{"text": a_return().draft_reply, "kind": "fact", "cites": [0]}]
        assert record["usage"]["cost_usd"] is None
        edited = reply_record(state.evolve(draft_pending="Ask Ana."), at=NOW)
        assert (edited["edited"], edited["claims"]) == (True, []), "a human's words are nobody's checked claims"
        assert edited["evidence_refs"] == [], "nor do they cite what they do not name"
        named = reply_record(state.evolve(draft_pending="5, see app/retry.py."), at=NOW)
        assert named["evidence_refs"] == [REF.model_dump(mode="json")]

    @pytest.mark.parametrize(
        ("verdicts", "line"),
        [
            ([Verdict.PASS], "pass"),
            ([Verdict.BOUNCE, Verdict.PASS], "bounce-then-pass"),
            ([Verdict.BOUNCE], "escalate-then-user-approved"),
            ([Verdict.ESCALATE], "escalate-then-user-approved"),
        ],
    )
    def test_it_says_how_the_verdict_came_about(self, tmp_path: Path, verdicts: list[Verdict], line: str) -> None:
        """In one word, which other programs read."""
        office = Office(tmp_path, verdicts=verdicts).asked()
        approve(office)
        [record] = office.log.records()
        assert record["validator_verdict"] == line


def test_an_unconfirmed_post_that_cannot_be_found_keeps_its_claim(tmp_path: Path) -> None:
    """Nothing is posted again blindly, and after the restart the thread is searched first."""
    office = Office(tmp_path).asked()
    office.messenger.lose, office.messenger.lost_before_posting = Unconfirmed("lost"), True
    with pytest.raises(Unconfirmed):
        approve(office)
    assert office.state.post_intent is not None
    assert office.messenger.posts == []
    office.messenger.lose = None
    assert office.restart() == []
    posted_once(office)


def test_a_claim_is_kept_while_the_chat_cannot_say(tmp_path: Path) -> None:
    """Settling waits for Slack, and the problem is reported, not hidden."""
    office = Office(tmp_path).asked()
    office.store.put(office.state.evolve(post_intent=PostIntent(at=NOW, draft_hash="0" * 16), approved_by=BEN))
    office.workspace.unreadable.add("C1")
    [problem] = office.restart()
    assert problem.startswith(THREAD_ID)
    assert office.state.post_intent is not None
    office.workspace.unreadable.clear()
    assert office.restart() == []
    posted_once(office)


def test_a_reply_that_arrives_after_its_sender_died_is_not_posted_again(tmp_path: Path) -> None:
    """Killed while Slack still worked on the request: not finding it at once proves nothing."""
    office = Office(tmp_path).asked()
    die_while_posting(office)
    recovery = CrashRecovery(office.service, Replies(office.service, office._still_stands))
    assert recovery.recover() == []
    assert recovery.settle_late() == []
    assert (office.messenger.posts, recovery.is_due()) == ([], False)
    office.messenger.post_reply(office.state, a_return().draft_reply)
    office.clock.advance(IN_FLIGHT.total_seconds())
    assert recovery.is_due()
    assert recovery.settle_late() == []
    posted_once(office)
    assert not recovery.is_due()
