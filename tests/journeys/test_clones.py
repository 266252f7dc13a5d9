"""A codebase that is given by its address: cloned beside everything else, fetched before answers, told of once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import OPS
from tests.githttp import GitServer, Mood, git_server
from tests.gitrepo import commit_files, git
from tests.hands import Control
from tests.journeys.office import Office
from tests.journeys.shop import SESSIONS


@pytest.fixture
def server(tmp_path: Path, shop: Path) -> Iterator[GitServer]:
    """A git server whose shop.git is the codebase."""
    folder = tmp_path / "remotes"
    folder.mkdir()
    git(folder, "clone", "--quiet", "--bare", str(shop), "shop.git")
    with git_server(folder) as one:
        yield one


def test_a_question_waits_for_the_first_clone_and_later_ones_for_a_fetch(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path, server: GitServer
) -> None:
    """A remote that refuses is told of once; what was read then is named on the card with its age."""
    server.mood = Mood.LOCKED
    codebases = {"shop": {"url": server.url("shop.git"), "refresh": "1s"}}
    office = Office(slack, control, tmp_path / "home", shop, codebases=codebases)
    office.bot.start()
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        ts = office.ask(SESSIONS)
        office.card(ts, "git cannot read the codebase")
        control.wait_for(lambda: len(told(control, "shop cannot be cloned")) == 1, "the ops channel to be told")
        server.mood = Mood.WELL
        assert "shop/sessions.py" in shown_text(office.draft(ts))
        sha = commit_files(shop, {"shop/reports.py": "def weekly_turnover(orders):\n    return sum(orders)\n"})
        git(shop, "push", "--quiet", str(server.folder / "shop.git"), "HEAD:main")
        clone = office.home / "codebases" / "shop.git"
        control.wait_for(lambda: git(clone, "rev-parse", "HEAD").strip() == sha, "the push to arrive")
        assert "shop/reports.py" in shown_text(office.draft(office.ask("what does weekly_turnover return?")))
        server.mood = Mood.GONE
        standing = office.home / "codebases" / "shop.json"
        control.wait_for(lambda: json.loads(standing.read_text())["problem"], "a fetch to fail")
        assert "the fetch failed" in shown_text(office.draft(office.ask("where is the retry of the gateway set?")))
        control.wait_for(lambda: told(control, "shop cannot be fetched"), "the ops channel to be told")
        assert len(told(control, "shop cannot be fetched")) == len(told(control, "shop cannot be cloned")) == 1
        assert told(control, "The code cannot be searched") == []
    finally:
        office.bot.stop()


def told(control: Control, text: str) -> list[str]:
    """Return what the ops channel was told that begins so."""
    return [one["text"] for one in control.messages(OPS.channel_id) if one["text"].startswith(text)]
