"""What a whole installation of an earlier version left is taken over: threads, cards, findings, jobs, journals.

The version at 8154d7ff made it and was killed amid its work (tests/old_home/make.py). Its messages stand in Slack with
the ts they had, and the clocks go on where it was killed. People see here what they saw there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

from blocks import ids
from demo.headless import find_element, shown_text
from demo.workspace import ANA, BEN, CHLOE, DEMO, HELP, DemoChannel
from tests.hands import Json, find_option
from tests.journeys.company import PAY_OPS, PLAT_OPS
from tests.journeys.old_office import Reopened, reopened
from tests.old_home.codebase import EDITED_REPLY, ORDER
from tests.old_home.restore import messages

FOLDERS: Final = {
    "state": "threads",
    "acknowledgements": "acknowledgements",
    "auto_replies": "auto_replies",
    "cards": "cards_shown",
    "feedback": "feedback",
    "fixes": "fixes",
    "suggestions": "suggestions",
}
"""Where a data directory has the documents of a collection."""

JOURNALS: Final = ("events", "events-classified", "heartbeats", "judgements", "reminders", "replies", "spend")


@pytest.fixture(scope="module", params=["files", pytest.param("database", marks=pytest.mark.full)])
def old(
    request: pytest.FixtureRequest, slack_binary: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reopened]:
    """The old installation, taken over."""
    with reopened(tmp_path_factory.mktemp("old"), slack_binary, in_database=request.param == "database") as office:
        yield office


QUEUED: Final = "Where is MAX_ATTEMPTS"
OFFLINE: Final = ("doubles the delay", "measured in", "holds the timeouts", QUEUED)
"""Questions whose run was cut off before a draft, or waited in the queue: today's bot has no model."""
REMARK: Final = "The auditors come on Tuesday."


def test_a_card_without_a_draft_goes_on(old: Reopened) -> None:
    """Questions back open the dialogue for an answer; what failed is investigated again."""
    unclear = old.card_of("Which tenant runs out", "Which region is meant?")
    old.click(PAY_OPS, unclear, ids.ADD_CONTEXT, ANA.user_id)
    old.control.wait_for(old.control.modals.current, "the dialogue")
    old.control.modals.close(ANA.user_id)
    old.click(PAY_OPS, old.card_of("loyalty ledger", "failed"), ids.REINVESTIGATE, ANA.user_id)
    old.card_of("loyalty ledger", "no model was used", ids.DISMISS)


def test_what_was_under_way_goes_on(old: Reopened) -> None:
    """Each question whose run was cut off, or waited in the queue, gets the card that people can decide on."""
    for words in (*OFFLINE, "lock the orders"):
        old.card_of(words, offering=ids.DISMISS)
    checked = old.card_of("empty payload", "Checked by code alone", ids.APPROVE)
    assert "The model says" in shown_text(checked)


def test_a_long_investigation_that_died_is_told(old: Reopened) -> None:
    """Its terminal is gone: the card says so with the last words of its transcript, and offers another look."""
    card = old.card_of("Audit every caller", "ended without an answer", ids.REINVESTIGATE)
    assert "its last output: question: Audit every caller" in shown_text(card)


def test_no_card_stands_twice(old: Reopened) -> None:
    """Every thread has the card it had, and no other; the two questions of the queue got theirs."""
    for words in (QUEUED, ORDER):
        old.card_of(words, offering=ids.DISMISS)
    queued = [ids.card_block_id(f"{DEMO.team_id}.{HELP.channel_id}.{old.asked(one)}") for one in (QUEUED, ORDER)]
    now = [one for channel in (PAY_OPS, PLAT_OPS) for one in old.control.messages(channel.channel_id)]
    assert sorted(marks(now)) == sorted([*marks(messages()), *queued])


def marks(messages: Iterable[Json]) -> list[str]:
    """Return the marks of the cards among messages."""
    ids_of = [str(block.get("block_id")) for one in messages for block in one.get("blocks") or []]
    return [one for one in ids_of if one.startswith("triage_card:")]


def test_commands_answer_from_what_was_stored(old: Reopened) -> None:
    """Open drafts, sessions with their switches, suggestions, and what a week's journals hold."""
    old.types("open", "pick list", "Which tenant")
    old.types("open", "payment gateway", place=PLAT_OPS, user=BEN.user_id)
    old.types("heartbeat list", "api", "web", "3d", "off")
    old.types("pollinate list", "df -h", "accepted", "rejected")
    old.types("metrics", "2 dismissed", "1 not helpful", "2 judged messages")
    for words in (QUEUED, ORDER):
        old.card_of(words, offering=ids.DISMISS)
    old.types("metrics", "messages 21, threads 18", "cost per reply $0.17")
    old.control.wait_for(lambda: "look at the disk" in old.types("heartbeat log api", "api"), "the assigned beat")


def test_a_waiting_card_says_what_it_said(old: Reopened) -> None:
    """A remark in the thread has the card drawn anew from what was stored, with the earlier remark and the twin."""
    for words in ("Where is the session cookie signed", "How long may a pick list", "raise it to seven"):
        old.control.say(HELP.channel_id, CHLOE.user_id, REMARK, old.asked(words))
    card = old.card_of("Where is the session cookie signed", f"“{REMARK}”", ids.APPROVE)
    assert find_option(card, "Save note") is not None
    signed = shown_text(card)
    for words in ("The model says", "1 other thread", f"<@{BEN.user_id}>", "“It is for the audit on Monday.”"):
        assert words in signed
    disputed = shown_text(old.card_of("How long may a pick list", f"“{REMARK}”", ids.APPROVE))
    assert "disagreement" in disputed
    assert "Why it did not pass" in disputed
    patched = shown_text(old.card_of("raise it to seven", f"“{REMARK}”", ids.APPROVE))
    assert f"Draft PR: {old.host.origin}/acme/shop/pull/1" in patched


def test_a_job_that_was_given_up_is_still_told(old: Reopened) -> None:
    """By the status of the team it belongs to."""
    assert "1 failed" in old.types("status", "failed", place=PLAT_OPS, user=BEN.user_id)


def test_alerts_keep_their_state_and_their_buttons(old: Reopened) -> None:
    """An open one is acknowledged with its old button; a snoozed one is in the brief as such.

    A database goes by its own clock, by which the snooze of this old installation is over.
    """
    alert = old.alert_of(ANA.user_id, "api")
    element = find_element(alert, ids.ACKNOWLEDGE)
    assert element is not None
    old.control.click(alert["channel"], alert["ts"], ANA.user_id, **element.click_fields())
    old.control.wait_for(
        lambda: "acknowledged it" in shown_text(old.alert_of(ANA.user_id, "api")), "the alert to say so"
    )
    snoozed = () if "TRIAGE_DATABASE_URL" in old.variables else ("snoozed until",)
    old.types("brief", *snoozed, "asked in 1 more thread")


@pytest.mark.full
def test_an_acknowledged_finding_does_not_ring_again(old: Reopened) -> None:
    """Its check fails once more: its one alert is brought up to date where it stands, and stays acknowledged."""
    old.types("heartbeat run infra", "infra", place=PLAT_OPS, user=BEN.user_id)
    old.control.wait_for(lambda: "last seen" in shown_text(old.alert_of(BEN.user_id, "infra")), "the alert to follow")
    assert f"<@{BEN.user_id}> acknowledged it" in shown_text(old.alert_of(BEN.user_id, "infra"))


def test_a_saved_edit_is_posted_once(old: Reopened) -> None:
    """Its record names no editor, and its words outlive an investigation; two clicks post them one time."""
    ts = old.asked("How many pauses")
    card = old.card_of("How many pauses", EDITED_REPLY, ids.APPROVE)
    again = find_option(card, "Re-investigate")
    assert again is not None
    old.control.click(PAY_OPS.channel_id, card["ts"], ANA.user_id, **again.click_fields())
    card = old.card_of("How many pauses", EDITED_REPLY, ids.USE_NEW)
    for _ in range(2):
        old.click(PAY_OPS, card, ids.APPROVE, ANA.user_id)
    assert EDITED_REPLY in shown_text(old.reply(ts, HELP))
    old.card_of("How many pauses", "Posted")
    assert len(old.replies(ts, HELP)) == 1


def test_one_decision_answers_both_twins(old: Reopened) -> None:
    """Each thread gets the reply once, and its eyes become a tick."""
    asked = [old.asked(words) for words in ("Where is the session cookie signed", "hi, where is the session cookie")]
    old.click(PAY_OPS, old.card_of("Where is the session cookie signed"), ids.ANSWER_TOO, ANA.user_id)
    for ts in asked:
        assert "The model says" in shown_text(old.reply(ts, HELP))
    old.control.wait_for(lambda: [old.reactions(ts) for ts in asked] == [["white_check_mark"]] * 2, "two ticks")
    assert [len(old.replies(ts, HELP)) for ts in asked] == [1, 1]


def test_a_thread_closed_in_an_earlier_month_is_explained(old: Reopened) -> None:
    """From the archive; from the rotated journal, what its message was taken for; its vote, its automatic reply."""
    said = old.why("Where are session cookies signed?")
    assert "posted as 1792432989.000006" in said
    assert "actionable: is a question (confidence 0.72, rules 7-bad30212" in said
    assert "the reply was not helpful" in old.why("How long may a connect")
    sent = old.terminal("metrics", "--autonomy", "--team", "payments")
    assert "2026-11-25 18:06 UTC · Where are session cookies signed?" in sent


def test_notes_are_met_by_the_next_question(old: Reopened) -> None:
    """What was remembered of a dismissed draft stands on the card of a like question."""
    ts = old.control.say(HELP.channel_id, BEN.user_id, "With what backoff delays do we retry the payment gateway?")
    old.card(PAY_OPS, ts, HELP, showing="the gateway sets it, not the shop")


def test_every_open_thread_is_explained(old: Reopened) -> None:
    """`triage why` knows each thread that was open, and its question."""
    for one in old.restored.documents("payments", "state") | old.restored.documents("platform", "state"):
        _, channel, ts = one.split(".", 2)
        link = f"https://demo.slack.com/archives/{channel}/p{ts.replace('.', '')}"
        assert f"{one}  " in old.terminal("why", link), one


def test_a_pull_request_is_followed(old: Reopened) -> None:
    """The card says that it was merged meanwhile."""
    old.card_of("raise it to seven", "is merged")


@pytest.mark.parametrize(("team", "ops"), [("payments", PAY_OPS), ("platform", PLAT_OPS)])
def test_nothing_was_lost_or_set_aside(old: Reopened, team: str, ops: DemoChannel) -> None:
    """Every record is there, or its thread was closed; journals have every line; nothing is damaged; no traceback."""
    old.told(ops, "slack.posts_per_second was removed")
    with old.kept(team) as kept:
        for month in ("2026-10", "2026-11"):
            for name in old.restored.documents(team, f"closed/{month}"):
                assert kept.archived("threads", name.rsplit(".", 1)[0]), name
        for folder, collection in FOLDERS.items():
            gone = old.restored.documents(team, folder) - kept.names(collection)
            assert [one for one in gone if not kept.archived("threads", one)] == [], folder
        for journal in JOURNALS:
            records = kept.records(journal)
            assert [
                one for one in old.restored.lines(team, f"{journal}.ndjson") if json.loads(one) not in records
            ] == []
        if lines := [one for one in old.restored.lines(team, "decisions.md") if one.startswith("-")]:
            assert set(lines) <= set(kept.decisions())
        assert kept.corrupt() == []
    assert old.faults == []
