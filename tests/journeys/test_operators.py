"""What an operator types and sees, with the ordinary bot at work over a real local-slack."""

from __future__ import annotations

import json

from blocks import ids
from demo.headless import find_element, shown_text
from demo.workspace import ANA, CHLOE, ENG, OPS
from tests.hands import Control
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SESSIONS


def typed(office: Office, text: str, says: str, *, user: str = ANA.user_id, channel: str = OPS.channel_id) -> str:
    """Type `/triage …` and return the answer that holds `says`."""
    office.control.command(user, channel, text)

    def found() -> str | None:
        messages = office.control.messages(channel)
        private = [json.dumps(m, ensure_ascii=False) for m in messages if m.get("ephemeral_to") == user]
        return next((said for said in reversed(private) if says in said), None)

    return office.control.wait_for(found, f"{text!r} to say {says!r}", channel=channel)


def test_a_pause_is_seen_on_every_card_and_ends_without_loss(office: Office, control: Control) -> None:
    """A question asked meanwhile has its card at once and its draft after `resume`; who may not pause is told so."""
    first = office.ask(SESSIONS)
    office.draft(first)
    typed(office, "pause", "Only approvers", user=CHLOE.user_id)
    typed(office, "pause", "paused by @")
    office.card(first, "paused by @", offering=ids.APPROVE)
    second = office.ask(RETRIES)
    card = office.card(second, "paused by @")
    assert find_element(card, ids.APPROVE) is None
    typed(office, "status", "paused by @")
    typed(office, "resume", "is running again")
    office.draft(second)
    control.wait_for(
        lambda: all("paused by" not in shown_text(office.card(ts)) for ts in (first, second)), "cards without a pause"
    )


def test_a_question_from_another_channel_gets_its_draft_and_stands_in_the_open_list(
    office: Office, control: Control
) -> None:
    """Asked in one channel, drafted in the ops channel, listed with a link; who may not approve sees a number."""
    typed(office, f"investigate {SESSIONS}", "Asked in the ops channel", channel=ENG.channel_id)

    def asked() -> str | None:
        return next((m["ts"] for m in control.messages(OPS.channel_id) if m["text"] == SESSIONS), None)

    ts = control.wait_for(asked, "the question in the ops channel", channel=OPS.channel_id)
    card = office.draft(ts, channel=OPS.channel_id)
    seen = typed(office, "open", "|card>")
    assert f"/p{card['ts'].replace('.', '')}|card>" in seen
    assert SESSIONS[:20] in seen
    other = typed(office, "open", "1 draft waits", user=CHLOE.user_id)
    assert SESSIONS[:20] not in other
    typed(office, "approve-list", "Its members approve")
    assert SESSIONS[:20] in typed(office, "brief", "*1 draft waits for a decision*")
    assert SESSIONS[:20] not in typed(office, "brief", "*1 draft waits for a decision*", user=CHLOE.user_id)


def test_an_alarm_asked_by_command_pages_as_one_in_a_channel_does(office: Office, control: Control) -> None:
    """Its card begins with Page."""
    alarm = "prod is down!!"
    typed(office, f"investigate {alarm}", "Asked in the ops channel", channel=ENG.channel_id)

    def asked() -> str | None:
        return next((m["ts"] for m in control.messages(OPS.channel_id) if m["text"] == alarm), None)

    ts = control.wait_for(asked, "the question in the ops channel", channel=OPS.channel_id)
    assert "🚨 *Page:*" in shown_text(office.card(ts, "Page", channel=OPS.channel_id))


def test_a_message_that_the_rules_left_alone_is_worked_on_when_somebody_insists(
    office: Office, control: Control
) -> None:
    """No question mark, no card; insisted on, one card in its own thread, however often it is asked for."""
    ts = office.ask("I think the session lifetime in the gateway was set last year")
    sent = [entry["detail"] for entry in control.log() if entry["kind"] == "events_api"]
    body = next(body for body in sent if body["event"].get("ts") == ts)
    assert office.cards(ts) == []
    assert office.bot.team.edge.watcher.force_enqueue(body) == "queued"
    office.card(ts)
    assert office.bot.team.edge.watcher.force_enqueue(body) == "under way"
    assert len(office.cards(ts)) == 1
