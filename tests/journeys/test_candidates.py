"""A search found more than its draft quotes: one click makes another place the draft."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from blocks import ids
from bot.casework.investigate.code_findings import CodeFindings
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, HELP, OPS
from tests import fork_server
from tests.hands import LIMIT_S, Control, Json
from tests.journeys import found_more
from tests.journeys.found_more import ATTEMPTS, HOUR
from tests.journeys.home_files import list_files
from tests.journeys.office import Office, environment_of, write_config
from tests.journeys.shop import SESSIONS
from tests.journeys.slow_proxy import slow_proxy
from tests.journeys.test_crashes import running
from tests.journeys.test_decisions import save_edit


@pytest.fixture(autouse=True)
def _found_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every search find two more places."""
    monkeypatch.setattr(CodeFindings, "investigate", found_more.investigate)


def chosen(office: Office, ts: str, *, offering: str = ids.APPROVE) -> Json:
    """Return the card once its draft is the first candidate: its sentence stands twice, with the citation's place."""

    def found() -> Json | None:
        [card] = office.cards(ts)
        is_chosen = find_element(card, offering) and plain(ATTEMPTS) in shown_text(card).split("Also found")[0]
        return card if is_chosen else None

    return office.control.wait_for(found, "the candidate as the draft", channel=OPS.channel_id)


def plain(sentence: str) -> str:
    """Return how a sentence begins in what a card shows."""
    return sentence.partition("` is")[0].strip("`")


def test_one_click_makes_it_the_draft_and_the_asker_sees_nothing_else(office: Office, control: Control) -> None:
    """It is a search result like the one before, its claims backed; what it replaced can be had back."""
    ts = office.ask(SESSIONS)
    card = office.card(ts, plain(HOUR), offering=ids.USE_THIS)
    assert "sessions.py" in shown_text(card).split("Also found")[0]
    office.click(card, ids.USE_THIS, user=BEN.user_id)
    after = chosen(office, ts)
    assert shown_text(after).count("*Search result, not an answer*") == 1
    also = shown_text(after).split("Also found")[1]
    assert "sessions.py" in also
    assert plain(HOUR) in also
    assert office.posted(ts) == []
    office.click(after, ids.APPROVE)
    assert "MAX_ATTEMPTS = 5" in shown_text(office.reply(ts))
    assert plain(HOUR) not in json.dumps(control.messages(HELP.channel_id))
    [record] = office.replies.records()
    assert ([ref["ref"] for ref in record["evidence_refs"]], record["edited"]) == (["shop/retry.py:3"], False)


def test_two_clicks_choose_once_and_the_loser_is_told(office: Office) -> None:
    """Ana and Ben at the same time: one new version, and the card shows what the first one chose."""
    ts = office.ask(SESSIONS)
    card = office.card(ts, offering=ids.USE_THIS)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda user: office.click(card, ids.USE_THIS, user=user), (ANA.user_id, BEN.user_id)))
    chosen(office, ts)
    [path] = list_files(office.home / "state", f"*{ts}.json")
    state = json.loads(path.read_text())
    first = state["draft_decided_by"]
    loser = ({ANA.user_id, BEN.user_id} - {first}).pop()
    assert f"<@{first}> changed what is proposed" in office.told(loser, "changed what is proposed")["text"]
    assert (state["draft_version"], len(state["rounds"])) == (2, 2)


def test_who_may_not_approve_chooses_nothing(office: Office) -> None:
    """Chloe is told so, and the card stays."""
    ts = office.ask(SESSIONS)
    card = office.card(ts, offering=ids.USE_THIS)
    office.click(card, ids.USE_THIS, user=CHLOE.user_id)
    office.told(CHLOE.user_id, "Only approvers")
    [path] = list_files(office.home / "state", f"*{ts}.json")
    assert json.loads(path.read_text())["draft_version"] == 1


def test_after_an_edit_it_stands_beside_the_human_s_words(office: Office, control: Control) -> None:
    """A button of the card before the edit does nothing; the one below it brings a new draft, and Use new takes it."""
    ts = office.ask(SESSIONS)
    old = office.card(ts, offering=ids.USE_THIS)
    edited = save_edit(office, control, ts, "Ask Ben, he wrote it.")
    office.click(old, ids.USE_THIS, user=BEN.user_id)
    office.told(BEN.user_id, "out of date")
    office.click(edited, ids.USE_THIS, user=BEN.user_id)
    both = chosen(office, ts, offering=ids.USE_NEW)
    assert "Ask Ben, he wrote it." in shown_text(both)
    office.click(both, ids.USE_NEW)
    control.wait_for(lambda: "Ask Ben" not in shown_text(office.cards(ts)[0]), "a card without the edit")
    office.click(chosen(office, ts), ids.APPROVE)
    assert "MAX_ATTEMPTS = 5" in shown_text(office.reply(ts))


def test_a_kill_between_the_click_and_the_card_loses_nothing(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Killed while Slack is slow to take the new card: the next start shows what was chosen, on the same card."""
    home = tmp_path / "home"
    config = write_config(home, shop)
    marker = ids.card_block_id(f"{DEMO.team_id}.{HELP.channel_id}.")

    def cards() -> list[Json]:
        messages = control.messages(OPS.channel_id)
        return [m for m in messages if marker in json.dumps(m.get("blocks") or []) and find_element(m, ids.APPROVE)]

    with slow_proxy(slack.api_url, method="chat.update", marker="no update is held yet") as proxy:
        env = {**os.environ, **environment_of(slack, home), "SLACK_API_URL": proxy.url}
        process = fork_server.start("tests.journeys.found_more", "run", "--config", str(config), env=env)
        try:
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            ts = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
            [card] = control.wait_for(cards, "a draft", channel=OPS.channel_id)
            proxy.marker = ""
            element = find_element(card, ids.USE_THIS)
            assert element is not None
            control.click(OPS.channel_id, card["ts"], ANA.user_id, **element.click_fields())
            assert proxy.held.wait(LIMIT_S)
            [path] = list_files(home / "state", f"*{ts}.json")
            control.wait_for(lambda: json.loads(path.read_text())["draft_version"] == 2, "the choice to be kept")
        finally:
            process.kill()
            process.wait()
    with running(slack, control, home, config):

        def shows_it() -> bool:
            return plain(ATTEMPTS) in shown_text(cards()[0]).split("Also found")[0]

        control.wait_for(shows_it, "the candidate as the draft", channel=OPS.channel_id)
        assert [one["ts"] for one in cards()] == [card["ts"]]
        state = json.loads(path.read_text())
        assert (state["draft_version"], state["pending_reason"]) == (2, "approval")
