"""Hostile payloads through Bolt and the real listeners: nothing breaks, and nothing changes unduly.

Five thousand in the long suite, else the first few of each kind.

What may still change something: a message that is whole where it counts (see `_is_sound`) may become one event, and a
click or submit may decide only if it comes from an approver and carries the waiting draft's very value (`_may_decide`).
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.socket_mode.request import SocketModeRequest

from blocks import ids
from blocks.cards.draft_card import CardFacts, card_blocks
from blocks.views.home_view import HomeData
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.agent.git.git_repo import GitRepo
from bot.casework.approvers import Approvers
from bot.casework.checks.addresses import EvidenceReader
from bot.casework.reports.status_overview import count_today, overview
from bot.domain.text.sanitize import storable
from bot.heartbeat.pages import FindingResponses
from bot.heartbeat.session_registry import SessionMemory, SessionRegistry
from bot.heartbeat.suggestion_desk import SuggestionDesk
from bot.intake.normalise import Identity
from bot.intake.watcher import MessageLog, Watcher
from bot.ports.collections import OVERRIDES
from bot.ports.feature_collections import SUGGESTIONS
from bot.ports.threads import Threads
from handlers.buttons.alert_buttons import AlertActions, AlertButtons, SuggestionButtons
from handlers.buttons.decision_handler import say_beside
from handlers.buttons.draft_buttons import ClickReplies, DraftButtons, NoteButtons, draft_evidence
from handlers.buttons.removed_buttons import RemovedButtons
from handlers.buttons.reply_buttons import AuditButtons
from handlers.commands.dispatcher import CommandDispatcher
from handlers.commands.topics import status_command
from handlers.direct_messages import Shortcuts
from handlers.home import HomeTab, HomeTeam
from handlers.transport.connection import is_well_shaped
from handlers.transport.socket_connection import acknowledge_envelope
from tests import payloads
from tests.builders import a_sorter, an_event
from tests.casework.office import BEN, Office
from tests.fakes import MemoryDecisionLog, MemoryStore, in_memory
from tests.gitrepo import make_repo
from tests.handlers.hostile import KINDS, SECRET, Body, hostile, original
from tests.handlers.listening import listening
from tests.handlers.slack_stub import Answer, SlackStub
from tests.heartbeat.builders import OWNERS, alert_router
from tests.heartbeat.surface import FakeSurface
from tests.tables import each_row

SEED = 20_261_121
EACH, EACH_OF_MANY = 60, 1_000
PER_WORLD = 250
ME = Identity(team_id="T1", user_id="U0BOT", bot_id="B0BOT")
THREAD = "T1.C0HELP.1795165200.000100"


class AtOnce(Executor):
    """Runs what is submitted before it returns, so that every effect belongs to the payload that had it."""

    def submit(self, fn: Any, /, *args: Any, **more: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **more))
        except Exception as error:  # noqa: BLE001 - as an executor does
            future.set_exception(error)
        return future


class OfficeOnDisk(Office):
    """The office of the casework tests, its state, queue and replies in files."""

    def _furnish(self) -> None:
        self.store = Threads(FileDocuments(self.folder))  # type: ignore[assignment]
        self.jobs = SpoolQueue(self.folder / "queue", self.clock)  # type: ignore[assignment]
        self.log = NdjsonJournal(self.folder / "replies.ndjson")  # type: ignore[assignment]
        super()._furnish()


class World:
    """Bolt, every listener, and a draft that waits for Ben."""

    def __init__(self, folder: Path, slack: SlackStub) -> None:
        folder.mkdir()
        slack.will("views.open", Answer({"view": {"id": "V1"}}))
        self.code = GitRepo(make_repo(folder / "code", {"app/retry.py": "limit = 5\n"}))
        chats = [{"chat_id": "C0HELP", "name": "help"}]
        self.office = OfficeOnDisk(folder, watched_chats=chats, watcher={"mentions_anywhere": True})
        self.office.arrive(an_event(chat_id="C0HELP"))
        self.office.work()
        self.waiting = self.office.store.get(THREAD)
        assert self.waiting is not None
        self.value = ids.CLICK.encode(self.office.click())
        self.folder, self.slack = folder, slack
        self.told: list[tuple[str, str, str]] = []
        self.decided = 0
        self.events, self.classified = NdjsonJournal(folder / "events.ndjson"), NdjsonJournal(folder / "sorted.ndjson")
        self.say = say_beside(self._tell, "C0OPS")
        self.watcher = self._watch()
        self.app = listening(slack.url, ME, AtOnce(), **self._listeners())

    def _tell(self, channel: str, user: str, text: str) -> None:
        self.told.append((channel, user, text))

    def _watch(self) -> Watcher:
        return Watcher(
            self.office.settings,
            ME,
            sorter=a_sorter(),
            journals=MessageLog(self.events, self.classified),
            threads=self.office.store,
            jobs=self.office.jobs,
            clock=self.office.clock,
            on_follow_up=lambda _: None,
        )

    def _listeners(self) -> dict[str, Any]:
        self.office.workspace.groups["C0OPS"] = frozenset({BEN})
        approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=self.office.workspace)
        approvers.refresh()
        client = WebClient(base_url=self.slack.url)
        alerts = AlertButtons(self._alert_desk(), approvers, say=self.say)
        home = HomeTab(client, self.office.clock, team_id="T1")
        home.add(
            HomeTeam(
                name="default",
                look=self._page,
                approvers=approvers,
                run_session=alerts.run_session,
                has_session=lambda _: True,
                owned=lambda _: frozenset(),
            )
        )
        reader = EvidenceReader(repo=self.code)
        card = DraftButtons(
            self.office.decisions,
            approvers,
            self.office.store,
            evidence=partial(draft_evidence, self.office.store, reader, lambda _: None),
            answers=ClickReplies(self._tell, home, self.office.store, approvers, ops_channel="C0OPS"),
            more=NoteButtons(self.office.notes, approvers, say=self.say, team="").menu,
        )
        status = status_command(FileStore(self.folder), approvers, self.office.clock, ())
        commands = CommandDispatcher({"status": status}, approvers, patience_s=600)
        buttons = self._suggestions(approvers)
        return {
            "watcher": self.watcher,
            "approvals": card,
            "alerts": alerts,
            "suggestions": buttons,
            "commands": commands,
            "removed": RemovedButtons(self.say),
            "shortcuts": Shortcuts(self.watcher, self.office.workspace, team_id="T1"),
            "notes": NoteButtons(self.office.notes, approvers, say=self.say, team=""),
            "home": home,
            "audits": AuditButtons(self.office.auto, approvers, say=self.say),
        }

    def _page(self) -> HomeData:
        now = self.office.clock.now()
        return HomeData(
            overview=overview(FileStore(self.folder), now),
            today=count_today(FileStore(self.folder), now),
            sessions=(),
            now=now,
            drafts={state.thread_id: state for state in self.office.store.threads()},
            card=partial(card_blocks, facts=CardFacts(link_to=lambda _: None)),
        )

    def _suggestions(self, approvers: Approvers) -> SuggestionButtons:
        """The cards are none, for there is no suggestion to show."""
        sessions, states = SessionRegistry({}, in_memory(OVERRIDES)), SessionMemory(MemoryStore())
        desk = SuggestionDesk(sessions, states, in_memory(SUGGESTIONS), MemoryDecisionLog(), self.office.clock)
        return SuggestionButtons(desk, OWNERS, None, approvers, say=self.say)  # type: ignore[arg-type]

    def _alert_desk(self) -> AlertActions:
        store = SessionMemory(MemoryStore())
        return AlertActions(
            owners=OWNERS,
            sessions=SessionRegistry({}, in_memory(OVERRIDES)),
            findings=FindingResponses(
                store, alert_router({"slack": FakeSurface()}, store, self.office.clock), self.office.clock
            ),
            wake=lambda session_id, _: session_id,
            ask=lambda _, finding, by: f"{by}: {finding.text}",
        )

    def deliver(self, body: Any) -> bool:
        """Deliver a body in an envelope; whether it was acknowledged. What answers it later reaches the stub."""
        if isinstance(body, dict) and "response_url" in body:
            body = {**body, "response_url": f"{self.slack.url}respond"}
        request = SocketModeRequest(type="any", envelope_id="1", payload=body)
        acknowledged = acknowledge_envelope(self.app, request).status == 200
        self.watcher.settle()
        return acknowledged

    def contents(self) -> dict[str, bytes]:
        """Return every file that decides what the bot does, and its bytes."""
        paths = [path for part in ("state", "queue", "closed") for path in (self.folder / part).rglob("*")]
        files = [path for path in (*paths, self.folder / "replies.ndjson") if path.is_file()]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in files}

    def journaled(self) -> list[dict[str, Any]]:
        return list(self.events.records())

    def put_back(self) -> None:
        """Make the draft wait again, whatever was decided about it."""
        while (job := self.office.jobs.claim()) is not None:
            self.office.jobs.done(job)
        now = self.office.store.get(THREAD)
        self.office.store.put(self.waiting.evolve(version=now.version if now else 0))

    def settle(self) -> None:
        """Let the watcher sort what was journaled, and the orchestrator work off what it queued."""
        self.watcher.settle()
        self.office.work()


class Noise(logging.Handler):
    """What was logged as an error, and what was logged of people's words."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.errors: list[str] = []
        self.leaks: list[str] = []
        self.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if record.levelno >= logging.ERROR:
            self.errors.append(line)
        if SECRET in line:
            self.leaks.append(line[:300])


@pytest.fixture
def noise() -> Iterator[Noise]:
    """Everything logged at INFO or above, whoever logs it."""
    handler, root = Noise(), logging.getLogger()
    level = root.level
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_payload_breaks_nothing_and_changes_nothing(
    kind: str, slack: SlackStub, tmp_path: Path, noise: Noise
) -> None:
    """Acknowledged, not obeyed, and nobody's words in the log."""
    _bombard(World(tmp_path / "world", slack), kind, range(EACH), noise)


@pytest.mark.full
@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("first", range(0, EACH_OF_MANY, PER_WORLD))
@pytest.mark.parametrize("kind", KINDS)
def test_of_thousands_of_hostile_payloads_none_breaks_or_changes_anything(
    kind: str, first: int, slack: SlackStub, tmp_path: Path, noise: Noise
) -> None:
    """The same of very many."""
    _bombard(World(tmp_path / "world", slack), kind, range(first, first + PER_WORLD), noise)


def _bombard(world: World, kind: str, numbers: range, noise: Noise) -> None:
    for n in numbers:
        body = hostile(kind, n, world.value, seed=SEED)
        problem = _what_went_wrong(world, body, noise)
        assert not problem, f"hostile({kind!r}, {n}, …, seed={SEED}): {problem}\n{_shown(body)}"
    journaled = world.journaled()
    world.settle()
    sorted_ = list(world.classified.records())
    assert [e["message_id"] for e in sorted_] == [e["message_id"] for e in journaled]
    assert noise.errors == [], f"{kind} {numbers} of seed {SEED}"


def _what_went_wrong(world: World, body: Body, noise: Noise) -> str | None:
    before, events, posts = world.contents(), world.journaled(), len(world.office.messenger.posts)
    acknowledged = world.deliver(body)
    after, new = world.contents(), world.journaled()[len(events) :]
    if noise.errors:
        return f"logged as an error: {noise.errors}"
    if noise.leaks:
        return f"somebody's words in the log: {noise.leaks}"
    if not acknowledged:
        return "not acknowledged"
    if len(new) > 1 or not all(_is_sound(event, body) for event in new):
        return f"journaled {new}"
    if new:  # what it deserves is queued
        after = {name: held for name, held in after.items() if name in before or not name.startswith("queue/")}
    if after == before:
        return None
    if not _may_decide(body, world.value):
        return f"changed {sorted(set(after.items()) ^ set(before.items()))}"
    if len(world.office.messenger.posts) - posts > 1:
        return "posted twice"
    world.decided += 1
    world.put_back()
    return None


def _is_sound(event: dict[str, Any], body: Body) -> bool:
    """Whether a journaled event is what a person wrote in a place that is watched, and stands so in the body."""
    sender = event["sender"]["id"]
    known = re.fullmatch("[UWB][A-Z0-9]+", sender) or (sender, event["msg_type"]) == ("", "delete")
    times = [event["message_id"], *([event["thread_id"]] if event["thread_id"] else [])]
    texts = set(_strings(body))
    return (
        bool(known and re.fullmatch("[A-Z0-9]+", event["team_id"]) and re.fullmatch("[A-Z0-9]+", event["chat_id"]))
        and all(re.fullmatch(r"[0-9]{1,12}\.[0-9]{1,9}", time) and time in texts for time in times)
        and (event["chat_id"] == "C0HELP" or "U0BOT" in event["mentions"])
        and sender not in {"U0BOT", "B0BOT"}
        and all(any(line in text for text in map(storable, texts)) for line in event["content"].split("\n"))
    )


def _may_decide(body: Body, value: str) -> bool:
    """Whether a body comes from an approver of the team and carries the waiting draft's value where it belongs."""
    user, team = body.get("user"), body.get("team")
    if not isinstance(user, dict) or user.get("id") != BEN:
        return False
    if (user.get("team_id") or (team.get("id") if isinstance(team, dict) else None)) != "T1":
        return False
    view, actions = body.get("view"), body.get("actions")
    if isinstance(view, dict) and str(view.get("private_metadata")).removesuffix("|home") == value:
        return True
    action = actions[0] if isinstance(actions, list) and actions else None
    if not isinstance(action, dict):
        return False
    option = action.get("selected_option")
    chosen = option.get("value") if isinstance(option, dict) else None
    return action.get("value") == value or chosen == f"{ids.REINVESTIGATE}!{value}"


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in held:
        yield from _strings(part)


def _shown(body: Body) -> str:
    return json.dumps(body, default=str)[:4_000]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_spoiled_has_its_effect(kind: str, slack: SlackStub, tmp_path: Path, noise: Noise) -> None:
    """The bodies that the hostile ones are made of are obeyed, or the test above would prove nothing."""
    world = World(tmp_path / "world", slack)
    for n in range(20):
        assert _what_went_wrong(world, original(kind, n, world.value), noise) is None
    assert (world.decided > 0) == (kind in ("click", "submit"))
    assert bool(world.journaled()) == (kind == "event")


@each_row("name", [path.stem for path in Path(payloads.__file__).parent.glob("*.json")])
def test_what_slack_really_sends_is_well_shaped(name: str) -> None:
    """The look at the shape refuses nothing that was recorded."""
    assert is_well_shaped(payloads.payload(name))


def test_depth_alone_is_refused() -> None:
    """However well the rest of it is shaped, and without a walk that could exhaust the stack."""
    body = payloads.payload("message")
    assert is_well_shaped(body)
    for _ in range(5_000):
        body["event"]["blocks"] = [body["event"]["blocks"]]
    assert not is_well_shaped(body)
