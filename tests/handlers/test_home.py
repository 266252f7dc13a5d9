"""App Home is published to whoever opens it, kept up to date while it changes, and shows drafts to approvers only."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from slack_sdk import WebClient

from bot.casework.approvers import Approvers
from handlers.home import HomeTab
from tests.blocks.test_home import a_home
from tests.blocks.test_status import an_overview
from tests.fakes import FakeClock, FakeWorkspace
from tests.handlers.slack_stub import SlackStub, refusal

QUESTION = "the secret question"


class Page:
    """A home tab over a stub of Slack."""

    def __init__(self, slack: SlackStub) -> None:
        self.slack, self.clock, self.workspace = slack, FakeClock(), FakeWorkspace()
        self.workspace.groups["C0OPS"] = frozenset({"U2"})
        self.approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=self.workspace)
        self.approvers.refresh()
        self.home = a_home(an_overview(QUESTION))
        self.tab = HomeTab(WebClient(base_url=slack.url), lambda: self.home, self.approvers, self.clock, team_id="T1")

    def open(self, user: str = "U2", *, team: str = "T1", tab: str = "home") -> None:
        self.tab.opened({"team_id": team}, {"type": "app_home_opened", "user": user, "tab": tab})

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


def test_who_is_no_approver_any_more_loses_the_drafts(page: Page) -> None:
    """At the next look, without opening it again."""
    page.open()
    page.workspace.groups["C0OPS"] = frozenset()
    page.approvers.refresh()
    page.tab.tick()
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
