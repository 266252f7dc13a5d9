"""One team, two repositories: the right one is searched, named, quoted, linked and checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import DEMO, ENG, HELP, OPS
from tests.cli.typed import typed
from tests.gitrepo import git, make_repo
from tests.hands import Control
from tests.journeys.home_files import Journal
from tests.journeys.office import Office, load_settings, write_config
from tests.journeys.shop import RETRIES, SHOP

INFRA = {
    "README.md": "# infra\n\nThe machines of the shop.\n",
    "deploy/workers.py": '''"""The workers of the queue."""

MIN_WORKERS = 2


def scale_workers(depth: int) -> int:
    """Return how many workers the queue of this depth gets, one for each hundred waiting jobs."""
    return max(MIN_WORKERS, depth // 100)
''',
}
WORKERS = "How many workers does the queue get, and what is the minimum?"


@pytest.fixture
def several(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[Office]:
    """A bot over two repositories on two code hosts; one channel is about the shop alone."""
    addresses = {"shop": "git@github.com:acme/shop.git", "infra": "https://gitlab.com/acme/infra.git"}
    for name, files in (("shop", SHOP), ("infra", INFRA)):
        git(make_repo(tmp_path / name, files), "remote", "add", "origin", addresses[name])
    chats = [{"chat_id": HELP.channel_id}, {"chat_id": ENG.channel_id, "codebases": ["shop"]}]
    codebases = {name: {"path": str(tmp_path / name)} for name in addresses}
    office = Office(slack, control, tmp_path / "home", tmp_path, codebases=codebases, watched_chats=chats)
    office.bot.start()
    control.wait_for(control.is_connected, "the bot to connect")
    yield office
    office.bot.stop()


def run(office: Office, *words: str) -> tuple[int, str]:
    """Return exit code and output of a command of the terminal."""
    said = typed([*words, "--home", str(office.home)], office.home, {"PATH": "/usr/bin:/bin"})
    return said.returncode, said.stdout


def test_a_question_is_answered_from_the_right_repository(several: Office) -> None:
    """The card names it and links to its own host; the reply cites it, and `verify` finds it."""
    ts = several.ask(WORKERS)
    card = several.draft(ts)
    assert "infra:deploy/workers.py:" in shown_text(card)
    assert "https://gitlab.com/acme/infra/-/blob/" in json.dumps(card)
    several.click(card, ids.APPROVE)
    assert "infra:deploy/workers.py:" in several.reply(ts)["text"]
    (record,) = Journal(several.home / "replies.ndjson").records()
    assert record["evidence_refs"][0]["ref"].startswith("infra:deploy/workers.py:")
    config = ("--config", str(several.home / "triage.yml"))
    code, out = run(several, "verify", f"{DEMO.team_id}.{HELP.channel_id}.{ts}", *config)
    assert (code, "wrong" in out) == (0, False)
    assert "✓ file         infra:deploy/workers.py:" in out


def test_each_question_has_its_own_repository(several: Office) -> None:
    """In one channel, by what the passages say, and by the name in the question."""
    ts = several.ask(RETRIES)
    assert "shop:shop/retry.py:" in shown_text(several.draft(ts))
    named = several.ask("In infra, how many workers does the queue get, and how many are the minimum?")
    assert "infra:deploy/workers.py:" in shown_text(several.draft(named))

    def codebases() -> bool:
        _, out = run(several, "status")
        return "shop at " in out and "infra at " in out

    several.control.wait_for(codebases, "the status of both codebases")


def test_a_channel_of_one_repository_hears_of_no_other(several: Office) -> None:
    """The best passages of the other one do not count there."""
    ts = several.ask("How are orders exported, and what are the machines of the shop?", channel=ENG.channel_id)
    card = several.draft(ts, channel=ENG.channel_id)
    assert "shop/export.py" in shown_text(card)
    assert "infra ·" not in shown_text(card)


def test_a_codebase_comes_and_goes_by_a_reload(slack: LocalSlack, control: Control, tmp_path: Path) -> None:
    """What was asked of the shop alone can be approved beside the new one, and the other way round."""
    paths = {name: str(make_repo(tmp_path / name, files)) for name, files in (("shop", SHOP), ("infra", INFRA))}
    home, shop = tmp_path / "home", {"shop": {"path": paths["shop"]}}
    office = Office(slack, control, home, tmp_path, codebases=shop)

    def reload(told: str, **codebases: dict[str, str]) -> None:
        config = write_config(home, tmp_path, codebases=codebases)
        office.bot.reload(lambda: load_settings(config))
        control.wait_for(lambda: any(told in shown_text(one) for one in control.messages(OPS.channel_id)), told)

    office.bot.start()
    try:
        control.wait_for(control.is_connected, "the bot to connect")
        before = office.ask(RETRIES)
        assert "shop/retry.py:" in shown_text(office.draft(before))
        reload("no git", **shop, infra={"path": str(home)})
        reload("`codebases` now: infra, shop.", **shop, infra={"path": paths["infra"]})
        office.click(office.draft(before), ids.APPROVE)
        office.reply(before)
        ts = office.ask(WORKERS)
        card = office.draft(ts)
        assert "infra:deploy/workers.py:" in shown_text(card)
        office.click(card, ids.APPROVE)
        assert "infra:deploy/workers.py:" in office.reply(ts)["text"]
        named = office.ask("In shop, how is the delay between retries chosen?")
        assert "shop:shop/retry.py:" in shown_text(office.draft(named))
        reload("`codebases` now: shop.", **shop)
        office.click(office.draft(named), ids.APPROVE)
        office.reply(named)
        office.card(office.ask(WORKERS + " Please."), "needs context")
    finally:
        office.bot.stop()
