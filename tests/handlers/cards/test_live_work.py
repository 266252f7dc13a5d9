"""Steps of a run over Slack: a stream of task cards as the SDK documents it, refused call by call, or a message."""

from __future__ import annotations

from typing import Any

import pytest

from bot.errors import Unavailable, Unconfirmed
from bot.ports.collections import CARDS_SHOWN
from handlers.cards.live_work import STREAM_S, SlackLiveRun, SlackLiveWork
from handlers.transport.slack_clients import posting_client
from tests.builders import a_thread
from tests.fakes import FakeClock, FakeMonotonic, MemoryDocuments, in_memory
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, a_poster, refusal

TITLE = "Investigating"
STEPS = [TITLE, "Searching for retries", "Reading a.py <!channel>"]
THREAD = a_thread(card_channel="C0OPS", card_ts="5.0")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def kept() -> MemoryDocuments:
    """What outlives a process."""
    return MemoryDocuments()


@pytest.fixture
def work(slack: SlackStub, watch: FakeMonotonic, kept: MemoryDocuments, clock: FakeClock) -> SlackLiveWork:
    poster, shown = a_poster(slack.url, posts_per_second=100.0), in_memory(CARDS_SHOWN, kept)
    return SlackLiveWork(posting_client("xoxb-1", slack.url), poster, shown, clock, monotonic=watch)


def played(work: SlackLiveWork, *, said: str = "done") -> SlackLiveRun:
    """Show a run step by step, to its end."""
    run = work.begin(THREAD, TITLE)
    for number in range(1, len(STEPS) + 1):
        run.show(STEPS[:number])
    run.end(STEPS, said)
    return run


def tasks(call: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["id"], one["status"]) for one in call["chunks"] if one["type"] == "task_update"]


def test_steps_are_task_cards_of_a_stream_below_the_card(slack: SlackStub, work: SlackLiveWork) -> None:
    """Each is under way until the next begins; the end says how it went. Nobody is called by a step."""
    played(work, said="stopped")
    [start] = slack.of("chat.startStream")
    assert (start["channel"], start["thread_ts"], start["recipient_user_id"]) == ("C0OPS", "5.0", "U1")
    assert "markdown_text" not in start
    first, second = slack.of("chat.appendStream")
    assert [tasks(one) for one in (start, first, second)] == [
        [("step-0", "in_progress")],
        [("step-0", "complete"), ("step-1", "in_progress")],
        [("step-1", "complete"), ("step-2", "in_progress")],
    ]
    assert "<!channel>" not in str(second)
    [stop] = slack.of("chat.stopStream")
    assert tasks(stop) == [("step-2", "complete")]
    assert stop["chunks"][-1] == {"type": "markdown_text", "text": f"{TITLE}: 2 steps, stopped"}
    assert slack.of("chat.postMessage") == []


def test_where_slack_has_no_streams_one_message_is_edited_and_folded(slack: SlackStub, work: SlackLiveWork) -> None:
    """Asked once in the life of the process; at the end a line is left."""
    slack.will("chat.startStream", refusal("unknown_method"))
    played(work)
    played(work, said="stopped")
    assert len(slack.of("chat.startStream")) == 1
    assert [one["thread_ts"] for one in slack.of("chat.postMessage")] == ["5.0", "5.0"]
    edits = slack.of("chat.update")
    assert "2 steps, stopped*\\n• Searching" in str(edits[-1]["blocks"])
    assert "• Reading a.py &lt;!channel&gt;" in str(edits[1]["blocks"])
    assert edits[2]["blocks"][0]["elements"][0]["text"] == f"*{TITLE}: 2 steps, done*"


def test_a_sealed_stream_is_followed_by_another_one(
    slack: SlackStub, work: SlackLiveWork, watch: FakeMonotonic
) -> None:
    """Before Slack seals it, and after; the new one goes on where the other ended."""
    run = work.begin(THREAD, TITLE)
    run.show(STEPS[:1])
    watch.now = STREAM_S
    run.show(STEPS[:2])
    assert (len(slack.of("chat.startStream")), len(slack.of("chat.stopStream"))) == (2, 1)
    slack.will("chat.appendStream", refusal("message_not_in_streaming_state"))
    run.show(STEPS)
    assert [tasks(one) for one in slack.of("chat.startStream")][2] == [
        ("step-1", "complete"),
        ("step-2", "in_progress"),
    ]


def test_a_stream_that_may_have_begun_is_not_begun_twice(slack: SlackStub, work: SlackLiveWork) -> None:
    """The run goes on unshown."""
    slack.will("chat.startStream", HangUp, Answer({"ts": "9.0"}))
    run = work.begin(THREAD, TITLE)
    with pytest.raises(Unconfirmed):
        run.show(STEPS)
    run.show(STEPS)
    run.end(STEPS, "done")
    assert [name for name, _ in slack.calls] == ["chat.startStream"]


def test_an_alert_has_nobody_to_stream_to(slack: SlackStub, work: SlackLiveWork) -> None:
    """Slack wants a person for a stream in a channel; other runs still stream."""
    work.begin(THREAD.evolve(from_bot=True), TITLE).show(STEPS)
    assert [name for name, _ in slack.calls] == ["chat.postMessage"]
    assert work.has_streams


@pytest.mark.parametrize("is_stream", [True, False])
def test_what_a_dead_process_left_is_folded_once(
    slack: SlackStub, work: SlackLiveWork, kept: MemoryDocuments, is_stream: bool
) -> None:
    """By whoever comes next, and before the next run of the thread shows anything."""
    work.has_streams = is_stream
    work.begin(THREAD, TITLE).show(STEPS[:1])
    slack.will("chat.stopStream", refusal("message_not_in_streaming_state"))
    slack.calls.clear()
    for _ in range(2):
        work.fold_left(THREAD.thread_id)
    assert [name for name, _ in slack.calls] == [*(["chat.stopStream"] if is_stream else []), "chat.update"]
    [folded] = slack.of("chat.update")
    assert folded["text"] == f"{TITLE}: interrupted"
    assert kept.list(CARDS_SHOWN.name) == []


def test_a_message_that_nobody_confirmed_is_looked_for(slack: SlackStub, work: SlackLiveWork, clock: FakeClock) -> None:
    """As long as it may be on its way; the next run shows nothing meanwhile."""
    work.has_streams = False
    slack.will("chat.postMessage", HangUp, Answer({"ts": "9.0"}))
    with pytest.raises(Unconfirmed):
        work.begin(THREAD, TITLE).show(STEPS)
    [sent] = slack.of("chat.postMessage")
    slack.will("conversations.replies", Answer({"messages": []}), Answer({"messages": [{"ts": "9.0", **sent}]}))
    again = work.begin(THREAD, TITLE)
    with pytest.raises(Unavailable):
        again.show(STEPS)
    again.show(STEPS)
    assert [(one["ts"], one["text"]) for one in slack.of("chat.update")] == [("9.0", f"{TITLE}: interrupted")]
    clock.advance(60)
    again.end(STEPS, "done")
    assert len(slack.of("chat.postMessage")) == 2
