"""Native signs in direct messages against a recording server, which refuses them one at a time."""

from __future__ import annotations

import json

import pytest
from slack_sdk import WebClient

from blocks.text.splitting import SECTION_CHARS
from bot.domain.threads import ThreadState
from handlers.direct_messages import PROMPTS, NativeSigns, SlackDirectChat
from tests.builders import a_thread
from tests.handlers.slack_stub import Answer, SlackStub, a_poster, refusal, slack_stub
from tests.tables import each_row

AGENT, STATUS, TITLE = "agents.sessions.setStatus", "assistant.threads.setStatus", "assistant.threads.setTitle"
PROMPT = "assistant.threads.setSuggestedPrompts"
STATE = a_thread(chat_id="D0BEN", thread_id="T1.D0BEN.1795165200.000100", question="why\n<!channel>? " * 40)


@pytest.fixture
def signs(slack: SlackStub) -> NativeSigns:
    """Speaks to the recording server."""
    return NativeSigns(WebClient(base_url=slack.url))


def work(signs: NativeSigns, state: ThreadState = STATE) -> None:
    signs.show_working(state.chat_id, state.thread_ts, "why?", is_working=True)
    signs.show_working(state.chat_id, state.thread_ts, "why?", is_working=False)


def test_a_session_of_the_agent_view_says_that_somebody_is_on_it(slack: SlackStub, signs: NativeSigns) -> None:
    """And that it rests; the older calls are not needed."""
    work(signs)
    sent = {"channel_id": "D0BEN", "thread_ts": STATE.thread_ts, "title": "why?"}
    assert slack.of(AGENT) == [{**sent, "status": "processing"}, {**sent, "status": "active"}]
    assert [name for name, _ in slack.calls if name != AGENT] == []


@each_row("code", ["unknown_method", "missing_scope", "not_allowed_token_type", "feature_not_enabled"])
def test_what_slack_refuses_is_asked_once_and_the_next_way_is_taken(code: str) -> None:
    """By this process; a reaction stands where there is no way."""
    with slack_stub() as slack:
        signs = NativeSigns(WebClient(base_url=slack.url))
        slack.will(AGENT, refusal(code))
        work(signs)
        assert [one.get("status", "") for one in slack.of(STATUS)] == ["is looking into it …", ""]
        assert [one["title"] for one in slack.of(TITLE)] == ["why?"]
        slack.will(STATUS, refusal(code))
        slack.will(TITLE, refusal(code))
        work(signs)
        work(signs)
        assert (len(slack.of(AGENT)), len(slack.of(STATUS)), len(slack.of(TITLE))) == (1, 3, 2)


def test_a_thread_that_is_gone_and_a_busy_slack_say_nothing_of_others(slack: SlackStub, signs: NativeSigns) -> None:
    """They are asked again."""
    slack.will(AGENT, refusal("thread_not_found"), refusal("ratelimited", status=429), Answer())
    work(signs)
    work(signs)
    assert len(slack.of(AGENT)) == 4


def test_prompts_are_at_most_four(slack: SlackStub, signs: NativeSigns) -> None:
    """Slack takes no more."""
    assert signs.suggest("D0BEN", [*PROMPTS] * 9)
    [sent] = slack.of(PROMPT)
    assert sent["channel_id"] == "D0BEN"
    prompts = sent["prompts"]
    assert len(json.loads(prompts) if isinstance(prompts, str) else prompts) == 4
    slack.will(PROMPT, refusal("missing_scope"))
    assert not signs.suggest("D0BEN", PROMPTS)


def test_who_asked_is_told_once_in_their_thread(slack: SlackStub, signs: NativeSigns) -> None:
    """Whatever died in between: the line is looked for first."""
    chat = SlackDirectChat(a_poster(slack.url), signs)
    chat.tell(STATE.chat_id, STATE.thread_ts, "The approvers see it.", about="1")
    [posted] = slack.of("chat.postMessage")
    assert posted["thread_ts"] == STATE.thread_ts
    assert len(str(posted["blocks"])) < SECTION_CHARS
    standing = {"ts": "1.2", "blocks": [{"block_id": f"triage_told:{'0' * 16}"}]}
    slack.will("conversations.replies", Answer({"messages": [standing, {"ts": "1.3", "blocks": posted["blocks"]}]}))
    chat.tell(STATE.chat_id, STATE.thread_ts, "The approvers see it.", about="1")
    assert len(slack.of("chat.postMessage")) == 1
