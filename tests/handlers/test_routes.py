"""The routing table and the journal that stands before it, through Bolt itself."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from slack_bolt import App, BoltRequest, BoltResponse

from blocks import ids
from bot.errors import StoreError
from bot.intake.normalise import Identity
from handlers.routes import journal_first
from tests.handlers.listening import listening
from tests.handlers.slack_stub import SlackStub
from tests.payloads import payload
from tests.tables import each_row

PAYLOADS = sorted((Path(__file__).parents[1] / "payloads").glob("*.json"))
MESSAGES = [path.stem for path in PAYLOADS if "event" in payload(path.stem)]
ME = Identity(team_id="T1", user_id="U0BOT", bot_id="B0BOT")


class RecordedWatcher:
    """What was delivered; `full` makes the journal refuse."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.full = False

    def receive(self, body: dict[str, Any]) -> bool:
        if self.full:
            raise StoreError("No space left on device")
        self.received.append(body)
        return True


class RecordedButtons:
    """Which listener took what, by its id; each acknowledges. What is no table takes whatever it is given."""

    def __init__(self, *, actions: Iterable[str] = (), views: Iterable[str] = ()) -> None:
        self.taken: list[str] = []
        self.actions = {name: self._listener(name) for name in actions}
        self.views = {name: self._listener(name) for name in views}

    def __getattr__(self, name: str) -> Any:
        return self._listener(name)

    def _listener(self, name: str) -> Any:
        def listener(ack: Any, body: Any = None, respond: Any = None) -> None:
            self.taken.append(name)
            ack()

        return listener


class Edge:
    """Bolt with recorders behind it."""

    def __init__(self, url: str) -> None:
        self.watcher = RecordedWatcher()
        self.kinds = [
            RecordedButtons(actions=[ids.APPROVE, ids.MORE], views=[ids.EDIT_VIEW]),
            RecordedButtons(actions=[ids.ACCEPT_SUGGESTION], views=[ids.REJECT_VIEW]),
            RecordedButtons(actions=[ids.REMEMBER], views=[ids.REMEMBER_VIEW]),
            RecordedButtons(actions=[ids.TAKE_BACK]),
        ]
        approvals, suggestions, notes, audits = self.kinds
        self.commanded: list[str] = []
        self.remembered: list[str] = []

        def remember_this(ack: Any, body: dict[str, Any], client: Any) -> None:
            ack()
            self.remembered.append(body["message"]["ts"])

        notes.remember_this = remember_this  # type: ignore[attr-defined]

        def command(ack: Any, body: dict[str, Any], respond: Any) -> None:
            self.commanded.append(body["text"])
            ack(text="ok")

        self.app: App = listening(
            url,
            ME,
            ThreadPoolExecutor(4),
            watcher=self.watcher,
            approvals=approvals,  # type: ignore[arg-type]
            alerts=RecordedButtons(),  # type: ignore[arg-type]
            suggestions=suggestions,  # type: ignore[arg-type]
            commands=command,  # type: ignore[arg-type]
            removed=RecordedButtons(),  # type: ignore[arg-type]
            shortcuts=RecordedButtons(),  # type: ignore[arg-type]
            home=RecordedButtons(),  # type: ignore[arg-type]
            notes=notes,  # type: ignore[arg-type]
            audits=audits,  # type: ignore[arg-type]
        )

    @property
    def taken(self) -> list[str]:
        return [name for kind in self.kinds for name in kind.taken]

    def deliver(self, body: dict[str, Any]) -> int:
        """Deliver an envelope by Socket Mode and return the status of the answer."""
        return self.app.dispatch(BoltRequest(mode="socket_mode", body=body)).status


@pytest.fixture
def edge(slack: SlackStub) -> Edge:
    """Bolt over a stub of Slack."""
    return Edge(slack.url)


@each_row("name", MESSAGES)
def test_every_recorded_message_reaches_the_watcher_before_it_is_acknowledged(edge: Edge, name: str) -> None:
    """Edits, deletions, joins, bots and our own echoes included: what counts is the watcher's to say."""
    body = payload(name)
    edge.watcher.received.clear()
    assert edge.deliver(body) == 200
    assert edge.watcher.received == [body]


def test_a_message_that_cannot_be_journaled_is_not_acknowledged(edge: Edge) -> None:
    """Slack delivers it again."""
    edge.watcher.full = True
    assert edge.deliver(payload("message")) == 503
    edge.watcher.full = False
    assert edge.deliver(payload("message")) == 200
    assert len(edge.watcher.received) == 1


@each_row("action_id", [ids.APPROVE, ids.MORE, ids.REMEMBER, ids.ACCEPT_SUGGESTION, ids.TAKE_BACK])
def test_every_button_has_its_listener(edge: Edge, action_id: str) -> None:
    """By its id, whatever its block, as the table of its kind says."""
    body = payload("block_actions")
    body["actions"][0]["action_id"] = action_id
    before = edge.taken
    assert edge.deliver(body) == 200
    assert sorted(edge.taken) == sorted([*before, action_id])


def test_the_shortcut_of_a_message_reaches_the_notes(edge: Edge) -> None:
    """By its callback id, with the message in its body."""
    body = {**payload("message_action"), "callback_id": ids.REMEMBER_THIS}
    assert edge.deliver(body) == 200
    assert edge.remembered == [body["message"]["ts"]]


@pytest.mark.parametrize("callback_id", [ids.EDIT_VIEW, ids.REMEMBER_VIEW, ids.REJECT_VIEW])
def test_every_dialogue_has_its_listener(edge: Edge, callback_id: str) -> None:
    """By its callback id."""
    body = payload("view_submission")
    body["view"]["callback_id"] = callback_id
    assert edge.deliver(body) == 200
    assert edge.taken == [callback_id]


def test_the_command_is_answered(edge: Edge) -> None:
    """`/triage` and no other; what nobody takes is acknowledged all the same, or Slack would send it again."""
    assert edge.deliver(payload("slash_command")) == 200
    assert edge.deliver({**payload("slash_command"), "command": "/deploy"}) == 200
    assert edge.commanded == ["status"]


def test_what_is_no_message_goes_on_to_bolt() -> None:
    """The middleware takes messages and mentions out of the chain and nothing else."""
    watcher = RecordedWatcher()
    middleware = journal_first(lambda _: watcher)  # type: ignore[arg-type]
    passed = object()
    for body in ({}, {"event": None}, {"event": []}, {"event": {"type": "app_home_opened"}}, payload("block_actions")):
        assert middleware(body=body, next=lambda: passed) is passed
    assert watcher.received == []


def test_half_characters_are_replaced_in_all_but_what_was_typed_into_a_dialogue(edge: Edge) -> None:
    """No file and no request can hold one; a listener refuses what was typed, so that nobody's words are changed."""
    passed = BoltResponse(status=200)
    middleware = journal_first(lambda _: edge.watcher)  # type: ignore[arg-type]
    submit = payload("view_submission")
    submit["trigger_id"], submit["user"]["name"] = "1.2 \ud800", "ann \ud83d"
    submit["view"]["private_metadata"] = "T1 \udfff"
    submit["view"]["state"]["values"] = {
        "reply": {"typed": {"type": "plain_text_input", "value": "It is \ud83d five."}}
    }
    middleware(submit, lambda: passed)
    assert (submit["trigger_id"], submit["user"]["name"], submit["view"]["private_metadata"]) == (
        "1.2 ?",
        "ann ?",
        "T1 ?",
    )
    assert submit["view"]["state"]["values"]["reply"]["typed"]["value"] == "It is \ud83d five."
    click = payload("block_actions")
    click["actions"][0]["value"] = "\ud83d"
    middleware(click, lambda: passed)
    assert click["actions"][0]["value"] == "?"
