"""A question becomes a draft; people approve, edit or dismiss it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from blocks import ids
from demo.headless import find_element, shown_text
from demo.workspace import ANA, BEN, CHLOE, HELP, OPS
from tests.hands import Control, Json, checked, text_value
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SESSIONS


def test_an_approved_draft_is_posted_in_the_thread_and_logged(office: Office) -> None:
    """Approve posts exactly what the card showed, once, and the record names who approved on what evidence."""
    ts = office.ask(SESSIONS)
    card = office.draft(ts)
    assert "sessions.py" in shown_text(card)
    assert "Search result, not an answer" in shown_text(card)
    office.click(card, ids.APPROVE)
    reply = office.reply(ts)
    assert shown_text(reply)[:80] in shown_text(card)
    (record,) = office.replies.records()
    assert record["approved_by"] == ANA.user_id
    assert record["validator_verdict"] == "pass"
    assert record["evidence_refs"][0]["ref"].startswith("shop/sessions.py:")
    assert not record["edited"]
    final = office.card(ts, "Posted")
    assert find_element(final, ids.APPROVE) is None
    (closed,) = office.closed(ts)
    assert json.loads(closed.read_text())["resolution"] == "approved"


def test_an_edited_draft_is_posted_as_edited(office: Office, control: Control) -> None:
    """Edit opens the draft in a dialogue; what is submitted is what stands in the thread."""
    ts = office.ask(SESSIONS)
    office.click(office.draft(ts), ids.EDIT)
    control.wait_for(control.modals.current, "the editor")
    control.modals.submit(ANA.user_id, {ids.REPLY: {ids.INPUT: text_value("HMAC-SHA256, see `shop/sessions.py`.")}})
    assert office.reply(ts)["text"] == "HMAC-SHA256, see `shop/sessions.py`."
    (record,) = office.replies.records()
    assert record["edited"]
    assert "sessions.py" in record["draft_text"]


def test_a_saved_edit_waits_on_the_card(office: Office, control: Control) -> None:
    """Only save: the card shows the human's words, nothing is posted until somebody approves them."""
    ts = office.ask(SESSIONS)
    card = save_edit(office, control, ts, "Ask Ben, he wrote it.")
    assert "Search result" not in shown_text(card)
    assert office.posted(ts) == []
    office.click(card, ids.APPROVE, user=BEN.user_id)
    assert office.reply(ts)["text"] == "Ask Ben, he wrote it."


def save_edit(office: Office, control: Control, ts: str, words: str) -> Json:
    """Let Ana save an edit of a draft; returns the card that shows it."""
    office.click(office.draft(ts), ids.EDIT)
    control.wait_for(control.modals.current, "the editor")
    values = {
        ids.REPLY: {ids.INPUT: text_value(words)},
        ids.ONLY_SAVE: {ids.INPUT: checked(ids.ONLY_SAVE)},
    }
    control.modals.submit(ANA.user_id, values)
    return office.card(ts, words, offering=ids.APPROVE)


def test_a_saved_edit_stands_beside_what_is_found_later(office: Office, control: Control) -> None:
    """Re-investigate puts its draft beside the edit; Use new takes it, and its words are posted."""
    ts = office.ask(SESSIONS)
    office.choose(save_edit(office, control, ts, "Ask Ben, he wrote it."), "Re-investigate")
    both = office.card(ts, "New draft", offering=ids.USE_NEW)
    assert "Ask Ben, he wrote it." in shown_text(both)
    office.click(both, ids.USE_NEW, user=BEN.user_id)
    office.click(both, ids.APPROVE)
    office.told(ANA.user_id, f"<@{BEN.user_id}> changed what is proposed")
    assert office.posted(ts) == []
    control.wait_for(lambda: "Ask Ben" not in shown_text(office.cards(ts)[0]), "a card without the edit")
    chosen = office.card(ts, "Search result, not an answer", offering=ids.APPROVE)
    office.click(chosen, ids.APPROVE)
    assert "sessions.py" in shown_text(office.reply(ts))
    (record,) = office.replies.records()
    assert not record["edited"]


def test_an_edit_with_a_secret_is_refused_in_the_dialogue(office: Office, control: Control) -> None:
    """The dialogue stays open and says what is wrong; nothing is saved or posted."""
    ts = office.ask(SESSIONS)
    office.click(office.draft(ts), ids.EDIT)
    control.wait_for(control.modals.current, "the editor")
    token = "xoxb-" + "123456789012-1234567890123-abcdefABCDEF0123456789ab"
    errors = control.modals.submit(ANA.user_id, {ids.REPLY: {ids.INPUT: text_value(f"use {token}")}})
    assert "secret" in errors[ids.REPLY]
    assert office.posted(ts) == []
    assert token not in json.dumps(control.messages(OPS.channel_id))


def test_a_dismissed_draft_is_never_posted_and_its_reason_is_kept(office: Office, control: Control) -> None:
    """Dismiss asks for a reason, closes the thread and disables the card."""
    ts = office.ask(SESSIONS)
    office.click(office.draft(ts), ids.DISMISS)
    control.wait_for(control.modals.current, "the dialogue")
    control.modals.submit(ANA.user_id, {ids.REASON: {ids.INPUT: text_value("answered in person")}})
    card = office.card(ts, "answered in person")
    assert find_element(card, ids.APPROVE) is None
    (closed,) = office.closed(ts)
    state = json.loads(closed.read_text())
    assert (state["resolution"], state["dismiss_reason"]) == ("dismissed", "answered in person")
    assert office.posted(ts) == []


def test_two_clicks_make_one_post_and_the_loser_is_told(office: Office) -> None:
    """Ana and Ben click Approve at the same time: one reply, one record, and one of them hears who was first."""
    ts = office.ask(SESSIONS)
    card = office.draft(ts)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda user: office.click(card, ids.APPROVE, user=user), (ANA.user_id, BEN.user_id)))
    office.reply(ts)
    (record,) = office.replies.records()
    loser = ({ANA.user_id, BEN.user_id} - {record["approved_by"]}).pop()
    assert f"<@{record['approved_by']}>" in office.told(loser, "approved")["text"]
    assert len(office.posted(ts)) == 1


def test_a_click_on_an_old_card_is_refused_and_refreshed(office: Office, control: Control) -> None:
    """A draft that was replaced cannot be approved from a card that showed the old one."""
    ts = office.ask(SESSIONS)
    old = office.draft(ts)
    office.click(old, ids.EDIT)
    control.wait_for(control.modals.current, "the editor")
    values = {
        ids.REPLY: {ids.INPUT: text_value("The newer words.")},
        ids.ONLY_SAVE: {ids.INPUT: checked(ids.ONLY_SAVE)},
    }
    control.modals.submit(ANA.user_id, values)
    office.card(ts, "The newer words.", offering=ids.APPROVE)
    office.click(old, ids.APPROVE)
    office.told(ANA.user_id, "out of date")
    assert office.posted(ts) == []


def test_who_may_not_approve_is_told_so_and_changes_nothing(office: Office, control: Control) -> None:
    """Chloe is not in the ops channel: her click and her submit are refused, quietly."""
    ts = office.ask(SESSIONS)
    card = office.draft(ts)
    office.click(card, ids.APPROVE, user=CHLOE.user_id)
    office.told(CHLOE.user_id, "Only approvers")
    office.click(card, ids.EDIT)
    control.wait_for(control.modals.current, "the editor")
    assert control.modals.submit(CHLOE.user_id, {ids.REPLY: {ids.INPUT: text_value("mine now")}}) == {}
    office.told(CHLOE.user_id, "```\nmine now\n```")
    assert office.posted(ts) == []


def test_added_context_starts_another_investigation(office: Office, control: Control) -> None:
    """What a human adds reaches the investigator, and the card offers the new draft."""
    ts = office.ask(SESSIONS)
    office.choose(office.draft(ts), "Add context")
    control.wait_for(control.modals.current, "the dialogue")
    control.modals.submit(
        ANA.user_id, {ids.CONTEXT: {ids.INPUT: text_value("they mean backoff_delays of the gateway")}}
    )
    card = office.card(ts, "retry.py", offering=ids.APPROVE)
    office.click(card, ids.APPROVE)
    office.reply(ts)


def test_evidence_is_shown_with_its_quotes(office: Office, control: Control) -> None:
    """Show evidence opens a dialogue at once, then fills it with every citation, its mark and the quoted lines."""
    ts = office.ask(SESSIONS)
    office.choose(office.draft(ts), "Show evidence")
    shown = control.wait_for(lambda: _filled(control), "the evidence")
    assert "✓ verified" in shown
    assert "hmac" in shown


def _filled(control: Control) -> str:
    """Return what the evidence dialogue shows, once it shows more than that it is looked up."""
    view = control.modals.current()
    shown = shown_text(view) if view else ""
    return "" if "Looking up the citations" in shown else shown


def test_two_threads_at_once_keep_their_drafts_apart(office: Office) -> None:
    """AC-03: two questions within a moment; each thread gets the answer to its own."""
    first, second = office.ask(SESSIONS), office.ask(RETRIES, user=BEN.user_id)
    for ts in (second, first):
        office.click(office.draft(ts), ids.APPROVE)
    assert "sessions.py" in shown_text(office.reply(first))
    assert "retry.py" in shown_text(office.reply(second))
    assert len(list(office.replies.records())) == 2


def test_commands_answer_at_once_and_only_to_the_asker(office: Office, control: Control) -> None:
    """`/triage status` counts what waits; an unknown word lists the near ones."""
    office.draft(office.ask(SESSIONS))
    for word, says in (("status", "1 waiting"), ("statsu", "Did you mean /triage status")):
        control.command(ANA.user_id, HELP.channel_id, word)
        told = control.wait_for(lambda says=says: _answer(control, says), f"an answer with {says!r}")
        assert told["ephemeral_to"] == ANA.user_id


def _answer(control: Control, says: str) -> Json | None:
    """Return what somebody was told in the help channel that holds these words."""
    said = control.messages(HELP.channel_id)
    return next((m for m in said if says in shown_text(m).translate({ord("*"): "", ord("`"): ""})), None)
