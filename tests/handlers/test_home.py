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
from bot.errors import ConfigError, InputError, StoreError
from bot.ports import Person
from bot.ports.collections import HOMES, SingleDocument
from handlers.buttons.decision_handler import Click
from handlers.home import HomeTab, HomeTeam
from tests.blocks.views.test_home_view import a_home, a_row
from tests.casework.reports.test_answers import an_overview
from tests.fakes import FakeClock, FakeWorkspace, MemoryDocuments
from tests.handlers.slack_stub import SlackStub, refusal
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


def test_who_clicks_on_a_page_of_before_the_restart_is_answered(page: Page) -> None:
    """The page is theirs from then on; that of another workspace's person is not published."""
    page.tab.say("U2", "T1", "Posted.")
    assert QUESTION in json.dumps(page.published()[-1])
    page.tab.say("U2", "T2", "Posted.")
    assert len(page.published()) == 1


def test_whoever_acted_last_is_served_first(page: Page) -> None:
    """They look at it."""
    page.workspace.groups["C0OPS"] = frozenset({"U2", "U3", "U4"})
    page.approvers.refresh()
    for user in ("U2", "U3", "U4"):
        page.open(user)
    page.home = replace(page.home, overview=an_overview("another one"))
    page.tab.say("U3", "T1", "Dismissed.")
    assert [view["user_id"] for view in page.published()[3:]] == ["U3", "U4", "U2"]


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


def test_a_data_directory_that_cannot_be_read_stops_nothing(page: Page) -> None:
    """The next look may do."""

    def fail() -> None:
        raise ConfigError("cannot read state")

    page.on_look = fail
    page.open()
    assert page.published() == []
    page.on_look = lambda: None
    page.tab.tick()
    assert len(page.published()) == 1


@pytest.mark.parametrize(
    ("value", "says", "ran"), [("shop", "The beat starts.", [("U2", "shop")]), (None, "There is no such session.", [])]
)
def test_a_session_is_run_from_the_page(page: Page, value: str | None, says: str, ran: list[object]) -> None:
    """The answer stands on the page, as a refusal does."""
    page.press_run(value)
    assert page.ran == ran
    assert says in json.dumps(page.published()[-1])


def test_who_is_no_approver_any_more_loses_the_drafts(page: Page) -> None:
    """At the next look, without opening it again."""
    page.open()
    page.workspace.groups["C0OPS"] = frozenset()
    page.approvers.refresh()
    page.tab.tick()
    assert QUESTION not in json.dumps(page.published()[-1])


def test_a_slack_that_cannot_be_reached_is_not_asked_for_every_page(page: Page, slack: SlackStub) -> None:
    """Each may take a minute, and beats wait for whoever asks; the next look begins again."""
    users = [f"U{number}" for number in range(10, 20)]
    for user in users:
        page.open(user)
    page.home = replace(page.home, overview=an_overview(QUESTION, "another one"))
    before = len(page.published())
    slack.will("views.publish", refusal("internal_error"))
    page.tab.tick()
    assert len(page.published()) - before == 2
    slack.script.clear()
    page.tab.tick()
    assert {view["user_id"] for view in page.published()[before + 2 :]} == set(users)


@each_row("flaw", ["is_bot", "is_guest", "is_external", "is_deactivated"])
def test_who_is_no_full_member_has_no_page_though_they_are_listed(page: Page, flaw: str) -> None:
    """Neither drafts nor counts, and not which sessions there are."""
    page.workspace.people["U2"] = Person(user_id="U2", name="x", **{flaw: True})  # type: ignore[arg-type]
    page.open()
    page.press_run("shop", "U2")
    assert page.published() == []


def test_a_right_that_went_a_moment_ago_is_noticed_when_the_page_opens(page: Page) -> None:
    """Not a minute later."""
    page.workspace.groups["C0OPS"] = frozenset()
    page.open()
    assert QUESTION not in json.dumps(page.published())


def test_a_page_that_is_open_loses_its_drafts_with_the_right(page: Page) -> None:
    """Whoever became a guest meanwhile has the next page without them, though still in the ops channel."""
    page.open()
    assert QUESTION in json.dumps(page.published())
    page.workspace.people["U2"] = Person(user_id="U2", name="x", team_id="T1", is_guest=True)
    page.tab.tick()
    assert len(page.published()) == 2
    assert QUESTION not in json.dumps(page.published()[-1])


def test_a_page_opens_for_colleagues_whatever_team_slack_names(page: Page) -> None:
    """Ours is the one that installed the app; a colleague of a sister workspace has their own."""
    shown = {"type": "app_home_opened", "user": "U2", "tab": "home"}
    page.tab.opened({"team_id": "T9", "authorizations": [{"team_id": "T1"}]}, shown)
    assert len(page.published()) == 1
    page.workspace.people["U5"] = Person(user_id="U5", name="s", team_id="T5", team_ids=frozenset({"T5"}))
    page.tab.opened({"team_id": "T5"}, {**shown, "user": "U5"})
    assert [view["user_id"] for view in page.published()] == ["U2", "U5"]
    page.tab.opened({"team_id": "T9"}, {**shown, "user": "U5"})
    assert len(page.published()) == 2


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


@pytest.mark.parametrize("how", [{"tab": "messages"}, {"team": "T2"}])
def test_what_is_not_our_home_is_not_published(page: Page, how: dict[str, str]) -> None:
    """The messages tab raises the same event; another workspace is another workspace."""
    page.open(**how)
    assert page.published() == []


def test_a_refused_page_is_tried_again(page: Page, slack: SlackStub) -> None:
    """And stops nobody else's."""
    slack.will("views.publish", refusal("internal_error"), refusal("internal_error"), refusal("internal_error"))
    page.open()
    page.open("U3")
    slack.script.clear()
    before = len(page.published())
    page.tab.tick()
    assert len(page.published()) == before + 2


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


def test_an_owner_who_is_of_no_team_sees_their_sessions_alone(page: Page) -> None:
    """Neither drafts nor numbers of the team, and no session of anybody else."""
    with_another_team(page, frozenset({"U3"}))
    page.home = replace(page.home, sessions=[a_row("shop"), a_row("other-session")])
    page.open("U5")
    seen = json.dumps(page.published()[-1])
    assert "You own repositories of this team" in seen
    assert "1 watched repository*" in seen
    assert not any(words in seen for words in ("other-session", QUESTION, "waiting for a decision", "platform"))


def test_a_team_that_cannot_be_read_leaves_the_other_its_page(page: Page) -> None:
    """Who belongs to both sees what there is."""
    with_another_team(page, frozenset({"U2"}))
    page.open("U2")
    seen = json.dumps(page.published()[-1])
    assert QUESTION in seen
    assert "Team platform cannot be read" in seen


def test_a_session_is_run_by_the_team_that_has_it(page: Page) -> None:
    """Whichever comes first."""
    with_another_team(page, frozenset({"U2"}))
    page.tab.add(replace(page.team, has_session=lambda name: name == "shop"))
    page.press_run("infra")
    assert page.ran == []
    assert "Platform's beat starts." in json.dumps(page.published()[-1])
