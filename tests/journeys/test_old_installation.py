"""What a whole installation of an earlier version left is taken over: threads, cards, findings, jobs, journals.

The version at 8154d7ff made it and was killed amid its work (tests/old_home/make.py). Its messages stand in Slack with
the ts they had, and the clocks go on where it was killed. People see here what they saw there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from demo.headless import find_element, find_option, shown_text
from demo.workspace import ANA, BEN, HELP
from tests.journeys.company import PAY_OPS, PLAT_OPS
from tests.journeys.old_office import Reopened, reopened
from tests.old_home.codebase import EDITED_REPLY


@pytest.fixture(scope="module", params=["files", pytest.param("database", marks=pytest.mark.full)])
def old(
    request: pytest.FixtureRequest, slack_binary: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reopened]:
    """The old installation, taken over."""
    with reopened(tmp_path_factory.mktemp("old"), slack_binary, in_database=request.param == "database") as office:
        yield office


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
    old.types("metrics", "2 dismissed", "1 not helpful", "long runs that can be watched: *1 of 1*", "2 judged messages")
    old.control.wait_for(lambda: "look at the disk" in old.types("heartbeat log api", "api"), "the assigned beat")


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
    old.types("brief", "snoozed until", "asked in 1 more thread")
    assert f"<@{BEN.user_id}> acknowledged it" in shown_text(old.alert_of(BEN.user_id, "infra"))


def test_a_thread_closed_in_an_earlier_month_is_explained(old: Reopened) -> None:
    """`triage why` finds it in the archive, and one that was closed in the last days."""
    for words, said in (
        ("Where are session cookies signed?", "posted as"),
        ("How long may a connect", "the reply was not helpful"),
    ):
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
