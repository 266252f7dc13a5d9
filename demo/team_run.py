"""`triage demo --teams`: one bot for a company of two teams in the throw-away Slack."""

from __future__ import annotations

import json
import os
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bot.app import App
from bot.config.environment import TEAMS as TEAM_FOLDERS
from bot.config.settings import load_settings
from demo.company import COMPANY, PAY_OPS, REPOSITORIES, TEAMS, several_teams
from demo.control import Control
from demo.home import environment_of, furnish, status_command
from demo.journey import CARD_LIMIT_S, MODEL_CARD_LIMIT_S, Journey
from demo.page_server import PageServer
from demo.signals import kept_signals, wait_for_end
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE


def run_teams(binary: Path, home: Path, *, headless: bool, as_json: bool, port: int, opens: bool) -> int:
    """Run the demo of two teams and return its exit code: headless 0 where each team's approved reply stands.

    Raises:
        ConfigError: home or port cannot be used.
        ProviderError: the server did not start, or the bot did not connect.
    """
    with (
        LocalSlack(binary, COMPANY, env=os.environ) as slack,
        PageServer(slack.url, actor=ANA.user_id, channel=PAY_OPS.channel_id, port=port) as page,
        Control(slack.url) as control,
        _bot(slack, home),
    ):
        control.wait_for(control.is_connected, "the bot to connect")
        if headless:
            return _headless(control, home, as_json=as_json)
        return _interactive(control, home, page.url, opens=opens)


@contextmanager
def _bot(slack: LocalSlack, home: Path) -> Iterator[App]:
    bot = App(load_settings(furnish(home, several_teams)), environment_of(slack, home))
    try:
        for index in bot.process.code.indexes.values():
            index.refresh()
        bot.start()
        yield bot
    finally:
        bot.stop()


def _headless(control: Control, home: Path, *, as_json: bool) -> int:
    limit_s = MODEL_CARD_LIMIT_S if os.environ.get("ANTHROPIC_API_KEY") else CARD_LIMIT_S
    done: dict[str, dict[str, Any]] = {}
    for name, team in TEAMS.items():
        journey = Journey(control, home / TEAM_FOLDERS / name, team.place, quiet=as_json, card_limit_s=limit_s)
        done[name] = journey.approve(team.question)
    is_good = all(facts["ok"] for facts in done.values())
    if as_json:
        print(json.dumps({"ok": is_good, "teams": done}, ensure_ascii=False))
    return 0 if is_good else 1


def _interactive(control: Control, home: Path, url: str, *, opens: bool) -> int:
    """Ask each team something, say where to click, and wait for Ctrl-C."""
    for team in TEAMS.values():
        control.say(team.place.help.channel_id, CHLOE.user_id, team.question)
    signals = kept_signals()
    print(f"\n  open      {url}")
    for name, team in TEAMS.items():
        who = " or ".join(user.real_name for user in team.approvers)
        print(
            f"  {name:<9} answers #{team.place.help.name} from {' and '.join(team.codebases)};\n"
            f"            act as {who} and click Approve in #{team.place.ops.name}"
        )
    print(
        "  try       /triage status in a channel of each team, and App Home as each approver\n"
        f"  code      {', '.join(REPOSITORIES)} in {home / 'repositories'}\n"
        f"  data      {home / TEAM_FOLDERS}\n"
        f"            {status_command(home)}\n"
        "\n  Ctrl-C ends it; without --home nothing stays on disk.",
        flush=True,
    )
    if opens:
        webbrowser.open(url)
    wait_for_end(signals)
    return 0
