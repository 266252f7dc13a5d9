"""What humans decide: each decision counts once, names its draft, and says who was faster."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from bot.agent.git.git_repo import GitRepo
from bot.casework.decisions import CODE_UNREADABLE, Decisions
from bot.casework.posting.freshness import MAX_REPLY_CHARS, check_outbound, quotes_at_head
from bot.domain.returns import Verdict
from bot.domain.threads import PendingReason, Resolution, ThreadStatus
from bot.errors import Conflict, InputError, ProviderError, Unavailable, Unconfirmed
from bot.ports import ChatMessage
from bot.ports.chat import IN_FLIGHT
from tests.builders import QUESTION_TS, REF, a_return, an_event
from tests.casework.office import ANN, BEN, Office
from tests.gitrepo import make_repo
from tests.tables import each_row

CARL = "U3"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """An office with a validated draft that waits."""
    return Office(tmp_path).asked()


class TestApprove:
    """The one click that posts."""

    def test_the_draft_is_posted_logged_and_closed(self, office: Office) -> None:
        """One post in the thread, one line in the log, a closed card, nothing left in the store."""
        assert office.decisions.approve(office.click(), by=BEN) == "Posted."
        [post] = office.messenger.posts
        assert (post.chat_id, post.thread_ts, post.text) == ("C1", QUESTION_TS, a_return().draft_reply)
        assert len(list(office.log.records())) == 1
        assert (office.ended.resolution, office.ended.approved_by) == (Resolution.APPROVED, BEN)
        assert office.ended.posted_message_id == post.ts
        assert office.shown.status is ThreadStatus.CLOSED

    def test_two_clicks_one_post_and_the_second_is_told_who(self, office: Office) -> None:
        """The loser reads who decided and when."""
        click = office.click()
        office.decisions.approve(click, by=BEN)
        with pytest.raises(Conflict, match=f"approved by <@{BEN}> at 2026-11-20 09:01 UTC"):
            office.decisions.approve(click, by=CARL)
        assert len(office.messenger.posts) == 1

    def test_a_damaged_codebase_is_said_in_one_plain_sentence(self, office: Office, tmp_path: Path) -> None:
        """Nothing is posted, git's own words stay in the log, and once it is mended the same click posts."""
        repo = make_repo(tmp_path / "code", {"a.py": "x = 1\n"})
        stands = quotes_at_head(GitRepo(repo))
        (repo / ".git" / "HEAD").rename(tmp_path / "HEAD")
        decisions = Decisions(
            office.service, office.replies, stands, office.escalations, office.twins, office.validator
        )
        with pytest.raises(InputError) as refused:
            decisions.approve(office.click(), by=BEN)
        assert str(refused.value) == CODE_UNREADABLE
        assert office.messenger.posts == []
        (tmp_path / "HEAD").rename(repo / ".git" / "HEAD")
        assert "changed since this draft" in decisions.approve(office.click(), by=BEN)

    def test_eight_clicks_at_once_make_one_post(self, office: Office) -> None:
        """Exactly one wins; every other one is told so."""
        click, barrier = office.click(), threading.Barrier(8)
        outcomes: list[str] = []

        def press(who: str) -> None:
            barrier.wait()
            try:
                outcomes.append(office.decisions.approve(click, by=who))
            except Conflict as error:
                outcomes.append("lost" if "U9" in str(error) else str(error))

        clickers = [threading.Thread(target=press, args=(f"U9{number}",)) for number in range(8)]
        for clicker in clickers:
            clicker.start()
        for clicker in clickers:
            clicker.join()
        assert sorted(outcomes) == sorted(["Posted.", *["lost"] * 7])
        assert len(office.messenger.posts) == 1
        assert len(list(office.log.records())) == 1

    def test_an_old_card_is_refused_and_refreshed(self, office: Office) -> None:
        """A click bound to an earlier draft posts nothing, and the card is shown anew."""
        old = office.click()
        office.decisions.edit(old, "My own words.", by=BEN)
        shown = len(office.messenger.cards[0].shown)
        with pytest.raises(Conflict, match="out of date"):
            office.decisions.approve(old, by=BEN)
        assert office.messenger.posts == []
        assert len(office.messenger.cards[0].shown) == shown + 1
        assert office.shown.draft_pending == "My own words."

    @pytest.mark.parametrize("change", [{"version": 7}, {"draft_hash": "0" * 16}, {"draft_hash": ""}])
    def test_another_version_or_hash_is_refused(self, office: Office, change: dict[str, object]) -> None:
        """Neither half of the binding is enough."""
        with pytest.raises(Conflict, match="out of date"):
            office.decisions.approve(replace(office.click(), **change), by=BEN)
        assert office.messenger.posts == []

    def test_a_running_investigation_cannot_be_approved(self, office: Office) -> None:
        """Between Re-investigate and its draft there is nothing to post."""
        click = office.click()
        office.decisions.reinvestigate(click, by=BEN)
        running = replace(click, draft_hash="")
        with pytest.raises(Conflict, match="still running"):
            office.decisions.approve(running, by=BEN)

    def test_a_thread_without_a_draft_cannot_be_approved(self, tmp_path: Path) -> None:
        """A failed run leaves nothing to post."""
        office = Office(tmp_path, ProviderError("away")).asked()
        with pytest.raises(InputError, match="no draft"):
            office.decisions.approve(office.click(), by=BEN)

    def test_a_disagreement_may_be_approved_by_a_human(self, tmp_path: Path) -> None:
        """The checks advise, the human decides."""
        office = Office(tmp_path, verdicts=[Verdict.BOUNCE]).asked()
        office.decisions.approve(office.click(), by=BEN)
        assert len(office.messenger.posts) == 1

    def test_a_secret_in_the_draft_is_refused(self, tmp_path: Path) -> None:
        """Approval does not wave a credential through."""
        office = Office(tmp_path, a_return("Use AKIAIOSFODNN7EXAMPLQ and key ghp_" + "aB3dE5" * 6)).asked()
        with pytest.raises(InputError, match="secret"):
            office.decisions.approve(office.click(), by=BEN)
        assert office.messenger.posts == []


class TestDoubts:
    """What changed since the draft is shown before it may be posted."""

    def test_a_newer_message_is_shown_first_and_may_be_overruled(self, office: Office) -> None:
        """First click: not posted, the card lists it; second click, on that card: posted."""
        office.clock.advance(5)
        ts = f"{office.clock.now().timestamp():.6f}"
        office.workspace.say("C1", QUESTION_TS, ChatMessage(message_id=ts, sender_id=CARL, text="it is 3, I think"))
        answer = office.decisions.approve(office.click(), by=BEN)
        assert answer.startswith("Not posted yet: 1 thing changed")
        assert office.messenger.posts == []
        assert office.shown.stale_reasons == (f"<@{CARL}> wrote in the thread (2026-11-20 09:01:05 UTC)",)
        assert office.decisions.approve(office.click(), by=BEN) == "Posted."

    def test_the_click_on_the_old_card_does_not_count_as_having_seen(self, office: Office) -> None:
        """Only a card that showed the doubt can overrule it."""
        old = office.click()
        office.says("wait", sender=CARL)
        for _ in range(2):
            assert office.decisions.approve(old, by=BEN).startswith("Not posted yet")
        assert office.messenger.posts == []

    def test_a_second_edit_whose_event_has_not_come_is_asked_about_again(self, office: Office) -> None:
        """The first edit was seen and overruled, whoever brought it; each further wording is one more doubt, once."""
        office.workspace.edit("C1", QUESTION_TS, QUESTION_TS, "How often do we retry refunds?")
        assert "1 thing changed" in office.decisions.approve(office.click(), by=BEN)
        office.queue(an_event("How often do we retry refunds?", msg_type="edit"))
        office.work()
        seen = office.click()
        assert seen.seen == 1
        office.workspace.edit("C1", QUESTION_TS, QUESTION_TS, "Shall we stop to retry refunds?")
        assert "1 thing changed" in office.decisions.approve(seen, by=BEN)
        assert office.messenger.posts == []
        assert len(office.shown.stale_reasons) == 2
        office.decisions.approve(office.click(), by=BEN)
        assert len(office.messenger.posts) == 1

    def test_a_parent_that_is_gone_stops_the_post(self, office: Office) -> None:
        """However often it is clicked: a reply to it would land in the channel."""
        office.workspace.threads.clear()
        for _ in range(2):
            with pytest.raises(InputError, match="is gone"):
                office.decisions.approve(office.click(), by=BEN)
        assert office.messenger.posts == []
        assert office.state.post_intent is None

    def test_a_chat_that_cannot_say_stops_the_post(self, office: Office) -> None:
        """Posting would be a guess; the draft waits as before."""
        office.workspace.down = True
        with pytest.raises(ProviderError):
            office.decisions.approve(office.click(), by=BEN)
        office.workspace.down = False
        assert office.decisions.approve(office.click(), by=BEN) == "Posted."

    def test_code_that_changed_is_named(self, office: Office) -> None:
        """A quote that no longer stands at HEAD."""
        office.changed_refs.add(REF.ref)
        office.decisions.approve(office.click(), by=BEN)
        assert office.shown.stale_reasons == (f"`{REF.ref}` changed in the codebase",)

    def test_an_ops_channel_that_is_not_private_stops_the_post(self, office: Office) -> None:
        """Drafts are not for everybody."""
        office.workspace.private.clear()
        with pytest.raises(InputError, match="no longer private"):
            office.decisions.approve(office.click(), by=BEN)
        assert office.messenger.posts == []


class TestEdit:
    """A human's own words."""

    def test_edited_words_become_the_draft_and_are_posted_as_such(self, office: Office) -> None:
        """The new draft has its own click; the log keeps both texts."""
        click = office.decisions.edit(office.click(), "It is five.", by=BEN)
        office.decisions.approve(click, by=BEN)
        [record] = office.log.records()
        assert office.messenger.posts[0].text == "It is five."
        assert (record["edited"], record["reply_text"]) == (True, "It is five.")
        assert record["draft_text"] == a_return().draft_reply
        assert office.ended.resolution is Resolution.EDITED

    def test_unchanged_words_keep_the_draft(self, office: Office) -> None:
        """Submitting the editor as it opened is an approval of the same draft."""
        assert office.decisions.edit(office.click(), a_return().draft_reply, by=BEN) == office.click()

    @pytest.mark.parametrize("text", ["", "  \n ", "x" * (MAX_REPLY_CHARS + 1), "token ghp_" + "aB3dE5" * 6])
    def test_what_must_not_leave_is_refused_and_changes_nothing(self, office: Office, text: str) -> None:
        """Empty, endless or secret."""
        before = office.state
        with pytest.raises(InputError):
            office.decisions.edit(office.click(), text, by=BEN)
        assert office.state == before

    def test_an_edit_of_an_old_or_decided_draft_is_refused(self, office: Office) -> None:
        """The editor was open while somebody else decided."""
        click = office.click()
        office.decisions.edit(click, "First.", by=BEN)
        with pytest.raises(Conflict, match="out of date"):
            office.decisions.edit(click, "Second.", by=BEN)
        office.decisions.dismiss(office.click(), by=CARL, reason=None)
        with pytest.raises(Conflict, match=f"dismissed by <@{CARL}>"):
            office.decisions.edit(click, "Third.", by=BEN)


class TestDismiss:
    """No reply."""

    def test_a_dismissed_thread_is_closed_with_its_reason(self, office: Office) -> None:
        """Archived, the card closed, nothing posted, nothing logged as a reply."""
        office.decisions.dismiss(office.click(), by=BEN, reason="answered by phone")
        assert (office.ended.resolution, office.ended.dismiss_reason) == (Resolution.DISMISSED, "answered by phone")
        assert office.shown.status is ThreadStatus.CLOSED
        assert office.messenger.posts == []
        assert office.log.lines == []

    @pytest.mark.parametrize(
        ("text", "sender", "reason", "ending"),
        [
            ("It is five, since Monday.", CARL, None, Resolution.SUPERSEDED),
            ("It is five.", CARL, "the draft is wrong", Resolution.DISMISSED),
            ("which client?", CARL, None, Resolution.DISMISSED),
            ("<@U0BOT> look again", CARL, None, Resolution.DISMISSED),
            ("I mean the other one.", ANN, None, Resolution.DISMISSED),
        ],
    )
    def test_a_question_that_a_person_answered_is_superseded(
        self, office: Office, text: str, sender: str, reason: str | None, ending: Resolution
    ) -> None:
        """A dismissal with a reason is about the draft; a question back, or the asker's own words, answer nothing."""
        office.says(text, sender=sender)
        office.work()
        office.decisions.dismiss(office.click(), by=BEN, reason=reason)
        assert office.ended.resolution is ending
        assert office.shown.status is ThreadStatus.CLOSED

    def test_a_running_investigation_can_be_dismissed_and_its_result_is_dropped(self, tmp_path: Path) -> None:
        """The card closes at once; what the run finds later changes nothing and posts nothing."""
        office = Office(tmp_path)
        office.investigator.meanwhile = lambda: office.decisions.dismiss(office.click(), by=BEN, reason=None) and None
        office.asked()
        assert office.ended.resolution is Resolution.DISMISSED
        assert office.ended.draft_pending is None
        assert office.shown.status is ThreadStatus.CLOSED
        assert (office.messenger.posts, office.jobs.waiting, office.jobs.running) == ([], {}, {})

    def test_a_dismissal_of_a_run_does_not_reach_the_draft_it_made(self, office: Office) -> None:
        """The dialogue was open when the draft came: whoever clicked has not seen it."""
        with pytest.raises(Conflict, match="out of date"):
            office.decisions.dismiss(replace(office.click(), version=0, draft_hash=""), by=BEN, reason=None)
        assert office.state.is_open

    def test_whoever_comes_second_is_told(self, office: Office) -> None:
        """Dismiss after approve and approve after dismiss."""
        click = office.click()
        office.decisions.dismiss(click, by=BEN, reason=None)
        for decide in (
            lambda: office.decisions.approve(click, by=CARL),
            lambda: office.decisions.dismiss(click, by=CARL, reason=None),
            lambda: office.decisions.reinvestigate(click, by=CARL),
            lambda: office.decisions.add_context(click, "x", by=CARL),
        ):
            with pytest.raises(Conflict, match=f"dismissed by <@{BEN}>"):
                decide()
        assert office.messenger.posts == []

    def test_a_race_between_look_and_write_is_told_like_any_other(self, office: Office) -> None:
        """The message for the loser never names a version or an id."""
        click = office.click()

        office.store.memory.meanwhile = lambda: office.decisions.approve(click, by=CARL)
        with pytest.raises(Conflict, match=f"approved by <@{CARL}>"):
            office.decisions.dismiss(click, by=BEN, reason=None)


class TestAskAgain:
    """Re-investigate, add context."""

    def test_a_new_investigation_makes_a_new_draft(self, office: Office) -> None:
        """The old click no longer counts, not even for the same words."""
        old = office.click()
        assert office.decisions.reinvestigate(old, by=BEN) == "Investigating again."
        assert office.shown.status is ThreadStatus.INVESTIGATING
        office.work()
        assert office.state.draft_version == 2
        with pytest.raises(Conflict, match="out of date"):
            office.decisions.approve(old, by=BEN)

    def test_context_on_a_waiting_draft_starts_anew_with_it(self, office: Office) -> None:
        """Recorded with who and when."""
        office.decisions.add_context(office.click(), "  we mean v2 ", by=BEN)
        office.work()
        [note] = office.state.human_context
        assert (note.by, note.text) == (BEN, "we mean v2")
        assert len(office.investigator.assignments) == 2

    @pytest.mark.parametrize("text", ["", "   \n"])
    def test_empty_context_is_refused(self, office: Office, text: str) -> None:
        """Nothing to go on is nothing to start for."""
        with pytest.raises(InputError, match="empty"):
            office.decisions.add_context(office.click(), text, by=BEN)
        assert office.state.status is ThreadStatus.PENDING_USER

    def test_context_answers_open_questions(self, tmp_path: Path) -> None:
        """From `context` back to work and on to a draft."""
        asking = a_return("", evidence_refs=(), open_questions=("Which region?",))
        office = Office(tmp_path, asking, a_return()).asked()
        assert office.state.pending_reason is PendingReason.CONTEXT
        office.decisions.add_context(office.click(), "the EU", by=BEN)
        office.work()
        assert office.state.pending_reason is PendingReason.APPROVAL


class TestWhatContextIsAbout:
    """Context belongs to the draft it was typed under, or to the run it was typed during."""

    def test_context_for_an_older_draft_is_refused(self, office: Office) -> None:
        """Somebody edited it meanwhile: the card is refreshed and nothing is investigated."""
        old = office.click()
        office.decisions.edit(old, "My own words.", by=BEN)
        with pytest.raises(Conflict, match="out of date"):
            office.decisions.add_context(old, "we mean v2", by=BEN)
        assert office.state.human_context == ()

    def test_context_typed_during_the_run_counts_when_its_draft_has_come(self, office: Office) -> None:
        """Nobody is told to type it again because the model was quicker."""
        typed = replace(office.click(), version=office.state.draft_version - 1, draft_hash="")
        office.decisions.add_context(typed, "we mean v2", by=BEN)
        assert [note.text for note in office.state.human_context] == ["we mean v2"]
        assert office.state.status is ThreadStatus.INVESTIGATING


class TestUnconfirmed:
    """A post that may or may not have arrived."""

    def test_a_later_click_posts_what_never_arrived(self, office: Office) -> None:
        """Nothing stands in the thread, so it is posted now, once, in the name of who approved."""
        office.messenger.lose, office.messenger.lost_before_posting = Unconfirmed("lost"), True
        with pytest.raises(Unconfirmed):
            office.decisions.approve(office.click(), by=BEN)
        office.messenger.lose = None
        with pytest.raises(Unconfirmed):  # it may yet arrive
            office.decisions.approve(office.click(), by=CARL)
        assert office.messenger.posts == []
        office.clock.advance(IN_FLIGHT.total_seconds())
        assert office.decisions.approve(office.click(), by=CARL) == "Posted."
        assert len(office.messenger.posts) == 1
        assert office.ended.approved_by == BEN

    def test_nothing_else_may_be_decided_meanwhile(self, office: Office) -> None:
        """The draft may already stand in the thread."""
        office.messenger.lose, office.messenger.lost_before_posting = Unconfirmed("lost"), True
        with pytest.raises(Unconfirmed):
            office.decisions.approve(office.click(), by=BEN)
        for decide in (
            lambda: office.decisions.dismiss(office.click(), by=CARL, reason=None),
            lambda: office.decisions.edit(office.click(), "other words", by=BEN),
            lambda: office.decisions.reinvestigate(office.click(), by=CARL),
            lambda: office.decisions.add_context(office.click(), "x", by=CARL),
        ):
            with pytest.raises(Conflict, match=f"<@{BEN}> approved this draft"):
                decide()

    def test_a_later_click_settles_it_without_posting_twice(self, office: Office) -> None:
        """The thread is searched; what stands there is adopted."""
        office.messenger.lose = Unconfirmed("lost")
        office.messenger.meanwhile = lambda: office.workspace.unreadable.add("C1")
        with pytest.raises(ProviderError):
            office.decisions.approve(office.click(), by=BEN)
        assert office.state.post_intent is not None
        office.messenger.lose = None
        office.workspace.unreadable.clear()
        assert office.decisions.approve(office.click(), by=CARL) == "Posted."
        assert len(office.messenger.posts) == 1
        assert office.ended.approved_by == BEN


def test_a_posted_reply_counts_although_its_card_cannot_be_updated(tmp_path: Path) -> None:
    """The approver is told it was posted; the card follows when the chat takes updates again, on a click or a tick."""
    office = Office(tmp_path).asked()
    click = office.click()
    office.messenger.card_refused = Unavailable("Slack could not update the card: internal_error")
    assert office.decisions.approve(click, by=BEN) == "Posted."
    assert len(office.messenger.posts) == 1
    with pytest.raises(Conflict, match="Already closed"):
        office.decisions.approve(click, by=BEN)
    office.messenger.card_refused = None
    office.service.cards.tidy()
    assert office.messenger.cards[0].shown[-1].status is ThreadStatus.CLOSED
    assert office.store.threads() == []
    assert len(office.messenger.posts) == 1


class TestTidying:
    """Threads that closed while something was in the way."""

    def test_a_disk_that_refuses_the_archive_takes_nothing_back(self, office: Office) -> None:
        """The reply stands, the one who clicked is told so, and the thread is archived when the disk lets it be."""
        office.store.memory.archive_full = True
        assert office.decisions.approve(office.click(), by=BEN) == "Posted."
        office.store.memory.archive_full = False
        office.service.cards.tidy()
        assert office.ended.approved_by == BEN


@each_row("text", ["Yes.", "x" * MAX_REPLY_CHARS, "```\nunterminated", "‏مرحبا", "🧵"])
def test_ordinary_replies_may_leave(text: str) -> None:
    """Long, unterminated, right-to-left, only emoji: all may be posted."""
    check_outbound(text)
