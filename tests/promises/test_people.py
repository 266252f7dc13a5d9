"""Who is heard and who may decide: guests, partners, colleagues of a sister workspace, as Slack says at that moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, HELP
from tests.gitrepo import make_repo
from tests.hands import Control, Json, text_value
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SESSIONS, SHOP, TIMEOUTS
from tests.promises.slack_end import SlackEnd, slack_end
from tests.workspaces import empty

GUEST = {"is_restricted": True}
PARTNER = {"team_id": "T0OTHER", "is_stranger": True}
SISTER = {
    "team_id": "T0SISTER",
    "enterprise_user": {"enterprise_id": "E0OURS", "teams": [DEMO.team_id, "T0SISTER"]},
}


@pytest.fixture(scope="module")
def end(slack_server: LocalSlack) -> Iterator[SlackEnd]:
    """Slack, which says that Ben is a guest."""
    with slack_end(slack_server.api_url) as end:
        end.people[BEN.user_id] = GUEST
        yield end


@pytest.fixture(scope="module")
def office(slack_server: LocalSlack, end: SlackEnd, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """The ordinary bot at that Slack; the tests here share it."""
    folder: Path = tmp_path_factory.mktemp("people")
    with Control(slack_server.url) as control:
        empty(control)
        office = Office(end, control, folder / "home", make_repo(folder / "shop", SHOP))
        office.bot.start()
        try:
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            yield office
        finally:
            office.bot.stop()


def test_a_guest_who_asks_starts_nothing(office: Office) -> None:
    """Also with a mention; the next question of a colleague is answered."""
    unheard = [office.ask(SESSIONS, user=BEN.user_id), office.ask(f"<@{DEMO.bot_id}> {SESSIONS}", user=BEN.user_id)]
    office.draft(office.ask(RETRIES))
    assert [office.cards(ts) for ts in unheard] == [[], []]


def test_a_guest_who_writes_in_an_open_thread_starts_nothing_and_the_approver_is_told(office: Office) -> None:
    """Nothing is investigated again; the first click is answered with what the guest did."""
    ts = office.ask(TIMEOUTS)
    card = office.draft(ts)
    office.ask(f"<@{DEMO.bot_id}> what about {SESSIONS}", user=BEN.user_id, thread=ts)
    office.draft(office.ask("Where is FIRST_DELAY_S set?"))  # the queue is first-in first-out
    office.click(card, ids.APPROVE)
    shown = shown_text(office.card(ts, f"<@{BEN.user_id}>"))
    assert "sessions.py" not in shown
    assert office.posted(ts) == []


def test_a_guest_is_never_an_approver_though_the_ops_channel_lists_them(office: Office) -> None:
    """Slack is asked at the click; nothing is posted, and the card stays."""
    ts = office.ask("Where is EXPORT_HOUR_UTC set?")
    office.click(office.draft(ts), ids.APPROVE, user=BEN.user_id)
    office.told(BEN.user_id, "Only approvers")
    office.draft(ts)
    assert office.posted(ts) == []


def test_whoever_became_a_partner_a_moment_ago_may_not_decide(office: Office, end: SlackEnd) -> None:
    """Ana could approve until now; what counts is what Slack says at the click, never memory."""
    ts = office.ask("How many MAX_ATTEMPTS are there?")
    card = office.draft(ts)
    end.people[ANA.user_id] = PARTNER
    try:
        office.click(card, ids.APPROVE)
        office.told(ANA.user_id, "Only approvers")
        office.draft(ts)
    finally:
        del end.people[ANA.user_id]


def test_whoever_lost_the_right_while_a_dialogue_was_open_submits_nothing(office: Office, end: SlackEnd) -> None:
    """It opens on what was known; its submit is asked about again."""
    ts = office.ask("What are the ORDERS exported as?")
    office.click(office.draft(ts), ids.DISMISS)
    office.control.wait_for(office.control.modals.current, "the dialogue")
    end.people[ANA.user_id] = {"deleted": True}
    try:
        office.control.modals.submit(ANA.user_id, {ids.REASON: {ids.INPUT: text_value("no")}})
        office.told(ANA.user_id, "Only approvers")
        office.draft(ts)
    finally:
        del end.people[ANA.user_id]


def test_a_colleague_of_a_sister_workspace_of_the_enterprise_decides_like_anybody(
    office: Office, end: SlackEnd
) -> None:
    """Their own team is another one; the company's list of teams has ours in it."""
    ts = office.ask("What does verify_session return?")
    card = office.draft(ts)
    end.people[ANA.user_id] = SISTER
    try:
        office.click(card, ids.APPROVE)
        assert "verify_session" in office.reply(ts)["text"]
    finally:
        del end.people[ANA.user_id]


def test_where_slack_cannot_say_who_somebody_is_nobody_may_decide(office: Office, end: SlackEnd) -> None:
    """They are told, and the draft waits."""
    ts = office.ask("What does export_orders return?")
    card = office.draft(ts)
    end.refusals["users.info"] = "internal_error"
    try:
        office.click(card, ids.APPROVE)
        office.told(ANA.user_id, "Slack")
    finally:
        del end.refusals["users.info"]
    assert office.posted(ts) == []


def test_a_guest_gets_no_answer_to_a_command(office: Office) -> None:
    """Neither counts nor questions."""
    office.control.command(BEN.user_id, HELP.channel_id, "open")
    told = office.control.wait_for(
        lambda: [m for m in office.control.messages(HELP.channel_id) if m.get("ephemeral_to") == BEN.user_id],
        "Ben to be answered",
    )
    assert not any(question[:20] in shown_text(one) for one in told for question in (SESSIONS, RETRIES, TIMEOUTS))
    assert "draft" not in shown_text(told[-1]).lower()


@pytest.mark.parametrize("command", ["open", "status"])
def test_a_full_member_who_is_no_approver_sees_counts_and_no_question(office: Office, command: str) -> None:
    """Another's question waits with its draft: an approver reads it in the answer, a colleague only that one waits."""
    question = f"What does backoff_delays return to {command}?"
    office.draft(office.ask(question, user=ANA.user_id))
    seen, hidden = (answer_to(office, person.user_id, command) for person in (ANA, CHLOE))
    assert question[:20] in seen
    assert "wait" in hidden
    assert not [asked for asked in (question, RETRIES, SESSIONS, TIMEOUTS) if asked[:20] in hidden]
    assert "card" not in hidden


def test_a_link_whose_label_names_another_host_is_posted_without_its_mask(office: Office) -> None:
    """Readers see where it leads."""
    ts = office.ask("Which hash signs the cookies of verify_session?")
    posted = edited(office, ts, "See [https://example.com/docs](https://evil.example/x).")
    assert "evil.example" in posted
    assert "|https://example.com" not in posted


def test_nothing_that_is_posted_calls_a_channel_or_a_group(office: Office) -> None:
    """Whatever an approver's words or a draft hold."""
    ts = office.ask("Which hash does sign_session use?")
    posted = edited(office, ts, "<!channel> @here <!subteam^S0ALL> read `shop/sessions.py`.")
    assert "<!channel" not in posted
    assert "<!here" not in posted
    assert "<!subteam" not in posted


def answer_to(office: Office, user: str, command: str) -> str:
    """Have somebody type a command; return the answer that only they see."""

    def told() -> list[Json]:
        return [m for m in office.control.messages(HELP.channel_id) if m.get("ephemeral_to") == user]

    before = len(told())
    office.control.command(user, HELP.channel_id, command)
    return shown_text(office.control.wait_for(lambda: told()[before:], f"{user} to be answered")[0])


def edited(office: Office, ts: str, words: str) -> str:
    """Have Ana put these words in the place of the draft; return what stands in the thread."""
    office.click(office.draft(ts), ids.EDIT)
    office.control.wait_for(office.control.modals.current, "the editor")
    office.control.modals.submit(ANA.user_id, {ids.REPLY: {ids.INPUT: text_value(words)}})
    text: str = office.reply(ts)["text"]
    return text
