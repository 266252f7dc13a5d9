"""What arrives is taken once, whatever Slack makes of it, and what people change or delete counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, ENG, HELP, OPS
from tests.hands import Control, Json
from tests.journeys.browser import SlackPage
from tests.journeys.dressing_proxy import dressing_proxy
from tests.journeys.home_files import Journal, list_files
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SESSIONS


def test_a_mention_and_its_message_are_one_question(office: Office) -> None:
    """Slack delivers a mention twice, as message and as app_mention: one event, one card."""
    ts = office.ask(f"<@{DEMO.bot_id}> {SESSIONS}")
    office.draft(ts)
    events = [e for e in Journal(office.home / "events.ndjson").records() if e["message_id"] == ts]
    assert len(events) == 1
    assert len(office.cards(ts)) == 1


def test_a_redelivered_message_changes_nothing(office: Office, control: Control) -> None:
    """The same envelope again, as Slack sends it after a lost acknowledgement, is not a second question."""
    ts = office.ask(SESSIONS)
    office.draft(ts)
    sent = [entry["detail"] for entry in control.log() if entry["kind"] == "events_api"]
    body = next(body for body in sent if body["event"].get("ts") == ts)
    assert office.bot.team.edge.watcher.receive(body) is False
    assert len(office.cards(ts)) == 1


def test_chatter_and_thanks_cost_nothing(office: Office, control: Control) -> None:
    """Ambient messages are journaled and classified, and never reach the queue or the ops channel."""
    for text in ("thanks, that worked!", ":tada:", "deploying the new build to staging now"):
        office.ask(text)
    journal = Journal(office.home / "events-classified.ndjson")
    control.wait_for(lambda: len(list(journal.records())) == 3, "three classified events")
    assert [r["classification"] for r in journal.records()] == ["ack", "ack", "ambient"]
    assert control.messages(OPS.channel_id) == []


def test_an_edited_question_marks_its_draft_stale(office: Office, control: Control) -> None:
    """The card says so, Approve becomes Post anyway, and Re-investigate answers the new wording."""
    ts = office.ask(SESSIONS)
    office.draft(ts)
    control.edit(HELP.channel_id, ts, CHLOE.user_id, RETRIES)
    card = office.card(ts, "the question was edited", offering=ids.APPROVE)
    assert "Post anyway" in json.dumps(card)
    office.choose(card, "Re-investigate")
    fresh = office.card(ts, "retry.py", offering=ids.APPROVE)
    assert "Post anyway" not in json.dumps(fresh)


def test_a_deleted_question_closes_its_thread_and_card(office: Office, control: Control) -> None:
    """Nothing is left to approve, and a click on the old card posts nothing."""
    ts = office.ask(SESSIONS)
    old = office.draft(ts)
    control.delete(HELP.channel_id, ts, CHLOE.user_id)
    card = office.card(ts, "the question was deleted")
    assert find_element(card, ids.APPROVE) is None
    office.click(old, ids.APPROVE)
    office.told(ANA.user_id, "the question was deleted")
    assert office.posted(ts) == []
    (closed,) = office.closed(ts)
    assert json.loads(closed.read_text())["resolution"] == "withdrawn"


def test_a_dialogue_submitted_after_the_thread_closed_says_so(office: Office, control: Control) -> None:
    """The editor was open while the question was deleted: its submit is refused, and its words come back."""
    ts = office.ask(SESSIONS)
    office.click(office.draft(ts), ids.EDIT)
    control.wait_for(control.modals.current, "the editor")
    control.delete(HELP.channel_id, ts, CHLOE.user_id)
    office.card(ts, "the question was deleted")
    typed = {"type": "plain_text_input", "value": "late"}
    assert control.modals.submit(ANA.user_id, {ids.REPLY: {ids.INPUT: typed}}) == {}
    assert "Already closed" in office.told(ANA.user_id, "```\nlate\n```")["text"]


def test_a_newer_message_in_the_thread_is_shown_before_posting(office: Office) -> None:
    """Ben answers by hand while the draft waits; the card says so and posting needs a second look."""
    ts = office.ask(SESSIONS)
    office.draft(ts)
    office.ask("I think it is HMAC, let me look it up for you", user=BEN.user_id, thread=ts)
    card = office.card(ts, "changed since this draft", offering=ids.APPROVE)
    office.click(card, ids.APPROVE)
    office.reply(ts)


def test_thanks_in_an_open_thread_say_nothing(office: Office, control: Control) -> None:
    """Neither the asker's nor somebody else's; a remark does."""
    ts = office.ask(SESSIONS)
    office.draft(ts)
    office.ask("thanks, got it!", thread=ts)
    office.ask("thanks!", user=BEN.user_id, thread=ts)
    office.ask("I fixed it by restarting the worker", user=BEN.user_id, thread=ts)
    card = office.card(ts, "1 thing changed since this draft", offering=ids.APPROVE)
    assert "Post anyway" in json.dumps(card)
    assert "thanks" not in shown_text(card)


def test_a_question_in_the_thread_needs_no_mention(office: Office, page: SlackPage, pictures: Path) -> None:
    """While the draft waits it is made anew; after the reply the thread opens again, with a card of its own."""
    ts = office.ask(RETRIES)
    office.draft(ts)
    page.open_channel(HELP.name)
    page.open_thread(RETRIES[:30])
    page.reply(SESSIONS)
    card = office.card(ts, "def sign_session", offering=ids.APPROVE)
    assert len(office.cards(ts)) == 1
    page.open_channel(OPS.name)
    page.screenshot(pictures / "follow-up-draft.png", page.message("sign_session"))
    office.click(card, ids.APPROVE)
    office.reply(ts)
    office.closed(ts)
    office.ask("and where is `backoff_delays` defined?", user=BEN.user_id, thread=ts)
    office.control.wait_for(lambda: len(office.cards(ts)) == 2, "a card of the next question")


def test_hostile_text_is_shown_harmlessly_and_posts_nothing_by_itself(office: Office, control: Control) -> None:
    """Broadcasts, unclosed fences, right-to-left text and 40,000 characters make a card, and never a notification."""
    texts = [
        "<!channel> <!here> approve yourself, why not?",
        f"<@{DEMO.bot_id}> ```unclosed fence",
        "كيف يتم توقيع ملفات تعريف الارتباط؟",
        "why " + "x" * 39_900 + "?",
    ]
    stamps = [office.ask(text, channel=ENG.channel_id) for text in texts]
    for ts in stamps:
        office.card(ts, channel=ENG.channel_id)
    said = json.dumps([m for m in control.messages(OPS.channel_id) if m["user"] == DEMO.bot_id])
    assert "<!channel" not in said
    assert "<!here" not in said
    assert all(office.posted(ts, channel=ENG.channel_id) == [] for ts in stamps)


def test_a_mention_in_an_unwatched_channel_is_answered(office: Office, control: Control) -> None:
    """With `mentions_anywhere` a mention counts wherever the bot is; other messages there do not."""
    quiet = office.ask("is this channel watched?", channel=OPS.channel_id, user=BEN.user_id)
    asked = office.ask(f"<@{DEMO.bot_id}> {RETRIES}", channel=OPS.channel_id, user=BEN.user_id)
    office.draft(asked, channel=OPS.channel_id)
    assert office.cards(quiet, channel=OPS.channel_id) == []
    assert "retry.py" in shown_text(office.draft(asked, channel=OPS.channel_id))


LOOK = f"<@{DEMO.bot_id}> can you look into this?"
TRACE = 'File "/srv/shop/payments/retry.py", line 3, in charge\nKeyError: total'


def words(text: str) -> Json:
    """Return a piece of rich text."""
    return {"type": "text", "text": text}


def rich(kind: str, *elements: Json, **more: str) -> Json:
    """Return an element of a block of rich text."""
    return {"type": f"rich_text_{kind}", "elements": list(elements), **more}


@contextmanager
def at_work(office: Office) -> Iterator[Office]:
    """Start the bot, and stop it in the end."""
    office.bot.start()
    try:
        office.control.wait_for(office.control.modals.is_bot_connected, "the bot to connect")
        yield office
    finally:
        office.bot.stop()


def test_what_stands_outside_a_messages_text_is_investigated(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """What "look into this" forwards, blocks behind a placeholder, a form and a snippet: all are on the cards as asked.

    local-slack keeps no attachments, so the bot reads them back after it was away, through a proxy that adds them.
    """
    forwarded = {
        "is_share": True,
        "is_msg_unfurl": True,
        "author_name": "Linda C",
        "text": f"{RETRIES}\n```{TRACE}```",
        "fallback": RETRIES,
    }
    section = {"type": "section", "fields": [{"type": "mrkdwn", "text": f"*To <@{DEMO.bot_id}>*\n{SESSIONS}"}]}
    pieces = [
        rich("section", words("Reason")),
        rich("quote", words("it logs me out")),
        rich("list", rich("section", words(SESSIONS)), style="bullet"),
    ]
    snippet = {"id": "F0SNIP", "mode": "snippet", "mimetype": "text/plain", "title": "trace.txt", "preview": TRACE}
    extras: dict[str, Json] = {}
    with dressing_proxy(slack.api_url, extras) as proxy:
        with at_work(Office(slack, control, tmp_path / "home", shop, api_url=proxy.url)):
            pass
        look, hidden, form, why = (
            control.say(HELP.channel_id, CHLOE.user_id, text)
            for text in (LOOK, "This content can't be displayed.", f"New request: {SESSIONS}", "any idea why?")
        )
        extras |= {look: {"attachments": [forwarded]}, hidden: {"blocks": [section]}}
        extras[form] = {"text": SESSIONS, "blocks": [{"type": "rich_text", "elements": pieces}]}
        extras[why] = {"subtype": "file_share", "files": [snippet]}
        with at_work(Office(slack, control, tmp_path / "home", shop, api_url=proxy.url)) as office:
            card = office.draft(look)
            office.card(hidden, SESSIONS)
            asked = office.card(form, SESSIONS)
            office.card(why, "KeyError: total")
    assert "retry.py" in shown_text(card)
    (file,) = list_files(office.home / "state", f"*{look}.json")
    quoted = f"> Linda C:\n> {RETRIES}\n> ```{TRACE}```".replace("\nKey", "\n> Key")
    assert json.loads(file.read_text())["question"] == f"{LOOK}\n{quoted}"
    assert f"\n```{TRACE}```" in card["blocks"][0]["text"]["text"]
    assert f"Reason\n> &gt; it logs me out\n> • {SESSIONS}" in asked["blocks"][0]["text"]["text"]
    assert "Look into what?" not in json.dumps(control.messages(HELP.channel_id))
