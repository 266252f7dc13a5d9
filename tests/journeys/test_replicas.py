"""Two bots on one database and one workspace: each is listed while it runs, and their posts keep one pace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from bot.cli.doctor.command import CHECKS, run_checks
from bot.cli.doctor.context import DoctorContext
from bot.errors import Unavailable
from bot.ports.system import Role
from demo.headless import find_element, find_replies
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, HELP, OPS
from handlers.transport.rate_limits import LINE
from tests import fork_server
from tests.builders import NOW
from tests.hands import Control, Json
from tests.journeys.office import App, environment_of, load_settings, read_environment, write_config
from tests.journeys.shop import SESSIONS
from tests.journeys.test_models import KEY, SCRIPTS
from tests.model_server import ModelServer, load_script
from tests.postgres import driver, new_database


def test_replicas_are_listed_and_share_their_pace(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """`triage status` names them, doctor finds nothing wrong with them, and one that stops is gone."""
    url, bots = new_database(), []
    for name in ("one", "other"):
        home = tmp_path / name
        environ = environment_of(slack, home) | {"TRIAGE_DATABASE_URL": url}
        bots.append(App(load_settings(write_config(home, shop)), read_environment(environ)))
        bots[-1].start()
    control.wait_for(control.modals.is_bot_connected, "the bots to connect")
    status = fork_server.run("bot", "status", cwd=tmp_path, env=os.environ | environ)
    assert status.stdout.count("role all") == 2
    patient = DoctorContext(home=home, config=None, environment=read_environment(environ), now=NOW)
    found = run_checks(patient, {name: CHECKS[name] for name in ("database", "replicas", "connection")}, limit_s=60)
    assert found["database"].ok
    assert (found["replicas"].ok, found["replicas"].says) == (True, "2 alive")
    assert found["connection"].ok, found["connection"]
    one, other = bots

    assert not is_refused(other)
    limiter = one.process.slack.poster._limiter
    limiter.hold(limiter.posts, HELP.channel_id, 600)
    assert is_refused(other)
    one.stop()
    checked = [
        fork_server.run("bot", "status", "--check", cwd=tmp_path, env=os.environ | environ | home).returncode
        for home in ({"TRIAGE_HOME": str(tmp_path / name)} for name in ("one", "other"))
    ]
    assert checked == [1, 0]
    with driver().connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM triage_replicas").fetchone() == (1,)
    other.stop()


def is_refused(bot: App) -> bool:
    """Whether a bot has posted too often to say one line more."""
    try:
        bot.process.slack.poster.post(HELP.channel_id, "hello", what="say hello", rank=LINE)
    except Unavailable as error:
        return "too many messages at once" in str(error)
    return False


def offered(control: Control, ts: str) -> Json:
    """Return the card of a message once its draft can be approved."""
    marker = ids.card_block_id(f"{DEMO.team_id}.{HELP.channel_id}.{ts}")

    def card() -> Json | None:
        cards = control.messages(OPS.channel_id)
        found = [one for one in cards if any(b.get("block_id") == marker for b in one.get("blocks") or [])]
        return next((one for one in found if find_element(one, ids.APPROVE)), None)

    return control.wait_for(card, "the card with its draft")


def approve(control: Control, card: Json) -> None:
    """Approve the draft of a card."""
    element = find_element(card, ids.APPROVE)
    assert element is not None
    control.click(OPS.channel_id, card["ts"], ANA.user_id, **element.click_fields())


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model that finds the answer in any codebase."""
    with ModelServer(load_script(SCRIPTS / "pass.yml")) as server:
        yield server


def test_one_hears_and_the_other_works(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path, model: ModelServer
) -> None:
    """A question reaches the edge, which has no key for a model; the worker asks its model and puts the card.

    A click at the edge posts the reply.
    """
    url = new_database()
    bots = {}
    for role in (Role.EDGE, Role.WORK):
        environ = environment_of(slack, tmp_path / role) | {"TRIAGE_DATABASE_URL": url}
        if role is Role.WORK:
            del environ["SLACK_APP_TOKEN"]
            environ |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
        settings = load_settings(write_config(tmp_path / role, shop))
        bots[role] = App(settings, read_environment(environ), role=role)
        bots[role].start()
    control.wait_for(control.modals.is_bot_connected, "the edge to connect")
    ts = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
    approve(control, offered(control, ts))
    [reply] = control.wait_for(lambda: find_replies(control.messages(HELP.channel_id), ts, DEMO.bot_id), "the reply")
    assert "This is done in" in reply["text"]
    assert bots[Role.EDGE].process.engine.replicas is not None
    checks = {name: CHECKS[name] for name in ("tokens", "bot", "connection")}
    worker = DoctorContext(home=tmp_path / Role.WORK, config=None, environment=read_environment(environ), now=NOW)
    found = run_checks(worker, checks, limit_s=60)
    assert all(one.ok for one in found.values()), found
    assert "only `triage run --only work` starts here" in found["tokens"].says
    assert found["connection"].says == "this process only does the work; other replicas listen to Slack"
    assert sorted(one.role for one in bots[Role.EDGE].process.engine.replicas.list()) == ["edge", "work"]
    for bot in bots.values():
        bot.stop()


def test_what_waited_before_a_move_into_a_database_goes_on_after_it(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """The card is approved, the reply is voted on, and the approvers hear of the vote; all of it once."""
    environ, config = environment_of(slack, tmp_path / "home"), write_config(tmp_path / "home", shop)
    before = App(load_settings(config), read_environment(environ))
    before.start()
    control.wait_for(control.modals.is_bot_connected, "the bot to connect")
    ts = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
    card = offered(control, ts)
    before.stop()
    environ["TRIAGE_DATABASE_URL"] = new_database()
    moved = fork_server.run("bot", "migrate", "--to", "postgresql", cwd=tmp_path, env=os.environ | environ)
    assert moved.returncode == 0, moved.stderr
    after = App(load_settings(config), read_environment(environ))
    after.start()
    control.wait_for(control.modals.is_bot_connected, "the bot to connect again")
    approve(control, card)
    [reply] = control.wait_for(lambda: find_replies(control.messages(HELP.channel_id), ts, DEMO.bot_id), "the reply")
    vote = find_element(reply, ids.NOT_HELPFUL)
    assert vote is not None
    control.click(HELP.channel_id, reply["ts"], CHLOE.user_id, **vote.click_fields())

    def told() -> list[Json]:
        blocks = [(m, b) for m in control.messages(OPS.channel_id) for b in m.get("blocks") or []]
        return [m for m, b in blocks if "triage_feedback:" in str(b.get("block_id"))]

    control.wait_for(told, "the approvers to be told")
    after.stop()
    assert len(find_replies(control.messages(HELP.channel_id), ts, DEMO.bot_id)) == len(told()) == 1
