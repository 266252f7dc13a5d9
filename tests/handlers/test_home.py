"""App Home is published to whoever opens it, kept up to date while it changes, and shows drafts to approvers only."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread
from typing import Any

import pytest
from slack_sdk import WebClient

from blocks.views.home_view import HomeData
from bot.casework.approvers import Approvers
from bot.errors import InputError, StoreError
from bot.ports import Person
from bot.ports.collections import HOMES, SingleDocument
from handlers.buttons.decision_handler import Click
from handlers.home import HomeTab, HomeTeam
from tests.blocks.views.test_home_view import a_home
from tests.casework.reports.test_answers import an_overview
from tests.fakes import FakeClock, FakeWorkspace, MemoryDocuments
from tests.handlers.slack_stub import SlackStub
from tests.tables import each_row

QUESTION = "the secret question"


class Page:
    """A home tab over a stub of Slack."""

    def __init__(self, slack: SlackStub, pages: SingleDocument | None = None) -> None:
        self.slack, self.clock, self.workspace = slack, FakeClock(), FakeWorkspace()
        self.workspace.groups["C0OPS"] = frozenset({"U2"})
        self.approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=self.workspace)
        self.approvers.refresh()
        self.home = a_home(an_overview(QUESTION))
        self.ran: list[object] = []
        self.tab = HomeTab(WebClient(base_url=slack.url), self.clock, team_id="T1", pages=pages)
        self.team = HomeTeam(
            name="default",
            look=self._look,
            approvers=self.approvers,
            run_session=self._run,
            has_session=lambda _: True,
            owned=lambda user: frozenset({"shop"} if user == "U5" else ()),
        )
        self.tab.add(self.team)
        self.on_look: Callable[[], None] = lambda: None

    def _look(self) -> HomeData:
        self.on_look()
        return self.home

    def _run(self, click: Click) -> str:
        if click.value != "shop":
            raise InputError("There is no such session.")
        self.ran.append((click.user, click.value))
        return "The beat starts."

    def open(self, user: str = "U2", *, team: str = "T1", tab: str = "home") -> None:
        self.tab.opened({"team_id": team}, {"type": "app_home_opened", "user": user, "tab": tab})

    def press_run(self, value: str | None, user: str = "U2") -> None:
        """Click a session's button."""
        self.tab.run_now(lambda: None, {"user": {"id": user, "team_id": "T1"}}, {"value": value})  # type: ignore[arg-type]

    def published(self) -> list[dict[str, Any]]:
        return self.slack.of("views.publish")


@pytest.fixture
def page(slack: SlackStub) -> Page:
    """A home with one draft that waits."""
    return Page(slack)


def test_drafts_are_shown_to_approvers_only(page: Page) -> None:
    """Others get the same page with counts."""
    page.open("U2")
    page.open("U3")
    mine, other = page.published()
    assert (mine["user_id"], other["user_id"]) == ("U2", "U3")
    assert QUESTION in json.dumps(mine)
    assert QUESTION not in json.dumps(other)


def test_of_replicas_the_one_that_heard_of_somebody_last_keeps_their_page(slack: SlackStub) -> None:
    """So what they were told there stays; others' pages stay with whoever showed them."""
    shared = SingleDocument(MemoryDocuments(), HOMES)
    first, second = Page(slack, shared), Page(slack, shared)
    first.open("U2")
    first.open("U3")
    second.press_run("shop", "U2")
    second.tab.tick()
    second.tab.tick()
    told = [shown["user_id"] for shown in slack.of("views.publish")[2:] if "The beat starts." in json.dumps(shown)]
    assert told == ["U2", "U2"]  # once more: the first one may have been about to publish its own just then
    first.home = replace(first.home, overview=an_overview())
    first.tab.tick()
    assert [shown["user_id"] for shown in slack.of("views.publish")[4:]] == ["U3"]


def test_a_page_that_is_opened_while_pages_are_made_is_not_taken_for_anothers(slack: SlackStub) -> None:
    """Its mark is written before the page is known; a round that begins between the two finds neither."""
    documents = MemoryDocuments()
    page = Page(slack, SingleDocument(documents, HOMES))
    page.open("U2")
    documents.meanwhile = page.tab.tick
    page.open("U2")
    page.home = replace(page.home, overview=an_overview())
    page.tab.tick()
    shown = [json.dumps(view) for view in slack.of("views.publish")]
    assert QUESTION in shown[-2]
    assert QUESTION not in shown[-1]


def test_a_draft_that_came_or_went_is_shown_at_once(page: Page) -> None:
    """To everybody who has the page open."""
    page.open("U2")
    page.open("U3")
    page.home = replace(page.home, overview=an_overview(QUESTION, "another one"))
    page.tab.refresh()
    assert {view["user_id"] for view in page.published()[2:]} == {"U2", "U3"}


def test_an_answer_is_for_one_person_and_goes_away(page: Page) -> None:
    """It stands on top for five minutes, or until the page is opened anew."""
    page.open("U2")
    page.open("U3")
    page.tab.say("U2", "T1", "Posted.")
    assert [("Posted." in json.dumps(view), view["user_id"]) for view in page.published()] == [
        (False, "U2"),
        (False, "U3"),
        (True, "U2"),
    ]
    page.clock.advance(301)
    page.tab.tick()
    assert "Posted." not in json.dumps(page.published()[-1])
    page.tab.say("U2", "T1", "Posted.")
    page.open("U2")
    assert "Posted." not in json.dumps(page.published()[-1])


def test_a_change_while_pages_are_made_is_not_lost(page: Page) -> None:
    """Whoever publishes begins again, and nobody waits for them."""
    page.open()
    done = Event()

    def change() -> None:
        page.on_look = lambda: None
        page.home = replace(page.home, overview=an_overview("another one"))
        meanwhile = Thread(target=lambda: (page.tab.refresh(), done.set()))
        meanwhile.start()
        meanwhile.join(120)

    page.on_look = change
    page.tab.refresh()
    assert done.is_set()
    assert "another one" in json.dumps(page.published()[-1])


@pytest.mark.parametrize(
    ("value", "says", "ran"), [("shop", "The beat starts.", [("U2", "shop")]), (None, "There is no such session.", [])]
)
def test_a_session_is_run_from_the_page(page: Page, value: str | None, says: str, ran: list[object]) -> None:
    """The answer stands on the page, as a refusal does."""
    page.press_run(value)
    assert page.ran == ran
    assert says in json.dumps(page.published()[-1])


@each_row("flaw", ["is_bot", "is_guest", "is_external", "is_deactivated"])
def test_who_is_no_full_member_has_no_page_though_they_are_listed(page: Page, flaw: str) -> None:
    """Neither drafts nor counts, and not which sessions there are."""
    page.workspace.people["U2"] = Person(user_id="U2", name="x", **{flaw: True})  # type: ignore[arg-type]
    page.open()
    page.press_run("shop", "U2")
    assert page.published() == []


def test_a_page_that_is_open_loses_its_drafts_with_the_right(page: Page) -> None:
    """Whoever became a guest meanwhile has the next page without them, though still in the ops channel."""
    page.open()
    assert QUESTION in json.dumps(page.published())
    page.workspace.people["U2"] = Person(user_id="U2", name="x", team_id="T1", is_guest=True)
    page.tab.tick()
    assert len(page.published()) == 2
    assert QUESTION not in json.dumps(page.published()[-1])


def test_a_page_is_published_anew_only_while_it_changes_and_for_an_hour(page: Page) -> None:
    """Slack is not asked for nothing."""
    page.open()
    page.tab.tick()
    assert len(page.published()) == 1
    page.home = replace(page.home, overview=an_overview(QUESTION, "another one"))
    page.tab.tick()
    page.tab.tick()
    assert len(page.published()) == 2
    page.clock.advance(3_700)
    page.home = replace(page.home, overview=an_overview())
    page.tab.tick()
    assert len(page.published()) == 2


def with_another_team(page: Page, members: frozenset[str]) -> None:
    """Add a team whose ops channel has these members, and whose page cannot be read."""
    page.workspace.groups["C0OPS2"] = members
    approvers = Approvers(None, ops_channel="C0OPS2", team_id="T1", workspace=page.workspace)
    approvers.refresh()

    def look() -> HomeData:
        raise StoreError("the disk is gone")

    page.tab.add(
        HomeTeam(
            name="platform",
            look=look,
            approvers=approvers,
            run_session=lambda _: "Platform's beat starts.",
            has_session=lambda name: name == "infra",
            owned=lambda _: frozenset(),
        )
    )


def test_with_several_teams_everybody_sees_their_own(page: Page) -> None:
    """Of another team nothing, not even its name; who is of none is told so."""
    with_another_team(page, frozenset({"U3"}))
    for user in ("U2", "U3", "U4"):
        page.open(user)
    mine, other, nobody = (json.dumps(view) for view in page.published())
    assert QUESTION in mine
    assert "platform" not in mine
    assert QUESTION not in other
    assert "Team default" not in other
    assert "belong to no team" in nobody


def test_who_is_no_approver_any_more_loses_the_drafts(page: Page) -> None:
    """At the next look, without opening it again."""
    page.open()
    page.workspace.groups["C0OPS"] = frozenset()
    page.approvers.refresh()
    page.tab.tick()
    assert QUESTION not in json.dumps(page.published()[-1])
