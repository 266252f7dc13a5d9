"""`/triage` of several teams: whose answer it is, and who gets none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bot.casework.approvers import Approvers
from bot.domain.answers import Answer, Part, lines_of
from bot.domain.command_specs import commands
from bot.intake.normalise import Identity
from bot.ports import Person
from handlers.commands.dispatcher import ONLY_APPROVERS, CommandDispatcher, DeferredAnswer, TypedCommand
from handlers.commands.team_commands import TeamCommands
from handlers.team_router import TeamListeners, TeamRouter
from tests.blocks.limits import texts
from tests.fakes import FakeWorkspace
from tests.payloads import payload
from tests.tables import each_row

DM = "D0ANA"


@dataclass
class Watching:
    """Of a team's watcher, which channels it watches."""

    channel: str

    def watches(self, channel: str) -> bool:
        return channel == self.channel


@dataclass
class Office:
    """Teams whose commands say their team's name and what they were asked; `done` are those that act."""

    names: tuple[str, ...] = ("payments", "platform")
    members: dict[str, frozenset[str]] = field(default_factory=dict)
    owned: dict[str, str] = field(default_factory=dict)
    long: int = 1
    done: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace = FakeWorkspace()
        self.router = TeamRouter(Identity(team_id="T1", user_id="U0BOT"))
        members = {"payments": frozenset({"UANA", "UBEN"}), "platform": frozenset({"UBEN", "UCHLOE"}), **self.members}
        for name in self.names:
            self.workspace.groups[f"C{name}ops"] = members.get(name, frozenset())
            self.router.add(self._listeners(name))

    def _listeners(self, name: str) -> TeamListeners:
        approvers = Approvers(None, ops_channel=f"C{name}ops", team_id="T1", workspace=self.workspace)
        approvers.refresh()
        table = {entry.path: self._command(name, entry.path) for entry in commands() if entry.path != "help"}
        return TeamListeners(
            team=name,
            ops_channel=f"C{name}ops",
            watcher=Watching(f"C{name}"),  # type: ignore[arg-type]
            approvers=approvers,
            commands=CommandDispatcher(table, approvers),
            shortcuts={},
            actions={},
            views={},
            owns=lambda one: one == f"{name}-session",
            has_card=lambda _: False,
            owned=lambda user: frozenset({f"{name}-session"}) if self.owned.get(user) == name else frozenset(),
        )

    def _command(self, name: str, path: str) -> Callable[[TypedCommand], Answer | DeferredAnswer]:
        def command(typed: TypedCommand) -> Answer | DeferredAnswer:
            self.done.append(f"{name}: {typed.line.text}")
            line = lines_of([f"{name} says {path}: {'x' * self.long}"])
            said = Answer(parts=(Part(lines=line),) * self.long)
            return DeferredAnswer(answer=said, work=lambda: None) if path == "investigate" else said

        return command

    def type(self, text: str, *, by: str = "UBEN", channel: str = DM, workspace: str = "T1") -> str:
        return "\n".join(texts(self.blocks(text, by=by, channel=channel, workspace=workspace)))

    def blocks(self, text: str, *, by: str = "UBEN", channel: str = DM, workspace: str = "T1") -> list[dict[str, Any]]:
        self.done.clear()
        answers: list[dict[str, Any]] = []
        typed = {"text": text, "user_id": by, "channel_id": channel, "team_id": workspace}
        body = {**payload("slash_command"), **typed}
        listener = TeamCommands(self.router, patience_s=600)
        listener(lambda **said: answers.append(said), body, None)  # type: ignore[arg-type]
        [answer] = answers
        assert answer["response_type"] == "ephemeral"
        blocks: list[dict[str, Any]] = answer["blocks"]
        return blocks


REPORTS = ["status", "open", "brief", "metrics", "approve-list", "heartbeat", "heartbeat list", "pollinate list"]
ACTS = [
    "pause",
    "resume",
    "investigate Why five?",
    "pollinate run",
    "heartbeat run shop",
    "tiers shop",
]


@each_row("channel", ["Cplatform", "Cplatformops"])
@each_row("text", [*REPORTS, *ACTS])
def test_a_channel_is_answered_by_its_team_which_says_so(text: str, channel: str) -> None:
    """Reports and what acts alike, and nothing of the other team."""
    office = Office()
    said = office.type(text, channel=channel)
    assert said.startswith("*Team platform*\nplatform says")
    assert office.done == [f"platform: {text}"]


@each_row("text", REPORTS)
def test_a_report_in_a_direct_message_is_of_each_team_one_belongs_to(text: str) -> None:
    """In the file's order; who belongs to one gets that one's."""
    office = Office()
    office.type(text)
    assert office.done == [f"payments: {text}", f"platform: {text}"]
    assert "platform" not in office.type(text, by="UANA")
    assert office.done == [f"payments: {text}"]


@each_row("text", ACTS)
def test_what_acts_asks_for_the_team_where_there_are_several(text: str) -> None:
    """Nothing is done, and the answer shows what to type; that then works."""
    office = Office()
    said = office.type(text)
    assert office.done == []
    for name in ("payments", "platform"):
        assert f"/triage {name} {text.split()[0]}" in said
    assert office.type(f"platform {text}").startswith("*Team platform*")
    assert office.done == [f"platform: {text}"]


@each_row("text", ["heartbeat run payments-session", "tiers payments-session add quick Look"])
def test_a_session_says_which_team_is_meant(text: str) -> None:
    """Its name is of one team only."""
    office = Office()
    office.type(text)
    assert office.done == [f"payments: {text}"]


def test_a_named_team_goes_before_the_channel() -> None:
    """And what was typed after it is kept as it was."""
    office = Office()
    office.type("Payments investigate Why  “five”?", channel="Cplatform")
    assert office.done == ["payments: investigate Why  “five”?"]


@each_row("text", [*REPORTS, "pause", "heartbeat run payments-session", "tiers payments-session"])
@each_row("channel", ["Cpayments", DM])
def test_nobody_else_gets_anything_of_a_team(text: str, channel: str) -> None:
    """Not in its public channel, not by its name, not by the name of what is its own."""
    office = Office()
    for typed in (text, f"payments {text}"):
        said = office.type(typed, by="UCHLOE", channel=channel)
        assert "payments says" not in said
        assert not any(line.startswith("payments") for line in office.done)


def test_investigate_is_open_in_a_channel_of_the_team_and_nowhere_else() -> None:
    """It says nothing of the team; whether one may is for the command itself to say."""
    office = Office()
    assert ONLY_APPROVERS in office.type("investigate Why?", by="UCHLOE", channel="Cpayments")
    office.type("payments investigate Why?", by="UCHLOE")
    assert office.done == []


def test_an_owner_outside_the_team_has_the_commands_of_their_session() -> None:
    """And no report of the team."""
    office = Office(owned={"UDORA": "payments"})
    office.type("heartbeat run payments-session", by="UDORA")
    assert office.done == ["payments: heartbeat run payments-session"]
    for text in ("status", "heartbeat list", "heartbeat list payments-session", "heartbeat log other", "tiers other"):
        office.type(text, by="UDORA")
        assert office.done == []
    office.type("pollinate", by="UDORA")
    assert office.done == ["payments: pollinate"]


def test_other_workspaces_get_nothing() -> None:
    """Whatever user id they have; sister workspaces of a Grid are ours."""
    office = Office()
    assert "Only full members of this workspace" in office.type("status", workspace="T9")
    office.workspace.people["UBEN"] = Person(user_id="UBEN", name="b", team_id="T2", team_ids=frozenset({"T2"}))
    office.type("status", workspace="T2")
    assert office.done == ["payments: status", "platform: status"]


def test_the_ops_channel_proves_who_is_in_it() -> None:
    """Somebody who was invited a moment ago is answered at once."""
    office = Office()
    office.type("status", by="UDORA", channel="Cpaymentsops")
    assert office.done == ["payments: status"]
