"""A question of a button or a command: queued, posted in the ops channel once, then queued like any other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.domain.jobs import AskInOps, QuestionAsked
from bot.errors import ProviderError
from bot.ports import ChatMessage
from handlers.answers import OpsQuestions
from tests.fakes import FakeClock, FakeWorkspace, MemoryJobQueue
from tests.handlers.slack_stub import Answer, SlackStub, a_poster, refusal, slack_stub

TS = "1800000000.000200"


class Desk:
    """An ops channel, of which the workspace shows what stands there."""

    def __init__(self, slack: SlackStub) -> None:
        self.slack, self.clock, self.workspace = slack, FakeClock(), FakeWorkspace()
        self.jobs = MemoryJobQueue(self.clock)
        poster = a_poster(slack.url, posts_per_second=100.0)
        self.questions = OpsQuestions(poster, self.workspace, self.jobs, self.clock, team_id="T1", ops_channel="C0OPS")

    def ask(self, question: str = "Main is red, why?", *, mark: str = "triage_asked:shop:1") -> AskInOps:
        """Have it asked for Ana, and return what waits in the queue."""
        said = self.questions.ask(question, "U0ANA", mark=mark, codebases=["watched"])
        assert said == "Asked in <#C0OPS>; its card will show the draft."
        job = self.jobs.claim()
        assert job is not None
        assert isinstance(job.work, AskInOps)
        return job.work

    def shows(self, text: str) -> None:
        """Let the question stand in the channel."""
        self.slack.will("chat.postMessage", Answer({"ts": TS}))
        self.workspace.threads["C0OPS", TS] = [ChatMessage(message_id=TS, sender_id="U0BOT", text=text)]

    def asked(self) -> QuestionAsked:
        """Return the question that waits in the queue."""
        job = self.jobs.claim()
        assert job is not None
        assert isinstance(job.work, QuestionAsked)
        assert job.key == f"T1.C0OPS.{TS}"
        return job.work


@pytest.fixture
def desk() -> Iterator[Desk]:
    with slack_stub() as stub:
        yield Desk(stub)


def test_the_question_stands_in_the_channel_and_is_whoevers_asked_it_about_what_they_named(desk: Desk) -> None:
    """In a thread of its own, in the words that Slack keeps, so that it does not look edited later."""
    desk.shows("a &lt; b &amp; <https://x.io>?")
    desk.questions.post(desk.ask("a < b & https://x.io?"))
    asked = desk.asked()
    assert (asked.event.chat_id, asked.event.sender.id, asked.event.thread_id) == ("C0OPS", "U0ANA", None)
    assert (asked.event.content, asked.codebases) == ("a &lt; b &amp; <https://x.io>?", ("watched",))


def test_what_stands_is_not_posted_again_and_its_question_waits(desk: Desk) -> None:
    """The process died after it was posted, or another click asked the same."""
    desk.shows("Main is red, why?")
    work = desk.ask()
    standing = {"ts": TS, "blocks": [{"type": "section", "block_id": work.mark}]}
    desk.slack.will("conversations.history", Answer({"messages": [standing]}))
    desk.questions.post(work)
    assert desk.slack.of("chat.postMessage") == []
    assert desk.asked().event.message_id == TS


def test_commands_ask_what_was_asked_before_once_more(desk: Desk) -> None:
    """Only what names itself is asked once."""
    assert desk.ask(mark="").mark != desk.ask(mark="").mark


def test_what_a_finding_says_notifies_nobody_and_unfurls_nothing(desk: Desk) -> None:
    """Its words come from commits and logs."""
    desk.shows("x")
    desk.questions.post(desk.ask("<!channel> https://evil.example/x <@U1>"))
    [sent] = desk.slack.of("chat.postMessage")
    assert not [word for word in ("<!channel>", "<@U1>") if word in sent["text"] or word in str(sent["blocks"])]
    assert (sent["channel"], sent["unfurl_links"], sent["unfurl_media"]) == ("C0OPS", False, False)


def test_a_refusal_queues_nothing_and_what_was_deleted_is_not_answered(desk: Desk) -> None:
    """The job is tried again, and given up in words."""
    work = desk.ask()
    desk.slack.will("chat.postMessage", refusal("channel_not_found"), Answer({"ts": TS}))
    with pytest.raises(ProviderError):
        desk.questions.post(work)
    desk.questions.post(work)
    assert desk.jobs.claim() is None
