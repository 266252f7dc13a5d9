"""HTTP mode from Slack's side: what is malformed or foreign changes nothing; what cannot be kept is delivered again."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.slack_server import LocalSlack
from demo.workspace import DEMO, HELP
from tests.gitrepo import make_repo
from tests.handlers.signed import as_form, as_json
from tests.hands import Control, Json
from tests.journeys.shop import RETRIES, SESSIONS, SHOP, TIMEOUTS
from tests.journeys.test_http_mode import HttpOffice
from tests.kept import Kept
from tests.payloads import payload
from tests.workspaces import empty

MARK = "do-not-write-me-down"
DEEP = "[" * 200 + "]" * 200


@pytest.fixture(scope="module")
def office(slack_server: LocalSlack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpOffice]:
    """The bot that the tests here share, listening on a free port."""
    folder = tmp_path_factory.mktemp("http")
    with Control(slack_server.url) as control:
        empty(control)
        office = HttpOffice(slack_server, control, folder / "home", make_repo(folder / "shop", SHOP))
        office.bot.start()
        gaps: Path = folder / "home" / "slack" / "gaps.json"
        control.wait_for(lambda: not json.loads(gaps.read_text()).get("gaps"), "the look back of the start to end")
        try:
            yield office
        finally:
            office.bot.stop()


def kept(office: HttpOffice) -> dict[str, bytes]:
    """Return the files that a decision or a question would change."""
    folders = [office.home / name for name in ("state", "queue", "closed")]
    paths = [path for folder in folders for path in folder.rglob("*.json")]
    return {str(path): path.read_bytes() for path in [*paths, office.home / "events.ndjson"] if path.exists()}


def hostile(office: HttpOffice) -> Iterator[tuple[bytes, str]]:
    """Yield bodies that Slack never sends."""
    event = office.event_of("1795000000.000100", MARK)
    for spoiled in (
        {"event": {**event["event"], "ts": "../../etc/passwd"}},
        {"event": {**event["event"], "ts": "１.２"}},
        {"event": {**event["event"], "user": ["U0CHLOE"]}},
        {"event": {**event["event"], "channel": {"id": MARK}}},
        {"event": {"type": "message"}},
        {"event": None},
        {"event": MARK},
    ):
        yield as_json({**event, **spoiled})
    yield as_json({**event, "event": json.loads(DEEP)})
    click = payload("block_actions")
    for actions in ([], None, MARK, [{"action_id": "triage_approve", "value": MARK * 400}], [{"action_id": MARK}]):
        yield as_form({**click, "actions": actions})
    yield as_form({**click, "user": None, "team": []})
    yield as_form({"type": MARK})


def test_a_malformed_body_is_acknowledged_and_changes_nothing(
    office: HttpOffice, caplog: pytest.LogCaptureFixture
) -> None:
    """No error, no word of it in the log, and the bot works on."""
    ts = office.ask(SESSIONS)
    assert office.deliver(*as_json(office.event_of(ts, SESSIONS))) == 200
    office.draft(ts)
    office.control.wait_for(
        lambda: not any(map(Kept(office.home).jobs, ("", "running", "failed"))), "the queue to be empty"
    )
    before = kept(office)
    caplog.set_level(logging.DEBUG)
    for body, kind in hostile(office):
        assert office.deliver(body, kind) == 200, body[:200]
    assert kept(office) == before
    assert MARK not in caplog.text
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_a_message_of_a_partner_workspace_starts_nothing(office: HttpOffice) -> None:
    """Slack Connect: it is not even queued; the next message of a colleague is answered."""
    body = payload("slack_connect")
    ts = office.ask("Is your API down? It is payments.")
    body["team_id"] = DEMO.team_id
    body["event"] |= {"channel": HELP.channel_id, "ts": ts, "event_ts": ts}
    assert office.deliver(*as_json(body)) == 200
    answered(office, TIMEOUTS)
    assert office.cards(ts) == []


def test_a_bot_that_is_not_listed_starts_nothing(office: HttpOffice) -> None:
    """`watcher.allow_bots` is empty."""
    body = payload("bot_message")
    ts = office.ask("prod is down!! Who looks into it?")
    body["team_id"] = DEMO.team_id
    body["event"] |= {"channel": HELP.channel_id, "ts": ts, "event_ts": ts, "text": "prod is down!! Who looks into it?"}
    assert office.deliver(*as_json(body)) == 200
    answered(office, "Where is EXPORT_HOUR_UTC set?")
    assert office.cards(ts) == []


def test_a_message_that_cannot_be_journaled_is_answered_503(office: HttpOffice) -> None:
    """Slack delivers it again; once there is a journal, it counts."""
    answered(office, "Where is EXPORT_HOUR_UTC set?")  # there is a journal
    journal, aside = office.home / "events.ndjson", office.home / "aside"
    journal.rename(aside)
    journal.mkdir()
    ts = office.ask(RETRIES)
    event: Json = office.event_of(ts, RETRIES)
    try:
        assert office.deliver(*as_json(event)) == 503
    finally:
        journal.rmdir()
        aside.rename(journal)
    assert office.deliver(*as_json(event), **{"X-Slack-Retry-Num": "1"}) == 200
    office.draft(ts)


def answered(office: HttpOffice, question: str) -> None:
    """Have a question of Chloe's answered, so that all before it is worked off."""
    ts = office.ask(question)
    assert office.deliver(*as_json(office.event_of(ts, question))) == 200
    office.draft(ts)
