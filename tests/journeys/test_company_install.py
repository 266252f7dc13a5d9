"""docs/install.md, "Several teams": from nothing to the first approved reply, and from one team to several.

`triage doctor`, `run` and `status` are typed as on the page, in an empty HOME.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import yaml

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, ENG, HELP
from tests.gitrepo import make_repo
from tests.hands import LIMIT_S, Control
from tests.journeys.company import PAY_OPS, PLAT_OPS, CompanyHands
from tests.journeys.shop import RETRIES, SHOP
from tests.journeys.test_codebases import INFRA
from tests.journeys.test_install import Place

SIX = {"shop": SHOP, "infra": INFRA, **{name: {"README.md": f"# {name}\n"} for name in ("pay", "web", "app", "wiki")}}
TOKENS = f"SLACK_BOT_TOKEN={DEMO.bot_token}\nSLACK_APP_TOKEN={DEMO.app_token}\nSLACK_API_URL="


@pytest.fixture
def place(tmp_path: Path, company_server: LocalSlack) -> Place:
    """Where triage is installed, six repositories beside it: three checkouts and three remotes."""
    place = Place(tmp_path)
    (place.folder / ".env").write_text(f"{TOKENS}{company_server.api_url}\n")
    (place.folder / ".env").chmod(0o600)
    for name, files in SIX.items():
        make_repo(tmp_path / "src" / name, files)
    return place


def wrong_checks(said: str) -> list[str]:
    """Return the names of the checks that `triage doctor` finds wrong, of those that this machine can pass."""
    names = [line.split()[1] for line in said.splitlines() if line.startswith("  ✗")]
    return [name for name in names if name not in ("tmux", "gh")]


@pytest.mark.full
def test_six_repositories_and_two_teams_from_nothing(
    company_server: LocalSlack, hands: Control, place: Place, tmp_path: Path
) -> None:
    """The file is as on the page; doctor finds nothing but the bot missing, and the first reply is approved."""
    src = tmp_path / "src"
    paths = {name: {"path": str(src / name)} for name in ("shop", "pay", "web")}
    addresses = {name: {"url": f"file://{src / name}"} for name in ("infra", "app", "wiki")}
    payments = {
        "ops_channel": PAY_OPS.channel_id,
        "approvers": [ANA.user_id],
        "channels": [{"chat_id": HELP.channel_id, "name": "help"}],
        "codebases": ["shop", "pay", "wiki"],
    }
    platform = {"ops_channel": PLAT_OPS.channel_id, "channels": [{"chat_id": ENG.channel_id, "name": "eng"}]}
    teams = {"payments": payments, "platform": platform}
    (place.folder / "triage.yml").write_text(yaml.safe_dump({"codebases": {**paths, **addresses}, "teams": teams}))
    hands.wait_for(  # on a busy machine a check may have too little time
        lambda: wrong_checks(place.type(["triage", "doctor"]).stdout) == ["bot", "connection"], "all other checks"
    )
    company = CompanyHands(hands)
    with place.running(["triage", "run"]) as bot:
        hands.wait_for(hands.modals.is_bot_connected, "the bot to connect")
        asked = hands.say(HELP.channel_id, CHLOE.user_id, RETRIES)
        card = company.card(PAY_OPS, asked, HELP, offering=ids.APPROVE)
        assert "shop:" in shown_text(card)
        company.click(PAY_OPS, card, ids.APPROVE, BEN.user_id)
        company.told(PAY_OPS, "Only approvers may do this", user=BEN.user_id)
        company.click(PAY_OPS, card, ids.APPROVE, ANA.user_id)
        company.reply(asked, HELP)
        status = place.type(["triage", "status"])
        assert "Team payments" in status.stdout
        bot.send_signal(signal.SIGTERM)
        assert bot.wait(LIMIT_S) == 0


def test_one_team_becomes_the_first_of_several(
    company_server: LocalSlack, hands: Control, place: Place, tmp_path: Path
) -> None:
    """Its waiting draft is approved under the new file, edited as docs/upgrading.md says."""
    company, src = CompanyHands(hands), tmp_path / "src"
    old = f"codebase: {src / 'shop'}\nops_channel: {PAY_OPS.channel_id}\nwatched_chats:\n- chat_id: {HELP.channel_id}\n"
    (place.folder / "triage.yml").write_text(f"{old}approvers: [{ANA.user_id}]\nbudget: {{per_day_usd: 9}}\n")
    with place.running(["triage", "run"]) as bot:
        hands.wait_for(hands.modals.is_bot_connected, "the bot to connect")
        asked = hands.say(HELP.channel_id, CHLOE.user_id, RETRIES)
        card = company.card(PAY_OPS, asked, HELP, offering=ids.APPROVE)
        bot.send_signal(signal.SIGTERM)
        assert bot.wait(LIMIT_S) == 0
    platform = (
        f"{{ops_channel: {PLAT_OPS.channel_id}, approvers: [{BEN.user_id}], channels: [{{chat_id: {ENG.channel_id}}}]}}"
    )
    payments = (
        f"{{ops_channel: {PAY_OPS.channel_id}, approvers: [{ANA.user_id}], channels: [{{chat_id: {HELP.channel_id}}}]}}"
    )
    teams = f"teams:\n  payments: {payments}\n  platform: {platform}\n"
    (place.folder / "triage.yml").write_text(f"codebase: {src / 'shop'}\nbudget: {{per_day_usd: 9}}\n{teams}")
    hands.wait_for(lambda: not hands.modals.is_bot_connected(), "the old bot to leave")
    with place.running(["triage", "run"]) as bot:
        hands.wait_for(hands.modals.is_bot_connected, "the bot to connect")
        company.told(PAY_OPS, "what was known until today belongs to payments")
        company.click(PAY_OPS, card, ids.APPROVE, ANA.user_id)
        company.reply(asked, HELP)
        asked_other = hands.say(ENG.channel_id, CHLOE.user_id, RETRIES)
        company.card(PLAT_OPS, asked_other, ENG, offering=ids.APPROVE)
        bot.send_signal(signal.SIGTERM)
        assert bot.wait(LIMIT_S) == 0
    assert (place.home / ".triage" / "teams" / "payments").is_symlink()
