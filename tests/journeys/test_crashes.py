"""The bot as a process that is killed without warning and started again."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from blocks import ids
from demo.headless import find_element, find_replies
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, ENG, HELP, OPS
from tests import fork_server
from tests.fork_server import ForkedProcess
from tests.hands import LIMIT_S, Control, checked, find_option, text_value
from tests.journeys.home_files import Journal, list_files
from tests.journeys.office import environment_of, write_config
from tests.journeys.shop import RETRIES, SESSIONS
from tests.journeys.slow_proxy import slow_proxy
from tests.model_server import ModelServer, Turn, load_script
from tests.postgres import new_database

SCRIPT = Path(__file__).parents[1] / "model_server" / "scripts" / "pass.yml"


@contextmanager
def running(slack: LocalSlack, control: Control, home: Path, config: Path, **environ: str) -> Iterator[ForkedProcess]:
    """Run `triage run` as a process of its own, with more variables; what is left of it at the end is killed."""
    env = {**os.environ, **environment_of(slack, home), **environ}
    process = fork_server.start("tests.journeys.hasty", "run", "--config", str(config), env=env)
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        yield process
    finally:
        process.kill()
        process.wait()
        control.wait_for(lambda: not control.modals.is_bot_connected(), "the bot's socket to close")


def _cards(control: Control, ts: str) -> list[dict]:
    marker = ids.card_block_id(f"{DEMO.team_id}.{HELP.channel_id}.{ts}")
    messages = control.messages(OPS.channel_id)
    return [m for m in messages if any(b.get("block_id") == marker for b in m.get("blocks") or [])]


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _draft(control: Control, ts: str) -> dict:
    def found() -> dict | None:
        return next((card for card in _cards(control, ts) if find_element(card, ids.APPROVE)), None)

    return control.wait_for(found, "a draft", channel=OPS.channel_id)


@pytest.fixture
def config(tmp_path: Path, shop: Path) -> Path:
    """An ordinary config file."""
    return write_config(tmp_path / "home", shop)


def test_a_question_acknowledged_just_before_a_kill_is_answered_after_it(
    slack: LocalSlack, control: Control, tmp_path: Path, config: Path
) -> None:
    """Acknowledged means kept: the next start picks the question up, on one card."""
    home = tmp_path / "home"
    with running(slack, control, home, config) as process:
        ts = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with running(slack, control, home, config):
        _draft(control, ts)
        assert len(_cards(control, ts)) == 1


@pytest.mark.parametrize("engine", ["files", pytest.param("postgres", marks=pytest.mark.full)])
def test_a_question_that_waits_for_its_provider_survives_a_kill_and_is_answered_once(
    slack: LocalSlack, control: Control, tmp_path: Path, config: Path, engine: str
) -> None:
    """The wait is kept, the next start takes it up when it is due, and one run is paid for."""
    home = tmp_path / "home"
    with ModelServer(load_script(SCRIPT)) as server:
        server.refusing = Turn(status=529, error="overloaded_error", retry_after="6")
        access = {"ANTHROPIC_API_KEY": "sk-scripted", "ANTHROPIC_BASE_URL": server.url}
        if engine == "postgres":
            access["TRIAGE_DATABASE_URL"] = new_database()
        with running(slack, control, home, config, **access) as process:
            ts = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
            control.wait_for(lambda: "Waiting for the model" in json.dumps(_cards(control, ts)), "a card that waits")
            assert list_files(home / "queue", "*.json") == []
            process.send_signal(signal.SIGKILL)
            process.wait()
        server.refusing = None
        with running(slack, control, home, config, **access):
            _draft(control, ts)
            assert len(_cards(control, ts)) == 1
        begun = [entry for entry in server.requests if len(entry["body"]["messages"]) == 1]
        assert sorted(entry["role"] for entry in begun) == ["investigator", "validator"]


def test_a_draft_outlives_its_bot_and_is_approved_after_the_restart(
    slack: LocalSlack, control: Control, tmp_path: Path, config: Path
) -> None:
    """A card posted before the kill still works after it: one reply, one record."""
    home = tmp_path / "home"
    with running(slack, control, home, config):
        ts = control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
        card = _draft(control, ts)
    with running(slack, control, home, config):
        element = find_element(card, ids.APPROVE)
        assert element is not None
        control.click(OPS.channel_id, card["ts"], ANA.user_id, **element.click_fields())
        replies = Journal(home / "replies.ndjson")
        control.wait_for(lambda: list(replies.records()), "the record")
        assert len(find_replies(control.messages(HELP.channel_id), ts, DEMO.bot_id)) == 1
        assert len(list(replies.records())) == 1


def test_a_saved_edit_outlives_kills_and_investigations(
    slack: LocalSlack, control: Control, tmp_path: Path, config: Path
) -> None:
    """Killed after the edit and after the new draft came: both are on the card, and Approve posts what was written."""
    home, words = tmp_path / "home", "Five times, see `shop/retry.py`."

    def click(action: str) -> None:
        element = find_element(_cards(control, ts)[0], action)
        assert element is not None
        control.click(OPS.channel_id, _cards(control, ts)[0]["ts"], ANA.user_id, **element.click_fields())

    with running(slack, control, home, config):
        ts = control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
        _draft(control, ts)
        click(ids.EDIT)
        control.wait_for(control.modals.current, "the editor")
        only_save = {ids.ONLY_SAVE: {ids.INPUT: checked(ids.ONLY_SAVE)}}
        control.modals.submit(ANA.user_id, {ids.REPLY: {ids.INPUT: text_value(words)}} | only_save)
        control.wait_for(lambda: words in json.dumps(_cards(control, ts)), "the edit to be shown")
    with running(slack, control, home, config):
        element = find_option(_cards(control, ts)[0], "Re-investigate")
        assert element is not None
        control.click(OPS.channel_id, _cards(control, ts)[0]["ts"], ANA.user_id, **element.click_fields())
        control.wait_for(lambda: find_element(_cards(control, ts)[0], ids.USE_NEW), "a new draft beside it")
        assert words in json.dumps(_cards(control, ts))
    with running(slack, control, home, config):
        [stored] = [json.loads(path.read_text()) for path in list_files(home / "state", f"*{ts}.json")]
        assert (stored["draft_pending"], stored["draft_edited_by"]) == (words, ANA.user_id)
        assert stored["draft_new"]["text"]
        click(ids.APPROVE)
        control.wait_for(lambda: list(Journal(home / "replies.ndjson").records()), "the record")
        [reply] = find_replies(control.messages(HELP.channel_id), ts, DEMO.bot_id)
        assert reply["text"] == words


def _answer(control: Control, text: str, says: str) -> str:
    """Type `/triage …` as Ana and return the answer that holds `says`."""
    control.command(ANA.user_id, OPS.channel_id, text)

    def found() -> str | None:
        private = [m for m in control.messages(OPS.channel_id) if m.get("ephemeral_to") == ANA.user_id]
        return next((said for m in reversed(private) if says in (said := json.dumps(m, ensure_ascii=False))), None)

    return control.wait_for(found, f"{text!r} to say {says!r}", channel=OPS.channel_id)


def test_a_pause_outlives_a_kill_and_loses_no_question(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Asked while paused, killed, asked again: two cards, no draft and no beat until somebody resumes."""
    home = tmp_path / "home"
    (shop / "HEARTBEAT.md").write_text("## Quick\n- [ ] Working tree: `git status --porcelain`\n")
    hours = {"start": "00:00", "end": "24:00", "timezone": "UTC"}
    session = {"cwd": str(shop), "owner": ANA.user_id, "heartbeat": {"every": "1h", "active_hours": hours}}
    config = write_config(home, shop, sessions={"shop": session})
    with running(slack, control, home, config) as process:
        _answer(control, "pause", "paused by @ana since")
        first = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
        control.wait_for(lambda: _cards(control, first), "a card")
        process.send_signal(signal.SIGKILL)
        process.wait()
    with running(slack, control, home, config):
        _answer(control, "status", "paused by @ana since")
        second = control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
        for ts in (first, second):
            control.wait_for(lambda ts=ts: "paused by" in json.dumps(_cards(control, ts)), "a card that says so")
            assert find_element(_cards(control, ts)[0], ids.APPROVE) is None
        assert "/triage resume" in _answer(control, "heartbeat run shop", "No check of shop")
        _answer(control, "resume now", "Nothing was changed")
        _answer(control, "RESUME", "is running again")
        for ts in (first, second):
            _draft(control, ts)
            assert len(_cards(control, ts)) == 1
        _answer(control, "heartbeat run shop", "A check of shop is queued")


def test_a_terminated_bot_ends_well_and_a_second_one_is_refused(
    slack: LocalSlack, control: Control, tmp_path: Path, config: Path
) -> None:
    """SIGTERM ends with exit code 0; two bots on one data directory are one too many, and the second says so."""
    home = tmp_path / "home"
    with running(slack, control, home, config) as process:
        env = {**os.environ, **environment_of(slack, home)}
        argv = ["tests.journeys.hasty", "run", "--config", str(config)]
        second = fork_server.run(*argv, env=env)
        assert second.returncode == 2
        assert "already runs" in second.stderr
        process.terminate()
        assert process.wait(LIMIT_S) == 0


def test_a_stop_waits_for_the_post_under_way(slack: LocalSlack, control: Control, tmp_path: Path, config: Path) -> None:
    """SIGTERM while Slack is slow to take a reply: the home stays locked until it stands, so nobody posts it again."""
    home = tmp_path / "home"
    argv = ["tests.journeys.hasty", "run", "--config", str(config)]
    with slow_proxy(slack.api_url, method="chat.postMessage", marker="thread_ts") as proxy:
        env = {**os.environ, **environment_of(slack, home), "SLACK_API_URL": proxy.url}
        first = fork_server.start(*argv, env=env)
        try:
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            ts = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
            card = _draft(control, ts)
            element = find_element(card, ids.APPROVE)
            assert element is not None
            control.click(OPS.channel_id, card["ts"], ANA.user_id, **element.click_fields())
            assert proxy.held.wait(LIMIT_S)
            first.terminate()
            control.wait_for(lambda: not control.modals.is_bot_connected(), "the bot to stop listening")
            second = fork_server.run(*argv, env=env)
            assert "already runs" in second.stderr
            proxy.release.set()
            assert first.wait(LIMIT_S) == 0
        finally:
            first.kill()
            first.wait()
    with running(slack, control, home, config):
        assert len(find_replies(control.messages(HELP.channel_id), ts, DEMO.bot_id)) == 1
        assert len(list(Journal(home / "replies.ndjson").records())) == 1


def test_a_public_ops_channel_is_refused_at_start(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Drafts would be read by everybody: the bot says so and does not start."""
    home = tmp_path / "home"
    config = write_config(home, shop, ops_channel=ENG.channel_id)
    argv = ["tests.journeys.hasty", "run", "--config", str(config)]
    done = fork_server.run(*argv, env={**os.environ, **environment_of(slack, home)})
    assert done.returncode == 2
    assert "is not private" in done.stderr
    assert control.messages(ENG.channel_id) == []


def test_a_record_torn_by_a_power_cut_is_rebuilt_on_its_card(
    slack: LocalSlack, control: Control, tmp_path: Path, config: Path
) -> None:
    """Half a state file: the question is investigated again, on the card that stands, and its reply is posted once."""
    home = tmp_path / "home"
    with running(slack, control, home, config):
        ts = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
        card = _draft(control, ts)
        control.wait_for(lambda: not list((home / "queue").rglob("user_*.json")), "its job to be done")
    (record,) = list_files(home / "state", "*.json")
    record.write_bytes(record.read_bytes()[:500])
    with running(slack, control, home, config):
        control.wait_for(
            lambda: [m for m in control.messages(OPS.channel_id) if "rebuilt from the journal" in m["text"]],
            "the ops channel to be told",
        )
        control.wait_for(lambda: "pending-user" in _text(record), "the thread to be back")
        assert [c["ts"] for c in _cards(control, ts)] == [card["ts"]]
        approve = find_element(_draft(control, ts), ids.APPROVE)
        assert approve is not None
        control.click(OPS.channel_id, card["ts"], ANA.user_id, **approve.click_fields())
        control.wait_for(lambda: find_replies(control.messages(HELP.channel_id), ts, DEMO.bot_id), "the reply")
    with running(slack, control, home, config):
        assert len(find_replies(control.messages(HELP.channel_id), ts, DEMO.bot_id)) == 1
    assert len(list(Journal(home / "replies.ndjson").records())) == 1
