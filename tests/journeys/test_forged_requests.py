"""Requests that name what is another team's, as if Slack had signed them: nothing changes, and nothing is told."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, HELP
from tests.handlers.signed import SECRET, as_form, as_json, send, sign
from tests.hands import Control, Json
from tests.journeys.beat_office import Wake, sessions_of, watched
from tests.journeys.company import PAY_OPS, PAYMENTS, PLAT_OPS, PLATFORM, Company
from tests.journeys.shop import SESSIONS
from tests.payloads import payload

TEAMS = {
    "payments": {**PAYMENTS, "approvers": [ANA.user_id]},
    "platform": {**PLATFORM, "approvers": [BEN.user_id]},
}
HTTP = {"slack": {"mode": "http", "http": "127.0.0.1:0"}}
INPUTS = (ids.REPLY, ids.REASON, ids.CONTEXT, ids.NOTE)
REFUSALS = (
    *("Only approvers", "Only the session's owner", "from another version of triage", "is not a", "Thank you"),
    *("no longer", "Slack could not open the dialogue: invalid_trigger_id"),
)
"""The last two are told to everybody: of removed buttons, and of Show proof, whose dialogue opens before anything is
read; Slack opens none for a trigger that it did not make."""
OUR_TEAM = {"id": DEMO.team_id, "domain": "demo"}
THEIRS = ("session cook", "sessions.py", "ledger")


class Forger:
    """Ben of platform, who can have anything signed."""

    def __init__(self, company: Company) -> None:
        connection = company.bot.connection
        self._url = f"http://{connection.address}/slack/events"
        self._ben = {"id": BEN.user_id, "name": "ben", "team_id": DEMO.team_id}

    def ask(self, ts: str, text: str) -> None:
        """Have the bot told of a message of Chloe's."""
        body = payload("message")
        event = {**body["event"], "user": CHLOE.user_id, "text": text, "ts": ts, "channel": HELP.channel_id}
        event = {key: one for key, one in event.items() if key not in ("blocks", "client_msg_id")}
        self._send(*as_json({**body, "team_id": DEMO.team_id, "event": {**event, "team": DEMO.team_id}}))

    def click(self, action: str, value: str, place: Json) -> None:
        """Press a button, or choose an entry of a menu, that carries a value."""
        one: Json = {"type": "button", "action_id": action, "block_id": "b", "value": value}
        if "!" in value:
            text = {"type": "plain_text", "text": "x"}
            one = {**one, "type": "overflow", "selected_option": {"text": text, "value": value}}
        who = {"team": OUR_TEAM, "user": self._ben, "trigger_id": "1.2"}
        self._send(*as_form({**payload("block_actions"), **who, **place, "actions": [one]}))

    def submit(self, callback: str, value: str) -> None:
        """Submit a dialogue, its input left as it was."""
        body = payload("view_submission")
        values = {block: {ids.INPUT: {"type": "plain_text_input", "value": None}} for block in INPUTS}
        view = {"callback_id": callback, "private_metadata": value, "state": {"values": values}}
        self._send(*as_form({**body, "team": OUR_TEAM, "user": self._ben, "view": {**body["view"], **view}}))

    def _send(self, body: bytes, kind: str) -> None:
        assert send(self._url, body, kind, sign(body, time.time())).status_code == 200


def values_on(message: Json) -> Iterator[str]:
    """Yield what the buttons and menus of a message carry."""
    found: list[Any] = list(message.get("blocks") or [])
    while found:
        one = found.pop()
        found += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        if isinstance(one, dict) and isinstance(one.get("value"), str):
            yield one["value"]


def kind_of(value: str) -> str:
    """Return what kind of value it is: whether of a menu, and how many parts it has."""
    return f"{'!' * ('!' in value)}{value.count('|')}"


def in_turn(names: Iterable[str], values: list[str], of_each: int) -> Iterator[tuple[str, str]]:
    """Yield every name with so many of the values, each value about as often."""
    for number, name in enumerate(names):
        for step in range(min(of_each, len(values))):
            yield name, values[(number * of_each + step) % len(values)]


def digests(folder: Path) -> dict[str, str]:
    """Return what stands in each file of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("of_each", [2, pytest.param(99, marks=pytest.mark.full)])
def test_nothing_that_names_what_is_another_teams_changes_it_or_shows_it(
    company_server: LocalSlack, hands: Control, tmp_path: Path, shop: Path, of_each: int
) -> None:
    """Every button, menu and dialogue there is, from platform's places, with values of payments' cards in turn."""
    vault, api = watched(tmp_path, "vault", state="bad ledger"), watched(tmp_path, "api")
    sessions = sessions_of(vault, api)
    sessions["vault"]["team"], sessions["api"]["team"] = TEAMS
    secret = {"SLACK_SIGNING_SECRET": SECRET}
    home = tmp_path / "home"
    company = Company(company_server, hands, home, shop, TEAMS, environment=secret, sessions=sessions, **HTTP)
    company.bot.start()
    try:
        forger, teams = Forger(company), company.bot.teams.by_name()
        ts = hands.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
        forger.ask(ts, SESSIONS)
        card = company.card(PAY_OPS, ts, HELP, offering=ids.APPROVE)
        teams["payments"].heartbeats.scheduler.wake("vault", Wake.ON_DEMAND)
        alert = hands.wait_for(lambda: alert_of(hands), "the alert")
        kinds = {**{kind_of(value): value for one in (card, alert) for value in values_on(one)}, "session": "vault"}
        before = digests(home / "teams" / "payments" / "state")
        listeners = company.bot.teams.router.all()[0]
        ours = {"channel": {"id": PLAT_OPS.channel_id}, "container": {"type": "message", "message_ts": "1.1"}}
        on_home = {"channel": None, "container": {"type": "view"}, "view": {"type": "home"}}
        for action, value in in_turn((*listeners.actions, ids.RUN_SESSION), [*kinds.values()], of_each):
            forger.click(action, value, ours if value.count("|") == 1 else on_home)
        for view, value in in_turn(listeners.views, [*kinds.values()], of_each):
            forger.submit(view, value)
    finally:
        company.bot.stop()
    assert digests(home / "teams" / "payments" / "state") == before
    assert hands.modals.current() is None
    assert json.dumps(hands.modals.snapshot()["homeViews"].get(BEN.user_id)).count("ledger") == 0
    channels = {PAY_OPS.channel_id, PLAT_OPS.channel_id, HELP.channel_id, hands.direct_messages(BEN.user_id)} - {None}
    told = [one for each in channels for one in hands.messages(each) if one.get("ephemeral_to") == BEN.user_id]
    assert told
    for one in map(shown_text, told):
        assert any(words in one for words in REFUSALS), one
        assert not any(words in one for words in THEIRS), one


def alert_of(hands: Control) -> Json | None:
    """Return the alert that Ana was sent."""
    there = hands.direct_messages(ANA.user_id)
    return next((one for one in hands.messages(there) if find_element(one, ids.ACKNOWLEDGE)), None) if there else None
