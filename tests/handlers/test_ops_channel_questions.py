"""A question that begins with a button: posted in the ops channel, then queued like any other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.errors import ProviderError
from handlers.ops_channel import Ask, ops_questions
from tests.builders import event_of
from tests.fakes import FakeClock, MemoryJobQueue
from tests.handlers.slack_stub import Answer, SlackStub, a_poster, refusal, slack_stub

TS = "1800000000.000200"


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with slack_stub() as stub:
        yield stub


@pytest.fixture
def jobs() -> MemoryJobQueue:
    return MemoryJobQueue(FakeClock())


@pytest.fixture
def ask(slack: SlackStub, jobs: MemoryJobQueue) -> Ask:
    return ops_questions(a_poster(slack.url, posts_per_second=100.0), jobs, team_id="T1", ops_channel="C0OPS")


def test_the_question_stands_in_the_channel_and_waits_in_the_queue(
    slack: SlackStub, jobs: MemoryJobQueue, ask: Ask
) -> None:
    """As an event of whoever asked, in a thread of its own."""
    slack.will("chat.postMessage", Answer({"ts": TS, "message": {"text": "Main is red, why?"}}))
    assert ask("Main is red, why?", "U0ANA") == "Asked in <#C0OPS>; its card will show the draft."
    job = jobs.claim()
    assert job is not None
    event = event_of(job)
    assert (job.key, event.chat_id, event.message_id) == (f"T1.C0OPS.{TS}", "C0OPS", TS)
    assert (event.sender.id, event.content, event.thread_id) == ("U0ANA", "Main is red, why?", None)


def test_what_a_finding_says_notifies_nobody_and_unfurls_nothing(slack: SlackStub, ask: Ask) -> None:
    """Its words come from commits and logs."""
    ask("<!channel> https://evil.example/x <@U1>", "U0ANA")
    [sent] = slack.of("chat.postMessage")
    assert "<!channel>" not in sent["text"]
    assert "<@U1>" not in sent["text"]
    assert (sent["channel"], sent["unfurl_links"], sent["unfurl_media"]) == ("C0OPS", False, False)


def test_the_words_are_kept_as_slack_keeps_them(slack: SlackStub, jobs: MemoryJobQueue, ask: Ask) -> None:
    """So that the freshness gate sees no edit where Slack only wrote it down its own way."""
    slack.will("chat.postMessage", Answer({"ts": TS, "message": {"text": "a &lt; b &amp; <https://x.io>?"}}))
    ask("a < b & https://x.io?", "U0ANA")
    job = jobs.claim()
    assert job is not None
    assert event_of(job).content == "a &lt; b &amp; <https://x.io>?"


def test_a_refusal_queues_nothing(slack: SlackStub, jobs: MemoryJobQueue, ask: Ask) -> None:
    """Whoever clicked is told by the caller."""
    slack.will("chat.postMessage", refusal("channel_not_found"))
    with pytest.raises(ProviderError):
        ask("Why?", "U0ANA")
    assert jobs.claim() is None
