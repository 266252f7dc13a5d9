"""Credentials of other people, at every door of the ordinary bot: no value is sent, logged or kept."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, ENG, HELP, OPS
from tests.domain.planted_secrets import value_of
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.beat_office import BeatOffice, Watched, sessions_of, watched
from tests.journeys.shop import SHOP

ASKED = {
    "GitHub": value_of("GitHub personal"),
    "AWS": value_of("AWS access key"),
    "Stripe": value_of("Stripe live"),
    "web token": value_of("JSON web token"),
    "URL": "n0rth+Wind77",
    "password with an ampersand": "tr0ub4&dor9x",
    "password with brackets": "S0<mmer>2031",
    "private key": value_of("PEM key").split("\n", maxsplit=1)[0],
}
QUESTION = f"""How often do we retry the payment gateway, and with what backoff delays? I tried
curl -H 'Authorization: Bearer {ASKED["GitHub"]}' https://gate.example.org, {ASKED["AWS"]} and {ASKED["Stripe"]},
session {ASKED["web token"]} on postgres://shop:{ASKED["URL"]}@db1/shop
password: {ASKED["password with an ampersand"]}
DB_PASSWORD='{ASKED["password with brackets"]}'
-----BEGIN PRIVATE KEY-----
{ASKED["private key"]}
-----END PRIVATE KEY-----
"""
IN_CODE = {
    "token": value_of("GitLab personal"),
    "password": "Wint3r&Rain",
    "URL": "gale$Force12",
}
GATEWAY = f'''"""The stock gateway: which login and address it uses, and how long its pauses are."""

GATEWAY_TOKEN = "{IN_CODE["token"]}"
gateway_password = "{IN_CODE["password"]}"
GATEWAY_URL = "https://stock:{IN_CODE["URL"]}@stock.example.org/gateway"


def stock_shelf_0(count: int) -> int:
    """Return the shelf number 0 of the stock hall for so many boxes."""
    return count // 2



def stock_shelf_1(count: int) -> int:
    """Return the shelf number 1 of the stock hall for so many boxes."""
    return count // 3



def stock_shelf_2(count: int) -> int:
    """Return the shelf number 2 of the stock hall for so many boxes."""
    return count // 4



def stock_shelf_3(count: int) -> int:
    """Return the shelf number 3 of the stock hall for so many boxes."""
    return count // 5



def stock_shelf_4(count: int) -> int:
    """Return the shelf number 4 of the stock hall for so many boxes."""
    return count // 6



def stock_shelf_5(count: int) -> int:
    """Return the shelf number 5 of the stock hall for so many boxes."""
    return count // 7



def stock_shelf_6(count: int) -> int:
    """Return the shelf number 6 of the stock hall for so many boxes."""
    return count // 8



def stock_shelf_7(count: int) -> int:
    """Return the shelf number 7 of the stock hall for so many boxes."""
    return count // 9


def stock_gateway_pauses() -> list[int]:
    """Return how long the stock gateway pauses between two logins, in seconds; its password is above."""
    return [1, 2, 4]
'''
ABOUT_CODE = "How long does the stock gateway pause between two logins, in seconds?"
WITHHELD = {"plain": "lantern-of-the-harbour", "token": "opq-harbour-lights-2207"}
ENV = f"# harbour gateway pauses\nHARBOUR_PHRASE={WITHHELD['plain']}\nHARBOUR_GATEWAY={WITHHELD['token']}\n"
ABOUT_ENV = "What are HARBOUR_PHRASE and HARBOUR_GATEWAY, and the harbour gateway pauses?"
PRINTED = {"password": "c0mmand&Print7", "token": value_of("Slack bot")}
CHECK_PY = f"""import sys
print("login failed, password={PRINTED["password"]}")
print("ERROR token {PRINTED["token"]}", file=sys.stderr)
sys.exit(1)
"""
ALL = {*ASKED.values(), *IN_CODE.values(), *WITHHELD.values(), *PRINTED.values()}
FORMS = {
    form for value in ALL for form in (value, value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
}


@pytest.fixture
def opened(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[tuple[BeatOffice, Watched, ExitStack]]:
    """A bot whose codebase holds credentials in a module and in a withheld file, and whose check prints two."""
    codebase = make_repo(tmp_path / "shop", {**SHOP, "shop/gateway.py": GATEWAY, "deploy/.env": ENV})
    place = watched(tmp_path, "gate", state="bad")
    (place.cwd / "check.py").write_text(CHECK_PY)
    with ExitStack() as stack:
        office = BeatOffice(slack, control, tmp_path / "home", codebase, sessions=sessions_of(place))
        office.bot.start()
        stack.callback(office.bot.stop)
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        yield office, place, stack


def test_no_planted_credential_leaves_its_door(
    opened: tuple[BeatOffice, Watched, ExitStack], control: Control, caplog: pytest.LogCaptureFixture
) -> None:
    """A question, an edit of it, a follow-up, quoted code, a withheld file and a check's output."""
    office, place, running = opened
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, "bot")
    asked = office.ask(QUESTION)
    assert "[redacted" in shown_text(office.draft(asked))
    control.edit(HELP.channel_id, asked, CHLOE.user_id, QUESTION + "\nThe second one is the right one.")
    office.ask(f"the new one is password={ASKED['password with an ampersand']}", user=BEN.user_id, thread=asked)
    office.card(asked, "changed since this draft")
    about_code = office.ask(ABOUT_CODE)
    card = office.card(about_code, "gateway.py", offering=ids.APPROVE)
    office.click(card, ids.APPROVE)
    office.reply(about_code)
    office.card(office.ask(ABOUT_ENV), "no model was used")
    office.beat(place)
    office.alert("password")
    running.close()
    said = {text for text in FORMS if text in _by_the_bot(control)}
    kept = {(text, path) for text in FORMS for path, content in _files(office.home) if text.encode() in content}
    assert caplog.records
    logged = {text for text in FORMS if text in caplog.text}
    assert (said, kept, logged) == (set(), set(), set())


def _by_the_bot(control: Control) -> str:
    """Return every request that the bot made of Slack's API."""
    people = {CHLOE.user_id, BEN.user_id, ANA.user_id}
    direct = [channel for person in people if (channel := control.direct_messages(person))]
    channels = [HELP.channel_id, ENG.channel_id, OPS.channel_id, *direct]
    messages = [m for channel in channels for m in control.messages(channel) if m.get("user") not in people]
    calls = [entry for entry in control.log() if entry["kind"] not in {"events_api", "interactive"}]
    return json.dumps([messages, calls], ensure_ascii=False)


def _files(home: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(home.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(home)), path.read_bytes()
