"""The message shortcut, as Slack sends it, through Bolt: what it queues, whom it refuses, and who hears of it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from slack_bolt import BoltRequest

from blocks import ids
from bot.config.settings import Settings
from bot.domain.events import Sender
from bot.domain.threads import ThreadStatus
from bot.intake.watcher import MessageLog, Watcher
from bot.ports import ChatMessage, Person
from handlers.direct_messages import Shortcuts
from handlers.transport.connection import is_well_shaped
from tests.builders import a_sorter, event_of, in_status
from tests.fakes import FakeClock, FakeWorkspace, MemoryJobQueue, MemoryJournal, MemoryThreads
from tests.handlers.listening import listening
from tests.handlers.slack_stub import SlackStub
from tests.handlers.test_routes import ME, RecordedButtons
from tests.payloads import payload

THREAD = "T1.C0HELP.1795165200.000100"
TS = "1795165200.000100"


class Edge:
    """Bolt with a real watcher behind it; nothing is watched."""

    def __init__(self, slack: SlackStub, folder: Path) -> None:
        self.slack, self.store = slack, MemoryThreads()
        clock = FakeClock()
        self.events, self.jobs, self.workspace = MemoryJournal(), MemoryJobQueue(clock), FakeWorkspace()
        self.watcher = Watcher(
            Settings.model_validate({"codebase": str(folder), "ops_channel": "C0OPS"}),
            ME,
            sorter=a_sorter(),
            journals=MessageLog(self.events, MemoryJournal()),
            threads=self.store,
            jobs=self.jobs,
            clock=clock,
            on_follow_up=lambda _: None,
        )
        others: Any = RecordedButtons()
        self.listening = ThreadPoolExecutor(2)
        self.app = listening(
            slack.url,
            ME,
            self.listening,
            watcher=self.watcher,
            approvals=others,
            alerts=others,
            commands=others,
            suggestions=others,
            home=others,
            notes=others,
            audits=others,
            removed=others,
            shortcuts=Shortcuts(self.watcher, self.workspace, team_id="T1"),
        )
        self.workspace.say("C0HELP", TS, ChatMessage(message_id=TS, sender_id="U1", text="deploying"))

    def choose(self, **changes: Any) -> str:
        """Choose the shortcut on a message; return what the one who did is told."""
        body = {**payload("message_action"), "response_url": f"{self.slack.url}respond", **changes}
        assert is_well_shaped(body)
        assert self.app.dispatch(BoltRequest(mode="socket_mode", body=body)).status == 200
        self.listening.shutdown(wait=True)
        [told] = self.slack.of("respond")
        assert told["response_type"] == "ephemeral"
        return str(told["text"])

    def queued(self) -> list[str]:
        return [job.key for job in self.jobs.waiting.values()]


@pytest.fixture
def edge(slack: SlackStub, tmp_path: Path) -> Edge:
    """Bolt over a stub of Slack."""
    return Edge(slack, tmp_path)


def test_a_message_that_the_rules_left_alone_is_queued_in_its_own_thread(edge: Edge) -> None:
    """In a channel that nobody watches, too: journaled, asked by whoever wrote it, and the click is answered."""
    assert "is investigating it" in edge.choose()
    [job] = edge.jobs.waiting.values()
    assert job.key == THREAD
    event = event_of(job)
    assert event.sender.id == "U1"
    assert event.content == "deploying the new build to staging now"
    assert [record["message_id"] for record in edge.events.records()] == [TS]


def test_a_message_that_was_heard_is_not_journaled_again(edge: Edge) -> None:
    """The same dedupe as for what Slack delivers; the later delivery of the same message is known."""
    assert edge.watcher.force_enqueue(_as_event()) == "queued"
    assert edge.watcher.force_enqueue(_as_event()) == "under way"
    assert len(list(edge.events.records())) == 1
    assert len(edge.queued()) == 1


def test_an_open_thread_is_not_opened_again(edge: Edge) -> None:
    """The one who clicked hears that it has a card."""
    edge.store.put(in_status(ThreadStatus.INVESTIGATING, thread_id=THREAD, chat_id="C0HELP", original_message_id=TS))
    assert "already working on it" in edge.choose()
    assert edge.queued() == []


def test_what_was_decided_stays_decided(edge: Edge) -> None:
    """A dismissed question comes back by a mention in its thread, with its words, and not by a click."""
    state = edge.store.put(in_status(ThreadStatus.CLOSED, thread_id=THREAD, chat_id="C0HELP", original_message_id=TS))
    edge.store.archive(state.thread_id)
    assert "already handled" in edge.choose()
    assert edge.queued() == []


@pytest.mark.parametrize("flaw", ["is_guest", "is_external", "is_deactivated", "is_bot"])
def test_guests_and_strangers_may_not(edge: Edge, flaw: str) -> None:
    """Nothing is journaled, nothing queued."""
    edge.workspace.people["U2"] = Person(user_id="U2", name="ben", **{flaw: True})
    assert "Guests cannot do that" in edge.choose()
    assert edge.queued() == list(edge.events.records()) == []


def test_our_own_words_are_no_question(edge: Edge) -> None:
    """A card or a reply of ours starts nothing."""
    message = {**payload("message_action")["message"], "user": ME.user_id}
    assert "triage's own message" in edge.choose(message=message)
    assert edge.queued() == []


@pytest.mark.parametrize(
    ("channel", "says"),
    [
        ({"id": "D0OTHERS", "name": "directmessage"}, "conversation between people"),
        ({"id": "G0SEVERAL", "name": "mpdm-ann--ben--eve-1"}, "conversation between people"),
        ({"id": "G0SECRET", "name": "privategroup"}, "Invite it"),
        ({"id": "C0ELSEWHERE", "name": "elsewhere"}, "Invite it"),
    ],
)
def test_where_the_bot_cannot_read_it_says_why_and_what_to_type(edge: Edge, channel: dict[str, str], says: str) -> None:
    """Somebody else's direct messages, a channel it is not in."""
    edge.workspace.unreadable.add(channel["id"])
    told = edge.choose(channel=channel)
    assert says in told
    assert "/triage investigate" in told
    assert edge.queued() == []


def test_a_bots_message_is_taken(edge: Edge) -> None:
    """An alert that no rule listens to, when a human points to it."""
    message = {**payload("message_action")["message"], "subtype": "bot_message", "bot_id": "B0ALERTS"}
    message.pop("user")
    assert "is investigating it" in edge.choose(message=message)
    [job] = edge.jobs.waiting.values()
    assert event_of(job).sender == Sender(id="B0ALERTS", type="bot")


def test_the_manifest_offers_the_shortcuts_that_are_listened_to() -> None:
    """Name and description within Slack's limits."""
    manifest = yaml.safe_load((Path(__file__).parents[2] / "manifest.yml").read_text())
    offered = manifest["features"]["shortcuts"]
    assert [shortcut["callback_id"] for shortcut in offered] == [ids.TRIAGE_THIS, ids.REMEMBER_THIS]
    for shortcut in offered:
        assert shortcut["type"] == "message"
        assert len(shortcut["name"]) <= 24
        assert len(shortcut["description"]) <= 150
    assert "commands" in json.dumps(manifest["oauth_config"]["scopes"]["bot"])


def _as_event() -> dict[str, Any]:
    message = payload("message_action")["message"]
    return {"team_id": "T1", "event": {**message, "type": "message", "channel": "C0HELP"}}
