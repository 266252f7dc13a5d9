"""Makes the old installation: runs the version at commit 8154d7ff on a throw-away Slack and stores what it left.

It runs in a checkout of that version, with that version's own environment, and never with today's code:

    git clone . /tmp/old && cd /tmp/old && git checkout 8154d7ff && make .venv/installed-dev
    cp -r <this checkout>/tests/old_home tests/
    .venv/bin/python -m tests.old_home.make <this checkout>/tests/old_home/data

It takes about five minutes and needs tmux. People click real buttons; each step waits for what it caused. Only what
minutes cannot bring about is written with the old version's own store (stored.py). At the end the process is killed
amid its work.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import rmtree
from typing import Final

from blocks import ids
from bot.app import App
from bot.config.environment import read_environment
from bot.config.settings import load_settings
from demo.binary import cache_folder, ensure_binary
from demo.workspace import ANA, BEN, CHLOE, ENG, HELP, DemoChannel
from tests.code_host import TOKEN, CodeHost
from tests.gitrepo import git
from tests.hands import Control, Json, find_option, text_value
from tests.journeys.company import COMPANY, PAY_OPS, PLAT_OPS, write_company
from tests.journeys.office import environment_of
from tests.model_server import ModelServer
from tests.old_home import cast, codebase, left
from tests.old_home.hands import Installation
from tests.old_home.seeded_slack import seeded_slack
from tests.old_home.stored import write_the_rest

KEY: Final = "sk-scripted-0123456789abcdef"
LAST_MONTH: Final = timedelta(days=40)
DEATHS: Final = 9


class EarlierClock:
    """A clock that is slow by `LAST_MONTH`."""

    def now(self) -> datetime:
        return datetime.now(UTC) - LAST_MONTH


def approve(bot: Installation, text: str, channel: DemoChannel, user: str) -> str:
    """Have a question answered."""
    ts = bot.ask(text, channel)
    bot.press(ts, ids.APPROVE, channel, user)
    bot.reply(ts, channel)
    bot.seen(ts, "Posted", channel=channel)
    return ts


def dismiss(bot: Installation, text: str, reason: str) -> str:
    """Have a draft dismissed for a reason."""
    ts = bot.ask(text)
    bot.seen(ts, offering=ids.APPROVE)
    bot.press(ts, ids.DISMISS)
    bot.submit({ids.REASON: reason})
    bot.seen(ts, offering=ids.REMEMBER)
    return ts


def last_month(bot: Installation) -> None:
    """Answer two questions, and dismiss one, forty days ago."""
    bot.slack.is_behind(LAST_MONTH)
    config = write_company(bot.home, bot.codebase, cast.TEAMS, **bot.more)
    environment = read_environment(environment_of(bot.slack.server, bot.home))
    app = App(load_settings(config), environment, clock=EarlierClock())
    app.start()
    bot.control.wait_for(bot.control.modals.is_bot_connected, "the bot to connect")
    try:
        approve(bot, "Where are session cookies signed?", HELP, ANA.user_id)
        approve(bot, "How often is the payment gateway retried?", ENG, BEN.user_id)
        dismiss(bot, "What does sign_session return?", "ask the data team")
        bot.control.wait_for(lambda: len(bot.archived()) >= 3, "three archived threads")
    finally:
        app.stop()
    bot.control.wait_for(lambda: not bot.control.modals.is_bot_connected(), "the bot to leave")
    bot.slack.is_behind(timedelta())


def without_models(bot: Installation) -> None:
    """Answer and dismiss; keep heartbeats, suggestions, proposals, notes and lessons."""
    with bot.running(cast.TEAMS, **bot.more):
        questions(bot)
        heartbeats(bot)
        playbooks(bot)


def a_changed_line(bot: Installation, host: CodeHost) -> None:
    """Have people asked about a note whose lines changed."""
    codebase.change_shop(bot.codebase)
    git(bot.codebase, "push", "--quiet", str(host.bare), "main:main")
    with bot.running(cast.TEAMS, **bot.more):
        bot.found(PAY_OPS.channel_id, "", ids.STILL_TRUE)


def questions(bot: Installation) -> None:
    """Close threads; keep a lesson, offer another; have a note asked about; count a vote."""
    answered = approve(bot, "How long may a connect to the warehouse take?", HELP, ANA.user_id)
    reply = bot.reply(answered, HELP)
    bot.act({**reply, "channel": HELP.channel_id}, ids.NOT_HELPFUL, CHLOE.user_id)
    bot.found(PAY_OPS.channel_id, "not helpful")
    approve(bot, "Where is FIRST_DELAY_S set?", ENG, BEN.user_id)
    kept = dismiss(
        bot,
        "How often do we retry the payment gateway, and with what backoff delays?",
        "the gateway sets it, not the shop",
    )
    bot.press(kept, ids.REMEMBER)
    bot.submit({})
    bot.seen(kept, "remembered as `memory/")
    dismiss(bot, "Which hash signs the session cookie?", "sessions moved to the gateway")
    bot.control.open_home(ANA.user_id)


def heartbeats(bot: Installation) -> None:
    """One finding is open, one snoozed, one acknowledged; switches and an inbox."""
    for name in ("api", "web"):
        bot.types(f"heartbeat run {name}", name)
    bot.alert(ANA.user_id, "api", ids.ACKNOWLEDGE)
    web = bot.alert(ANA.user_id, "web", ids.ACKNOWLEDGE)
    bot.act(web, "", label="Snooze 1 day" if find_option(web, "Snooze 1 day") else _longest(web))
    bot.types("heartbeat run infra", "infra", PLAT_OPS, BEN.user_id)
    bot.act(bot.alert(BEN.user_id, "infra", ids.ACKNOWLEDGE), ids.ACKNOWLEDGE, BEN.user_id)
    bot.alert(BEN.user_id, "acknowledged")
    bot.types("heartbeat every web 3d", "web")
    bot.types("heartbeat off master", "master")


def _longest(alert: Json) -> str:
    options = [
        option["text"]["text"]
        for block in alert["blocks"]
        for element in [*(block.get("elements") or []), block.get("accessory") or {}]
        for option in element.get("options") or []
    ]
    return str(options[-1])


def playbooks(bot: Installation) -> None:
    """Offer checks, take one and refuse one; remove a task; two orders become cards."""
    bot.types("pollinate run", "suggestion")
    first = bot.found(PAY_OPS.channel_id, "Suggested check", ids.REJECT_SUGGESTION)
    bot.act(first, ids.REJECT_SUGGESTION)
    bot.submit({ids.REASON: "somebody else looks after it"})
    bot.found(PAY_OPS.channel_id, "rejected by")
    second = bot.found(PAY_OPS.channel_id, "Suggested check", ids.ACCEPT_SUGGESTION)
    bot.act(second, ids.ACCEPT_SUGGESTION)
    bot.found(PAY_OPS.channel_id, "accepted by")
    bot.found(PAY_OPS.channel_id, "Suggested check", ids.ACCEPT_SUGGESTION)
    bot.types("tiers api", "Edit hourly")
    bot.types("tiers api remove 1", "Removed")
    bot.types("tiers api", "Edit hourly")
    bot.ask("<@U0TRIAGE> watch the CDN cache of api hourly from now on")
    bot.found(PAY_OPS.channel_id, "CDN cache", ids.ACCEPT_PROPOSAL)
    bot.ask("<@U0TRIAGE> watch the queue length of web hourly from now on")
    bot.act(bot.found(PAY_OPS.channel_id, "ueue length", ids.ACCEPT_PROPOSAL), ids.ACCEPT_PROPOSAL)
    bot.found(PAY_OPS.channel_id, "Accepted")


def a_failed_job(bot: Installation) -> None:
    """Kill the process while it beats, until the job is given up."""
    hold, queue = bot.place / "infra" / "hold", bot.home / "teams" / "platform" / "queue"
    hold.touch()
    for _ in range(DEATHS):
        with bot.running(cast.TEAMS, **bot.more):
            if not list(queue.rglob("*.json")):
                bot.types("heartbeat run infra", "infra", PLAT_OPS, BEN.user_id)
            bot.control.wait_for(lambda: list(queue.glob("[fr]*/*.json")), "the beat to begin", timeout_s=60)
            if list(queue.glob("failed/*.json")):
                bot.found(PLAT_OPS.channel_id, "Gave up on")
                break
    hold.unlink()
    assert list(queue.glob("failed/*.json"))


def with_models(bot: Installation, host: CodeHost, model: ModelServer) -> None:
    """Leave an open thread in each status, and the process dead."""
    keys = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url, "TRIAGE_GITHUB_TOKEN": TOKEN}
    with bot.running(cast.TEAMS, environment=keys, **bot.more):
        waiting_for_people(bot, host)
        amid_work(bot)


def waiting_for_people(bot: Installation, host: CodeHost) -> None:
    """Leave cards that wait for an approver."""
    confirmed = bot.ask(cast.CONFIRMED)
    bot.seen(confirmed, offering=ids.APPROVE)
    bot.ask(cast.TWIN, user=BEN.user_id)
    bot.seen(confirmed, "1 other thread")
    bot.ask("It is for the audit on Monday.", thread=confirmed)
    edited = bot.ask(cast.EDITED)
    bot.press(edited, ids.EDIT)
    bot.control.wait_for(bot.control.modals.current, "the editor")
    only_save = {"type": "checkboxes", "selected_options": [_option(ids.ONLY_SAVE)]}
    words = {ids.REPLY: {ids.INPUT: text_value(codebase.EDITED_REPLY)}, ids.ONLY_SAVE: {ids.INPUT: only_save}}
    assert bot.control.modals.submit(ANA.user_id, words) == {}
    bot.seen(edited, codebase.EDITED_REPLY)
    patched = bot.ask(cast.PATCHED)
    bot.press(patched, ids.OPEN_FIX)
    bot.seen(patched, f"Draft PR: {host.origin}")
    for question, shows in ((cast.DISPUTED, "disagreement"), (cast.UNCLEAR, "Which region"), (cast.BROKEN, "failed")):
        bot.seen(bot.ask(question), shows)
    bot.seen(bot.ask("How often is the payment gateway retried?", ENG), offering=ids.APPROVE, channel=ENG)
    bot.seen(bot.ask(cast.AUDIT), "To watch it")


def _option(value: str) -> Json:
    return {"text": {"type": "plain_text", "text": value}, "value": value}


def amid_work(bot: Installation) -> None:
    """Hold all that may run at once, and let more wait."""
    for question, status in (
        (cast.HELD, "investigating"),
        (cast.CHECKED, "awaiting-validation"),
        (cast.BOUNCED, "bounced-round-1"),
        (cast.FULL, "investigating"),
        (cast.DEADLY, "investigating"),
    ):
        bot.has_status(bot.ask(question), status)
    bot.jobs("running/*.json", 5)
    bot.ask(cast.QUEUED)
    bot.ask(codebase.ORDER)
    bot.types("heartbeat run api", "api")
    bot.jobs("*.json", 3)


@contextmanager
def folder_for(out: Path) -> Iterator[str]:
    """Make a folder to work in, which stays for a look where something goes wrong."""
    folder = tempfile.mkdtemp(prefix="old-")
    yield folder
    for socket in Path(folder).glob("home/teams/*/tmux.sock"):
        subprocess.run(["tmux", "-S", str(socket), "kill-server"], check=False)
    rmtree(folder)


def main(out: Path) -> None:
    """Make everything and store it in `out`."""
    binary = ensure_binary(cache_folder(os.environ), override=None)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    with folder_for(out) as folder, seeded_slack(binary, COMPANY, Path(folder)) as slack:
        place = Path(folder)
        with Control(slack.server.url) as control, CodeHost(place / "host") as host:
            bot = Installation(control, slack, place)
            host.publish(bot.codebase)
            prepare(place)
            with ModelServer(cast.script()) as model:
                last_month(bot)
                without_models(bot)
                a_changed_line(bot, host)
                a_failed_job(bot)
                with_models(bot, host, model)
            write_the_rest(bot.home)
            bot.terminal("heartbeat", "assign", "api", "look", "at", "the", "disk")
            left.store(place, control, out, environment_of(slack.server, bot.home))


def prepare(place: Path) -> None:
    """Make the watched checkouts, all but one with a check that fails."""
    for name in codebase.WATCHED:
        checkout = codebase.make_watched(place, name)
        (checkout / "state").write_text("bad" if name != "master" else "fine")
        hourly = ("Disk: `df -h`", "Memory: `free -m`", "Processors: `nproc --all`", "Look at open pull requests")
        text = cast.playbook(name, f"The check: `{codebase.CHECK}`", hourly=hourly if name == "web" else ())
        (checkout / "HEARTBEAT.md").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
