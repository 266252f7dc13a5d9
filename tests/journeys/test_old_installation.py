"""What a whole installation of an earlier version left is taken over: threads, cards, findings, jobs, journals.

The version at 8154d7ff made it and was killed amid its work (tests/old_home/make.py). Its messages stand in Slack with
the ts they had, and the clocks go on where it was killed. People see here what they saw there.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from bot.app import App
from bot.config.environment import read_environment
from bot.config.settings import load_settings
from demo.control import Control, Json
from demo.headless import find_element, find_option, shown_text
from demo.workspace import ANA, BEN, DEMO, HELP, DemoChannel
from tests import fork_server
from tests.journeys.company import COMPANY, PAY_OPS, PLAT_OPS, CompanyHands
from tests.journeys.hasty import HASTE
from tests.journeys.office import environment_of
from tests.old_home.codebase import EDITED_REPLY
from tests.old_home.restore import Restored, messages, restore
from tests.old_home.seeded_slack import seeded_slack


class Reopened(CompanyHands):
    """Today's bot on what the old version left."""

    def __init__(self, control: Control, restored: Restored, variables: dict[str, str]) -> None:
        super().__init__(control)
        self.restored, self.home, self.variables = restored, restored.home, variables
        self.faults: list[str] = []
        settings = load_settings(self.home / "triage.yml")
        self.bot = App(settings, read_environment(variables), clock=restored.clock, time_scale=HASTE)

    def asked(self, words: str) -> str:
        """Return the ts of the old message that holds these words."""
        return next(one["ts"] for one in messages() if words in one["text"] and one["user"] != DEMO.bot_id)

    def card_of(self, words: str, showing: str = "", offering: str | None = None) -> Json:
        """Return the card of an old question of payments."""
        return self.card(PAY_OPS, self.asked(words), HELP, showing=showing, offering=offering)

    def types(self, text: str, *says: str, place: DemoChannel = PAY_OPS, user: str = ANA.user_id) -> str:
        """Type a command; return its answer once it holds these words."""
        before = {one["ts"] for one in self.control.messages(place.channel_id)}
        self.control.command(user, place.channel_id, text)

        def found() -> str | None:
            new = [one for one in self.control.messages(place.channel_id) if one["ts"] not in before]
            answers = [shown_text(one) for one in new if one.get("ephemeral_to") == user]
            return next((one for one in answers if all(word in one for word in says)), None)

        return self.control.wait_for(found, f"{text!r} to say {says}", channel=place.channel_id)

    def alert_of(self, user: str, session: str) -> Json:
        """Return the one alert about the failing check of a session, in somebody's direct messages."""
        messages = self.control.messages(self.control.direct_messages(user) or "")
        failing = f"`python3 check.py` fails (exit code 1) · {session}"
        [alert] = [one for one in messages if failing in one["text"] and one.get("thread_ts") in (None, one["ts"])]
        return alert

    def terminal(self, *words: str) -> str:
        """Type a command on the terminal, and return what it prints."""
        done = fork_server.run("bot", *words, env={**os.environ, **self.variables}, cwd=self.home)
        assert done.returncode == 0, done.stderr
        return done.stdout


class _Faults(logging.Handler):
    """Keeps what a log would show with a traceback."""

    def __init__(self, kept: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self._kept.append(f"{record.name}: {record.getMessage()}: {record.exc_info[1]!r}")


@pytest.fixture(scope="module", params=["files", pytest.param("database", marks=pytest.mark.full)])
def old(
    request: pytest.FixtureRequest, slack_binary: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reopened]:
    """The old installation, taken over by a bot without models."""
    place = tmp_path_factory.mktemp("old")
    with seeded_slack(slack_binary, COMPANY, place) as slack, Control(slack.server.url) as control:
        restored = restore(slack, place)
        variables = environment_of(slack.server, restored.home)
        if request.param == "database":
            variables["TRIAGE_DATABASE_URL"] = restored.database()
        reopened = Reopened(control, restored, variables)
        handler = _Faults(reopened.faults)
        logging.getLogger().addHandler(handler)
        reopened.bot.start()
        try:
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            yield reopened
        finally:
            reopened.bot.stop()
            logging.getLogger().removeHandler(handler)


def test_a_saved_edit_is_posted_once(old: Reopened) -> None:
    """The card shows the words of who edited it; two clicks on the old button post them one time."""
    ts = old.asked("How many pauses")
    card = old.card_of("How many pauses", EDITED_REPLY, ids.APPROVE)
    for _ in range(2):
        old.click(PAY_OPS, card, ids.APPROVE, ANA.user_id)
    assert EDITED_REPLY in shown_text(old.reply(ts, HELP))
    old.card_of("How many pauses", "Posted")
    assert len(old.replies(ts, HELP)) == 1


def test_a_waiting_card_says_what_it_said(old: Reopened) -> None:
    """Drafts of a model, a disagreement, questions back, a failure, a pull request: with the buttons they had."""
    signed = old.card_of("Where is the session cookie signed", "1 other thread", ids.APPROVE)
    assert "The model says" in shown_text(signed)
    assert find_option(signed, "Save note") is not None
    old.card_of("How long may a pick list", "disagreement", ids.APPROVE)
    old.card_of("Which tenant runs out", "Which region is meant?", ids.ADD_CONTEXT)
    old.card_of("loyalty ledger", "failed", ids.REINVESTIGATE)
    old.card_of("raise it to seven", "Draft PR", ids.APPROVE)


def test_what_was_under_way_goes_on(old: Reopened) -> None:
    """Each question whose run was cut off, or waited in the queue, gets a card that people can decide on."""
    for words in ("doubles the delay", "empty payload", "measured in", "Where is MAX_ATTEMPTS", "holds the timeouts"):
        card = old.card_of(words, offering=ids.DISMISS)
        assert len(old.cards(PAY_OPS, old.asked(words), HELP)) == 1, shown_text(card)


def test_no_card_stands_twice(old: Reopened) -> None:
    """Every thread has the card it had, and no other."""
    marks = [
        block["block_id"]
        for channel in (PAY_OPS, PLAT_OPS)
        for message in old.control.messages(channel.channel_id)
        for block in message.get("blocks") or []
        if str(block.get("block_id")).startswith("triage_card:")
    ]
    assert len(marks) > 15
    assert sorted(marks) == sorted(set(marks))


def test_commands_answer_from_what_was_stored(old: Reopened) -> None:
    """Open drafts, sessions with their switches, suggestions, and what a week's journals hold."""
    old.types("open", "pick list", "Which tenant")
    old.types("open", "payment gateway", place=PLAT_OPS, user=BEN.user_id)
    old.types("heartbeat list", "api", "web", "3d", "off")
    old.types("pollinate list", "df -h", "accepted", "rejected")
    old.types("metrics", "AC-01")


def test_a_job_that_was_given_up_is_still_told(old: Reopened) -> None:
    """By the status of the team it belongs to."""
    assert "1 failed" in old.types("status", "failed", place=PLAT_OPS, user=BEN.user_id)


def test_alerts_keep_their_state_and_their_buttons(old: Reopened) -> None:
    """An open one is acknowledged with its old button; one that was acknowledged or snoozed is not sent again."""
    element = find_element(old.alert_of(ANA.user_id, "api"), ids.ACKNOWLEDGE)
    assert element is not None
    alert = old.alert_of(ANA.user_id, "api")
    old.control.click(alert["channel"], alert["ts"], ANA.user_id, **element.click_fields())
    old.control.wait_for(
        lambda: "acknowledged it" in shown_text(old.alert_of(ANA.user_id, "api")), "the alert to say so"
    )
    assert "nooze" in shown_text(old.alert_of(ANA.user_id, "web"))
    assert f"<@{BEN.user_id}> acknowledged it" in shown_text(old.alert_of(BEN.user_id, "infra"))


def test_a_thread_closed_in_an_earlier_month_is_explained(old: Reopened) -> None:
    """`triage why` finds it in the archive, and one that was closed in the last days."""
    for words, said in (("Where are session cookies signed?", "posted as"), ("Which hash signs", "dismissed")):
        link = f"https://demo.slack.com/archives/{HELP.channel_id}/p{old.asked(words).replace('.', '')}"
        assert said in old.terminal("why", link, "--team", "payments")


def test_notes_are_met_by_the_next_question(old: Reopened) -> None:
    """What was remembered of a dismissed draft stands on the card of a like question."""
    ts = old.control.say(HELP.channel_id, BEN.user_id, "With what backoff delays do we retry the payment gateway?")
    old.card(PAY_OPS, ts, HELP, showing="the gateway sets it, not the shop")


def test_nothing_was_lost_or_set_aside(old: Reopened) -> None:
    """Every record of a thread is there, open or closed; no file is damaged; the log has no traceback."""
    kept = {path.name.split(".json")[0] for path in old.home.rglob("T0DEMO.*.json")}
    before = old.restored.threads()
    if "TRIAGE_DATABASE_URL" not in old.variables:
        assert {one for one in before if not any(name.startswith(one) for name in kept)} == set()
    assert not list(old.home.rglob("*.corrupt"))
    assert old.faults == []
