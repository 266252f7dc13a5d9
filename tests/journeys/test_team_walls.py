"""What is one team's stays with it, whichever door somebody of another team tries."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, ENG, HELP
from tests.hands import Control, text_value
from tests.journeys.company import PLAT_OPS
from tests.journeys.shop import RETRIES, SESSIONS, TIMEOUTS
from tests.journeys.test_crashes import running
from tests.journeys.walled import AT_TRIAGE, PAY_OPS, RANDOM, WALLED, Walled
from tests.workspaces import empty

WORKERS = "How many workers does the queue get, and what is the minimum?"
AGAIN = "How are our session cookies signed, and how verified?"
LENGTH = "How long may a signature of session cookies be, and which hash is signed?"
SIMILAR = "Where are session cookies signed, and how are they verified?"


@pytest.fixture(scope="module")
def walled_server(slack_binary: Path) -> Iterator[LocalSlack]:
    """The throw-away workspace of two teams."""
    with LocalSlack(slack_binary, WALLED, env=os.environ) as server:
        yield server


@pytest.fixture
def hands(walled_server: LocalSlack) -> Iterator[Control]:
    """The hands of its people, in an empty workspace."""
    with Control(walled_server.url) as control:
        empty(control)
        yield control


@pytest.fixture
def walled(walled_server: LocalSlack, hands: Control, tmp_path: Path) -> Iterator[Walled]:
    """Both teams at work."""
    walled = Walled(walled_server, hands, tmp_path)
    walled.start()
    yield walled
    walled.bot.stop()


def test_no_button_of_a_card_works_for_the_other_teams_approver(walled: Walled) -> None:
    """Ben approves for platform and is in payments' ops channel: each click of his is refused to him alone."""
    ts = walled.ask(HELP, SESSIONS)
    before = walled.draft(PAY_OPS, ts, HELP)
    state = walled.state_of("payments", ts)
    for refused, do in enumerate(
        (
            lambda: walled.click(PAY_OPS, before, ids.APPROVE, BEN.user_id),
            lambda: walled.click(PAY_OPS, before, ids.EDIT, BEN.user_id),
            lambda: walled.click(PAY_OPS, before, ids.DISMISS, BEN.user_id),
            lambda: walled.choose(PAY_OPS, before, "Re-investigate", BEN.user_id),
            lambda: walled.choose(PAY_OPS, before, "Add context", BEN.user_id),
        ),
        start=1,
    ):
        do()
        walled.control.wait_for(lambda count=refused: len(refusals(walled, BEN.user_id)) == count, "a refusal")
    assert walled.control.modals.current() is None
    assert walled.replies(ts, HELP) == []
    assert walled.state_of("payments", ts) == state
    walled.click(PAY_OPS, before, ids.APPROVE, ANA.user_id)
    walled.reply(ts, HELP)


def refusals(walled: Walled, user: str) -> list[str]:
    """Return how often somebody was told in payments' ops channel that they may not."""
    said = [one for one in walled.control.messages(PAY_OPS.channel_id) if one.get("ephemeral_to") == user]
    return [one["text"] for one in said if "Only approvers" in one["text"]]


def test_a_value_of_one_teams_card_does_nothing_on_a_card_of_the_other(walled: Walled) -> None:
    """Ben sends payments' button from his own ops channel: who may is asked of the team whose thread it names."""
    pay, plat = walled.ask(HELP, SESSIONS), walled.ask(ENG, TIMEOUTS)
    theirs, own = walled.draft(PAY_OPS, pay, HELP), walled.draft(PLAT_OPS, plat, ENG)
    element = find_element(theirs, ids.APPROVE)
    assert element is not None
    walled.control.click(PLAT_OPS.channel_id, own["ts"], BEN.user_id, **element.click_fields())
    walled.told(PLAT_OPS, "Only approvers", user=BEN.user_id)
    assert walled.replies(pay, HELP) == walled.replies(plat, ENG) == []


@pytest.mark.parametrize(
    ("label", "block"),
    [
        ("Edit", ids.REPLY),
        pytest.param("Dismiss", ids.REASON, marks=pytest.mark.full),
        pytest.param("Add context", ids.CONTEXT, marks=pytest.mark.full),
    ],
)
def test_a_dialogue_opened_by_one_is_not_submitted_by_another(walled: Walled, label: str, block: str) -> None:
    """Ana opens it, Ben of platform submits it: refused, and nothing has changed."""
    ts = walled.ask(HELP, SESSIONS)
    card = walled.draft(PAY_OPS, ts, HELP)
    state = walled.state_of("payments", ts)
    buttons = {"Edit": ids.EDIT, "Dismiss": ids.DISMISS}
    if label in buttons:
        walled.click(PAY_OPS, card, buttons[label], ANA.user_id)
    else:
        walled.choose(PAY_OPS, card, label, ANA.user_id)
    walled.control.wait_for(walled.control.modals.current, "the dialogue")
    assert walled.control.modals.submit(BEN.user_id, {block: {ids.INPUT: text_value("mine now")}}) == {}
    walled.told(PAY_OPS, "Only approvers", user=BEN.user_id)
    assert walled.state_of("payments", ts) == state
    assert walled.replies(ts, HELP) == []


def test_under_a_card_only_its_teams_approvers_are_heard(walled: Walled) -> None:
    """Ben adds nothing to payments' question and has nothing investigated again; Ana does."""
    ts = walled.ask(HELP, SESSIONS)
    under = walled.draft(PAY_OPS, ts, HELP)["ts"]
    state = walled.state_of("payments", ts)
    walled.control.say(PAY_OPS.channel_id, BEN.user_id, f"{AT_TRIAGE} hm, also check the retry path", under)
    walled.told(PAY_OPS, "Only approvers", user=BEN.user_id)
    assert walled.state_of("payments", ts) == state
    walled.control.say(PAY_OPS.channel_id, ANA.user_id, f"{AT_TRIAGE} also check {RETRIES}", under)
    walled.told(PAY_OPS, "Noted", user=ANA.user_id)
    walled.card(PAY_OPS, ts, HELP, showing="retry.py", offering=ids.APPROVE)


def test_a_mention_in_a_channel_of_no_team_is_the_first_teams(walled: Walled) -> None:
    """The order is that of the file; its answer is from its own codebases."""
    ts = walled.ask(RANDOM, f"{AT_TRIAGE} {WORKERS}")
    card = walled.card(PAY_OPS, ts, RANDOM, offering=ids.DISMISS)
    assert "infra" not in shown_text(card)
    assert walled.cards(PLAT_OPS, ts, RANDOM) == []


def test_the_same_question_in_both_teams_is_no_twin_and_not_answered_before(walled: Walled) -> None:
    """Each has its own card, and what one answered is unknown to the other; within a team it is not."""
    pay = walled.ask(HELP, SESSIONS)
    card = walled.draft(PAY_OPS, pay, HELP)
    plat = walled.ask(ENG, SESSIONS)
    assert "other thread" not in shown_text(walled.draft(PLAT_OPS, plat, ENG))
    assert "other thread" not in shown_text(walled.draft(PAY_OPS, pay, HELP))
    walled.click(PAY_OPS, card, ids.APPROVE, ANA.user_id)
    walled.reply(pay, HELP)
    walled.card(PAY_OPS, pay, HELP, showing="Posted")
    walled.click(PLAT_OPS, walled.draft(PLAT_OPS, plat, ENG), ids.DISMISS, BEN.user_id)
    walled.control.wait_for(walled.control.modals.current, "the dialogue")
    walled.control.modals.submit(BEN.user_id, {})
    walled.card(PLAT_OPS, plat, ENG, showing="dismissed by")
    again_plat, again_pay = walled.ask(ENG, SESSIONS), walled.ask(HELP, SESSIONS)
    assert "nswered before" in shown_text(walled.draft(PAY_OPS, again_pay, HELP))
    assert "nswered before" not in shown_text(walled.draft(PLAT_OPS, again_plat, ENG))


def test_a_note_of_one_team_is_met_by_the_other_while_it_is_shared(walled: Walled) -> None:
    """What payments remembered is on payments' next card; on platform's if payments shares, and not the other way."""
    ts = walled.ask(HELP, SESSIONS)
    walled.click(PAY_OPS, walled.draft(PAY_OPS, ts, HELP), ids.DISMISS, ANA.user_id)
    walled.control.wait_for(walled.control.modals.current, "the dialogue")
    lesson = {ids.REASON: {ids.INPUT: text_value("sessions moved to the gateway, ask Zoe")}}
    walled.control.modals.submit(ANA.user_id, lesson)
    closed = walled.card(PAY_OPS, ts, HELP, showing="ask Zoe", offering=ids.MORE)
    walled.choose(PAY_OPS, closed, "Remember this", BEN.user_id)
    walled.told(PAY_OPS, "Only approvers", user=BEN.user_id)
    walled.choose(PAY_OPS, closed, "Remember this", ANA.user_id)
    walled.control.wait_for(walled.control.modals.current, "the dialogue")
    walled.control.modals.submit(ANA.user_id, {})
    walled.told(PAY_OPS, "Saved as memory/", user=ANA.user_id)
    assert "ask Zoe" in shown_text(walled.draft(PAY_OPS, walled.ask(HELP, SIMILAR), HELP))
    assert "ask Zoe" not in shown_text(walled.draft(PLAT_OPS, walled.ask(ENG, SIMILAR), ENG))
    copies = walled.home / "teams" / "platform" / "memory"
    assert not list(copies.rglob("*.md"))
    copies.mkdir(exist_ok=True)
    (copies / "own.md").write_text("Session cookies and their signature: ask Pat.\n")
    walled.share("notes")
    assert "ask Zoe" in shown_text(walled.draft(PLAT_OPS, walled.ask(ENG, AGAIN), ENG))
    assert not list((walled.home / "teams" / "payments" / "memory").rglob("own.md"))
    walled.share()
    assert [one.name for one in copies.rglob("*.md")] == ["own.md"]
    assert "ask Zoe" not in shown_text(walled.draft(PLAT_OPS, walled.ask(ENG, LENGTH), ENG))


def test_reports_of_one_team_hold_no_word_of_the_other(walled: Walled) -> None:
    """Status, open drafts, brief and numbers, in a channel of the team and in a direct message; App Home, too."""
    pay, plat = walled.ask(HELP, SESSIONS), walled.ask(ENG, WORKERS)
    walled.draft(PAY_OPS, pay, HELP)
    walled.draft(PLAT_OPS, plat, ENG)
    for word, says in (("status", "1 waiting"), ("open", SESSIONS[:30]), ("brief", SESSIONS[:30]), ("metrics", "Team")):
        for place in (HELP, PAY_OPS, RANDOM):
            said = walled.typed(ANA.user_id, place, word, says)
            assert not [other for other in (WORKERS[:20], "platform", "infra", "workers.py") if other in said], said
    said = walled.typed(BEN.user_id, ENG, "status", "1 waiting")
    assert SESSIONS[:20] not in said
    walled.typed(CHLOE.user_id, HELP, "status", "Only team payments")
    home = home_of(walled, ANA.user_id, SESSIONS[:30])
    assert not [other for other in (WORKERS[:20], "platform", "infra", "workers.py") if other in home]
    home = home_of(walled, BEN.user_id, WORKERS[:30])
    assert not [other for other in (SESSIONS[:20], "sessions.py") if other in home]


def home_of(walled: Walled, user: str, showing: str) -> str:
    """Open App Home and return it once it shows some words."""
    walled.control.open_home(user)

    def found() -> str | None:
        view = walled.control.modals.snapshot()["homeViews"].get(user)
        text = json.dumps(view, ensure_ascii=False)
        return text if showing in text else None

    return walled.control.wait_for(found, f"{user}'s page")


def test_edits_and_deletions_reach_the_right_thread(walled: Walled) -> None:
    """Each by its own channel; the other team's card stays as it is."""
    pay, plat = walled.ask(HELP, SESSIONS), walled.ask(ENG, TIMEOUTS)
    walled.draft(PAY_OPS, pay, HELP)
    shown = shown_text(walled.draft(PLAT_OPS, plat, ENG))
    walled.control.delete(HELP.channel_id, pay, CHLOE.user_id)
    walled.card(PAY_OPS, pay, HELP, showing="the question was deleted")
    assert shown_text(walled.draft(PLAT_OPS, plat, ENG)) == shown
    walled.control.edit(ENG.channel_id, plat, CHLOE.user_id, WORKERS)
    walled.card(PLAT_OPS, plat, ENG, showing="the question was edited", offering=ids.APPROVE)


def test_open_cards_of_both_teams_outlive_a_kill(walled_server: LocalSlack, hands: Control, tmp_path: Path) -> None:
    """Each is approved after the restart by its own team; one that was just asked gets its card where it belongs."""
    walled = Walled(walled_server, hands, tmp_path)
    walled.start()
    walled.bot.stop()
    hands.wait_for(lambda: not hands.modals.is_bot_connected(), "the bot to leave")
    config = walled.home / "triage.yml"
    with running(walled_server, hands, walled.home, config) as process:
        pay, plat = walled.ask(HELP, SESSIONS), walled.ask(ENG, WORKERS)
        cards = walled.draft(PAY_OPS, pay, HELP), walled.draft(PLAT_OPS, plat, ENG)
        late = walled.ask(ENG, TIMEOUTS)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with running(walled_server, hands, walled.home, config):
        walled.draft(PLAT_OPS, late, ENG)
        walled.click(PAY_OPS, cards[0], ids.APPROVE, BEN.user_id)
        walled.told(PAY_OPS, "Only approvers", user=BEN.user_id)
        walled.click(PAY_OPS, cards[0], ids.APPROVE, ANA.user_id)
        walled.click(PLAT_OPS, cards[1], ids.APPROVE, BEN.user_id)
        walled.reply(pay, HELP)
        walled.reply(plat, ENG)
        assert len(walled.cards(PAY_OPS, pay, HELP)) == len(walled.cards(PLAT_OPS, plat, ENG)) == 1
        assert walled.cards(PAY_OPS, late, ENG) == []
