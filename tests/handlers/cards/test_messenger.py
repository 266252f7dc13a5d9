"""What the bot says, over the wire: cards in place, replies in their thread, recognised again after a crash."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from blocks import ids
from blocks.cards.draft_card import CardFacts
from bot.domain.citations.links import code_links
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus, hash_draft, reply_mark
from bot.errors import ProviderError, Unavailable, Unconfirmed
from bot.ports.chat import IN_FLIGHT
from handlers.cards.messenger import SlackMessenger
from handlers.transport.rate_limits import UPDATE_BURST
from tests.blocks.limits import texts
from tests.builders import QUESTION_TS, THREAD_ID, in_status
from tests.fakes import FakeClock
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, a_poster, refusal

STATE = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL)
CARD_TS = "1800000000.000001"
TEXT = "The limit is **5**."
NEW = STATE.evolve(started_at=STATE.started_at + timedelta(minutes=1))
"""A question that came since the process began, so that no earlier one can have posted its card."""


@pytest.fixture
def clock() -> FakeClock:
    """A clock at the start of the process; the thread is older."""
    return FakeClock(STATE.started_at + timedelta(minutes=1))


@pytest.fixture
def messenger(slack: SlackStub, clock: FakeClock) -> SlackMessenger:
    """The real messenger over the stub."""
    poster = a_poster(slack.url, posts_per_second=50.0, clock=clock)
    return SlackMessenger(
        poster,
        ops_channel="C0OPS",
        bot_user_id="U0BOT",
        facts=CardFacts(link_to=code_links(None)),
    )


def on_card(state: ThreadState) -> ThreadState:
    return state.evolve(card_channel="C0OPS", card_ts=CARD_TS)


def blocks_of(call: dict[str, Any]) -> list[dict[str, Any]]:
    blocks = call["blocks"]
    found: list[dict[str, Any]] = json.loads(blocks) if isinstance(blocks, str) else blocks
    return found


class TestCard:
    """One card per thread."""

    def test_a_first_card_is_posted_in_the_ops_channel(self, slack: SlackStub, messenger: SlackMessenger) -> None:
        """Unfurling nothing, marked with its thread."""
        slack.will("chat.postMessage", Answer({"ts": CARD_TS}))
        assert messenger.show_card(NEW) == ("C0OPS", CARD_TS)
        [call] = slack.of("chat.postMessage")
        assert call["channel"] == "C0OPS"
        assert call["unfurl_links"] in (False, "0")
        assert "thread_ts" not in call
        assert blocks_of(call)[0]["block_id"] == ids.card_block_id(THREAD_ID)

    @pytest.mark.parametrize("answer", [Answer({}), refusal("channel_not_found")])
    def test_a_card_in_the_ops_channel_of_before_is_deleted_where_slack_lets_us(
        self, slack: SlackStub, messenger: SlackMessenger, answer: Answer
    ) -> None:
        """A channel that is closed to us keeps its card, and the work goes on."""
        slack.will("chat.delete", answer)
        messenger.remove_card(on_card(STATE).evolve(card_channel="C0BEFORE"))
        assert [(call["channel"], call["ts"]) for call in slack.of("chat.delete")] == [("C0BEFORE", CARD_TS)]

    def test_a_card_that_slack_cannot_take_away_now_is_asked_for_again(
        self, slack: SlackStub, messenger: SlackMessenger
    ) -> None:
        """Others may read it there until then."""
        slack.will("chat.delete", refusal("internal_error"))
        with pytest.raises(Unavailable):
            messenger.remove_card(on_card(STATE).evolve(card_channel="C0BEFORE"))

    def test_a_card_somebody_deleted_is_posted_anew(self, slack: SlackStub, messenger: SlackMessenger) -> None:
        """Nothing waits unseen."""
        slack.will("chat.update", refusal("message_not_found"))
        slack.will("chat.postMessage", Answer({"ts": "1800000000.000009"}))
        assert messenger.show_card(on_card(STATE)) == ("C0OPS", "1800000000.000009")

    def test_a_card_of_a_closed_thread_that_somebody_deleted_stays_away(
        self, slack: SlackStub, messenger: SlackMessenger
    ) -> None:
        """There is nothing left to decide."""
        slack.will("chat.update", refusal("message_not_found"))
        assert messenger.show_card(on_card(in_status(ThreadStatus.CLOSED))) == ("C0OPS", CARD_TS)
        assert slack.of("chat.postMessage") == []

    @pytest.mark.parametrize("code", ["ratelimited_for_ever", "no_such_thing", "channel_not_found"])
    def test_a_refused_update_is_an_error_and_posts_nothing(
        self, slack: SlackStub, messenger: SlackMessenger, code: str
    ) -> None:
        """Only a card that is gone is replaced."""
        slack.will("chat.update", refusal(code))
        with pytest.raises(ProviderError, match=code):
            messenger.show_card(on_card(STATE))
        assert slack.of("chat.postMessage") == []


def standing(thread_id: str = THREAD_ID) -> dict[str, Any]:
    return {"ts": CARD_TS, "blocks": [{"type": "section", "block_id": ids.card_block_id(thread_id)}]}


class TestFindAgain:
    """A card that is not on file is looked for before it is posted."""

    def test_a_card_of_an_earlier_run_is_found_by_its_mark(self, slack: SlackStub, messenger: SlackMessenger) -> None:
        """Whatever else stands in the channel since the question, with or without blocks."""
        messages = [
            {"ts": "1800000000.000013", "text": "chatter"},
            {**standing("T1.C1.9.9"), "ts": "1800000000.000012"},
            standing(),
        ]
        slack.will("conversations.history", Answer({"messages": messages}))
        assert messenger.show_card(STATE) == ("C0OPS", CARD_TS)
        [asked] = slack.of("conversations.history")
        assert asked["oldest"] == QUESTION_TS
        assert [call["ts"] for call in slack.of("chat.update")] == [CARD_TS]
        assert slack.of("chat.postMessage") == []

    def test_a_card_of_an_earlier_run_is_not_missed_before_ten_seconds_have_passed(
        self, slack: SlackStub, messenger: SlackMessenger, clock: FakeClock
    ) -> None:
        """Whoever posted it died; it may still be on its way."""
        slack.will("conversations.history", Answer({"messages": []}))
        clock.advance(IN_FLIGHT.total_seconds() - 1)
        with pytest.raises(Unavailable, match="on its way"):
            messenger.show_card(STATE)
        clock.advance(1)
        messenger.show_card(STATE)
        assert len(slack.of("chat.postMessage")) == 1

    def test_a_card_of_this_run_is_waited_for_only_if_it_was_posted(
        self, slack: SlackStub, messenger: SlackMessenger, clock: FakeClock
    ) -> None:
        """Not before, nor after Slack refused it; but where nobody can tell, though that was the only trouble."""
        slack.will("conversations.history", Answer({"messages": []}))
        state = STATE.evolve(started_at=clock.now())
        slack.will("chat.postMessage", refusal("channel_not_found"))
        for _ in range(2):
            with pytest.raises(ProviderError, match="channel_not_found"):
                messenger.show_card(state)
        slack.will("chat.postMessage", HangUp)
        with pytest.raises(Unconfirmed):
            messenger.show_card(state)
        with pytest.raises(Unavailable, match="on its way"):
            messenger.show_card(state)

    def test_a_card_that_another_process_posted_is_found(
        self, slack: SlackStub, messenger: SlackMessenger, clock: FakeClock
    ) -> None:
        """The question is new to this data directory, but not to the time before its backup, nor to a replica."""
        slack.will("conversations.history", Answer({"messages": [standing()]}))
        assert messenger.show_card(STATE.evolve(started_at=clock.now())) == ("C0OPS", CARD_TS)

    def test_a_question_taken_up_again_leaves_the_card_it_had(
        self, slack: SlackStub, messenger: SlackMessenger
    ) -> None:
        """That one is newer than the question, too."""
        slack.will("conversations.history", Answer({"messages": [standing()]}))
        with pytest.raises(Unavailable, match="on its way"):
            messenger.show_card(STATE, after=CARD_TS)
        [asked] = slack.of("conversations.history")
        assert asked["oldest"] == CARD_TS


LONG = "\n\n".join(f"paragraph {n}: " + "a & b " * 90 for n in range(25))
"""Three messages long."""


def too_long(slack: SlackStub, method: str) -> list[int]:
    """Return how many characters of text each call of a method had in all of its blocks."""
    return [sum(map(len, texts(blocks_of(call)))) for call in slack.of(method)]


class TestLongDraft:
    """What a card has no room for stands in its thread, before anybody can approve it."""

    def test_the_whole_draft_is_put_into_the_card_s_thread_once(
        self, slack: SlackStub, messenger: SlackMessenger
    ) -> None:
        """In as many messages as it will be posted in; then the card offers Approve."""
        state = on_card(STATE.with_draft(LONG))
        slack.will("conversations.replies", Answer({"messages": []}))
        for _ in range(2):
            messenger.show_card(state)
        posted = slack.of("chat.postMessage")
        assert [call["thread_ts"] for call in posted] == [CARD_TS] * 3
        assert "message 1 of 3, as it would be posted" in str(blocks_of(posted[0]))
        assert "paragraph 24" in str(blocks_of(posted[2]))
        assert max(too_long(slack, "chat.postMessage") + too_long(slack, "chat.update")) < 10_000
        assert all(ids.APPROVE in str(call["blocks"]) for call in slack.of("chat.update"))

    def test_what_an_earlier_run_put_there_is_not_put_there_again(
        self, slack: SlackStub, messenger: SlackMessenger, clock: FakeClock
    ) -> None:
        """Only what is missing, and not before it can no longer be on its way."""
        state = on_card(STATE.with_draft(LONG))
        first = {"ts": "7.1", "blocks": [{"block_id": ids.preview_block_id(THREAD_ID, state.draft_version, 1)}]}
        slack.will("conversations.replies", Answer({"messages": [first]}))
        with pytest.raises(Unconfirmed):
            messenger.show_card(state)
        clock.advance(IN_FLIGHT.total_seconds())
        messenger.show_card(state)
        assert len(slack.of("chat.postMessage")) == 2

    def test_a_draft_that_slack_does_not_take_cannot_be_approved(
        self, slack: SlackStub, messenger: SlackMessenger
    ) -> None:
        """The card says so, and the thread's work goes on."""
        slack.will("conversations.replies", Answer({"messages": []}))
        slack.will("chat.postMessage", refusal("invalid_blocks"))
        assert messenger.show_card(on_card(STATE.with_draft(LONG))) == ("C0OPS", CARD_TS)
        [call] = slack.of("chat.update")
        assert "cannot be approved" in str(call["blocks"])
        assert ids.APPROVE not in str(call["blocks"])


class TestRefusedCard:
    """A card that Slack does not take is shortened and says so."""

    @pytest.mark.parametrize("code", ["msg_blocks_too_long", "invalid_blocks", "invalid_blocks_format"])
    def test_a_refused_update_falls_back_to_a_shorter_card(
        self, slack: SlackStub, messenger: SlackMessenger, code: str
    ) -> None:
        """The draft goes to the thread, and can be approved from the short card."""
        slack.will("conversations.replies", Answer({"messages": []}))
        slack.will("chat.update", refusal(code), Answer({}))
        assert messenger.show_card(on_card(STATE)) == ("C0OPS", CARD_TS)
        short = str(slack.of("chat.update")[-1]["blocks"])
        assert f"Slack did not take the whole one ({code})" in short
        assert ids.APPROVE in short
        assert max(too_long(slack, "chat.update")[1:]) < 3_000
        [whole] = slack.of("chat.postMessage")
        assert whole["thread_ts"] == CARD_TS

    def test_where_even_that_is_refused_a_line_stands_there(self, slack: SlackStub, messenger: SlackMessenger) -> None:
        """With the mark by which the card is found again, and no foreign word."""
        slack.will("conversations.replies", Answer({"messages": []}))
        slack.will("chat.update", *[refusal("invalid_blocks")] * 3, Answer({}))
        messenger.show_card(on_card(STATE))
        [block] = blocks_of(slack.of("chat.update")[-1])
        assert block["block_id"] == ids.card_block_id(THREAD_ID)
        assert "Slack did not take this message (invalid_blocks)" in str(block)


class TestLongReply:
    """A reply that is too long for one message is posted in several, each exactly once."""

    def answers(self, state: ThreadState, *numbers: int) -> Answer:
        marks = [ids.reply_block_id(THREAD_ID, hash_draft(LONG), number) for number in numbers]
        return Answer({"messages": [{"ts": f"7.{n}", "blocks": [{"block_id": m}]} for n, m in enumerate(marks, 1)]})

    def test_it_stands_whole_and_in_order(self, slack: SlackStub, messenger: SlackMessenger) -> None:
        """All in the asker's thread; the last carries the mark by which the whole is found."""
        state = STATE.with_draft(LONG)
        slack.will("conversations.replies", Answer({"messages": []}))
        messenger.post_reply(state, LONG)
        posted = slack.of("chat.postMessage")
        said = "".join(str(blocks_of(call)) for call in posted)
        assert [said.count(f"paragraph {n}:") for n in range(25)] == [1] * 25
        assert [call["thread_ts"] for call in posted] == [QUESTION_TS] * 3
        marks = [str(blocks_of(call)[0]["block_id"]).startswith(reply_mark(state)) for call in posted]
        assert marks == [False, False, True]
        assert max(too_long(slack, "chat.postMessage")) < 10_000

    @pytest.mark.parametrize("standing", [(1,), (1, 2)])
    def test_after_a_crash_only_what_is_missing_is_posted(
        self, slack: SlackStub, messenger: SlackMessenger, clock: FakeClock, standing: tuple[int, ...]
    ) -> None:
        """Once what is missing can no longer be on its way."""
        state = STATE.with_draft(LONG)
        slack.will("conversations.replies", self.answers(state, *standing))
        clock.advance(IN_FLIGHT.total_seconds())
        messenger.post_reply(state, LONG)
        assert len(slack.of("chat.postMessage")) == 3 - len(standing)

    def test_a_refusal_in_the_middle_leaves_the_claim_to_be_settled(
        self, slack: SlackStub, messenger: SlackMessenger
    ) -> None:
        """Something stands in the thread, so it is not "nothing was posted"; a refused first message is."""
        state = STATE.with_draft(LONG)
        slack.will("conversations.replies", Answer({"messages": []}))
        slack.will("chat.postMessage", refusal("is_archived"))
        with pytest.raises(ProviderError) as caught:
            messenger.post_reply(state, LONG)
        assert not isinstance(caught.value, Unconfirmed)
        for answered in (1, 2):
            slack.will("chat.postMessage", *[Answer({"ts": "7.1"})] * answered, refusal("is_archived"))
            with pytest.raises(Unconfirmed):
                messenger.post_reply(state, LONG)


class TestPace:
    """What Slack refused for its rate is not tried again before its time, by nobody."""

    @pytest.mark.parametrize(
        ("state", "progress"), [(STATE, "3 tool calls"), (in_status(ThreadStatus.AWAITING_VALIDATION), None)]
    )
    def test_what_nobody_has_to_act_on_leaves_half_of_the_updates_to_drafts(
        self, slack: SlackStub, messenger: SlackMessenger, state: ThreadState, progress: str | None
    ) -> None:
        """However many runs report; a machine that takes its time has earned one or the other meanwhile."""

        def report(times: int) -> None:
            for _ in range(times):
                messenger.show_card(on_card(state), progress=progress)

        report(UPDATE_BURST // 2)
        with pytest.raises(Unavailable, match="too many messages at once"):
            report(UPDATE_BURST // 2)
        assert len(slack.of("chat.update")) < UPDATE_BURST
        messenger.show_card(on_card(STATE))


class TestReply:
    """The one message the whole bot is for."""

    def test_a_reply_goes_into_its_thread_with_its_mark(self, slack: SlackStub, messenger: SlackMessenger) -> None:
        """Markdown as mrkdwn, nothing unfurled, question and draft named."""
        slack.will("chat.postMessage", Answer({"ts": "1.2"}))
        assert messenger.post_reply(STATE, TEXT) == "1.2"
        [call] = slack.of("chat.postMessage")
        assert (call["channel"], call["thread_ts"]) == ("C1", QUESTION_TS)
        assert call["unfurl_links"] in (False, "0")
        assert call["unfurl_media"] in (False, "0")
        assert "reply_broadcast" not in call
        assert call["text"] == "The limit is *5*."
        assert blocks_of(call)[0]["block_id"] == f"{reply_mark(STATE)}:{hash_draft(TEXT)}"

    @pytest.mark.parametrize("text", ["<!channel> hi", "@here look", "<!subteam^S1>", "<https://x.io|<!everyone>>"])
    def test_no_reply_calls_the_whole_channel(self, slack: SlackStub, messenger: SlackMessenger, text: str) -> None:
        """Neither in its blocks nor in its text."""
        messenger.post_reply(STATE, text)
        [call] = slack.of("chat.postMessage")
        sent = json.dumps([blocks_of(call), call["text"]])
        assert "<!" not in sent
        assert "@here" not in sent

    def test_a_dropped_connection_is_unconfirmed_and_not_repeated(
        self, slack: SlackStub, messenger: SlackMessenger
    ) -> None:
        """One request, whatever became of it."""
        slack.will("chat.postMessage", HangUp)
        with pytest.raises(Unconfirmed):
            messenger.post_reply(STATE, TEXT)
        assert len(slack.of("chat.postMessage")) == 1


def reply(user: str = "U0BOT", **fields: Any) -> dict[str, Any]:
    return {"ts": "5.5", "user": user, "text": "another text", **fields}


def test_the_ops_channel_is_told_inertly(slack: SlackStub, messenger: SlackMessenger) -> None:
    """File names and errors may hold anything."""
    messenger.tell_ops("cannot read <!channel> & more")
    [call] = slack.of("chat.postMessage")
    assert (call["channel"], call["text"]) == ("C0OPS", "cannot read &lt;!channel&gt; &amp; more")


def test_a_digest_is_of_what_the_card_shows_and_asks_slack_nothing(slack: SlackStub, messenger: SlackMessenger) -> None:
    """The same for the same card, whatever was written on file meanwhile; another one for another draft."""
    state = on_card(STATE)
    slack.calls.clear()
    digests = [messenger.card_digest(one) for one in (state, state.evolve(version=9), state.with_draft("Twice."))]
    assert (digests[0] == digests[1], digests[1] == digests[2], slack.calls) == (True, False, [])


def test_whether_a_card_still_stands_is_asked_of_slack(slack: SlackStub, messenger: SlackMessenger) -> None:
    """A deleted one is not found, or is a tombstone above the messages that stand below it."""
    state = on_card(STATE)
    below = {"ts": "1800000000.000100", "text": "the whole draft"}
    for root, stands in (({}, True), ({"subtype": "tombstone"}, False)):
        slack.will("conversations.replies", Answer({"messages": [{"ts": state.card_ts, **root}, below]}))
        assert messenger.has_card(state) is stands
    slack.will("conversations.replies", refusal("thread_not_found"))
    assert not messenger.has_card(state)
    slack.will("conversations.replies", refusal("channel_not_found"))
    with pytest.raises(ProviderError):
        messenger.has_card(state)
