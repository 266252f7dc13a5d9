"""The bot of several teams as a process of its own: what SIGHUP takes over, and what a kill leaves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from bot.adapters.terminals import choose_terminal
from bot.config.environment import TEAMS as TEAMS_FOLDER
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, ENG, HELP
from tests.gitrepo import git, make_repo
from tests.hands import Control, text_value
from tests.journeys.company import PAY_OPS, PAYMENTS, PLAT_OPS, PLATFORM, CompanyProcess
from tests.journeys.home_files import Journal, list_files
from tests.journeys.shop import RETRIES, SESSIONS, TIMEOUTS
from tests.journeys.test_codebases import INFRA, WORKERS
from tests.workspaces import empty

TEAMS = {"payments": PAYMENTS, "platform": PLATFORM}
BURST = 12


@pytest.fixture
def company(company_server: LocalSlack, tmp_path: Path, shop: Path) -> Iterator[CompanyProcess]:
    """A bot that is not started yet, in an empty workspace; beside the shop there is infra."""
    make_repo(tmp_path / "infra", INFRA)
    with Control(company_server.url) as hands:
        empty(hands)
        yield CompanyProcess(hands, company_server, tmp_path / "home", shop)


def _picking(*names: str) -> dict[str, Any]:
    """Return payments, whose channel picks these codebases."""
    return {**PAYMENTS, "channels": [{"chat_id": HELP.channel_id, "name": "help", "codebases": list(names)}]}


def test_what_a_channel_or_a_team_picks_changes_at_a_reload(company: CompanyProcess, tmp_path: Path) -> None:
    """The next question is answered from the codebases that are picked by then."""
    code = {name: {"path": str(tmp_path / name)} for name in ("shop", "infra")}
    with company.running({**TEAMS, "payments": _picking("shop")}, codebases=code) as process:
        ts = company.control.say(HELP.channel_id, CHLOE.user_id, WORKERS)
        company.card(PAY_OPS, ts, HELP, showing="needs context")
        told = "#help (about infra)"
        company.reload(process, told, {**TEAMS, "payments": _picking("infra")}, codebases=code)
        company.told(PAY_OPS, told)
        ts = company.control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
        company.card(PAY_OPS, ts, HELP, showing="needs context")
        own = {**TEAMS, "payments": {**PAYMENTS, "codebases": ["shop"]}}
        company.reload(process, "`watched_chats` now: #help. `codebases` now: shop.", own, codebases=code)
        ts = company.control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
        assert "shop/retry.py:" in shown_text(company.card(PAY_OPS, ts, HELP, offering=ids.APPROVE))


def test_a_reload_clones_what_has_an_address_and_goes_on_without_what_has_a_bad_one(
    company: CompanyProcess, tmp_path: Path
) -> None:
    """The first question after it waits for the clone; of the other the ops channels hear why, once."""
    git(tmp_path, "clone", "--quiet", "--bare", str(tmp_path / "infra"), "infra.git")
    shop = {"shop": {"path": str(tmp_path / "shop")}}
    infra = {"infra": {"url": f"file://{tmp_path / 'infra.git'}"}}
    lost = {"lost": {"url": f"file://{tmp_path / 'lost.git'}"}}
    with company.running(TEAMS, codebases=shop) as process:
        company.reload(process, "`codebases` now: shop, infra.", TEAMS, codebases={**shop, **infra})
        ts = company.control.say(HELP.channel_id, CHLOE.user_id, WORKERS)
        assert "infra:deploy/workers.py:" in shown_text(company.card(PAY_OPS, ts, HELP, offering=ids.APPROVE))
        company.reload(process, "`codebases` now: shop, lost.", TEAMS, codebases={**shop, **lost})
        for ops in (PAY_OPS, PLAT_OPS):
            company.told(ops, "lost cannot be cloned: ")
        ts = company.control.say(ENG.channel_id, CHLOE.user_id, RETRIES)
        assert "shop:shop/retry.py:" in shown_text(company.card(PLAT_OPS, ts, ENG, offering=ids.APPROVE))
        company.reload(process, "`codebases` now: shop.", TEAMS, codebases=shop)


def test_whatever_a_removed_team_had_under_way_ends_with_a_word(company: CompanyProcess) -> None:
    """An open dialogue, a long run, questions that nobody had begun with; the other team goes on."""
    home = company.home / TEAMS_FOLDER / "platform"
    platform = {**PLATFORM, "escalation": {"command": ["sleep", "600"]}}
    control = company.control
    with company.running({"payments": PAYMENTS, "platform": platform}, max_concurrent_sessions=1) as process:
        drafted = control.say(ENG.channel_id, CHLOE.user_id, TIMEOUTS)
        company.click(PLAT_OPS, company.card(PLAT_OPS, drafted, ENG, offering=ids.APPROVE), ids.EDIT, BEN.user_id)
        control.wait_for(control.modals.current, "the editor")
        audited = control.say(ENG.channel_id, CHLOE.user_id, f"Audit every place: {SESSIONS}")
        control.wait_for(choose_terminal(home).sessions, "the long run to begin")
        for number in range(BURST):
            control.say(ENG.channel_id, CHLOE.user_id, f"How do we sign cookies of kind {number}?")
        heard = Journal(home / "events-classified.ndjson")
        control.wait_for(lambda: len(list(heard.records())) == BURST + 2, "all of it to be heard")
        said = company.reload(process, "open threads were closed", {"payments": PAYMENTS}, max_concurrent_sessions=1)
        closed, dropped = int(said.partition(" open threads")[0].rpartition(" ")[2]), _dropped(said)
        assert closed + dropped == BURST + 2
        for ts in (drafted, audited):
            company.card(PLAT_OPS, ts, ENG, showing="the team platform is no longer in triage.yml")
        assert not list_files(home / "queue", "user_*.json")
        control.wait_for(lambda: not choose_terminal(home).sessions(), "the long run to end")
        control.modals.submit(BEN.user_id, {ids.REPLY: {ids.INPUT: text_value("45 s, since March.")}})
        told = company.told(PAY_OPS, "Only approvers may do this", user=BEN.user_id)
        assert "45 s, since March." in shown_text(told)
        assert company.replies(drafted, ENG) == []
        ts = control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
        company.card(PAY_OPS, ts, HELP, offering=ids.APPROVE)


def _dropped(said: str) -> int:
    """Return how many waiting questions were dropped."""
    found = re.search(r"(\d+) waiting questions? w", said)
    return int(found[1]) if found else 0


def test_a_team_is_renamed_only_with_its_directory(company: CompanyProcess) -> None:
    """Neither a reload nor a start closes its threads; once the folder has the new name, all is there."""
    renamed = {"payments": PAYMENTS, "infra": PLATFORM}
    control = company.control
    with company.running(TEAMS) as process:
        ts = control.say(ENG.channel_id, CHLOE.user_id, TIMEOUTS)
        card = company.card(PLAT_OPS, ts, ENG, offering=ids.APPROVE)
        company.reload(process, "`mv teams/platform teams/infra`", renamed)
        company.told(PLAT_OPS, "it has the ops channel of platform, which is gone")
    refused = company.start_in_vain(renamed)
    assert "`mv teams/platform teams/infra`" in " ".join(refused.split())
    folder = company.home / TEAMS_FOLDER
    (folder / "platform").rename(folder / "infra")
    with company.running(renamed):
        company.click(PLAT_OPS, card, ids.APPROVE, BEN.user_id)
        company.reply(ts, ENG)


def test_a_folder_of_teams_that_is_none_is_refused_with_one_sentence(company: CompanyProcess) -> None:
    """At the start, and by a reload that adds a team."""
    folder = company.home / TEAMS_FOLDER
    with company.running(TEAMS) as process:
        folder.joinpath("third").write_text("")
        third = {**TEAMS, "third": {"ops_channel": PAY_OPS.channel_id}}
        company.reload(process, f"cannot use the folder {folder / 'third'}", third)
    folder.rename(company.home / "moved")
    folder.write_text("")
    said = "".join(company.start_in_vain(TEAMS).split())
    assert f"itisnone:`mv{folder}{folder}.old`" in said
    assert "Traceback" not in said


def test_a_kill_while_one_team_becomes_several_loses_nothing(company: CompanyProcess) -> None:
    """As soon as the first trace of it is on disk; the start after that has the waiting draft, and posts it once."""
    control, home = company.control, company.home
    alone = {"ops_channel": PAY_OPS.channel_id, "watched_chats": PAYMENTS["channels"]}
    with company.running({}, **alone):
        ts = control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
        card = company.card(PAY_OPS, ts, HELP, offering=ids.APPROVE)
    traces = (home / ".teams.new", home / TEAMS_FOLDER)
    company.killed_once(lambda: any(map(os.path.lexists, traces)), TEAMS)
    with company.running(TEAMS):
        company.click(PAY_OPS, card, ids.APPROVE, ANA.user_id)
        company.reply(ts, HELP)
        assert len(company.cards(PAY_OPS, ts, HELP)) == len(company.replies(ts, HELP)) == 1
    assert (home / TEAMS_FOLDER / "payments").samefile(home)
    assert not os.path.lexists(traces[0])
